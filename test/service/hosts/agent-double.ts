import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";
import {
  type AgentPermissions,
  agentPath,
  type ForeignAction,
  type ForeignProgram,
  type FromAgent,
  type HostGpu,
  type HostReport,
  type OwnSoftware,
  type Program,
  type ProgramState,
  ToAgent,
} from "../../../src/contract/agent.ts";
import { frameOf, parseFrame } from "../../../src/contract/agent-frames.ts";
import { until } from "../../until.ts";

export interface DoubleApi {
  /** That of a virtual rig; by default the loopback. */
  readonly host?: string;
  readonly port: number;
  readonly token: string | null;
}

export interface DoubleOptions {
  readonly url: string;
  readonly token: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly permissions?: Partial<AgentPermissions>;
  readonly software?: readonly OwnSoftware[];
  readonly gpus?: readonly HostGpu[];
  readonly programs?: readonly ProgramState[];
  /** Programs that it does not run itself, and what a request for one does. */
  readonly foreign?: readonly ForeignProgram[];
  readonly doForeign?: (port: number, action: ForeignAction) => void;
  /** The port of the API of a program, and its token. */
  readonly api?: (id: number) => DoubleApi | null;
  /** Epoch ms; the machine's clock unless a test holds it. */
  readonly now?: () => number;
  /** Why no program is started. */
  readonly refusesStart?: string;
  /** A program that was given up is not started by being wanted, as an agent that comes back does not. */
  readonly keepsFailed?: boolean;
  /** Why a command line is refused. */
  readonly refuses?: (program: Program) => { readonly code: string; readonly message: string } | null;
}

export const report = (gpus: readonly HostGpu[] = []): HostReport => ({
  name: "rig-3",
  system: "Linux 6.8.0 (x86_64)",
  cpu: "Invented CPU",
  cores: 8,
  uptime: 1_000,
  load: 3,
  memory: 16e9,
  memoryFree: 8e9,
  diskFree: 100e9,
  gpus: [...gpus],
});

export const gpu = (id: number, pciBusId: number, known: Partial<HostGpu> = {}): HostGpu => ({
  id,
  name: `Invented GPU ${id}`,
  vendor: "nvidia",
  vendorId: id,
  pciBusId,
  lost: false,
  activity: null,
  clock: null,
  memoryClock: null,
  voltage: null,
  powertune: null,
  fanRpm: null,
  fanPercent: null,
  temperature: null,
  memoryTemperature: null,
  power: null,
  powerLimit: null,
  memory: 8e9,
  ...known,
});

export const stopped = (id: number): ProgramState => ({
  id,
  status: "stopped",
  pid: null,
  startedAt: null,
  apiPort: null,
  apiToken: null,
  starts: 0,
  exit: null,
  message: null,
  lastLines: [],
  download: null,
});

/** An agent over a real WebSocket that speaks the contract. Its programs are whatever listens at the given ports. */
export class AgentDouble {
  readonly #socket: WebSocket;
  readonly #options: DoubleOptions;
  readonly #channels = new Map<number, Socket>();
  readonly states = new Map<number, ProgramState>();
  /** What came, without frames. */
  readonly received: ToAgent[] = [];
  /** As last sent. */
  programs: readonly Program[] = [];
  /** Code and reason with which the connection ended. */
  ended: readonly [code: number, reason: string] | null = null;

  private constructor(socket: WebSocket, options: DoubleOptions) {
    this.#socket = socket;
    this.#options = options;
    for (const state of options.programs ?? []) this.states.set(state.id, state);
    socket.on("message", (bytes: Buffer, isBinary) => {
      if (isBinary) this.#frame(bytes);
      else this.#take(ToAgent.parse(JSON.parse(bytes.toString())));
    });
    socket.on("close", (code, reason) => {
      this.ended = [code, reason.toString()];
      for (const each of this.#channels.values()) each.destroy();
    });
    socket.on("error", () => undefined);
  }

  /** Rejects with the status of a refusal. */
  static async connect(options: DoubleOptions): Promise<AgentDouble> {
    const socket = new WebSocket(`${options.url.replace("http", "ws")}${agentPath}`, {
      headers: { authorization: `Bearer ${options.token}`, ...options.headers },
    });
    const double = new AgentDouble(socket, options);
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("unexpected-response", (_request, response) => reject(new Error(`status ${response.statusCode}`)));
      socket.once("error", reject);
    });
    return double;
  }

  /** Connects, introduces itself, and waits for its programs. */
  static async introduced(options: DoubleOptions): Promise<AgentDouble> {
    const double = await AgentDouble.connect(options);
    double.hello();
    await until(() => double.received.length > 0, "the agent to get its programs");
    return double;
  }

  hello(): void {
    const { permissions, software = [], gpus, foreign = [] } = this.#options;
    this.send({
      t: "hello",
      version: "1.2.3",
      permissions: { folders: ["/opt"], downloads: true, reboot: true, gpuSettings: true, ...permissions },
      software: [...software],
      host: report(gpus),
      programs: [...this.states.values()],
      foreign: [...foreign],
    });
  }

  send(message: FromAgent): void {
    this.#socket.send(JSON.stringify(message));
  }

  sendRaw(bytes: string | Buffer): void {
    this.#socket.send(bytes);
  }

  /** As with kill -9. */
  cut(): void {
    this.#socket.terminate();
  }

  /** A program has changed by itself. */
  change(id: number, change: Partial<ProgramState>): void {
    const program = { ...(this.states.get(id) ?? stopped(id)), ...change };
    this.states.set(id, program);
    this.send({ t: "program", program });
  }

  #take(message: ToAgent): void {
    this.received.push(message);
    if (message.t === "programs") this.#want(message.programs);
    else if (message.t === "open") this.#open(message.channel, message.id);
    else if (message.t === "close") this.#channels.get(message.channel)?.destroy();
    else if (message.t === "command") this.#command(message.n, message.program);
    else if (message.t === "start" && this.#options.refusesStart !== undefined)
      this.send({ t: "done", n: message.n, error: { code: "taken", message: this.#options.refusesStart } });
    else if (message.t === "reboot") this.send({ t: "done", n: message.n, message: "The host reboots" });
    else if (message.t === "foreign") {
      this.#options.doForeign?.(message.port, message.action);
      this.send({ t: "done", n: message.n, message: "The host has run its command" });
    } else {
      if (message.t === "start" || message.t === "restart") this.#run(message.id);
      if (message.t === "restart") this.change(message.id, { lastLines: ["GPU 0: CUDA error 999"] });
      if (message.t === "stop") this.change(message.id, { ...stopped(message.id) });
      if (message.t === "confirm") this.#run(message.id);
      this.send({ t: "done", n: message.n });
    }
  }

  #want(programs: readonly Program[]): void {
    const before = new Map(this.programs.map((program) => [program.id, JSON.stringify(program)]));
    this.programs = programs;
    for (const program of programs) {
      const { id, running } = program;
      const runs = this.states.get(id)?.status === "running";
      const isOther = before.has(id) && before.get(id) !== JSON.stringify(program);
      // A download waits for its checksum while other programs change.
      if (this.states.get(id)?.status === "confirming" && !isOther) continue;
      const isKept = this.#options.keepsFailed === true && this.states.get(id)?.status === "failed" && !isOther;
      if (running && (!runs || isOther) && !isKept && this.#options.refusesStart === undefined) this.#run(id);
      else if (!running && this.states.get(id)?.status !== "stopped") this.change(id, stopped(id));
    }
  }

  #run(id: number): void {
    const api = this.#options.api?.(id) ?? null;
    this.change(id, {
      status: "running",
      pid: 4711,
      startedAt: (this.#options.now ?? Date.now)(),
      message: null,
      lastLines: [],
      apiPort: api?.port ?? null,
      apiToken: api?.token ?? null,
      starts: (this.states.get(id)?.starts ?? 0) + 1,
    });
  }

  #command(n: number, program: Program): void {
    const error = this.#options.refuses?.(program) ?? null;
    if (error !== null) this.send({ t: "done", n, error });
    else this.send({ t: "done", n, command: ["/opt/program", program.algorithm, "***"] });
  }

  #open(channel: number, id: number): void {
    const api = this.#options.api?.(id);
    if (!api) {
      this.send({ t: "closed", channel, error: "ECONNREFUSED" });
      return;
    }
    const socket = connect(api.port, api.host ?? "127.0.0.1");
    this.#channels.set(channel, socket);
    let error: string | undefined;
    socket.on("data", (bytes) => this.sendRaw(frameOf(channel, bytes)));
    socket.on("error", ({ code }: NodeJS.ErrnoException) => {
      error = code ?? "EPIPE";
    });
    socket.on("close", () => {
      this.#channels.delete(channel);
      if (this.#socket.readyState === WebSocket.OPEN)
        this.send({ t: "closed", channel, ...(error === undefined ? {} : { error }) });
    });
  }

  #frame(bytes: Buffer): void {
    const frame = parseFrame(bytes);
    if (frame !== null) this.#channels.get(frame.channel)?.write(frame.bytes);
  }
}
