import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TurnQueue } from "../async/index.ts";
import { FairShare } from "./fair-share.ts";

export interface QueueLimits {
  /** Bytes of memory for requests behind an unanswered one. */
  readonly pipelinedBytes: number;
  /** ms after which a reader that reads nothing is cut off. */
  readonly stallTimeout: number;
  /** ms between two checks of the readers. */
  readonly checkInterval: number;
  /** How many ms longer, and for how many bytes, a connection is read after its last answer; and while nothing comes. */
  readonly lingerTimeout: number;
  readonly lingerIdle: number;
  readonly lingerBytes: number;
}

/** Ends the head of a request. */
const headEnd = "\r\n\r\n";
/** Bytes of a body per call of the parser; they may include what follows the body. */
const portion = 4096;
/** Bytes that a pipelining connection may hold: twice Node's read buffer, and some parsed requests. */
const ahead = 160 * 1024;

/**
 * Answers one request of a connection at a time. Pipelined requests are neither parsed nor processed before that: they
 * stay in the connection's buffer and, if that is full, with the client.
 */
export class RequestQueues {
  readonly #limits: QueueLimits;
  readonly #room: FairShare;
  readonly #lines = new Map<Duplex, ConnectionQueue>();
  readonly #turns = new TurnQueue();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    this.#room = new FairShare(limits.pipelinedBytes);
  }

  /** Takes over the requests of a server that has no other listener. */
  serve(server: Server, handle: RequestListener): void {
    server.on("connection", (socket: Socket) => {
      this.#lines.set(
        socket,
        new ConnectionQueue(socket, { handle, room: this.#room, turns: this.#turns, limits: this.#limits }),
      );
      socket.once("close", () => this.#lines.delete(socket));
    });
    // Without the last two, Node asks a client to send its body before the request has been checked.
    for (const event of ["request", "checkContinue", "checkExpectation"])
      server.on(event, (request: IncomingMessage, response: ServerResponse) =>
        this.#lines.get(request.socket)?.add(request, response),
      );
    this.#timer = setInterval(() => {
      for (const line of this.#lines.values()) line.checkProgress(this.#limits.stallTimeout);
    }, this.#limits.checkInterval).unref();
  }

  /** The response that is being answered on a connection. */
  current(socket: Duplex): ServerResponse | undefined {
    return this.#lines.get(socket)?.current;
  }

  /** Ends a connection after what is written so that its client gets that, even if it is still sending. */
  end(socket: Duplex): void {
    this.#lines.get(socket)?.linger();
  }

  /** Stops managing a connection that no longer carries HTTP, but still closes it if the peer stops reading. */
  release(socket: Duplex): void {
    this.#lines.get(socket)?.release();
  }

  /** Starts no more waiting requests: each connection ends with its current answer. */
  close(): void {
    clearInterval(this.#timer);
    for (const line of this.#lines.values()) line.close();
  }
}

/** Shared by all connections of a server. */
interface Shared {
  readonly handle: RequestListener;
  readonly room: FairShare;
  readonly turns: TurnQueue;
  readonly limits: QueueLimits;
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
  readonly #turns: TurnQueue;
  readonly #limits: QueueLimits;
  readonly #parties: readonly string[];
  /** Node's listener, which feeds its parser. */
  readonly #parse: (bytes: Buffer) => void;
  /** Parsed together with the current request. */
  #waiting: Exchange[] = [];
  #current: Exchange | undefined;
  #isAhead = false;
  #isClosing = false;
  #isReleased = false;
  /** Bytes that the client had read at the last progress, and the time of that. */
  #taken = 0;
  #takenAt = performance.now();

  constructor(socket: Socket, { handle, room, turns, limits }: Shared) {
    this.#socket = socket;
    this.#handle = handle;
    this.#room = room;
    this.#turns = turns;
    this.#limits = limits;
    this.#parties = [socket.remoteAddress ?? ""];
    const [parse, ...others] = socket.listeners("data");
    if (parse === undefined || others.length > 0)
      throw new Error("Node's HTTP server does not read its connections as expected");
    this.#parse = (bytes) => Reflect.apply(parse, socket, [bytes]);
    socket.removeAllListeners("data").on("readable", this.#read);
    const endAtOnce = socket.destroySoon.bind(socket);
    // Node calls it after the last answer.
    socket.destroySoon = () => {
      if (this.#isReleased || !this.#isSending()) endAtOnce();
      else this.linger();
    };
    socket.once("close", () => {
      this.#waiting = [];
      if (this.#isAhead) this.#goAhead(false);
    });
  }

  get current(): ServerResponse | undefined {
    return this.#current?.response;
  }

  /** Adds a parsed request. */
  add(request: IncomingMessage, response: ServerResponse): void {
    const exchange = { request, response };
    if (this.#current === undefined) this.#serve(exchange);
    else this.#waiting.push(exchange);
  }

  /** Cuts off a client that has read nothing for this many ms although there are bytes for it. */
  checkProgress(stallTimeout: number): void {
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

  release(): void {
    this.#isReleased = true;
    this.#socket.off("readable", this.#read);
  }

  /** Whether the client sends more than what has been answered. */
  #isSending(): boolean {
    return this.#current?.request.complete === false || this.#socket.readableLength > 0;
  }

  /**
   * Ends the connection, but still reads it, until the client has seen the end: bytes that a closed connection gets are
   * answered by a reset, which makes clients that are still sending lose the answer.
   */
  linger(): void {
    const socket = this.#socket;
    this.release();
    let dropped = 0;
    const cut = (): void => void socket.destroy();
    const timers = [setTimeout(cut, this.#limits.lingerTimeout), setTimeout(cut, this.#limits.lingerIdle)];
    socket.on("data", (bytes: Buffer) => {
      timers[1]?.refresh();
      dropped += bytes.length;
      if (dropped > this.#limits.lingerBytes) socket.destroy();
    });
    socket.once("end", () => socket.destroy());
    socket.once("close", () => timers.forEach(clearTimeout));
    socket.end(() => {
      if (socket.readableEnded) socket.destroy();
    });
  }

  readonly #read = (): void => {
    const socket = this.#socket;
    // The connection may have ended unnoticed, after no bytes or after unread ones.
    let mayHaveEnded = this.#isAhead || socket.readableLength === 0;
    while (socket.readableLength > 0 && this.#wantsMore()) this.#parse(this.#portion());
    if (this.#isReleased) return;
    const isAhead = socket.readableLength > 0 || this.#waiting.length > 0;
    mayHaveEnded &&= !isAhead;
    if (mayHaveEnded) socket.read();
    if (isAhead !== this.#isAhead) this.#goAhead(isAhead);
  };

  /**
   * One complete head, so that what follows stays unparsed: a partly parsed request would run into the timeout. Otherwise
   * a part of a body or of an incomplete head.
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

  /** Between two requests, and while the current one is neither complete nor already answered. */
  #wantsMore(): boolean {
    if (!this.#socket.writable || this.#isReleased) return false;
    if (this.#current === undefined) return !this.#isClosing;
    const { request, response } = this.#current;
    return !request.complete && !response.headersSent;
  }

  #serve(exchange: Exchange): void {
    this.#current = exchange;
    exchange.response.on("close", this.#ended);
    this.#handle(exchange.request, exchange.response);
  }

  /** Yields to other connections before the next request of this one. */
  readonly #ended = (): void => {
    if (this.#isAhead) this.#turns.enqueue(this.#next);
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

  /** A client that pipelines without room for it is cut off. */
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
