import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import { gatherWrites, Liveness } from "../async/index.ts";
import { agentMessageBytes, agentPath, FromAgent } from "../contract/agent.ts";
import type { AgentConnection, AgentReceiver } from "../contract/agent-connection.ts";
import { frameOf, parseFrame } from "../contract/agent-frames.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";
import { pathOf } from "./paths.ts";
import { type WriteLimits, writeRateLimit } from "./write-rate-limit.ts";

/** ms without data after which an agent is pinged; without an answer for the same time it is disconnected. */
const silenceMs = 10_000;
/** ms for an agent to introduce itself. */
const helloTimeoutMs = 10_000;
/** Bytes that an agent may leave unread. */
const unreadBytes = 16_000_000;
/**
 * Limits for the messages of one agent, with `bytesPerMessage` of each counted as a further one. An agent with 20
 * programs that are read every second sends less than 100 a second; a host reports 12 GPUs in 6 kB.
 */
const messageLimits: WriteLimits = { writeBurst: 5_000, writesPerSecond: 1_000 };
const bytesPerMessage = 10_000;
/** Close codes of a WebSocket (RFC 6455, 7.4). */
const closeCodes = { away: 1001, refused: 1008 } as const;

/** Requests whose connection is to become a WebSocket, with the bytes that followed the head. */
const upgrades = new WeakMap<IncomingMessage, { readonly socket: Duplex; readonly head: Buffer }>();

/**
 * Whether a request asks for the WebSocket of an agent. Other upgrade requests, such as to h2c, are answered as plain
 * HTTP.
 */
export const wantsAgentSocket = ({ url = "", headers }: IncomingMessage): boolean =>
  pathOf(url).toLowerCase().replace(/\/$/, "") === agentPath && headers.upgrade?.toLowerCase() === "websocket";

/**
 * Passes upgrade requests to the app, so that the same checks apply and refusals have the same form. `release`: called with
 * a connection that no longer carries HTTP.
 */
export function routeUpgrades(server: Server, app: () => FastifyInstance, release: (socket: Duplex) => void): void {
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    release(socket);
    socket.on("error", () => socket.destroy());
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    // The types allow only sockets of the server's own requests.
    Reflect.apply(response.assignSocket, response, [socket]);
    response.on("finish", () => socket.end());
    // Before Node 24.9 other upgrade requests arrive here too; their bodies can no longer be read.
    if (wantsAgentSocket(request)) upgrades.set(request, { socket, head });
    else if (request.method !== "GET" && request.method !== "HEAD") {
      socket.destroy();
      return;
    }
    app().routing(request, response);
  });
}

interface Options {
  readonly service: Pick<MiningService, "takeAgent">;
  readonly log: FastifyBaseLogger;
}

/** The WebSocket of host agents. Admission has checked the token. */
export function addAgentRoute(app: FastifyInstance, { service, log }: Options): void {
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: agentMessageBytes,
    perMessageDeflate: false,
  });
  const open = new Set<AgentSocket>();
  // By token, so that a new connection does not start with a new allowance.
  const rate = writeRateLimit(messageLimits);
  const limited = new Set<string>();
  const mayTake = (agent: string, bytes: number): boolean => {
    if (rate.charge(agent, 1 + bytes / bytesPerMessage) === 0) return true;
    if (!limited.has(agent)) log.warn(`The agent of a host sends too much: ${tooMuch}; its connection is ended`);
    limited.add(agent);
    return false;
  };
  app.route({
    method: "GET",
    url: agentPath,
    handler: (request, reply) => {
      const upgrade = upgrades.get(request.raw);
      const { agent } = request.admitted;
      if (upgrade === undefined || agent === undefined)
        throw new RigbridgeError("input.invalid", "This path accepts only the WebSocket of a host's agent");
      reply.hijack();
      // The response was assigned to the connection only for a refusal.
      Reflect.apply(reply.raw.detachSocket, reply.raw, [upgrade.socket]);
      sockets.handleUpgrade(request.raw, upgrade.socket, upgrade.head, (socket) => {
        const connection = new AgentSocket(socket, {
          log,
          mayTake: (bytes) => mayTake(agent, bytes),
          onClose: () => open.delete(connection),
          carrier: upgrade.socket,
        });
        open.add(connection);
        connection.serve(service.takeAgent?.(agent, connection));
      });
      return reply;
    },
  });
  const pinging = setInterval(() => {
    for (const each of open) each.checkAlive();
  }, silenceMs).unref();
  app.addHook("preClose", (done) => {
    clearInterval(pinging);
    for (const each of open) each.close("the service stops", "away");
    done();
  });
}

const { writesPerSecond } = messageLimits;
const tooMuch = `more than ${writesPerSecond} messages or ${(writesPerSecond * bytesPerMessage) / 1e6} MB a second`;

interface SocketOptions {
  readonly log: FastifyBaseLogger;
  /** The connection below the WebSocket. */
  readonly carrier: Duplex;
  /** Counts a message of this size; false if there were too many. */
  readonly mayTake: (bytes: number) => boolean;
  readonly onClose: () => void;
}

class AgentSocket implements AgentConnection {
  readonly #socket: WebSocket;
  readonly #options: SocketOptions;
  #receiver: AgentReceiver | undefined;
  readonly #liveness: Liveness;
  /** Opens a channel and sends its request in one write. */
  readonly #gather: () => void;

  constructor(socket: WebSocket, options: SocketOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#liveness = new Liveness(() => socket.ping());
    this.#gather = gatherWrites(options.carrier, setImmediate);
  }

  /** Undefined: the token was revoked in the meantime. */
  serve(receiver: AgentReceiver | undefined): void {
    const socket = this.#socket;
    this.#receiver = receiver;
    const waiting = setTimeout(() => this.close("it did not introduce itself in time"), helloTimeoutMs);
    socket.once("message", () => clearTimeout(waiting));
    socket.on("message", (bytes: Buffer, isBinary) => {
      this.#liveness.received();
      if (!this.#mayTake(bytes.length)) return;
      if (isBinary) this.#takeFrame(bytes);
      else this.#takeMessage(bytes);
    });
    socket.on("ping", () => {
      this.#liveness.received();
      this.#mayTake(0);
    });
    socket.on("pong", this.#liveness.received);
    // A message that is too long or violates the protocol; the socket closes itself then.
    socket.on("error", (error) => this.#options.log.info({ reason: error.message }, "an agent's connection failed"));
    socket.on("close", () => {
      clearTimeout(waiting);
      this.#options.onClose();
      this.#receiver?.closed();
      this.#receiver = undefined;
    });
    if (receiver === undefined) this.close("its token was revoked");
  }

  send(message: Parameters<AgentConnection["send"]>[0]): void {
    this.#write(JSON.stringify(message));
  }

  sendFrame(channel: number, bytes: Uint8Array): void {
    this.#write(frameOf(channel, bytes));
  }

  close(reason: string, why: keyof typeof closeCodes = "refused"): void {
    const socket = this.#socket;
    socket.close(closeCodes[why], reason);
    // Do not wait for an agent that does not close its side or does not read.
    setTimeout(() => socket.terminate(), 1_000).unref();
    // Messages that still arrive are ignored.
    const receiver = this.#receiver;
    this.#receiver = undefined;
    receiver?.closed();
  }

  checkAlive(): void {
    if (!this.#liveness.check()) this.#socket.terminate();
  }

  #write(bytes: string | Buffer): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > unreadBytes) this.#socket.terminate();
    else {
      this.#gather();
      this.#socket.send(bytes);
    }
  }

  /** Whether a message is accepted; none is on a connection that is being closed. */
  #mayTake(bytes: number): boolean {
    if (this.#receiver === undefined) return false;
    if (this.#options.mayTake(bytes)) return true;
    this.close(`it sends ${tooMuch}`);
    return false;
  }

  #takeFrame(bytes: Buffer): void {
    const frame = parseFrame(bytes);
    if (frame === null) this.close("a frame without a channel arrived");
    else this.#receiver?.frame(frame.channel, frame.bytes);
  }

  #takeMessage(bytes: Buffer): void {
    const message = readMessage(bytes);
    if (message === undefined) this.close("a message did not follow the protocol");
    else this.#receiver?.message(message);
  }
}

function readMessage(bytes: Buffer): FromAgent | undefined {
  try {
    return FromAgent.safeParse(JSON.parse(bytes.toString())).data;
  } catch {
    return undefined;
  }
}
