import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as connectSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectAsync, type IClientOptions, type MqttClient } from "mqtt";
import { freePort } from "../free-port.ts";
import { until, within } from "../until.ts";

/** A real Mosquitto in a process of its own, without persistence. */
export interface Mosquitto {
  readonly url: string;
  readonly port: number;
  /** Ends it at once, as `kill -9` does. */
  kill(): Promise<void>;
  /** Starts it again at the same port, empty. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface MosquittoOptions {
  /** Lines of its configuration besides `listener`; `allow_anonymous true` by default. */
  readonly config?: readonly string[];
  /** Passwords by user name; no other client may connect. */
  readonly users?: Readonly<Record<string, string>>;
  /** Scheme of its URL: mqtts if it is configured for TLS. */
  readonly scheme?: "mqtt" | "mqtts";
}

const program = "/usr/sbin/mosquitto";

export async function startMosquitto(options: MosquittoOptions = {}): Promise<Mosquitto> {
  const { config = [], users, scheme = "mqtt" } = options;
  let port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "rigbridge-mosquitto-"));
  const file = join(folder, "mosquitto.conf");
  const lines = [
    "persistence false",
    "log_dest stderr",
    "log_type information",
    "connection_messages false",
    ...config,
  ];
  if (users === undefined) {
    if (!config.some((line) => line.startsWith("allow_anonymous"))) lines.push("allow_anonymous true");
  } else {
    const passwords = join(folder, "passwords");
    await writeFile(passwords, "");
    for (const [name, password] of Object.entries(users)) {
      const ended = once(spawn("mosquitto_passwd", ["-b", passwords, name, password], { stdio: "ignore" }), "exit");
      await within(ended, `the password file to have ${name}`);
    }
    lines.push("allow_anonymous false", `password_file ${passwords}`);
  }
  // As root it would drop its privileges, and with them access to its files.
  if (process.getuid?.() === 0) lines.push("user root");
  const writeConfig = () => writeFile(file, `listener ${port} 127.0.0.1\n${lines.join("\n")}\n`);
  await writeConfig();

  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const started = spawn(program, ["-c", file], { stdio: ["ignore", "ignore", "pipe"] });
    child = started;
    let output = "";
    started.stderr?.on("data", (text) => {
      output += text;
    });
    // Its last words may come after its end.
    const closed = once(started, "close");
    const isReady = async (): Promise<boolean> => {
      if (started.exitCode !== null) {
        await closed;
        throw new Error(`mosquitto has ended: ${output}`);
      }
      // Something else may have taken the port meanwhile, and answers there.
      return / running$/m.test(output) && (await answers(port));
    };
    await until(isReady, "the broker to take connections", { details: () => output });
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await within(ended, "the broker to end");
  };
  for (let tries = 1; ; tries += 1) {
    try {
      await start();
      break;
    } catch (error) {
      if (tries === 5 || !/in use/.test(String(error))) throw error;
      port = await freePort();
      await writeConfig();
    }
  }
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    kill: () => end("SIGKILL"),
    start,
    stop: async () => {
      await end("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface Received {
  readonly topic: string;
  readonly payload: string;
  readonly retained: boolean;
  readonly correlation: string | null;
}

/** A client besides the bridge that keeps all received messages. */
export interface Subscriber {
  readonly client: MqttClient;
  readonly received: readonly Received[];
  /** The first matching message from this index in `received` on, now or later. Rejects if none arrives in time. */
  until(wanted: (received: Received) => boolean, from?: number): Promise<Received>;
  /** The last payload received at a topic; undefined before the first. */
  last(topic: string): string | undefined;
  publish(topic: string, payload: string | Buffer, options?: PublishOptions): Promise<void>;
  close(): Promise<void>;
}

export interface PublishOptions {
  readonly retain?: boolean;
  readonly qos?: 0 | 1;
  readonly responseTopic?: string;
  readonly correlation?: string;
}

/** Subscribes to these filters at a broker, "#" by default. */
export async function subscribeAt(
  url: string,
  filters: readonly string[] = ["#"],
  options: IClientOptions = {},
): Promise<Subscriber> {
  const client = await connectAsync(url, { protocolVersion: 5, reconnectPeriod: 50, ...options });
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  client.on("error", () => undefined);
  client.on("message", (topic, payload, { retain, properties }) => {
    const correlation = properties?.correlationData?.toString() ?? null;
    received.push({ topic, payload: payload.toString(), retained: retain, correlation });
    for (const look of waiting) look();
  });
  await client.subscribeAsync([...filters], { qos: 1 });
  return {
    client,
    received,
    until: (wanted, from = 0) => {
      const { promise, resolve } = Promise.withResolvers<Received>();
      let at = from;
      const look = (): void => {
        for (; at < received.length; at += 1) {
          const each = received[at];
          if (each === undefined || !wanted(each)) continue;
          waiting.delete(look);
          resolve(each);
          return;
        }
      };
      waiting.add(look);
      look();
      const details = () => `Its filter: ${wanted}\n${lastOf(received.slice(from))}`;
      return within(promise, `a message at ${url} that fits`, { details }).finally(() => waiting.delete(look));
    },
    last: (topic) => received.findLast((each) => each.topic === topic)?.payload,
    publish: async (topic, payload, { retain = false, qos = 1, responseTopic, correlation } = {}) => {
      const properties = {
        ...(responseTopic === undefined ? {} : { responseTopic }),
        ...(correlation === undefined ? {} : { correlationData: Buffer.from(correlation) }),
      };
      await client.publishAsync(topic, payload, { qos, retain, properties });
    },
    close: () => client.endAsync(true),
  };
}

/** The beginnings of the last messages. */
function lastOf(received: readonly Received[]): string {
  const lines = received.slice(-10).map(({ topic, payload }) => `  ${topic} ${payload.slice(0, 100)}`);
  return [`${received.length} messages, the last of them:`, ...lines].join("\n");
}

async function answers(port: number): Promise<boolean> {
  const socket = connectSocket(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
