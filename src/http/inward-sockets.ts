import { type IncomingMessage, type RequestListener, type Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import type { z } from "zod";
import { gatherWrites, Liveness } from "../async/index.ts";
import { agentMessageBytes, agentPath } from "../contract/agent.ts";
import type { InwardConnection, InwardReceiver } from "../contract/agent-connection.ts";
import { frameOf, parseFrame } from "../contract/agent-frames.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { sitePath } from "../contract/site-connection.ts";
import { pathOf } from "./paths.ts";
import { type WriteLimits, writeRateLimit } from "./write-rate-limit.ts";

/** ms without data after which a program is pinged; without an answer for the same time it is disconnected. */
const silenceMs = 10_000;
/** ms for a program to introduce itself. */
const helloTimeoutMs = 10_000;
/** Bytes that a program may leave unread. */
const unreadBytes = 16_000_000;
/** Close codes of a WebSocket (RFC 6455, 7.4). */
const closeCodes = { away: 1001, refused: 1008 } as const;

/** The connection of a request that is to become a WebSocket, with the bytes that followed the head. */
export interface Upgrade {
  readonly socket: Duplex;
  readonly head: Buffer;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

const paths: ReadonlySet<string> = new Set([agentPath, sitePath]);

/**
 * Whether a request asks for the WebSocket of an agent or a site. Other upgrade requests, such as to h2c, are answered as
 * plain HTTP.
 */
export const wantsSocket = ({ url = "", headers }: IncomingMessage): boolean =>
  paths.has(pathOf(url).toLowerCase().replace(/\/$/, "")) && headers.upgrade?.toLowerCase() === "websocket";

/**
 * Passes upgrade requests to the app, so that the same checks apply and refusals have the same form. `release`: called with
 * a connection that no longer carries HTTP.
 */
export function routeUpgrades(server: Server, route: RequestListener, release: (socket: Duplex) => void): void {
  takeUpgrades(server, release, (request, response, upgrade) => {
    if (upgrade !== null) upgrades.set(request, upgrade);
    route(request, response);
  });
}

/** Has upgrade requests answered; `upgrade`: null for one that `wantsSocket` does not take. */
export function takeUpgrades(
  server: Server,
  release: (socket: Duplex) => void,
  answer: (request: IncomingMessage, response: ServerResponse, upgrade: Upgrade | null) => void,
): void {
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    release(socket);
    socket.on("error", () => socket.destroy());
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    // The types allow only sockets of the server's own requests.
    Reflect.apply(response.assignSocket, response, [socket]);
    response.on("finish", () => socket.end());
    // Before Node 24.9 other upgrade requests arrive here too; their bodies can no longer be read.
    if (wantsSocket(request)) answer(request, response, { socket, head });
    else if (request.method === "GET" || request.method === "HEAD") answer(request, response, null);
    else socket.destroy();
  });
}

/** A WebSocket that programs open with a token, which admission has checked. */
export interface InwardRoute<In, Out> {
  readonly path: string;
  /** Such as "a host's agent", for messages. */
  readonly whose: string;
  /** Limits for the messages of one program; `bytesPerMessage` of each count as a further one. */
  readonly limits: WriteLimits & { readonly bytesPerMessage: number };
  readonly message: z.ZodType<In>;
  /** Of the answer that opens it, besides its own. */
  readonly headers: readonly string[];
  /** The digest of the token of a request. */
  readonly tokenOf: (request: FastifyRequest) => string | undefined;
  /** Undefined: the token was revoked in the meantime. */
  readonly take: (token: string, connection: InwardConnection<Out>) => InwardReceiver<In> | undefined;
  /** Called once for each token. */
  readonly tooMuch: (limit: string) => void;
  /** A connection has failed. */
  readonly failed: (reason: string) => void;
}

export function addInwardRoute<In, Out>(app: FastifyInstance, route: InwardRoute<In, Out>): void {
  const { limits } = route;
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: agentMessageBytes,
    perMessageDeflate: false,
  });
  sockets.on("headers", (headers) => headers.push(...route.headers));
  const open = new Set<InwardSocket<In, Out>>();
  // By token, so that a new connection does not start with a new allowance.
  const rate = writeRateLimit(limits);
  const limited = new Set<string>();
  const tooMuch = `more than ${limits.writesPerSecond} messages or ${(limits.writesPerSecond * limits.bytesPerMessage) / 1e6} MB a second`;
  const mayTake = (token: string, bytes: number): boolean => {
    if (rate.charge(token, 1 + bytes / limits.bytesPerMessage) === 0) return true;
    if (!limited.has(token)) route.tooMuch(tooMuch);
    limited.add(token);
    return false;
  };
  app.route({
    method: "GET",
    url: route.path,
    handler: (request, reply) => {
      const upgrade = upgrades.get(request.raw);
      const token = route.tokenOf(request);
      if (upgrade === undefined || token === undefined)
        throw new RigbridgeError("input.invalid", `This path accepts only the WebSocket of ${route.whose}`);
      reply.hijack();
      // The response was assigned to the connection only for a refusal.
      Reflect.apply(reply.raw.detachSocket, reply.raw, [upgrade.socket]);
      sockets.handleUpgrade(request.raw, upgrade.socket, upgrade.head, (socket) => {
        const connection = new InwardSocket<In, Out>(socket, {
          route,
          tooMuch,
          mayTake: (bytes) => mayTake(token, bytes),
          onClose: () => open.delete(connection),
          carrier: upgrade.socket,
        });
        open.add(connection);
        connection.serve(route.take(token, connection));
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

interface SocketOptions<In, Out> {
  readonly route: InwardRoute<In, Out>;
  readonly tooMuch: string;
  /** The connection below the WebSocket. */
  readonly carrier: Duplex;
  /** Counts a message of this size; false if there were too many. */
  readonly mayTake: (bytes: number) => boolean;
  readonly onClose: () => void;
}

class InwardSocket<In, Out> implements InwardConnection<Out> {
  readonly #socket: WebSocket;
  readonly #options: SocketOptions<In, Out>;
  #receiver: InwardReceiver<In> | undefined;
  readonly #liveness: Liveness;
  /** Opens a channel and sends its request in one write. */
  readonly #gather: () => void;

  constructor(socket: WebSocket, options: SocketOptions<In, Out>) {
    this.#socket = socket;
    this.#options = options;
    this.#liveness = new Liveness(() => socket.ping());
    this.#gather = gatherWrites(options.carrier, setImmediate);
  }

  /** Undefined: the token was revoked in the meantime. */
  serve(receiver: InwardReceiver<In> | undefined): void {
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
    socket.on("error", (error) => this.#options.route.failed(error.message));
    socket.on("close", (code, reason) => {
      clearTimeout(waiting);
      this.#options.onClose();
      this.#receiver?.closed({ code, reason: reason.toString() });
      this.#receiver = undefined;
    });
    if (receiver === undefined) this.close("its token was revoked");
  }

  send(message: Out): void {
    this.#write(JSON.stringify(message));
  }

  sendFrame(channel: number, bytes: Uint8Array): void {
    this.#write(frameOf(channel, bytes));
  }

  close(reason: string, why: keyof typeof closeCodes = "refused"): void {
    const socket = this.#socket;
    socket.close(closeCodes[why], reason);
    // Do not wait for a program that does not close its side or does not read.
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
    this.close(`it sends ${this.#options.tooMuch}`);
    return false;
  }

  #takeFrame(bytes: Buffer): void {
    const frame = parseFrame(bytes);
    if (frame === null) this.close("a frame without a channel arrived");
    else this.#receiver?.frame(frame.channel, frame.bytes);
  }

  #takeMessage(bytes: Buffer): void {
    const message = this.#options.route.message.safeParse(jsonOf(bytes));
    if (message.success) this.#receiver?.message(message.data);
    else this.close("a message did not follow the protocol");
  }
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
