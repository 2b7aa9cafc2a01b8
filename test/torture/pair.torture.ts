import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startFarm } from "../../src/simulator/index.ts";
import { type Running, running } from "../cli/command.ts";
import { freePort } from "../free-port.ts";
import { startRelay } from "../relay.ts";
import { type Line, startLine } from "../store/line.ts";
import { startPostgres } from "../store/postgres.ts";
import { until } from "../until.ts";
import { say } from "./say.ts";
import { type Send, sender } from "./written.ts";

/**
 * Two services with one store in a real PostgreSQL, and faults in random order while a client writes and commands: what was
 * acknowledged is there, no command reaches the rig twice, and never do both say that they may act.
 */
const rounds = Number(process.argv[2] ?? 200);

const kinds = ["kill", "stop", "cut", "end", "engine"] as const;
/** ms of a stop or a cut: longer than the lease. */
const faultMs = 5_000;
const says = /is ready at http|this one waits to take its place/;
/** Percentages of the fan, one after another, by which the rig tells commands apart. */
const [lowest, values] = [20, 80];

interface Member {
  readonly config: string;
  readonly url: string;
  readonly line: Line;
  readonly send: Send;
  service: Running;
}

const folder = mkdtempSync(join(tmpdir(), "rigbridge-pair-"));
const postgres = await startPostgres();
const database = await postgres.database();
const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true }] });
const wrong: string[] = [];

/** What the rig was told, in order. */
const received: number[] = [];
const counter = await startRelay(placeOf(farm.rigs[0]?.address ?? ""), (client, behind) => {
  let text = "";
  client.on("data", (part) => {
    text += part;
    for (let match = fan.exec(text); match !== null; match = fan.exec(text)) {
      received.push(Number(match[1]));
      text = text.slice(match.index + match[0].length);
    }
    behind.write(part);
  });
  client.on("end", () => behind.end());
  behind.pipe(client);
});
const fan = /PATCH [\s\S]*?"(?:manualFanSpeed|fanspeed)":(\d+)/;

function placeOf(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(`http://${address}`);
  return { host: hostname, port: Number(port || 80) };
}

const start = (config: string): Promise<Running> => running(["serve", "--config", config], says, { cwd: folder });

async function member(name: string): Promise<Member> {
  const [port, line] = [await freePort(), await startLine(postgres)];
  const config = join(folder, `${name}.yaml`);
  const store = { url: line.urlOf(postgres.url(database)), site: "barn" };
  const miners = [{ address: `127.0.0.1:${counter.port}`, driver: "axeos" }];
  writeFileSync(config, JSON.stringify({ http: { port }, store, poll: { interval: 2 }, miners }), { mode: 0o600 });
  const url = `http://127.0.0.1:${port}`;
  return { config, url, line, send: sender(url).send, service: await start(config) };
}

const isActive = async ({ send }: Member): Promise<boolean> => (await send("GET", "/health/active"))?.status === 200;

const pair = [await member("one"), await member("other")] as const;
const groups = new Set<string>();
const done: number[] = [];
let isOver = false;
let commands = 0;

/** The one that has last said that it is active. */
let present: Member | null = null;

/** Null: it is not known what became of it. "refused": nothing was done. */
async function asked(method: string, path: string, body?: object) {
  if (present === null) return "refused";
  const answer = await Promise.race([present.send(method, path, body), pause(8_000, null)]);
  return answer?.status === 503 ? "refused" : answer;
}

const isOk = (answer: Awaited<ReturnType<typeof asked>>): boolean =>
  answer !== null && answer !== "refused" && answer.status < 300;

async function write(): Promise<void> {
  for (let number = 1; !isOver; number += 1) {
    const name = `g${number}`;
    if (isOk(await asked("POST", "/api/groups", { name }))) groups.add(name);
    await pause(50);
  }
}

async function command(): Promise<void> {
  while (!isOver) {
    const value = lowest + (commands % values);
    const answer = await asked("POST", `/api/miners/1000000001?action=set&property=fan&value=${value}`);
    if (isOk(answer) && JSON.stringify(answer).includes('"state":"done"')) done.push(commands);
    if (answer !== "refused") commands += 1;
    await pause(200);
  }
}

async function watch(): Promise<void> {
  while (!isOver) {
    const [one, other] = await Promise.all(pair.map(isActive));
    present = one === true ? pair[0] : other === true ? pair[1] : null;
    if (one === true && other === true) wrong.push("both services said that they may act");
    await pause(20);
  }
}

async function fault(kind: (typeof kinds)[number], active: Member): Promise<void> {
  const { service, line, config } = active;
  if (kind === "kill" || kind === "end") {
    service.signal(kind === "kill" ? "SIGKILL" : "SIGTERM");
    await service.ended;
    active.service = await start(config);
  } else if (kind === "stop") {
    service.signal("SIGSTOP");
    await pause(faultMs);
    service.signal("SIGCONT");
  } else if (kind === "cut") {
    line.cut();
    await pause(faultMs);
    line.restore();
  } else {
    await postgres.kill();
    await pause(Math.random() * faultMs);
    await postgres.start();
  }
}

const activeOf = async (): Promise<Member> => {
  let found: Member | undefined;
  await until(async () => {
    for (const each of pair) if (await isActive(each)) found = each;
    return found !== undefined;
  }, "one of the two to be active");
  if (found === undefined) throw new Error("none is active");
  return found;
};

try {
  await activeOf();
  const load = [write(), command(), watch()];
  const takeovers: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const active = await activeOf();
    const kind = kinds[Math.floor(Math.random() * kinds.length)] ?? "kill";
    const began = performance.now();
    const over = fault(kind, active);
    if (kind !== "engine") {
      const other = pair.find((each) => each !== active) ?? active;
      await until(() => isActive(other), `the other one to be active after ${kind}`, { details: other.service.said });
      if (kind !== "end") takeovers.push(performance.now() - began);
    }
    await over;
    await activeOf();
    await pause(1_000 + Math.random() * 2_000);
    if (round % 10 === 0)
      say(`${round} faults, ${groups.size} writes acknowledged, ${received.length} commands at the rig`);
  }
  isOver = true;
  await Promise.all(load);
  const answer = await (await activeOf()).send("GET", "/api/groups");
  const stored = new Set<unknown>(Array.isArray(answer?.body) ? answer.body.map(({ name }) => name) : []);
  for (const name of groups) if (!stored.has(name)) wrong.push(`the acknowledged group ${name} is lost`);
  // Each value is one step after the last one, or more where a command never left.
  const arrived = new Set<number>();
  let last = -1;
  for (const value of received) {
    const step = (value - lowest - (last % values) + values) % values;
    if (last >= 0 && (step === 0 || step > values / 2)) wrong.push(`the rig was told ${value} % twice, or late`);
    else last = last < 0 ? value - lowest : last + step;
    arrived.add(last);
  }
  for (const number of done)
    if (!arrived.has(number)) wrong.push(`command ${number} is done, and never reached the rig`);
  const sorted = takeovers.toSorted((one, other) => one - other);
  const at = (share: number): string => ((sorted[Math.floor(share * (sorted.length - 1))] ?? 0) / 1000).toFixed(1);
  say(
    `${rounds} faults; ${groups.size} writes acknowledged, ${received.length} commands at the rig, ${done.length} done`,
  );
  say(`active again after a kill, stop or cut: p50 ${at(0.5)} s, p99 ${at(0.99)} s`);
  say(`lost, twice, late, or two at once: ${wrong.length}`);
  for (const sentence of wrong.slice(0, 20)) say(`  ${sentence}`);
  if (wrong.length > 0) process.exitCode = 1;
} finally {
  isOver = true;
  for (const { service } of pair) service.signal("SIGKILL");
  await Promise.all(pair.map(({ line }) => line.close()));
  await counter.close();
  await farm.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
