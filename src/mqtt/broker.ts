import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, isIP, type Server, type Socket } from "node:net";
import type { Aedes, AedesOptions, Client, PublishPacket } from "aedes";
import type { Logger } from "pino";
import { isLoopback, type MqttSettings } from "../config/mqtt.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { BrokerMemory } from "./broker-bounds.ts";
import { WholePackets } from "./whole-packets.ts";

export interface BrokerOptions {
  readonly settings: Pick<MqttSettings, "broker" | "username" | "password">;
  readonly log: Logger;
}

export interface Broker {
  /** For the bridge, like mqtt://127.0.0.1:1883. */
  readonly url: string;
  /** Closes all connections; resolves once the port is free. */
  close(): Promise<void>;
}

export const brokerLimits = {
  /** Bytes of one packet. */
  packet: 262_144,
  connections: 1_000,
  levels: 32,
  /** Bytes of the MQTT 5 properties of a message or a subscription. */
  properties: 16_384,
  /** Bytes of a CONNECT, including the will, which is kept while the client is connected; acknowledgements are shorter. */
  connect: 16_384,
  /** Bytes of all retained messages, with topics and overhead; and their number. */
  retained: 16_777_216,
  retainedMessages: 30_000,
  /** Messages with QoS 1 or 2 queued for one client, and bytes of those for all clients. */
  queue: 1_000,
  queues: 16_777_216,
  /** Time limit for a client's CONNECT. */
  loginTimeoutMs: 10_000,
  /** A subscriber that does not read for longer is disconnected, because the others wait for it. */
  drainTimeoutMs: 5_000,
  /** For clients to disconnect when the broker closes. */
  closeTimeoutMs: 1_000,
  /** How long sessions of disconnected clients are kept on request, and how many. */
  sessionExpirySeconds: 300,
  sessions: 100,
};

/**
 * A broker in this process, for homes without one: MQTT 3.1.1 and 5. Its data ends with the process; the bridge
 * publishes its retained messages again. A client with the login may publish and subscribe to any topic that does not
 * begin with `$`, since plugs, sensors and Home Assistant use it too. Throws `config.invalid` for a port in use, a
 * broker beyond loopback without a password, or a missing package.
 */
export async function startBroker({ settings, log }: BrokerOptions): Promise<Broker> {
  const { host, port } = addressOf(settings.broker);
  if (!isLoopback(host) && (settings.username === undefined || (settings.password ?? "") === ""))
    throw new RigbridgeError(
      "config.invalid",
      `mqtt.broker on ${host} is open to other machines, so it needs a login; set mqtt.username and mqtt.password`,
    );
  const { Aedes } = await loadAedes();
  const warn = rateLimited((fault: string) => log.warn(`MQTT broker: ${fault}`));
  const bounds = new BrokerMemory(brokerLimits, warn);
  const aedes = await Aedes.createBroker(aedesOptions(settings, bounds));
  bounds.guard(aedes);
  logFaults(aedes, log);
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // Until the socket belongs to a client, nothing else handles its errors.
    socket.on("error", () => socket.destroy());
    readWholePackets(socket);
    aedes.handle(socket);
  });
  server.maxConnections = brokerLimits.connections;
  server.on("drop", () => warn(`a connection is refused, because there are ${brokerLimits.connections} already`));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const end = async (): Promise<void> => {
    // A client that no longer reads would keep the socket open.
    const late = setTimeout(cut, brokerLimits.closeTimeoutMs);
    await new Promise<void>((resolve) => aedes.close(resolve));
    clearTimeout(late);
    cut();
  };
  try {
    await listen(server, host, port);
  } catch (error) {
    await end();
    throw error;
  }
  server.on("error", (error) => log.error({ err: error }, "The embedded MQTT broker failed"));
  return {
    url: urlOf(server, host),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      await end();
      await closed;
    },
  };
}

const addressOf = (broker: MqttSettings["broker"]): { readonly host: string; readonly port: number } =>
  typeof broker === "object" ? broker : { host: "127.0.0.1", port: 1883 };

/** Loaded only when used: it is an optional dependency. */
async function loadAedes(): Promise<typeof import("aedes")> {
  try {
    return await import("aedes");
  } catch (error) {
    throw new RigbridgeError(
      "config.invalid",
      "mqtt.broker needs the package aedes, which is not installed; run npm install aedes@2.0.0-beta.1, or set mqtt.url to the address of another broker such as Mosquitto",
      { cause: error },
    );
  }
}

function aedesOptions(settings: BrokerOptions["settings"], bounds: BrokerMemory): AedesOptions {
  return {
    maximumPacketSize: brokerLimits.packet,
    maxTopicLevels: brokerLimits.levels,
    connectTimeout: brokerLimits.loginTimeoutMs,
    drainTimeout: brokerLimits.drainTimeoutMs,
    sessionExpiryIntervalLimit: brokerLimits.sessionExpirySeconds,
    pendingSessionsLimit: brokerLimits.sessions,
    topicAliasMaximum: 100,
    preConnect: (_client, packet, done) => {
      // In MQTT 3 a session never expires, and neither would its messages.
      if (packet.protocolVersion !== 5) packet.clean = true;
      done(null, true);
    },
    authenticate: (_client, username, password, done) =>
      isLoginValid(settings, username, password) ? done(null, true) : done(wrongLogin(), null),
    authorizePublish: (_client, packet, done) => {
      if (packet.topic.startsWith("$")) return done(new Error("topics that begin with $ are reserved for the broker"));
      if (packet.retain && !bounds.retain(packet)) return done(new Error(noRoom));
      if (packet.retain || packet.qos > 0) detach(packet);
      done(null);
    },
  };
}

/**
 * Joins packets, and rejects large ones before aedes parses them: the objects for 100 kB of properties take several
 * times as much memory.
 */
function readWholePackets(socket: Socket): void {
  const { packet, connect, properties } = brokerLimits;
  const packets = new WholePackets({ largest: packet, largestOther: connect, properties });
  const read = socket.read.bind(socket);
  // aedes reads from a connection with this method.
  socket.read = (size?: number): unknown => {
    try {
      for (;;) {
        const bytes: unknown = read(size);
        if (!Buffer.isBuffer(bytes)) return bytes;
        const whole = packets.take(bytes);
        if (whole !== null) return whole;
      }
    } catch (error) {
      socket.destroy(error instanceof Error ? error : undefined);
      return null;
    }
  };
}

const noRoom = `retained messages have reached the limit of ${brokerLimits.retained} bytes or ${brokerLimits.retainedMessages} messages`;

/**
 * Copies stored bytes if they are a view of a much larger buffer, such as a network buffer, which would stay in memory.
 */
function detach(packet: PublishPacket): void {
  packet.payload = copied(packet.payload);
  const correlation = packet.properties?.correlationData;
  if (packet.properties !== undefined && correlation !== undefined)
    packet.properties.correlationData = copied(correlation);
}

/** Bytes of the packet around a payload that may be kept with it. */
const mostAround = 256;

const copied = (bytes: Buffer | string): Buffer => {
  const from = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  if (from.buffer.byteLength - from.length <= mostAround) return from;
  const alone = Buffer.allocUnsafeSlow(from.length);
  from.copy(alone);
  return alone;
};

/** Without a username, which is allowed only on loopback, any login is valid. Compares both in constant time. */
function isLoginValid(
  { username, password = "" }: BrokerOptions["settings"],
  givenName: string | undefined,
  givenPassword: Buffer | undefined,
): boolean {
  if (username === undefined) return true;
  const name = sameBytes(Buffer.from(username), Buffer.from(givenName ?? ""));
  const secret = sameBytes(Buffer.from(password), givenPassword ?? Buffer.alloc(0));
  return name && secret;
}

/** Return code 4: bad user name or password. */
const wrongLogin = () => Object.assign(new Error("wrong username or password"), { returnCode: 4 });

const sameBytes = (a: Buffer, b: Buffer): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (bytes: Buffer): Buffer => createHash("sha256").update(bytes).digest();

/** A client's fault must not end the process, and a client that repeats it must not fill the log. */
function logFaults(aedes: Aedes, log: Logger): void {
  const warn = rateLimited((fault: string, address: string | undefined) =>
    log.warn({ address }, `MQTT broker: ${fault}`),
  );
  const report = (client: Client, { message }: Error): void => {
    if (!aedes.closed) warn(client.id ? `${JSON.stringify(client.id)}: ${message}` : message, addressOfPeer(client));
  };
  aedes.on("clientError", report);
  aedes.on("connectionError", report);
  aedes.addListener("error", (error: unknown) => log.error({ err: error }, "The embedded MQTT broker failed"));
}

const addressOfPeer = ({ conn }: Client): string | undefined =>
  "remoteAddress" in conn && typeof conn.remoteAddress === "string" ? conn.remoteAddress : undefined;

/** Logs the same message once a minute, and at most ten messages a minute. */
function rateLimited<T extends unknown[]>(
  log: (message: string, ...more: T) => void,
): (message: string, ...more: T) => void {
  let since = Number.NEGATIVE_INFINITY;
  const logged = new Set<string>();
  return (message, ...more) => {
    const now = performance.now();
    if (now - since > 60_000) {
      since = now;
      logged.clear();
    }
    if (logged.has(message) || logged.size >= 10) return;
    logged.add(message);
    log(message, ...more);
  };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (error) {
    const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
    const reason = reasons[code] ?? (code || "unknown reason");
    // Without the cause, whose code would be mistaken for the API server's.
    throw new RigbridgeError(
      "config.invalid",
      `The MQTT broker cannot listen on ${host} port ${port}: ${reason}. Change mqtt.broker, or set mqtt.url to use the broker that is already there`,
    );
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there, perhaps another broker",
  EACCES: "this user may not open that port",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "the host name is unknown",
};

function urlOf(server: Server, host: string): string {
  const bound = server.address();
  const { address, port } = typeof bound === "object" && bound !== null ? bound : { address: host, port: 0 };
  const reached = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `mqtt://${isIP(reached) === 6 ? `[${reached}]` : reached}:${port}`;
}
