import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Room } from "./room.ts";

export interface TurnLimits {
  /** Bytes of memory that requests behind an unanswered one may take. */
  readonly requestsAhead: number;
  /** ms after which a reader that takes nothing is cut off. */
  readonly stalled: number;
  /** ms between two looks at the readers. */
  readonly checkInterval: number;
}

/** Bytes that the parser is given at a time. */
const portion = 1024;
/** What a connection whose client sends ahead may hold: Node's buffer for reading, twice, and some parsed requests. */
const ahead = 160 * 1024;

/**
 * One request of a connection is answered at a time. What a client sends behind it (pipelining) is neither parsed nor
 * worked on before its turn has come: it stays bytes in the connection's buffer, and beyond that with the client.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #room: Room;
  readonly #lines = new Map<Duplex, Line>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
    this.#room = new Room(limits.requestsAhead);
  }

  /** Takes over the requests of a server that nobody else listens to. */
  serve(server: Server, handle: RequestListener): void {
    server.on("connection", (socket: Socket) => {
      this.#lines.set(socket, new Line(socket, handle, this.#room));
      socket.once("close", () => this.#lines.delete(socket));
    });
    // Without the last two, a client is told to send its body before anybody has looked at the request.
    for (const event of ["request", "checkContinue", "checkExpectation"])
      server.on(event, (request: IncomingMessage, response: ServerResponse) =>
        this.#lines.get(request.socket)?.add(request, response),
      );
    this.#timer = setInterval(() => {
      for (const line of this.#lines.values()) line.look(this.#limits.stalled);
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
class Line {
  readonly #socket: Socket;
  readonly #handle: RequestListener;
  readonly #room: Room;
  readonly #parties: readonly string[];
  /** Parsed together with the one that is answered. */
  #waiting: Exchange[] = [];
  #current: Exchange | undefined;
  #isAhead = false;
  #isClosing = false;
  /** Bytes that the client had taken when it was last seen to take some, and when that was. */
  #taken = 0;
  #takenAt = performance.now();

  constructor(socket: Socket, handle: RequestListener, room: Room) {
    this.#socket = socket;
    this.#handle = handle;
    this.#room = room;
    this.#parties = [socket.remoteAddress ?? ""];
    // With this listener Node hands bytes to its parser only when they are read below ("readable" goes before "data").
    socket.on("readable", () => this.#read());
    socket.once("close", () => {
      this.#waiting = [];
      this.#goAhead(false);
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
  look(stalled: number): void {
    const taken = this.#socket.bytesWritten - this.#socket.writableLength;
    const now = performance.now();
    if (this.#socket.writableLength === 0 || taken !== this.#taken) {
      this.#taken = taken;
      this.#takenAt = now;
    } else if (now - this.#takenAt >= stalled) this.#socket.destroy();
  }

  close(): void {
    this.#isClosing = true;
    this.#waiting = [];
  }

  #read(): void {
    const socket = this.#socket;
    while (this.#wantsMore() && socket.readableLength > 0) socket.read(Math.min(portion, socket.readableLength));
    const isAhead = socket.readableLength > 0 || this.#waiting.length > 0;
    // Without anything to read, this is how the end of the connection is seen.
    if (!isAhead) socket.read();
    this.#goAhead(isAhead);
  }

  /** Between two requests, and as long as the one under way is not complete nor answered too early. */
  #wantsMore(): boolean {
    if (this.#socket.destroyed) return false;
    if (this.#current === undefined) return !this.#isClosing;
    const { request, response } = this.#current;
    return !request.complete && !response.headersSent;
  }

  #serve(exchange: Exchange): void {
    this.#current = exchange;
    exchange.response.once("close", () => {
      // Others have their turn first.
      if (this.#isAhead) setImmediate(() => this.#next());
      else this.#next();
    });
    this.#handle(exchange.request, exchange.response);
  }

  #next(): void {
    this.#current = undefined;
    if (this.#socket.destroyed) return;
    if (this.#isClosing) {
      this.#socket.destroySoon();
      return;
    }
    const next = this.#waiting.shift();
    if (next !== undefined) this.#serve(next);
    this.#read();
  }

  /** Who sends ahead where there is no room for it is cut off; the request under way was told nothing of it. */
  #goAhead(isAhead: boolean): void {
    if (isAhead === this.#isAhead) return;
    if (isAhead && !this.#room.fits(this.#parties, ahead)) {
      this.#socket.destroy();
      return;
    }
    this.#isAhead = isAhead;
    if (isAhead) this.#room.take(this.#parties, ahead);
    else this.#room.give(this.#parties, ahead);
  }
}
