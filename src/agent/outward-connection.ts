import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Logger } from "pino";
import { WebSocket } from "ws";
import { type BackOff, backOff, gatherWrites, Liveness } from "../async/index.ts";
import { isNearby, isUnprotected } from "../config/unprotected.ts";
import { agentMessageBytes } from "../contract/agent.ts";
import { frameOf, parseFrame } from "../contract/agent-frames.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";

export interface ConnectionOptions {
  /** http: or https: addresses of the service; the first that answers is used until it does not. */
  readonly services: readonly [URL, ...URL[]];
  readonly token: string;
  /** PEM certificates of the CA that signed the service's; null for the system's. */
  readonly ca: string | null;
  /** Allows plain http to any address, and any certificate. */
  readonly insecure: boolean;
  readonly log: Logger;
  readonly limits?: Partial<ConnectionLimits>;
}

export interface ConnectionLimits {
  readonly backOff: BackOff;
  /** After a refusal; long, because a refused token rarely becomes valid. */
  readonly refusedMs: number;
  readonly handshakeMs: number;
  /**
   * ms without data after which the service is pinged; without an answer for the same time, the connection is closed.
   */
  readonly silenceMs: number;
  /** Maximum bytes waiting to be sent. */
  readonly waiting: number;
}

const connectionLimits: ConnectionLimits = {
  backOff: { firstMs: 1_000, longestMs: 4_000 },
  refusedMs: 60_000,
  handshakeMs: 10_000,
  silenceMs: 10_000,
  waiting: 16_000_000,
};

/** The connection to the service, as the program uses it. */
export interface OutwardLink<Out> {
  send(message: Out): void;
  sendFrame(channel: number, bytes: Buffer): void;
  /** Bytes waiting to be sent. */
  readonly waiting: number;
  /** Ends the connection after a violation of the protocol; it is opened again after a while. */
  end(): void;
}

/** Receives messages and bytes from the service; messages have been validated. */
export interface OutwardReceiver<In> {
  message(message: In): void;
  frame(channel: number, bytes: Buffer): void;
  closed(): void;
}

/** What a connection carries, and how the log names it. */
export interface OutwardProtocol<In, Out> {
  /** Path of the WebSocket, below the service's address. */
  readonly path: string;
  /** Undefined: the message is not known, and is ignored. */
  parse(message: unknown): In | undefined;
  /** The answer to a message that is not known; undefined: none. */
  answerUnknown(message: unknown): Out | undefined;
  /** Why the service refuses a connection with this HTTP status and code of a problem; undefined: it fails for now. */
  refusal(status: number, code: string | null): string | undefined;
  /** Why the program refuses a service that answers with these headers; null: it does not. Absent: it refuses none. */
  refuses?(headers: IncomingHttpHeaders, host: string): Refusal | null;
  /** What is wrong with an address at which the token would be sent in the clear. */
  needsTls(host: string): string;
  readonly says: {
    connected(log: Logger, host: string): void;
    refused(log: Logger, host: string, reason: string): void;
    lost(log: Logger, host: string, reason: string): void;
    unknown(log: Logger): void;
  };
}

/** Code and reason with which the program closes the WebSocket of a service that it refuses, and a sentence for the log. */
export interface Refusal {
  readonly code: number;
  readonly reason: string;
  readonly sentence: string;
}

/** ms that a message waits for others: a program closes its connection soon after its answer. */
const gatheringMs = 1;

/** Bytes of the answer of a service that refuses the connection. */
const longestRefusal = 20_000;

/** Keeps a connection to a service open, and reconnects after a delay that differs between programs. */
export class OutwardConnection<In, Out> {
  readonly #protocol: OutwardProtocol<In, Out>;
  readonly #options: ConnectionOptions;
  readonly #limits: ConnectionLimits;
  readonly #closing = new AbortController();
  readonly #take: (link: OutwardLink<Out>) => OutwardReceiver<In>;
  /** The last failure that was logged, by address. */
  readonly #logged = new Map<URL, string>();

  /** Throws `config.invalid` if the token would be sent in the clear beyond private networks. */
  constructor(
    protocol: OutwardProtocol<In, Out>,
    options: ConnectionOptions,
    take: (link: OutwardLink<Out>) => OutwardReceiver<In>,
  ) {
    for (const service of options.services)
      if (!options.insecure && isUnprotected(service))
        throw new RigbridgeError("config.invalid", protocol.needsTls(service.hostname));
    this.#protocol = protocol;
    this.#options = options;
    this.#limits = { ...connectionLimits, ...options.limits };
    this.#take = take;
    void this.#run();
  }

  close(): void {
    this.#closing.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const { backOff: usual, refusedMs } = this.#limits;
    const { services } = this.#options;
    let [service] = services;
    let refusals = 0;
    for (let failures = 1; !signal.aborted; failures += 1) {
      const end = await this.#connect(service);
      if (end.wasOpen) failures = 1;
      if (signal.aborted) return;
      this.#logOnce(end, service);
      refusals = end.isRefused ? refusals + 1 : 0;
      if (!end.wasOpen) service = services[(services.indexOf(service) + 1) % services.length] ?? service;
      const isRefusedByAll = refusals >= services.length;
      await backOff(failures, isRefusedByAll ? { firstMs: refusedMs, longestMs: refusedMs } : usual, signal);
    }
  }

  #logOnce({ reason, isRefused, refuses }: End, service: URL): void {
    const { log } = this.#options;
    const { says } = this.#protocol;
    const failure = refuses?.sentence ?? reason;
    if (this.#logged.get(service) === failure) return;
    this.#logged.set(service, failure);
    if (refuses !== null) log.error(failure);
    else if (isRefused) says.refused(log, service.host, reason);
    else says.lost(log, service.host, reason);
  }

  /** Resolves when the connection has ended. */
  #connect(service: URL): Promise<End> {
    const { token, ca, insecure, log } = this.#options;
    const { handshakeMs, silenceMs } = this.#limits;
    const protocol = this.#protocol;
    const { promise, resolve } = Promise.withResolvers<End>();
    const socket = new WebSocket(socketAddress(service, protocol.path), {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: handshakeMs,
      maxPayload: agentMessageBytes,
      perMessageDeflate: false,
      followRedirects: false,
      rejectUnauthorized: !insecure,
      ...(ca === null ? {} : { ca }),
      ...(service.protocol === "http:" && !insecure ? { lookup: nearbyLookup(protocol.needsTls) } : {}),
    });
    const abort = (): void => socket.close(1001);
    this.#closing.signal.addEventListener("abort", abort);
    let receiver: OutwardReceiver<In> | null = null;
    let checking: NodeJS.Timeout | undefined;
    const liveness = new Liveness(() => socket.ping());
    let reason = "";
    let isRefused = false;
    let refuses: Refusal | null = null;
    let gather = (): void => undefined;
    socket
      .on("upgrade", ({ socket: carrier, headers }) => {
        gather = gatherWrites(carrier, (send) => setTimeout(send, gatheringMs));
        refuses = protocol.refuses?.(headers, service.host) ?? null;
      })
      .on("open", () => {
        if (refuses !== null) {
          socket.close(refuses.code, refuses.reason);
          return;
        }
        protocol.says.connected(log, service.host);
        this.#logged.clear();
        receiver = this.#take(new SocketLink(socket, this.#limits.waiting, gather));
        checking = setInterval(() => {
          if (!liveness.check()) socket.terminate();
        }, silenceMs);
      })
      .on("ping", liveness.received)
      .on("pong", liveness.received)
      .on("message", (bytes: Buffer, isBinary) => {
        liveness.received();
        if (receiver === null) return;
        if (isBinary) takeFrame(bytes, receiver);
        else this.#takeMessage(bytes, receiver, socket);
      })
      .on("unexpected-response", async (request, response) => {
        const late = setTimeout(() => response.destroy(), handshakeMs);
        const status = response.statusCode ?? 0;
        const refusal = protocol.refusal(status, await problemCodeIn(response));
        clearTimeout(late);
        isRefused = refusal !== undefined && status !== 426;
        reason = refusal ?? `HTTP status ${status}`;
        request.destroy();
        this.#closing.signal.removeEventListener("abort", abort);
        resolve({ wasOpen: false, isRefused, refuses, reason });
      })
      .on("error", (error) => {
        if (reason === "") reason = reasonOf(error);
      })
      .on("close", (code, words) => {
        clearInterval(checking);
        this.#closing.signal.removeEventListener("abort", abort);
        receiver?.closed();
        const closeReason = printable(words.toString()) || `code ${code}`;
        // 1008: the token was revoked while the connection was open, or a message was not valid.
        isRefused ||= code === 1008 || refuses !== null;
        resolve({ wasOpen: receiver !== null, isRefused, refuses, reason: reason || closeReason });
      });
    if (this.#closing.signal.aborted) socket.terminate();
    return promise;
  }

  #takeMessage(bytes: Buffer, receiver: OutwardReceiver<In>, socket: WebSocket): void {
    const value = jsonOf(bytes);
    const message = this.#protocol.parse(value);
    if (message !== undefined) {
      receiver.message(message);
      return;
    }
    // A message of a newer service, ignored as a whole.
    this.#protocol.says.unknown(this.#options.log);
    const answer = this.#protocol.answerUnknown(value);
    if (answer !== undefined) socket.send(JSON.stringify(answer));
  }
}

interface End {
  readonly wasOpen: boolean;
  /** By either side. */
  readonly isRefused: boolean;
  /** Why the program refuses the service. */
  readonly refuses: Refusal | null;
  readonly reason: string;
}

class SocketLink<Out> implements OutwardLink<Out> {
  readonly #socket: WebSocket;
  readonly #mostWaiting: number;
  readonly #gather: () => void;

  /** `gather` is called before each write. */
  constructor(socket: WebSocket, mostWaiting: number, gather: () => void) {
    this.#socket = socket;
    this.#mostWaiting = mostWaiting;
    this.#gather = gather;
  }

  get waiting(): number {
    return this.#socket.bufferedAmount;
  }

  send(message: Out): void {
    this.#write(JSON.stringify(message));
  }

  sendFrame(channel: number, bytes: Buffer): void {
    this.#write(frameOf(channel, bytes));
  }

  end(): void {
    this.#socket.terminate();
  }

  #write(data: string | Buffer): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    // The service has stopped reading: disconnect, and start over with `hello`.
    if (this.#socket.bufferedAmount > this.#mostWaiting) this.#socket.terminate();
    else {
      this.#gather();
      this.#socket.send(data);
    }
  }
}

function takeFrame(bytes: Buffer, receiver: OutwardReceiver<unknown>): void {
  const frame = parseFrame(bytes);
  if (frame !== null) receiver.frame(frame.channel, frame.bytes);
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}

/** The code of the problem with which a Rigbridge answers; null for any other answer. */
async function problemCodeIn(response: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > longestRefusal) break;
    }
  } catch {
    // The part that has come has to suffice.
  }
  const problem = jsonOf(Buffer.concat(chunks));
  return isRecord(problem) && typeof problem.code === "string" ? problem.code : null;
}

function socketAddress(service: URL, path: string): URL {
  const address = new URL(service);
  address.protocol = service.protocol === "https:" ? "wss:" : "ws:";
  address.pathname = `${service.pathname.replace(/\/$/, "")}${path}`;
  return address;
}

type Found = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/** The system's resolver, limited to nearby addresses: the token must not be sent in the clear to others. */
const nearbyLookup =
  (needsTls: (host: string) => string) =>
  (host: string, options: LookupOptions, found: Found): void =>
    lookup(host, { ...options, all: true }, (error, addresses) => {
      const foreign = error === null && addresses.some(({ address }) => !isNearby(address));
      const first = addresses?.[0];
      if (error !== null || first === undefined) found(error ?? new Error("no address"), "");
      else if (foreign) found(new RigbridgeError("config.invalid", needsTls(host)), "");
      else if (options.all) found(null, addresses);
      else found(null, first.address, first.family);
    });

const reasonOf = (error: Error): string =>
  error instanceof RigbridgeError || !("code" in error) ? printable(error.message) : String(error.code);

const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, "").slice(0, 300);
