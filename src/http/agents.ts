import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import { agentMessageBytes, agentPath, FromAgent, frameOf, parseFrame } from "../contract/agent.ts";
import type { AgentConnection, AgentReceiver } from "../contract/agent-connection.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";
import { pathOf } from "./paths.ts";

/** ms between two pings; an agent that has not answered the last one is cut off. */
const pingIntervalMs = 15_000;
/** ms in which an agent must introduce itself. */
const helloTimeoutMs = 10_000;
/** Bytes that an agent may leave unread. */
const unreadBytes = 16_000_000;
/** Codes with which a WebSocket is closed (RFC 6455, 7.4). */
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
        const connection = new AgentSocket(socket, log, () => open.delete(connection));
        open.add(connection);
        connection.serve(service.takeAgent?.(agent, connection));
      });
      return reply;
    },
  });
  const pinging = setInterval(() => {
    for (const each of open) each.checkAlive();
  }, pingIntervalMs).unref();
  app.addHook("preClose", (done) => {
    clearInterval(pinging);
    for (const each of open) each.close("the service stops", "away");
    done();
  });
}

class AgentSocket implements AgentConnection {
  readonly #socket: WebSocket;
  readonly #log: FastifyBaseLogger;
  readonly #onClose: () => void;
  #receiver: AgentReceiver | undefined;
  #answers = true;

  constructor(socket: WebSocket, log: FastifyBaseLogger, onClose: () => void) {
    this.#socket = socket;
    this.#log = log;
    this.#onClose = onClose;
  }

  /** undefined: the token was revoked meanwhile. */
  serve(receiver: AgentReceiver | undefined): void {
    const socket = this.#socket;
    this.#receiver = receiver;
    const waiting = setTimeout(() => this.close("it did not introduce itself in time"), helloTimeoutMs);
    socket.once("message", () => clearTimeout(waiting));
    socket.on("message", (bytes: Buffer, isBinary) => {
      if (isBinary) this.#takeFrame(bytes);
      else this.#takeMessage(bytes);
    });
    socket.on("pong", () => {
      this.#answers = true;
    });
    // A message that is too long, or not of the protocol; the socket closes itself then.
    socket.on("error", (error) => this.#log.info({ reason: error.message }, "an agent's connection failed"));
    socket.on("close", () => {
      clearTimeout(waiting);
      this.#onClose();
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
    if (!this.#answers) {
      this.#socket.terminate();
      return;
    }
    this.#answers = false;
    this.#socket.ping();
  }

  #write(bytes: string | Buffer): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > unreadBytes) this.#socket.terminate();
    else this.#socket.send(bytes);
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
