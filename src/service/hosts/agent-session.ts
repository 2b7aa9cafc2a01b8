import type { Duplex } from "node:stream";
import { Channel } from "../../async/channel.ts";
import { sendDeadline } from "../../async/send-deadline.ts";
import type {
  AgentPermissions,
  ForeignAction,
  FromAgent,
  HostReport,
  OwnSoftware,
  Program,
  ProgramState,
  ToAgent,
} from "../../contract/agent.ts";
import type { AgentConnection, AgentReceiver } from "../../contract/agent-connection.ts";
import { type ProblemCode, problems, RigbridgeError } from "../../contract/problems.ts";
import { detail } from "../../messages/detail.ts";

/** Events of a session, for `HostAgents`. */
export interface SessionListener {
  introduced(session: AgentSession): void;
  /** Its host was reported again. */
  reported(session: AgentSession): void;
  /** The state of a program has changed; `before` is null for a new program. */
  changed(session: AgentSession, state: ProgramState, before: ProgramState | null): void;
  closed(session: AgentSession): void;
}

type Asked = Extract<ToAgent, { n: number }>;
type Unnumbered<T> = T extends unknown ? Omit<T, "n"> : never;
/** A request without its number. */
export type AgentRequest = Unnumbered<Asked>;
export type AgentReply = Extract<FromAgent, { t: "done" }>;

/** Limit of open connections to programs of one host; a read takes one or two. */
const mostChannels = 256;
/** ms for a program to close an answered connection itself, as most requests ask it to. */
const closesWithinMs = 100;
/** Limit of requests that wait for the agent's answer. */
const mostRequests = 200;

/** One connection of a host's agent: its reports, requests to it, and connections through it. */
export class AgentSession implements AgentReceiver {
  readonly hostId: number;
  readonly #connection: AgentConnection;
  readonly #listener: SessionListener;
  readonly #programs = new Map<number, ProgramState>();
  readonly #waiting = new Map<number, { resolve(reply: AgentReply): void; reject(error: unknown): void }>();
  readonly #channels = new Map<number, Channel>();
  /** Answered channels that their programs may still close. */
  readonly #closing = new Set<number>();
  #closeTimer: NodeJS.Timeout | undefined;
  #hello: Extract<FromAgent, { t: "hello" }> | null = null;
  #host: HostReport | null = null;
  #lastNumber = 0;
  #lastChannel = 0;
  /** Ids of the programs that were sent to it. */
  #wanted: ReadonlySet<number> = new Set();
  #isClosed = false;

  constructor(hostId: number, connection: AgentConnection, listener: SessionListener) {
    this.hostId = hostId;
    this.#connection = connection;
    this.#listener = listener;
  }

  /** Null until the agent has introduced itself. */
  get host(): HostReport | null {
    return this.#host;
  }

  get version(): string | null {
    return this.#hello?.version ?? null;
  }

  get permissions(): AgentPermissions | null {
    return this.#hello?.permissions ?? null;
  }

  /** Programs of the agent's own configuration. */
  get software(): readonly OwnSoftware[] {
    return this.#hello?.software ?? [];
  }

  /** The possible actions for the program whose API is at this port, and that the agent does not run itself. */
  foreignActions(port: number): readonly ForeignAction[] {
    return this.#hello?.foreign.find((program) => program.port === port)?.actions ?? [];
  }

  program(id: number): ProgramState | undefined {
    return this.#programs.get(id);
  }

  message(message: FromAgent): void {
    if (this.#isClosed) return;
    if (this.#hello === null && message.t !== "hello") {
      this.#connection.close("its first message was not hello");
      return;
    }
    switch (message.t) {
      case "hello":
        this.#introduce(message);
        break;
      case "host":
        this.#host = message.host;
        this.#listener.reported(this);
        break;
      case "program":
        this.#take(message.program);
        break;
      case "done":
        this.#waiting.get(message.n)?.resolve(message);
        this.#waiting.delete(message.n);
        break;
      case "closed":
        this.#channels.get(message.channel)?.ended(message.error);
        this.#channels.delete(message.channel);
        this.#closing.delete(message.channel);
        break;
    }
  }

  frame(channel: number, bytes: Uint8Array): void {
    this.#channels.get(channel)?.receive(bytes);
  }

  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { reject } of this.#waiting.values()) reject(gone());
    for (const channel of this.#channels.values()) channel.ended("ECONNRESET");
    this.#waiting.clear();
    this.#channels.clear();
    clearTimeout(this.#closeTimer);
    this.#listener.closed(this);
  }

  /** Ends the connection; the agent logs the reason. */
  end(reason: string, why: "refused" | "away" = "refused"): void {
    this.#connection.close(reason, why);
    this.closed();
  }

  sendPrograms(programs: readonly Program[]): void {
    this.#wanted = new Set(programs.map(({ id }) => id));
    for (const id of this.#programs.keys()) if (!this.#wanted.has(id)) this.#programs.delete(id);
    this.#send({ t: "programs", programs: [...programs] });
  }

  /** Throws the agent's refusal, `rig.timeout` if it does not answer, and `rig.unreachable` if it disconnects. */
  async request(request: AgentRequest, signal: AbortSignal): Promise<AgentReply> {
    if (this.#isClosed) throw gone();
    if (sendDeadline()?.isOver === true) throw new RigbridgeError("service.no.active", detail("command.noLease"));
    if (this.#waiting.size >= mostRequests) throw new RigbridgeError("rig.busy", detail("host.busy"));
    this.#lastNumber += 1;
    const n = this.#lastNumber;
    const abort = (): void => this.#waiting.get(n)?.reject(late());
    try {
      const reply = await new Promise<AgentReply>((resolve, reject) => {
        this.#waiting.set(n, { resolve, reject });
        if (signal.aborted) reject(late());
        else signal.addEventListener("abort", abort);
        this.#send({ ...request, n });
      });
      if (reply.error !== undefined) throw refusal(reply.error);
      return reply;
    } finally {
      signal.removeEventListener("abort", abort);
      this.#waiting.delete(n);
    }
  }

  /** Opens a connection to the API of a program. A failure is reported by the connection. */
  dial(id: number): Duplex {
    // Numbers are reused after a long time, like a socket's ports.
    this.#lastChannel = (this.#lastChannel % 0xffff_ffff) + 1;
    const number = this.#lastChannel;
    const isPossible = !this.#isClosed && this.#channels.size + this.#closing.size < mostChannels;
    const channel = new Channel({
      send: (bytes) => this.#connection.sendFrame(number, bytes),
      close: (isAnswered) => {
        if (!this.#channels.delete(number)) return;
        if (isAnswered) this.#closeSoon(number);
        else this.#send({ t: "close", channel: number });
      },
    });
    if (isPossible) {
      this.#channels.set(number, channel);
      this.#send({ t: "open", channel: number, id });
    } else channel.ended("ECONNREFUSED");
    return channel;
  }

  /** Saves one message per read: the program usually closes the connection itself. */
  #closeSoon(number: number): void {
    this.#closing.add(number);
    this.#closeTimer ??= setTimeout(() => {
      this.#closeTimer = undefined;
      for (const channel of this.#closing) this.#send({ t: "close", channel });
      this.#closing.clear();
    }, closesWithinMs).unref();
  }

  #introduce(hello: Extract<FromAgent, { t: "hello" }>): void {
    this.#hello = hello;
    this.#host = hello.host;
    this.#programs.clear();
    for (const program of hello.programs) this.#programs.set(program.id, program);
    this.#listener.introduced(this);
  }

  /**
   * A program that was just removed may be reported once more; any other unknown program does not belong to this host.
   */
  #take(state: ProgramState): void {
    if (!this.#wanted.has(state.id)) return;
    const before = this.#programs.get(state.id) ?? null;
    this.#programs.set(state.id, state);
    this.#listener.changed(this, state, before);
  }

  #send(message: ToAgent): void {
    if (!this.#isClosed) this.#connection.send(message);
  }
}

const gone = (): RigbridgeError => new RigbridgeError("rig.unreachable", detail("host.ended"));
const late = (): RigbridgeError => new RigbridgeError("rig.timeout", detail("host.late"));

/** Codes that an agent may answer with; any other is a refusal. */
const refusals: ReadonlySet<ProblemCode> = new Set(["input.invalid", "no.download", "not.possible", "in.use"]);

function refusal({ code, message }: { readonly code: string; readonly message: string }): RigbridgeError {
  const isKnown = (text: string): text is ProblemCode => Object.hasOwn(problems, text);
  return new RigbridgeError(isKnown(code) && refusals.has(code) ? code : "rig.refused", message);
}
