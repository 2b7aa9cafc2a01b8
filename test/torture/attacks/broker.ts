import { once } from "node:events";
import { connect as connectSocket, type Socket } from "node:net";
import { connectAsync, type MqttClient } from "mqtt";
import { pino } from "pino";
import { openConnection } from "../../../src/mqtt/mqtt-connection.ts";
import { freePort } from "../../free-port.ts";
import { beginningOf, flood, startRudeBroker } from "../../mqtt/rude-broker.ts";
import { until } from "../../until.ts";
import type { Attack } from "../attack.torture.ts";
import { megabytes, residentOf, type Verdict, wait } from "../measure.ts";
import { type ServiceProcess, startProcess } from "../process.ts";

/** Bytes by which an attack may raise the memory of a service. */
const allowed = 150e6;
const key = "key-of-the-service";

/** A broker that lies about packets, clients that fill the broker inside, and one that takes nothing. */
export const attack: Attack = {
  name: "the broker of the MQTT bridge, and the clients of the one inside",
  run: async (verdict) => {
    for (const version of ["5", "3.1.1"] as const) await hugePacket(verdict, version);
    await fullBroker(verdict, "134 MB of small retained messages, in 440,000 topics", (at) => retain(at, 440_000, 300));
    await fullBroker(verdict, "134 MB of large retained messages, in 550 topics", (at) => retain(at, 550, 240_000));
    await fullBroker(
      verdict,
      "10,000 retained messages of 300 bytes, each behind 60 kB that nobody keeps",
      hideBehind,
      false,
    );
    await fullBroker(verdict, "2,000 retained messages of 1 byte, each with 100 kB of properties", hideInProperties);
    await fullBroker(verdict, "134 MB for the session of a client that has gone", fillSession);
    await fullBroker(verdict, "134 MB with QoS 2 that is never released", hoard);
    await slowBroker(verdict);
  },
};

/** The most memory that a process has above what it has now, while something is done. */
async function riseOf(pid: number | "self", work: () => Promise<void>): Promise<{ before: number; rise: number }> {
  const before = residentOf(pid) ?? 0;
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentOf(pid) ?? 0);
  }, 20);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return { before, rise: peak - before };
}

async function hugePacket(verdict: Verdict, version: "5" | "3.1.1"): Promise<void> {
  const floods: { readonly sent: number }[] = [];
  let isReady = false;
  const behave = (socket: Socket): void => {
    if (isReady) {
      socket.write(beginningOf("rigbridge/miner/a/set", 250_000_000));
      floods.push(flood(socket, 250_000_000));
    } else socket.resume();
  };
  const rude = await startRudeBroker(behave, { isOld: version === "3.1.1" });
  const service = await startProcess({ config: { http: { key }, mqtt: { url: rude.url } } });
  try {
    await wait(3_000);
    isReady = true;
    const { before, rise } = await riseOf(service.pid, async () => {
      rude.cut();
      await wait(12_000);
    });
    const sent = Math.max(0, ...floods.map((each) => each.sent));
    verdict.check(
      `a broker of MQTT ${version} sends packets of 250 MB: memory rises from ${megabytes(before)} by ${megabytes(rise)} (150 MB allowed); it was let send ${megabytes(sent)} of one, ${floods.length} times in 12 s`,
      floods.length > 0 && rise <= allowed && sent < 20e6,
    );
  } finally {
    await service.close();
    await rude.close();
  }
}

interface At {
  readonly url: string;
  readonly port: number;
  readonly service: ServiceProcess;
}

/** `isRefused`: it is more than there is room for, which the log says. */
async function fullBroker(
  verdict: Verdict,
  what: string,
  fill: (at: At) => Promise<void>,
  isRefused = true,
): Promise<void> {
  const port = await freePort();
  const service = await startProcess({ config: { http: { key }, mqtt: { broker: { host: "127.0.0.1", port } } } });
  try {
    await wait(2_000);
    const at = { url: `mqtt://127.0.0.1:${port}`, port, service };
    const { before, rise } = await riseOf(service.pid, async () => {
      await fill(at);
      await wait(2_000);
    });
    const left = (residentOf(service.pid) ?? 0) - before;
    const { status, ms } = await service.ask("GET", "/api/summary");
    const reason = saidBy(service) ?? "nothing";
    verdict.check(
      `${what}: memory rises by ${megabytes(rise)} (150 MB allowed), then ${megabytes(left)}; a request is answered ${status} in ${ms.toFixed(0)} ms`,
      rise <= allowed && status === 200,
    );
    verdict.check(`   the log says: ${reason}`, isRefused === (reason !== "nothing"));
  } finally {
    await service.close();
  }
}

/** The first thing that the broker inside has said in the log. */
function saidBy(service: ServiceProcess): string | undefined {
  const lines = service
    .stdout()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  const sentences = lines.map((line): unknown => JSON.parse(line).msg);
  return sentences.filter((each) => typeof each === "string").find((each) => each.startsWith("MQTT broker: "));
}

async function client(url: string, options = {}): Promise<MqttClient> {
  const connected = await connectAsync(url, { protocolVersion: 5, reconnectPeriod: 0, ...options }, false);
  connected.on("error", () => undefined);
  return connected;
}

/** Publishes and does not mind what is refused; in parts, so that this process stays small. */
async function publish(
  to: MqttClient,
  count: number,
  message: (index: number) => { topic: string; payload: Buffer; retain?: boolean; properties?: object },
): Promise<void> {
  for (let done = 0; done < count && to.connected; done += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, count - done) }, (_, index) => {
        const { topic, payload, ...rest } = message(done + index);
        return new Promise<void>((resolve) => {
          to.once("close", () => resolve());
          to.setMaxListeners(0);
          to.publish(topic, payload, { qos: 1, ...rest }, () => resolve());
        });
      }),
    ).finally(() => to.removeAllListeners("close"));
}

async function retain({ url }: At, count: number, bytes: number): Promise<void> {
  const filler = await client(url);
  const payload = Buffer.alloc(bytes, "x");
  await publish(filler, count, (index) => ({ topic: `fill/${index}`, payload, retain: true }));
  await filler.endAsync(true);
}

/** What comes over the wire at once is one piece of memory, of which a small part may be kept. */
async function hideBehind({ url }: At): Promise<void> {
  const filler = await client(url);
  const large = Buffer.alloc(60_000, "x");
  await publish(filler, 20_000, (index) =>
    index % 2 === 0
      ? { topic: "nobody", payload: large }
      : { topic: `fill/${index}`, payload: large.subarray(0, 300), retain: true },
  );
  await filler.endAsync(true);
}

async function hideInProperties({ url }: At): Promise<void> {
  const filler = await client(url);
  const properties = { userProperties: { a: "x".repeat(50_000), b: "y".repeat(50_000) } };
  await publish(filler, 2_000, (index) => ({
    topic: `fill/${index}`,
    payload: Buffer.from("1"),
    retain: true,
    properties,
  }));
  await filler.endAsync(true);
}

async function fillSession({ url }: At): Promise<void> {
  const gone = await client(url, { clientId: "gone", properties: { sessionExpiryInterval: 300 } });
  await gone.subscribeAsync("fill/#", { qos: 1 });
  const left = new Promise<void>((resolve) => gone.once("close", () => resolve()));
  gone.stream.destroy();
  await left;
  const filler = await client(url);
  const payload = Buffer.alloc(64_000, "x");
  await publish(filler, 2_100, (index) => ({ topic: `fill/${index}`, payload }));
  await filler.endAsync(true);
}

/** CONNECT of MQTT 3.1.1 under a name of one letter. */
const connectPacket = (name: string): Buffer =>
  Buffer.concat([Buffer.from("100d00044d5154540402000000", "hex"), Buffer.from([0x01]), Buffer.from(name)]);

async function hoard({ port }: At): Promise<void> {
  const body = Buffer.alloc(200_000, "x");
  for (const name of ["a", "b"]) {
    const socket = connectSocket(port, "127.0.0.1");
    socket.on("error", () => undefined);
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.write(connectPacket(name));
    await once(socket, "data");
    socket.resume();
    for (let id = 1; id <= 350 && !socket.destroyed; id += 1) {
      const head = beginningOf("f", body.length, { qos: 2 });
      head.writeUInt16BE(id, head.length - 2);
      // A write that comes to nothing is over too.
      await new Promise<void>((resolve) => {
        socket.write(Buffer.concat([head, body.subarray(0, body.length - 5)]), () => resolve());
      });
    }
    await Promise.race([wait(1_000), closed]);
  }
}

/** What waits for a broker that acknowledges nothing: 200,000 states of 100 miners. */
async function slowBroker(verdict: Verdict): Promise<void> {
  const rude = await startRudeBroker((socket) => socket.resume());
  const connection = await openConnection({
    settings: { url: rude.url, clientId: "bridge" },
    will: { topic: "a/state", payload: "offline" },
    log: pino({ level: "silent" }),
  });
  await until(() => connection.isConnected, "the connection");
  const messages = 200_000;
  const { rise } = await riseOf("self", async () => {
    for (let count = 0; count < messages; count += 1) {
      const payload = JSON.stringify({ count, filler: "x".repeat(500) });
      connection.publish({ topic: `a/miner/${count % 100}/state`, payload, qos: 1, retain: true });
      if (count % 1_000 === 0) await wait(0);
    }
    await wait(500);
  });
  const each = (rise / messages) * 50_000;
  verdict.check(
    `a broker that acknowledges nothing: 200,000 retained messages of 0.5 kB at 100 topics raise memory by ${megabytes(rise)}, ${megabytes(each)} each 50,000 (60 MB allowed in all)`,
    rise <= 60e6,
  );
  await connection.close();
  await rude.close();
}
