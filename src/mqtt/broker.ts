import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, isIP, type Server, type Socket } from "node:net";
import type { Aedes, AedesOptions, Client, PublishPacket } from "aedes";
import type { Logger } from "pino";
import type { MqttSettings } from "../config/mqtt.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { Bounds } from "./broker-bounds.ts";

export interface BrokerOptions {
  readonly settings: Pick<MqttSettings, "broker" | "username" | "password">;
  readonly log: Logger;
}

export interface Broker {
  /** Where the bridge reaches it, as mqtt://127.0.0.1:1883. */
  readonly url: string;
  /** Cuts all connections; resolves when nothing listens any more. */
  close(): Promise<void>;
}

export const brokerLimits = {
  /** Bytes of one packet. */
  packet: 262_144,
  /** Connections at once. */
  connections: 1_000,
  /** Levels of a topic. */
  levels: 32,
  /** Bytes of what MQTT 5 lets a message have beside topic and payload. */
  properties: 16_384,
  /** Bytes of a CONNECT, with the will that is kept for as long as the connection. */
  connect: 16_384,
  /** Bytes of all retained messages together, with their topics and what else they cost; and how many they may be. */
  retained: 33_554_432,
  retainedMessages: 30_000,
  /** Messages with QoS that wait for one client, or for one to release them; and bytes of those of all clients. */
  queue: 1_000,
  queues: 33_554_432,
  /** ms until a connection has to say who it is. */
  login: 10_000,
  /** ms that a subscriber may leave lying what it is sent: the others wait for it. */
  drain: 5_000,
  /** ms that clients have to take the goodbye when it closes. */
  goodbye: 1_000,
  /** s that the session of one who has gone is kept, for those that ask for it; and how many of them. */
  session: 300,
  sessions: 100,
};

/**
 * A broker in this process, for homes that have none: MQTT 3.1.1 and 5. Nothing of it outlives the process; the bridge
 * publishes what is retained again. Who is let in may publish and hear anything that does not begin with `$`, since
 * plugs, sensors and Home Assistant use it too. Throws `config.invalid`: a port that is taken, a broker for others
 * without a password, a package that is not installed.
 */
export async function startBroker({ settings, log }: BrokerOptions): Promise<Broker> {
  const { host, port } = addressOf(settings.broker);
  if (!isLoopback(host) && (settings.username === undefined || (settings.password ?? "") === ""))
    throw new RigbridgeError(
      "config.invalid",
      `mqtt.broker on ${host} lets others in only with mqtt.username and mqtt.password`,
    );
  const { Aedes } = await loaded();
  const warn = seldom((fault: string) => log.warn(`MQTT broker: ${fault}`));
  const bounds = new Bounds(brokerLimits, warn);
  const aedes = await Aedes.createBroker(rules(settings, bounds));
  bounds.guard(aedes);
  tell(aedes, log);
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // Before it belongs to a client nobody else hears of its end.
    socket.on("error", () => socket.destroy());
    aedes.handle(socket);
  });
  server.maxConnections = brokerLimits.connections;
  server.on("drop", () => warn(`there is no room for more than ${brokerLimits.connections} connections`));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const end = async (): Promise<void> => {
    // Who reads nothing any more would not hear the goodbye either.
    const late = setTimeout(cut, brokerLimits.goodbye);
    await new Promise<void>((resolve) => aedes.close(resolve));
    clearTimeout(late);
    cut();
  };
  try {
    await listening(server, host, port);
  } catch (error) {
    await end();
    throw error;
  }
  server.on("error", (error) => log.error({ err: error }, "the MQTT broker"));
  return {
    url: urlOf(server, host),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      await end();
      await closed;
    },
  };
}

function addressOf(broker: MqttSettings["broker"]): { readonly host: string; readonly port: number } {
  return typeof broker === "object" ? broker : { host: "127.0.0.1", port: 1883 };
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

/** Only where it is wanted: it is an optional dependency. */
async function loaded(): Promise<typeof import("aedes")> {
  try {
    return await import("aedes");
  } catch (error) {
    throw new RigbridgeError(
      "config.invalid",
      "mqtt.broker needs the package aedes, which is not installed here: npm install aedes@2.0.0-beta.1, or take a broker like Mosquitto and give its address as mqtt.url",
      { cause: error },
    );
  }
}

function rules(settings: BrokerOptions["settings"], bounds: Bounds): AedesOptions {
  return {
    maximumPacketSize: brokerLimits.packet,
    maxTopicLevels: brokerLimits.levels,
    connectTimeout: brokerLimits.login,
    drainTimeout: brokerLimits.drain,
    sessionExpiryIntervalLimit: brokerLimits.session,
    pendingSessionsLimit: brokerLimits.sessions,
    topicAliasMaximum: 100,
    preConnect: (_client, packet, done) => {
      // In MQTT 3 a session has no end, and what is kept for it none either.
      if (packet.protocolVersion !== 5) packet.clean = true;
      const isTooLarge = (packet.length ?? 0) > brokerLimits.connect;
      done(isTooLarge ? new Error(`a CONNECT of more than ${brokerLimits.connect} bytes`) : null, !isTooLarge);
    },
    authenticate: (_client, username, password, done) =>
      isKnown(settings, username, password) ? done(null, true) : done(wrongLogin(), null),
    authorizePublish: (_client, packet, done) => {
      if (packet.topic.startsWith("$")) return done(new Error("topics that begin with $ are the broker's own"));
      if (besides(packet) > brokerLimits.properties) return done(new Error(tooManyProperties));
      if (packet.retain && !bounds.retain(packet)) return done(new Error(noRoom));
      if (packet.retain || packet.qos > 0) keepAlone(packet);
      done(null);
    },
  };
}

/** Bytes of a packet that are neither topic nor payload; a will has none of its own. */
const besides = ({ length = 0, topic, payload }: PublishPacket): number =>
  length - Buffer.byteLength(topic) - payload.length;

const tooManyProperties = `a message with more than ${brokerLimits.properties} bytes of properties`;
const noRoom = `no room for more retained messages: they have ${brokerLimits.retained} bytes, or are ${brokerLimits.retainedMessages}`;

/** What is kept must not hold on to all that came with it over the wire, of which its bytes are a part. */
function keepAlone(packet: PublishPacket): void {
  packet.payload = copied(packet.payload);
  const correlation = packet.properties?.correlationData;
  if (packet.properties !== undefined && correlation !== undefined)
    packet.properties.correlationData = copied(correlation);
}

const copied = (bytes: Buffer | string): Buffer => {
  const from = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  const alone = Buffer.allocUnsafeSlow(from.length);
  from.copy(alone);
  return alone;
};

/** Without a username everybody is let in, which only loopback is. Both are compared whole, in constant time. */
function isKnown(
  { username, password = "" }: BrokerOptions["settings"],
  saidName: string | undefined,
  saidPassword: Buffer | undefined,
): boolean {
  if (username === undefined) return true;
  const name = sameBytes(Buffer.from(username), Buffer.from(saidName ?? ""));
  const secret = sameBytes(Buffer.from(password), saidPassword ?? Buffer.alloc(0));
  return name && secret;
}

/** 4 = bad user name or password. */
const wrongLogin = () => Object.assign(new Error("wrong username or password"), { returnCode: 4 });

const sameBytes = (a: Buffer, b: Buffer): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (bytes: Buffer): Buffer => createHash("sha256").update(bytes).digest();

/** Nothing that a client does may end the process, and one that does it again and again not fill the log. */
function tell(aedes: Aedes, log: Logger): void {
  const warn = seldom((fault: string, address: string | undefined) => log.warn({ address }, `MQTT broker: ${fault}`));
  const say = (client: Client, { message }: Error): void => {
    if (!aedes.closed) warn(client.id ? `${JSON.stringify(client.id)}: ${message}` : message, addressOfPeer(client));
  };
  aedes.on("clientError", say);
  aedes.on("connectionError", say);
  aedes.addListener("error", (error: unknown) => log.error({ err: error }, "the MQTT broker"));
}

const addressOfPeer = ({ conn }: Client): string | undefined =>
  "remoteAddress" in conn && typeof conn.remoteAddress === "string" ? conn.remoteAddress : undefined;

/** The same once a minute, and at most ten things a minute. */
function seldom<T extends unknown[]>(say: (what: string, ...more: T) => void): (what: string, ...more: T) => void {
  let since = Number.NEGATIVE_INFINITY;
  const said = new Set<string>();
  return (what, ...more) => {
    const now = performance.now();
    if (now - since > 60_000) {
      since = now;
      said.clear();
    }
    if (said.has(what) || said.size >= 10) return;
    said.add(what);
    say(what, ...more);
  };
}

async function listening(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (error) {
    const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
    const reason = reasons[code] ?? (code || "unknown reason");
    // Without the cause, whose code would be taken for the API server's.
    throw new RigbridgeError(
      "config.invalid",
      `The MQTT broker cannot listen on ${host} port ${port}: ${reason}. Change mqtt.broker, or use the broker that is there with mqtt.url`,
    );
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there, perhaps another broker",
  EACCES: "this user may not open that port",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "the host name is not known",
};

function urlOf(server: Server, host: string): string {
  const bound = server.address();
  const { address, port } = typeof bound === "object" && bound !== null ? bound : { address: host, port: 0 };
  const reached = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `mqtt://${isIP(reached) === 6 ? `[${reached}]` : reached}:${port}`;
}
