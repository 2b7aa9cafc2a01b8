import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { within } from "../until.ts";
import { type Answer, type ServiceProcess, startProcess } from "./process.ts";
import { say } from "./say.ts";

/** What clients can do to the server with many, slow, long and endless requests, at its true limits. */
const key = "the-key-of-the-service";
const count = 10_000;
/** Each has a key of its own, since one key gets half of the room for lists. */
const clients = 50;
const keyOf = (index: number): string => `the-key-of-client-${index}`;
/** ms */
const patience = 120_000;
const failures: string[] = [];
const promise = (held: boolean, text: string): void => {
  say(`${held ? "held" : "NOT AS PROMISED"}: ${text}`);
  if (!held) failures.push(text);
};
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const host = `Host: localhost\r\nX-API-Key: ${key}\r\n`;

/** A connection whose resets are no fault of the test; from an address that has ports to spare. */
function open(service: ServiceProcess, number = 0): Socket {
  const localAddress = `127.103.50.${1 + (number % 50)}`;
  const socket = connect({ host: "127.0.0.1", port: service.port, localAddress });
  return socket.on("error", () => {});
}

/** The event alone: that a connection breaks is what some of these are about. */
const heard = (socket: Socket, event: "data" | "close"): Promise<void> =>
  new Promise((resolve) => socket.once(event, () => resolve()));

/** The beginning of what comes; a stream of events may go on for long. */
function text(socket: Socket, most = 100_000): () => string {
  let all = "";
  socket.setEncoding("latin1").on("data", (part: string) => {
    if (all.length < most) all += part;
  });
  return () => all;
}

/** 1 GB, announced or in chunks, as fast as it is taken. */
async function hugeBody(service: ServiceProcess, framing: string): Promise<void> {
  const socket = open(service);
  const said = text(socket);
  const closed = heard(socket, "close");
  socket.write(`POST /api/pools HTTP/1.1\r\n${host}Content-Type: application/json\r\n${framing}\r\n\r\n`);
  const part = Buffer.from(`10000\r\n${"x".repeat(65_536)}\r\n`);
  const pump = (): void => {
    while (socket.bytesWritten < 1e9 && socket.writable && said() === "") if (!socket.write(part)) return;
  };
  socket.on("drain", pump);
  pump();
  await within(closed, "the service to cut off a body of 1 GB", { timeoutMs: patience });
  const taken = socket.bytesWritten - socket.writableLength;
  const status = /^HTTP\/1\.1 (\d+)/.exec(said())?.[1] ?? "no answer";
  const words = `a body of 1 GB (${framing}) is answered with ${status} after ${(taken / 1e6).toFixed(2)} MB left the client`;
  // Besides the 1 MB that is read, what both sockets hold of it.
  promise(status === "413" && taken < 10e6, words);
}

/** Sends a byte every half second until it is cut off; the time that it took. */
async function dribble(service: ServiceProcess, start: string): Promise<number> {
  const began = performance.now();
  const socket = open(service);
  const closed = heard(socket.resume(), "close");
  socket.write(start);
  const timer = setInterval(() => socket.write("x"), 500);
  await Promise.race([closed, wait(60_000)]);
  clearInterval(timer);
  socket.destroy();
  return performance.now() - began;
}

/** ms, of requests one after the other while something else goes on. */
async function summaries(service: ServiceProcess, until: () => boolean, least: number): Promise<number[]> {
  const times: number[] = [];
  while (times.length < least || !until()) times.push((await service.ask("GET", "/api/summary")).ms);
  return times.sort((a, b) => a - b);
}
const quantile = (sorted: readonly number[], part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0;
const shown = (times: readonly number[]): string =>
  `GET /api/summary p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms (${times.length} of them)`;

async function idle(service: ServiceProcess): Promise<void> {
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 200) {
    const some = Array.from({ length: 200 }, (_, index) => open(service, at + index));
    await Promise.all(
      some.map(async (socket) => {
        socket.write(`GET /health HTTP/1.1\r\n${host}\r\n`);
        const told = Promise.race([heard(socket, "data"), heard(socket, "close")]);
        await within(told, "the service to answer one of many connections", { timeoutMs: patience });
      }),
    );
    sockets.push(...some);
  }
  const times = await summaries(service, () => true, 2_000);
  const alive = sockets.filter((socket) => !socket.destroyed).length;
  for (const socket of sockets) socket.destroy();
  promise(alive >= count * 0.99 && quantile(times, 0.99) < 100, `beside ${alive} idle connections ${shown(times)}`);
}

async function compressed(service: ServiceProcess, encoding: string): Promise<void> {
  const before = await service.memory();
  let left = clients;
  const start = performance.now();
  const asking = Array.from({ length: clients }, async (_, index): Promise<Answer> => {
    const answer = await service.ask("GET", "/api/miners", {
      headers: { "accept-encoding": encoding, "x-api-key": keyOf(index) },
      from: `127.103.51.${index + 1}`,
    });
    left -= 1;
    return answer;
  });
  const times = await summaries(service, () => left === 0, 20);
  const answers = await Promise.all(asking);
  const good = answers.filter(({ status, headers }) => status === 200 && headers["content-encoding"] === encoding);
  const memory = await service.memory();
  say(
    `${clients} clients at once had the list of ${count} miners as ${encoding}: ${good.length} in ${seconds(performance.now() - start)}`,
  );
  say(`  memory before ${Math.round(before / 1e6)} MB, after ${Math.round(memory / 1e6)} MB`);
  promise(good.length === clients && quantile(times, 0.99) < 250, `meanwhile ${shown(times)}`);
}

async function streams(service: ServiceProcess): Promise<void> {
  const sockets = Array.from({ length: 300 }, (_, index) => open(service, index));
  const heads = await Promise.all(
    sockets.map(async (socket) => {
      socket.write(`GET /api/events HTTP/1.1\r\n${host}\r\n`);
      const said = text(socket);
      await within(heard(socket, "data"), "the service to answer who watches events", { timeoutMs: patience });
      return said();
    }),
  );
  const open200 = heads.filter((head) => head.startsWith("HTTP/1.1 200")).length;
  const full = heads.filter((head) => head.startsWith("HTTP/1.1 429") && /retry-after/i.test(head)).length;
  const times = await summaries(service, () => true, 500);
  const held = sockets.filter((socket) => !socket.closed).length - full;
  for (const socket of sockets) socket.destroy();
  // One that read too slowly may have been ended meanwhile, and have made room for another.
  promise(
    held <= 64 && open200 >= 64 && open200 + full === 300,
    `of 300 that watch events with one key ${open200} may (${held} at once) and ${full} are told to come later; ${shown(times)}`,
  );
}

async function pipelined(service: ServiceProcess): Promise<void> {
  const socket = open(service);
  const said = text(socket, 10_000_000);
  const closed = heard(socket, "close");
  const start = performance.now();
  const one = `GET /api/summary HTTP/1.1\r\n${host}`;
  socket.write(`${`${one}\r\n`.repeat(999)}${one}Connection: close\r\n\r\n`);
  await within(closed, "the service to answer 1,000 requests", { timeoutMs: patience });
  const answers = said().match(/HTTP\/1\.1 200 /g)?.length ?? 0;
  promise(
    answers === 1_000,
    `${answers} of 1,000 requests in one write are answered, in ${seconds(performance.now() - start)}`,
  );
}

const miners = Array.from({ length: count }, (_, index) => ({
  address: `127.103.${100 + Math.floor(index / 250)}.${(index % 250) + 1}:1`,
  name: `rig ${index}`,
}));
say(`a service with ${count} miners that are not there, as a process of its own`);
const users = Array.from({ length: clients }, (_, index) => ({
  name: `client ${index}`,
  key: keyOf(index),
  privilege: "view",
}));
const service = await startProcess({ config: { http: { key }, poll: { interval: 3600 }, users, miners } });
try {
  const slow = Promise.all([
    dribble(service, "GET /api/summary HTTP/1.1\r\nHost: localhost\r\nX-Slow: "),
    dribble(
      service,
      `POST /api/pools HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n`,
    ),
    dribble(service, `POST /api/miners/1?action=stop HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n3E8\r\n`),
    dribble(service, ""),
  ]);
  await hugeBody(service, "Content-Length: 1000000000");
  await hugeBody(service, "Transfer-Encoding: chunked");
  await pipelined(service);
  await streams(service);
  await idle(service);
  for (const encoding of ["gzip", "br", "zstd"]) await compressed(service, encoding);
  const [headers = 0, body = 0, chunks = 0, nothing = 0] = await slow;
  promise(headers < 15_000, `headers that come a byte every half second are cut off after ${seconds(headers)}`);
  promise(body < 33_000, `a body likewise after ${seconds(body)}`);
  promise(chunks < 33_000, `one in chunks, with an action that takes none, after ${seconds(chunks)}`);
  promise(nothing < 33_000, `bytes that never become a request after ${seconds(nothing)}`);
  promise((await service.stop()) === 0, "it ends when it is told to");
} finally {
  await service.close();
}
process.exitCode = failures.length === 0 ? 0 : 1;
