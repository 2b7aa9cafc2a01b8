import { Agent, request as ask, type ClientRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Duplex, pipeline } from "node:stream";
import type { Upgrade } from "./inward-sockets.ts";
import { passedOnHeader, passedOnText } from "./passed-on.ts";

/** A request of a client, and the connection below it where it asks for a WebSocket. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly upgrade: Upgrade | null;
}

export interface Destination {
  /** `http://` with a host and a port. */
  readonly address: string;
  /** What the other service proves by it that the client's address is true. */
  readonly secret: string;
}

/** ms for a connection to the other service, which is in the same network. */
const connectMs = 2_000;

/**
 * Connections to another service, one for each connection of a client: so a client's requests stay in their order, and
 * the other service knows whose a connection is. They end with that of the client.
 */
export class Connections {
  readonly #agents = new WeakMap<Socket, Agent>();
  readonly #longestBody: number;

  /** `longestBody`: bytes; the other service refuses a longer one before it reads it. */
  constructor(longestBody: number) {
    this.#longestBody = longestBody;
  }

  /**
   * Sends a request to the other service, and its answer to the client. `failed`: it could not be sent. What breaks off
   * later breaks off for the client too.
   */
  passOn(exchange: Exchange, { address, secret }: Destination, failed: (error: Error) => void): void {
    const { request, response, upgrade } = exchange;
    const { hostname: host, port } = new URL(address);
    const client = request.socket.remoteAddress ?? "";
    const passed = ask({
      host: host.replace(/^\[(.*)\]$/, "$1"),
      port: Number(port) || 80,
      agent: upgrade === null ? this.#agentOf(request.socket) : false,
      method: request.method,
      path: request.url,
      setHost: false,
      headers: [
        ...endToEnd(request, ofRequest),
        ...(upgrade === null ? [] : ["connection", "Upgrade", "upgrade", "websocket"]),
        passedOnHeader,
        passedOnText(secret, client, request),
      ],
    });
    // Without a length there is no body.
    passed.useChunkedEncodingByDefault = false;
    let isConnected = false;
    passed.on("socket", (socket) => {
      isConnected = !socket.connecting;
      if (isConnected) return;
      const late = setTimeout(() => socket.destroy(new Error(`no connection within ${connectMs} ms`)), connectMs);
      socket.once("connect", () => {
        isConnected = true;
      });
      for (const event of ["connect", "close"]) socket.once(event, () => clearTimeout(late));
    });
    passed.on("error", (error) => {
      // Its client has left.
      if (response.closed) return;
      if (!isConnected) failed(error);
      // An answer that has begun may still arrive in full: it can come before the request was read.
      else if (!response.headersSent) request.socket.destroy();
    });
    passed.on("continue", () => response.writeContinue());
    passed.on("response", (answer) => {
      response.sendDate = false;
      if (answer.headers.connection === "close") response.shouldKeepAlive = false;
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer, ofAnswer));
      pipeline(answer, response, (error) => {
        if (error !== undefined && error !== null) response.destroy();
      });
    });
    passed.on("upgrade", (answer, socket, head) => {
      if (upgrade === null) socket.destroy();
      else this.#join(upgrade, response, { answer, socket, head });
    });
    response.on("close", () => {
      if (!response.writableFinished) passed.destroy();
    });
    if (upgrade === null) this.#sendBody(request, passed);
    else passed.end();
  }

  /** Stops where the other service refuses it, because a connection that breaks off under a body loses the refusal. */
  #sendBody(request: IncomingMessage, passed: ClientRequest): void {
    const isTooLong = Number(request.headers["content-length"]) > this.#longestBody;
    if (isTooLong || request.headers.expect !== undefined) passed.flushHeaders();
    if (isTooLong) return;
    let sent = 0;
    request.on("data", ({ length }: Buffer) => {
      sent += length;
      if (sent > this.#longestBody) request.unpipe(passed);
    });
    request.pipe(passed);
  }

  #agentOf(client: Socket): Agent {
    const known = this.#agents.get(client);
    if (known !== undefined) return known;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    this.#agents.set(client, agent);
    client.once("close", () => agent.destroy());
    return agent;
  }

  #join(
    client: Upgrade,
    response: ServerResponse,
    { answer, socket, head }: { readonly answer: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
  ): void {
    // It was assigned to the connection only for a refusal.
    Reflect.apply(response.detachSocket, response, [client.socket]);
    const lines = [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`];
    for (let at = 0; at < answer.rawHeaders.length; at += 2)
      lines.push(`${answer.rawHeaders[at]}: ${answer.rawHeaders[at + 1]}`);
    client.socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    client.socket.write(head);
    socket.write(client.head);
    for (const [end, other] of [
      [client.socket, socket],
      [socket, client.socket],
    ] as const) {
      end.on("error", () => end.destroy());
      end.once("close", () => other.destroy());
      end.pipe(other);
    }
  }
}

/** Headers between two neighbours only (RFC 9110, 7.6.1). */
const ofConnection = ["connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade"] as const;
/** Those of a request frame its body, so they stay whatever its Connection header names. */
const ofRequest: ReadonlySet<string> = new Set([...ofConnection, passedOnHeader]);
/** The body of an answer is framed again, as its reader's version of HTTP needs it. */
const ofAnswer: ReadonlySet<string> = new Set([...ofConnection, "transfer-encoding"]);

const endToEnd = ({ rawHeaders }: IncomingMessage, without: ReadonlySet<string>): string[] =>
  rawHeaders.filter((_, at) => !without.has(rawHeaders[at - (at % 2)]?.toLowerCase() ?? ""));
