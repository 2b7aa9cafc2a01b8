import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { freePort } from "../free-port.ts";
import { LeaseRecord, recordLease } from "../store/lease-record.ts";
import { until } from "../until.ts";
import { startFarmProcess } from "./farm-process.ts";
import { Caller } from "./pair/caller.ts";
import { startEngine } from "./pair/engine.ts";
import { type FaultName, shuffled } from "./pair/faults.ts";
import { buildChecker, checkChecker } from "./pair/history.ts";
import { Commands, Writes } from "./pair/load.ts";
import { activeEpoch, canSetClocks, type Member, startMember, twoPorts } from "./pair/member.ts";
import { Registers } from "./pair/registers.ts";
import { startCountingRigs } from "./pair/rigs.ts";
import { say } from "./say.ts";

/**
 * Two services with one store in a real PostgreSQL that has a standby server, and faults in random order under load: what
 * was acknowledged is there, no command reaches a rig twice or from a service that does not hold the lease by the engine's
 * own record, and keyed writes are linearizable. Arguments: faults, and rigs.
 */
const rounds = Number(process.argv[2] ?? 200);
const rigCount = Number(process.argv[3] ?? 200);

const interval = 10;
const commanded = 10;
/** Rigs without commands, whose reads are counted. */
const watched = 5;
/** More than are needed while writes are quick. */
const writers = 20;
const writesPerSecond = 20;
const commandsPerSecond = 5;

const folder = mkdtempSync(join(tmpdir(), "rigbridge-pair-"));
const engine = await startEngine();
const counting = await startCountingRigs(commanded + watched);
const ports = { cgminer: await freePort(), axeos: await freePort(), xmrig: await freePort() };
const farm = await startFarmProcess(rigCount, { cgminer: 3, axeos: 1, xmrig: 1 }, ports);
const delay = monitorEventLoopDelay({ resolution: 10 });
const wrong: string[] = [];

const config = {
  poll: { interval },
  miners: [
    ...counting.rigs.map(({ address }, index) => ({ address, driver: "axeos", name: `counting ${index}` })),
    ...farm.rigs.map(({ address, token, name }) => ({ address, name, ...(token === undefined ? {} : { token }) })),
  ],
};
const [onePort, otherPort] = await twoPorts();
const shared = { folder, engine, config };
const members: readonly [Member, Member] = [
  await startMember({ ...shared, name: "one", port: onePort, otherPort }),
  await startMember({ ...shared, name: "other", port: otherPort, otherPort: onePort }),
];

let isOver = false;
const over = (): boolean => isOver;
/** What services have said of themselves: that they may act. */
const claims: { readonly askedAt: number; readonly epoch: number }[] = [];

async function watch(): Promise<void> {
  while (!isOver) {
    const askedAt = Date.now();
    for (const epoch of await Promise.all(members.map(activeEpoch)))
      if (epoch !== null) claims.push({ askedAt, epoch });
    await pause(100);
  }
}

/** The one that is active, and the other one. */
async function rolesNow(awaited: string): Promise<{ readonly active: Member; readonly other: Member }> {
  const [one, other] = members;
  let roles: { active: Member; other: Member } | undefined;
  const look = async (): Promise<boolean> => {
    const [first, second] = await Promise.all(members.map(activeEpoch));
    if (first !== null) roles = { active: one, other };
    else if (second !== null) roles = { active: other, other: one };
    return roles !== undefined;
  };
  await until(look, awaited, { details: () => members.map(({ service }) => service.said()).join("\n") });
  if (roles === undefined) throw new Error("none is active");
  return roles;
}

const Miners = z.object({
  groupList: z.array(z.object({ minerList: z.array(z.object({ id: z.number(), name: z.string() })) })),
});
const Named = z.array(z.object({ id: z.coerce.number(), name: z.string() }));

async function minerIds(): Promise<number[]> {
  const byName = new Map<string, number>();
  const listed = async (): Promise<boolean> => {
    const { active } = await rolesNow("a service to be active");
    const list = Miners.safeParse((await active.send("GET", "/api/miners"))?.body).data;
    for (const { id, name } of list?.groupList.flatMap(({ minerList }) => minerList) ?? []) byName.set(name, id);
    return list !== undefined;
  };
  await until(listed, "the list of miners", { details: () => members.map(({ service }) => service.said()).join("\n") });
  return counting.rigs.slice(0, commanded).map((_, index) => byName.get(`counting ${index}`) ?? 0);
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

const figures = (all: readonly number[]): string => {
  const sorted = all.toSorted((one, other) => one - other);
  const at = (share: number): string => seconds(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  return `p50 ${at(0.5)} s, p99 ${at(0.99)} s, of ${all.length}`;
};

try {
  const check = buildChecker(folder);
  if (typeof check === "string") say(`the linearizability of keyed writes is not checked: ${check}`);
  else await checkChecker(check);
  if (!canSetClocks) say("no clock jumps: Debian's package libfaketime is missing");
  const caller = new Caller(members, over);
  const ids = await minerIds();
  await recordLease(engine.run);
  delay.enable();
  const writes = new Writes();
  const commands = counting.rigs.slice(0, commanded).map((rig) => new Commands(rig));
  const registers = new Registers(members, caller, over);
  const load = [
    watch(),
    registers.run(),
    ...Array.from({ length: writers }, (_, index) =>
      writes.run(caller, `writer-${index}`, writesPerSecond / writers, over),
    ),
    ...commands.map((each, index) => each.run(caller, ids[index] ?? 0, commandsPerSecond / commanded, over)),
  ];
  const [takeovers, returns]: [number[], number[]] = [[], []];
  const needless = new Map<FaultName, number>();
  let stayed = 0;
  const happened: { readonly name: FaultName; readonly at: number }[] = [];
  const faults = shuffled();
  for (let round = 1; round <= rounds; round += 1) {
    const roles = await rolesNow("one of the two to be active");
    const epoch = (await LeaseRecord.read(engine.run)).epoch;
    const [name, { moves, happens }] = faults.next().value ?? [];
    if (name === undefined || happens === undefined) break;
    happened.push({ name, at: Date.now() });
    if (process.env.TORTURE_SAYS !== undefined) say(`${round}: ${name}`);
    const began = performance.now();
    const ended = happens({ ...roles, engine });
    if (moves) {
      let isOverAlready = false;
      void ended.then(() => {
        isOverAlready = true;
      });
      // A stop or a cut that is over before the other one was quick enough leaves the lease where it was.
      const hasMoved = async () => (await activeEpoch(roles.other)) !== null;
      const hasStayed = async () => isOverAlready && (await activeEpoch(roles.active)) !== null;
      await until(async () => (await hasMoved()) || (await hasStayed()), `one to be active after ${name}`, {
        details: () => members.map(({ service }) => service.said()).join("\n"),
      });
      if (!(await hasMoved())) stayed += 1;
      else if (name !== "end") takeovers.push(performance.now() - began);
    }
    await ended;
    const back = performance.now();
    await rolesNow(`one of the two to be active after ${name}`);
    if (name.startsWith("engine")) returns.push(performance.now() - back);
    if (!moves && (await LeaseRecord.read(engine.run)).epoch !== epoch)
      needless.set(name, (needless.get(name) ?? 0) + 1);
    await pause(1_000 + Math.random() * 2_000);
    const told = counting.rigs.reduce((sum, rig) => sum + rig.told.length, 0);
    if (round % 10 === 0) say(`${round} faults, ${writes.acknowledged} writes acknowledged, ${told} commands at rigs`);
  }
  await rolesNow("one of the two to be active at the end");
  const gap = counting.rigs
    .slice(commanded)
    .map((rig) => rig.longestGap())
    .reduce((one, other) => (other.ms > one.ms ? other : one));
  // Those that are under way are answered first.
  isOver = true;
  await Promise.all(load);
  const { active } = await rolesNow("one of the two to be active after the load");
  const stored = Named.parse((await active.send("GET", "/api/poolgroups"))?.body);
  const lost = writes.lost(new Map(stored.map(({ id, name }) => [id, name])));
  const twice = commands.flatMap((each) => each.wrong());
  const record = await LeaseRecord.read(engine.run);
  const late = counting.rigs
    .flatMap(({ told }) => told)
    .filter(({ at, from }) => members.find(({ url }) => url === record.holderAt(at))?.host !== from)
    .map(({ at }) => `a rig was told something ${record.sinceChange(at)} ms after the lease had another holder`);
  const twoActive = claims
    .filter(({ askedAt, epoch }) => epoch < record.epochAt(askedAt))
    .map(
      ({ askedAt, epoch }) =>
        `${record.sinceChange(askedAt)} ms after the next one, epoch ${epoch} said that it may act`,
    );
  const unordered = typeof check === "string" ? [] : await check(registers.history);
  wrong.push(...lost, ...twice, ...late, ...twoActive, ...record.wrong, ...unordered);
  const sum = (what: "done" | "failed" | "unknown"): number =>
    commands.reduce((all, each) => all + each.count(what), 0);
  say(`${rounds} faults under ${rigCount} rigs every ${interval} s; epoch ${record.epoch}`);
  say(`acknowledged writes: ${writes.acknowledged}, lost ${lost.length}`);
  say(
    `commands: ${sum("done")} done, ${sum("failed")} failed, ${sum("unknown")} unknown; twice, late or not as said ${twice.length}`,
  );
  say(`commands after a lost lease: ${late.length}; two active at once: ${twoActive.length + record.wrong.length}`);
  if (typeof check !== "string")
    say(`operations on registers: ${registers.history.length}; registers without an order: ${unordered.length}`);
  say(`active again after a kill, stop or cut: ${figures(takeovers)}; after the engine is back: ${figures(returns)}`);
  say(
    `the lease stayed over ${stayed} stops or cuts, and moved where it need not: ${[...needless].map(([name, times]) => `${name} ${times}`).join(", ") || "never"}`,
  );
  const before = happened
    .filter(({ at }) => at < gap.at)
    .map(({ name, at }) => `${name} ${seconds(gap.at - at)} s before`);
  say(
    `longest gap in reading a rig: ${seconds(gap.ms)} s, at an interval of ${interval} s; ${before.slice(-3).join(", ")}`,
  );
  say(`this program was late by ${(delay.max / 1e6).toFixed(0)} ms at most`);
  for (const sentence of wrong.slice(0, 20)) say(`  ${sentence}`);
  if (wrong.length > 0) process.exitCode = 1;
} catch (error) {
  say(error instanceof Error ? `${error.stack}` : String(error));
  process.exitCode = 1;
} finally {
  isOver = true;
  for (const { service } of members) service.signal("SIGCONT");
  for (const member of members) await member.close();
  await farm.close();
  await counting.close();
  await engine.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
