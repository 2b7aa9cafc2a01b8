import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { FairShare } from "./fair-share.ts";

export interface QueueLimits {
  /** Bytes of memory that requests behind an unanswered one may take. */
  readonly pipelinedBytes: number;
  /** ms after which a reader that takes nothing is cut off. */
  readonly stallTimeout: number;
  /** ms between two looks at the readers. */
  readonly checkInterval: number;
}

/** Ends the head of a request. */
const headEnd = "\r\n\r\n";
/** Bytes of a body that the parser is given at a time; what comes behind the body may be among them. */
const portion = 4096;
/** What a connection whose client sends ahead may hold: Node's buffer for reading, twice, and some parsed requests. */
const ahead = 160 * 1024;

/**
 * One request of a connection is answered at a time. What a client sends behind it (pipelining) is neither parsed nor
 * worked on before its turn has come: it stays bytes in the connection's buffer, and beyond that with the client.
 */
export class RequestQueues {
  readonly #limits: QueueLimits;
  readonly #room: FairShare;
  readonly #lines = new Map<Duplex, ConnectionQueue>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    this.#room = new FairShare(limits.pipelinedBytes);
  }

  /** Takes over the requests of a server that nobody else listens to. */
  serve(server: Server, handle: RequestListener): void {
    server.on("connection", (socket: Socket) => {
      this.#lines.set(socket, new ConnectionQueue(socket, handle, this.#room));
      socket.once("close", () => this.#lines.delete(socket));
    });
    // Without the last two, a client is told to send its body before anybody has looked at the request.
    for (const event of ["request", "checkContinue", "checkExpectation"])
      server.on(event, (request: IncomingMessage, response: ServerResponse) =>
        this.#lines.get(request.socket)?.add(request, response),
      );
    this.#timer = setInterval(() => {
      for (const line of this.#lines.values()) line.look(this.#limits.stallTimeout);
    }, this.#limits.checkInterval).unref();
  }

  /** The answer that is under way on a connection. */
  current(socket: Duplex): ServerResponse | undefined {
    return this.#lines.get(socket)?.current;
  }

  /** Nothing that waits is begun any more: a connection ends with the answer that is under way. */
  close(): void {
    clearInterval(this.#timer);
    for (const line of this.#lines.values()) line.close();
  }
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The requests of one connection. */
class ConnectionQueue {
  readonly #socket: Socket;
  readonly #handle: RequestListener;
  readonly #room: FairShare;
  readonly #parties: readonly string[];
  /** Node's own, which gives bytes to its parser. */
  readonly #parse: (bytes: Buffer) => void;
  /** Parsed together with the one that is answered. */
  #waiting: Exchange[] = [];
  #current: Exchange | undefined;
  #isAhead = false;
  #isClosing = false;
  /** Bytes that the client had taken when it was last seen to take some, and when that was. */
  #taken = 0;
  #takenAt = performance.now();

  constructor(socket: Socket, handle: RequestListener, room: FairShare) {
    this.#socket = socket;
    this.#handle = handle;
    this.#room = room;
    this.#parties = [socket.remoteAddress ?? ""];
    const [parse, ...others] = socket.listeners("data");
    if (parse === undefined || others.length > 0) throw new Error("Node's HTTP server reads its connections otherwise");
    this.#parse = (bytes) => Reflect.apply(parse, socket, [bytes]);
    socket.removeAllListeners("data").on("readable", () => this.#read());
    socket.once("close", () => {
      this.#waiting = [];
      if (this.#isAhead) this.#goAhead(false);
    });
  }

  get current(): ServerResponse | undefined {
    return this.#current?.response;
  }

  /** A request has been parsed. */
  add(request: IncomingMessage, response: ServerResponse): void {
    const exchange = { request, response };
    if (this.#current === undefined) this.#serve(exchange);
    else this.#waiting.push(exchange);
  }

  /** Cuts off a client that has not taken anything of what is written to it for so many ms. */
  look(stallTimeout: number): void {
    const taken = this.#socket.bytesWritten - this.#socket.writableLength;
    const now = performance.now();
    if (this.#socket.writableLength === 0 || taken !== this.#taken) {
      this.#taken = taken;
      this.#takenAt = now;
    } else if (now - this.#takenAt >= stallTimeout) this.#socket.destroy();
  }

  close(): void {
    this.#isClosing = true;
    this.#waiting = [];
  }

  #read(): void {
    const socket = this.#socket;
    // Where the connection may have ended without this being seen: behind nothing, or behind what was left unread.
    let mayHaveEnded = this.#isAhead || socket.readableLength === 0;
    while (socket.readableLength > 0 && this.#wantsMore()) this.#parse(this.#portion());
    const isAhead = socket.readableLength > 0 || this.#waiting.length > 0;
    mayHaveEnded &&= !isAhead;
    if (mayHaveEnded) socket.read();
    if (isAhead !== this.#isAhead) this.#goAhead(isAhead);
  }

  /**
   * One head, so that what is behind it waits as it came: a request that was parsed in part would count as one that is
   * too slow. Some of a body, or of a head that has not come wholly.
   */
  #portion(): Buffer {
    const socket = this.#socket;
    if (this.#current !== undefined) return socket.read(Math.min(portion, socket.readableLength));
    const bytes: Buffer = socket.read(socket.readableLength);
    const end = bytes.indexOf(headEnd) + headEnd.length;
    if (end < headEnd.length || end === bytes.length) return bytes;
    socket.unshift(bytes.subarray(end));
    return bytes.subarray(0, end);
  }

  /** Between two requests, and as long as the one under way is not complete nor answered too early. */
  #wantsMore(): boolean {
    if (!this.#socket.writable) return false;
    if (this.#current === undefined) return !this.#isClosing;
    const { request, response } = this.#current;
    return !request.complete && !response.headersSent;
  }

  #serve(exchange: Exchange): void {
    this.#current = exchange;
    exchange.response.on("close", this.#ended);
    this.#handle(exchange.request, exchange.response);
  }

  /** Others have their turn before the next one of this connection. */
  readonly #ended = (): void => {
    if (this.#isAhead) setImmediate(this.#next);
    else this.#next();
  };

  readonly #next = (): void => {
    this.#current = undefined;
    if (!this.#socket.writable) return;
    if (this.#isClosing) {
      this.#socket.destroySoon();
      return;
    }
    const next = this.#waiting.shift();
    if (next !== undefined) this.#serve(next);
    if (this.#isAhead) this.#read();
  };

  /** Who sends ahead where there is no room for it is cut off. */
  #goAhead(isAhead: boolean): void {
    if (isAhead && !this.#room.fits(this.#parties, ahead)) {
      this.#socket.destroy();
      return;
    }
    this.#isAhead = isAhead;
    if (isAhead) this.#room.take(this.#parties, ahead);
    else this.#room.give(this.#parties, ahead);
  }
}
