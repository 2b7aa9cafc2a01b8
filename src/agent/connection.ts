import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { BlockList, isIP } from "node:net";
import type { Logger } from "pino";
import { WebSocket } from "ws";
import { type BackOff, backOff, gatherWrites, Liveness } from "../async/index.ts";
import { agentMessageBytes, agentPath, type FromAgent, ToAgent } from "../contract/agent.ts";
import { frameOf, parseFrame } from "../contract/agent-frames.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import type { ServiceLink, ServiceReceiver } from "./agent.ts";

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

/** ms that a message waits for others: a program closes its connection soon after its answer. */
const gatheringMs = 1;

/** RFC 1918, RFC 4193, loopback and link-local. */
const nearby = new BlockList();
for (const [network, prefix] of [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
] as const)
  nearby.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of [
  ["::1", 128],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  nearby.addSubnet(network, prefix, "ipv6");

const isNearby = (address: string): boolean => nearby.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

const needsTls = (host: string): RigbridgeError =>
  new RigbridgeError(
    "config.invalid",
    `The service at ${host} is outside this host's private networks, so its address must begin with https://; ` +
      "--insecure would send the token unencrypted",
  );

/** Throws `config.invalid` if the token would be sent in the clear beyond private networks. Names are checked later. */
export function checkService({
  service,
  insecure,
}: Pick<ConnectionOptions, "insecure"> & { readonly service: URL }): void {
  const host = service.hostname.replace(/^\[|\]$/g, "");
  if (service.protocol === "http:" && !insecure && isIP(host) !== 0 && !isNearby(host)) throw needsTls(host);
}

/** Keeps a connection to the service open, and reconnects after a delay that differs between agents. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #limits: ConnectionLimits;
  readonly #closing = new AbortController();
  readonly #take: (link: ServiceLink) => ServiceReceiver;
  /** The last failure that was logged, by address. */
  readonly #logged = new Map<URL, string>();

  constructor(options: ConnectionOptions, take: (link: ServiceLink) => ServiceReceiver) {
    for (const service of options.services) checkService({ ...options, service });
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

  #logOnce({ reason, isRefused }: End, service: URL): void {
    const { log } = this.#options;
    if (this.#logged.get(service) === reason) return;
    this.#logged.set(service, reason);
    if (isRefused) log.error(`The service at ${service.host} refuses this agent (${reason}); programs keep running`);
    else
      log.warn(
        `No connection to the service at ${service.host} (${reason}); programs keep running, and the agent tries again`,
      );
  }

  /** Resolves when the connection has ended. */
  #connect(service: URL): Promise<End> {
    const { token, ca, insecure, log } = this.#options;
    const { handshakeMs, silenceMs } = this.#limits;
    const { promise, resolve } = Promise.withResolvers<End>();
    const socket = new WebSocket(socketAddress(service), {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: handshakeMs,
      maxPayload: agentMessageBytes,
      perMessageDeflate: false,
      followRedirects: false,
      rejectUnauthorized: !insecure,
      ...(ca === null ? {} : { ca }),
      ...(service.protocol === "http:" && !insecure ? { lookup: nearbyLookup } : {}),
    });
    const abort = (): void => socket.close(1001);
    this.#closing.signal.addEventListener("abort", abort);
    let receiver: ServiceReceiver | null = null;
    let checking: NodeJS.Timeout | undefined;
    const liveness = new Liveness(() => socket.ping());
    let reason = "";
    let isRefused = false;
    let gather = (): void => undefined;
    socket
      .on("upgrade", ({ socket: carrier }) => {
        gather = gatherWrites(carrier, (send) => setTimeout(send, gatheringMs));
      })
      .on("open", () => {
        log.info(`Connected to the service at ${service.host}`);
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
        else takeMessage(bytes, receiver, socket, log);
      })
      .on("unexpected-response", (request, response) => {
        const status = response.statusCode ?? 0;
        isRefused = [401, 403, 404].includes(status);
        reason = refusals[status] ?? `HTTP status ${status}`;
        request.destroy();
        resolve({ wasOpen: false, isRefused, reason });
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
        resolve({ wasOpen: receiver !== null, isRefused: isRefused || code === 1008, reason: reason || closeReason });
      });
    if (this.#closing.signal.aborted) socket.terminate();
    return promise;
  }
}

interface End {
  readonly wasOpen: boolean;
  readonly isRefused: boolean;
  readonly reason: string;
}

const refusals: Readonly<Record<number, string>> = {
  401: "the token is wrong or was revoked; create another one with `rigbridge agent token`",
  403: "the token is not accepted from this address",
  404: "there is no Rigbridge with support for agents at this address",
  426: "a proxy between agent and service does not pass WebSockets",
};

class SocketLink implements ServiceLink {
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

  send(message: FromAgent): void {
    this.#write(JSON.stringify(message));
  }

  sendFrame(channel: number, bytes: Buffer): void {
    this.#write(frameOf(channel, bytes));
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

function takeFrame(bytes: Buffer, receiver: ServiceReceiver): void {
  const frame = parseFrame(bytes);
  if (frame !== null) receiver.frame(frame.channel, frame.bytes);
}

function takeMessage(bytes: Buffer, receiver: ServiceReceiver, socket: WebSocket, log: Logger): void {
  const value = jsonOf(bytes);
  const message = ToAgent.safeParse(value);
  if (message.success) {
    receiver.message(message.data);
    return;
  }
  // A message of a newer service, ignored as a whole.
  log.warn("The service has sent a message that this agent does not understand; it may need an update");
  if (!isRecord(value) || typeof value.n !== "number") return;
  const error = {
    code: "service.unsupported",
    message: "The agent of the host does not know this request; update the agent",
  };
  const answer: FromAgent = { t: "done", n: value.n, error };
  socket.send(JSON.stringify(answer));
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}

function socketAddress(service: URL): URL {
  const address = new URL(service);
  address.protocol = service.protocol === "https:" ? "wss:" : "ws:";
  address.pathname = `${service.pathname.replace(/\/$/, "")}${agentPath}`;
  return address;
}

type Found = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/** The system's resolver, limited to nearby addresses: the token must not be sent in the clear to others. */
function nearbyLookup(host: string, options: LookupOptions, found: Found): void {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    const foreign = error === null && addresses.some(({ address }) => !isNearby(address));
    const first = addresses?.[0];
    if (error !== null || first === undefined) found(error ?? new Error("no address"), "");
    else if (foreign) found(needsTls(host), "");
    else if (options.all) found(null, addresses);
    else found(null, first.address, first.family);
  });
}

const reasonOf = (error: Error): string =>
  error instanceof RigbridgeError || !("code" in error) ? printable(error.message) : String(error.code);

const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, "").slice(0, 300);
