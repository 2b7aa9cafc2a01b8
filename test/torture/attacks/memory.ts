import { connect, type Socket } from "node:net";
import type { Attack } from "../attack.torture.ts";
import { megabytes, residentOf, type Verdict, wait } from "../measure.ts";
import { type ServiceProcess, startProcess } from "../process.ts";
import { say } from "../say.ts";

/** Asking for much and reading nothing of it. Each attack is bounded by what it sends; it holds no answer. */
const key = "the-key-of-the-service";
const usersKey = "the-key-of-one-more-user";
const config = {
  http: { key },
  poll: { interval: 3600 },
  users: [{ name: "guest", key: usersKey, privilege: "view" }],
  miners: Array.from({ length: 2_000 }, (_, index) => ({
    address: `127.103.${100 + Math.floor(index / 250)}.${(index % 250) + 1}:1`,
    name: `rig ${index}`,
  })),
};

/** Bytes that memory may rise by, and that may be left of it. */
const rise = 150e6;
const left = 75e6;
/** ms */
const attackTime = 6_000;
const fallTime = 15_000;
const patience = 30_000;
const stopTime = 5_000;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const request = (path: string, headers = ""): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
const scriptPath = "/docs/static/swagger-ui-bundle.js";
const script = request(scriptPath);
const asUser = `X-API-Key: ${usersKey}\r\n`;

interface Flood {
  readonly what: string;
  readonly connections: number;
  readonly requests: number;
  readonly request: string;
}

const floods: readonly Flood[] = [
  { what: "a page's script, 900 times on one connection", connections: 1, requests: 900, request: script },
  { what: "the same on 200 connections", connections: 200, requests: 900, request: script },
  {
    what: "/openapi.json with gzip, 900 times on one connection",
    connections: 1,
    requests: 900,
    request: request("/openapi.json", "Accept-Encoding: gzip\r\n"),
  },
  {
    what: "the list of 2,000 miners, 300 times on one connection",
    connections: 1,
    requests: 300,
    request: request("/api/miners", asUser),
  },
  {
    what: "the same on 300 connections, once on each, with gzip",
    connections: 300,
    requests: 1,
    request: request("/api/miners", `${asUser}Accept-Encoding: gzip\r\n`),
  },
  {
    what: "/metrics, 100 times on each of 20 connections",
    connections: 20,
    requests: 100,
    request: request("/metrics", asUser),
  },
  {
    what: "event streams, 50 times on each of 300 connections",
    connections: 300,
    requests: 50,
    request: request("/api/events", asUser),
  },
];

/** A connection that asks and never reads. */
function flood(port: number, { request, requests }: Flood, number: number): Socket {
  const socket = connect({ host: "127.0.0.1", port, localAddress: `127.103.60.${1 + (number % 4)}` });
  socket.on("error", () => {}).pause();
  socket.write(request.repeat(requests));
  return socket;
}

/** The longest that another client waited for a page, in ms; what was not answered counts as long as it lasted. */
async function longest(service: ServiceProcess, path: string, until: () => boolean): Promise<number> {
  let worst = 0;
  while (!until()) {
    const start = performance.now();
    const answer = service.ask("GET", path, { from: "127.103.61.1" }).catch(() => undefined);
    const given = await Promise.race([answer, wait(patience)]);
    const took = given === undefined || given.status === 200 ? performance.now() - start : Number.POSITIVE_INFINITY;
    worst = Math.max(worst, took);
    await wait(50);
  }
  return worst;
}

async function attacked(verdict: Verdict, what: Flood): Promise<void> {
  const service = await startProcess({ config });
  const resident = () => residentOf(service.pid) ?? 0;
  // Ordinary use first, so that only the attack is measured: after some hundred answers V8 has grown its old space as far
  // as it does before a collection, and it keeps that space.
  const encodings = [{}, { headers: { "accept-encoding": "gzip" } }];
  for (let turn = 0; turn < 100; turn += 1)
    for (const path of [scriptPath, "/openapi.json", "/api/miners", "/metrics", "/health"])
      await Promise.all(encodings.map((asked) => service.ask("GET", path, asked)));
  await wait(500);
  const before = resident();
  let isOver = false;
  let hasFallen = false;
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, resident());
  }, 20);
  const sockets = Array.from({ length: what.connections }, (_, number) => flood(service.port, what, number));
  const waits = Promise.all(["/health", "/api/miners"].map((path) => longest(service, path, () => isOver)));
  await wait(attackTime);
  isOver = true;
  const [health = 0, list = 0] = await waits;
  for (const socket of sockets) socket.destroy();
  // Others go on asking: a process with nothing to do does not tidy up.
  const others = longest(service, "/api/miners", () => hasFallen);
  const until = performance.now() + fallTime;
  while (performance.now() < until && resident() > before + left / 2) await wait(100);
  hasFallen = true;
  await others;
  const after = resident();
  clearInterval(watch);
  const again = Array.from({ length: what.connections }, (_, number) => flood(service.port, what, number));
  await wait(1_000);
  const start = performance.now();
  const code = await service.stop();
  const stopped = performance.now() - start;
  for (const socket of again) socket.destroy();
  await service.close();
  say(`${what.what}; nothing is read`);
  verdict.check(
    `memory rises by ${megabytes(peak - before)} from ${megabytes(before)}, and ${megabytes(after - before)} of it are left`,
    peak - before <= rise && after - before <= left,
  );
  verdict.check(
    `another client waits for /health ${seconds(health)} at most, for the list ${seconds(list)}`,
    health <= 1_000 && list <= 1_000,
  );
  verdict.check(`SIGTERM ends it after ${seconds(stopped)}, with ${code}`, stopped <= stopTime && code === 0);
}

/** A reader that takes nothing for longer than is waited for, and then reads on. */
async function stuck(verdict: Verdict): Promise<void> {
  const service = await startProcess({ config });
  const { headers } = await service.ask("HEAD", "/api/miners");
  const length = Number(headers["content-length"]);
  const socket = connect({ host: "127.0.0.1", port: service.port }).on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  // More than the sockets of both sides take by themselves.
  socket.pause().write(request("/api/miners", asUser).repeat(20));
  await wait(34_000);
  socket.resume();
  await Promise.race([closed, wait(10_000)]);
  const kept = socket.destroyed && socket.bytesRead < 20 * length;
  verdict.check(`a reader without progress for 30 s is cut: ${socket.bytesRead} of ${20 * length} bytes came`, kept);
  socket.destroy();
  await service.close();
}

export const attack: Attack = {
  name: "answers that nobody reads",
  run: async (verdict) => {
    for (const each of floods) await attacked(verdict, each);
    await stuck(verdict);
  },
};
