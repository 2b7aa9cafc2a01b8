import { isRecord } from "../../src/contract/record.ts";
import { BulkAction, Command, JobStarted } from "../../src/contract/resources.ts";
import { siteOf } from "../../src/contract/site-numbers.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { owner, type RunningSite, startSite } from "../centre/centre-bench.ts";
import { until } from "../until.ts";
import { type Verdict, wait } from "./measure.ts";
import { type ServiceProcess, startProcess } from "./process.ts";
import { say } from "./say.ts";

/** Each site has one rig that a rule of its own steers, and others that people do. */
const [sites, steered, commands, jobs] = [5, 4, 200, 4];
/** Seconds between two reads of a rig. */
const interval = 2;
/** ms that a rig takes to answer, so that many commands are under way at once. */
const answerMs = 150;
/** Answered commands at the cut. */
const answeredFirst = 20;
/** ms within which a centre that starts shows all rigs. */
const shownWithinMs = 5_000;

const rig: RigSpec = { kind: "axeos", warm: true, restartSeconds: 0 };
/** Says whether its light is on. */
const blinking: RigSpec = { kind: "vnish", warm: true, password: "the-password" };
const ownKey = "key-of-the-torture-owner";
const keyOf = (person: string): string => `key-of-the-person-${person}`;
const people = Array.from({ length: commands }, (_, index) => `person-${index}`);
const starters = Array.from({ length: jobs }, (_, index) => `starter-${index}`);

type Told = "done" | "not done" | "not sent" | "unclear";

/** How often the rigs of a site were asked in this time, and how often its rules have acted. */
interface Work {
  readonly seconds: number;
  readonly reads: readonly number[];
  readonly ruled: number;
}

/**
 * Five sites whose lines are all cut for so long while commands and actions for many rigs are under way through a centre, which
 * is a process of its own. It is killed during the cut, started again over its data, and once more when the sites are back.
 */
export async function cutWhileCommanded(cutMs: number, verdict: Verdict): Promise<void> {
  const running = await startSites(cutMs);
  const config = {
    http: { key: ownKey },
    store: { url: "rigbridge.db" },
    users: [...people, ...starters, "late"].map((name) => ({ name, key: keyOf(name), privilege: "control" })),
    sites: running.map(({ name, url, key }) => ({ name, url, key })),
  };
  let centre = await startProcess({ config });
  const { folder } = centre;
  try {
    const ids = await shownRigs(centre, sites * (steered + 1));
    const theirs = ids.filter((id) => !running.some(({ ruled }) => ruled === id));

    // The last site gets none of it; the one before gets all, and none of its answers pass.
    running.at(-1)?.site.stall("requests");
    running.at(-2)?.site.stall("answers");
    const told = new Map<string, Told>();
    const started = starters.map((person) => start(centre, person, theirs));
    const asking = people.map(async (person, index) => {
      const id = theirs[index % theirs.length] ?? 0;
      told.set(person, await commanded(centre, person, id));
    });
    await until(() => told.size >= answeredFirst, "the first answers");
    const answered = told.size;
    const cutAt = Date.now();
    for (const { site } of running) await site.cut();
    say(`cut ${sites} lines with ${answered} of ${commands} commands answered, for ${cutMs / 1_000} s`);
    const progress = reported(cutAt, cutMs, () => asked(centre));
    await Promise.all(asking);
    const actions = await Promise.all(started);
    verdict.check(`${commands - answered} commands were under way, more than half`, answered < commands / 2);
    const before = await unknownAt(centre);
    const open = await runningAt(centre);
    verdict.check(`${jobs} actions are shown, and not as ended: ${open}`, open === jobs);
    const third = (cutAt + cutMs - Date.now()) / 3;
    const alive = await during(running, third);

    await centre.kill();
    say("the centre is killed");
    const dead = await during(running, third);
    centre = await startProcess({ config, folder });
    say("the centre is started again, while no site can be reached");
    const after = await unknownAt(centre);
    verdict.check(
      `${before.length} commands are unknown as before the kill: ${after.length}`,
      `${before}` === `${after}`,
    );
    verdict.check("the actions are, too", (await runningAt(centre)) === jobs);
    let late = 0;
    const refuse = async () => {
      for (const id of theirs) if ((await commanded(centre, "late", id)) === "not sent") late += 1;
    };
    await refuse();
    const again = await during(running, cutAt + cutMs - Date.now());
    await progress.end();
    say(`joined after ${Math.round((Date.now() - cutAt) / 1_000)} s`);
    for (const { site } of running) await site.join();
    const back = Date.now();
    await shownRigs(centre, ids.length);
    await until(async () => (await unknownAt(centre)).length === 0, "the sites to be asked for commands");
    await until(async () => (await jobsAt(centre)).every(({ state }) => state !== "running"), "the actions to end");
    say(`all is known ${((Date.now() - back) / 1_000).toFixed(1)} s after the lines are back`);
    for (const { site } of running) await site.bench.idle();

    const wrong = await compared(centre, running, { told, theirs, actions });
    for (const sentence of wrong) say(`  ${sentence}`);
    const count = (what: Told) => [...told.values()].filter((each) => each === what).length;
    const outcomes = `${count("done")} done, ${count("not done")} not done, ${count("not sent")} not sent, ${count("unclear")} without an answer`;
    verdict.check(
      `${commands} commands (${outcomes}) and ${jobs} actions for ${theirs.length} rigs each: none lost, none twice, each as it was`,
      wrong.length === 0,
    );
    verdict.check(
      `${late} of ${theirs.length} commands during the cut were refused, and none came later`,
      late === theirs.length,
    );
    unchanged(verdict, { alive, dead, again });

    await centre.kill();
    const from = performance.now();
    centre = await startProcess({ config, folder });
    const readyMs = performance.now() - from;
    await shownRigs(centre, ids.length);
    const ms = performance.now() - from;
    verdict.check(
      `killed and started again, it shows all ${ids.length} rigs after ${(ms / 1_000).toFixed(1)} s (5 s promised), ready after ${(readyMs / 1_000).toFixed(1)} s`,
      ms <= shownWithinMs,
    );
  } finally {
    await centre.close();
  }
}

interface Place {
  readonly site: RunningSite;
  /** Number at the centre of the rig that its rule steers. */
  readonly ruled: number;
}

/** A rule of each site turns the light of its first rig on, and another off again. */
async function startSites(cutMs: number): Promise<(RunningSite & Place)[]> {
  const lasts = Math.max(2, Math.round(cutMs / 20_000));
  return Promise.all(
    Array.from({ length: sites }, async (_, index) => {
      const config = { poll: { interval, timeout: 30 } };
      const site = await startSite(`Site ${index + 1}`, {
        rigs: [blinking, ...Array<RigSpec>(steered).fill(rig)],
        config,
      });
      const { service, farm } = site.bench;
      const { id: group } = await service.addGroup({ name: "Ruled", parentId: 0 }, owner);
      const { miners } = await service.listMinerRows({ view: "list" }, owner);
      const [first] = miners.toSorted((a, b) => a.id - b.id);
      await service.changeMiner({ id: first?.id ?? 0, group, password: "the-password" }, owner);
      for (const on of [true, false])
        await service.addRule(
          {
            key: on ? "on" : "off",
            scope: { groups: ["Ruled"] },
            when: { all: [{ reading: "locate", equals: !on }], for: lasts },
            do: [{ action: "locate", on }],
          },
          owner,
        );
      for (const each of farm.rigs.slice(1)) each.fault = { name: "delay", ms: answerMs };
      return { ...site, site, ruled: (index + 1) * 10_000_000_000 + (first?.id ?? 0) };
    }),
  );
}

/** The rigs that are shown as reached, when there are so many. */
async function shownRigs(centre: ServiceProcess, count: number): Promise<number[]> {
  const rows = async () => {
    const { text } = await centre.ask("GET", "/api/miners?view=list&fields=siteUnreachable,status");
    return listIn(JSON.parse(text), "miners").filter((row) => isRecord(row) && row.siteUnreachable === undefined);
  };
  await until(async () => (await rows()).length === count, `${count} rigs to be shown`);
  return (await rows()).map((row) => (isRecord(row) ? Number(row.id) : 0)).toSorted((a, b) => a - b);
}

const listIn = (value: unknown, name: string): unknown[] => {
  const list = isRecord(value) ? value[name] : undefined;
  return Array.isArray(list) ? list : [];
};

const headersOf = (person: string) => ({ "x-api-key": keyOf(person), "idempotency-key": `request-of-${person}` });

async function commanded(centre: ServiceProcess, person: string, id: number): Promise<Told> {
  // Whoever is late asks for each rig.
  const headers = person === "late" ? { "x-api-key": keyOf(person) } : headersOf(person);
  const { status, text } = await centre.ask("POST", `/api/miners/${id}?action=locate&on=true`, { headers });
  const reply: unknown = JSON.parse(text);
  if (status === 200) return isRecord(reply) && reply.state === "done" ? "done" : "unclear";
  const code = isRecord(reply) ? reply.code : undefined;
  return code === "service.not-ready" ? "not sent" : "unclear";
}

/** Starts an action for these rigs; its number. */
async function start(centre: ServiceProcess, person: string, miners: readonly number[]): Promise<number> {
  const body = JSON.stringify({ action: "locate", parameters: { on: true }, miners, parallel: 2 });
  const headers = { ...headersOf(person), "content-type": "application/json" };
  const { status, text } = await centre.ask("POST", "/api/actions", { headers, body });
  if (status !== 202) throw new Error(`${person} could not start an action: ${text}`);
  return JobStarted.parse(JSON.parse(text)).id;
}

async function commandsAt(centre: ServiceProcess): Promise<Command[]> {
  const { text } = await centre.ask("GET", "/api/commands");
  return listIn(JSON.parse(text), "commandList").map((each) => Command.parse(each));
}

const unknownAt = async (centre: ServiceProcess): Promise<number[]> =>
  (await commandsAt(centre)).filter(({ state }) => state === "unknown").map(({ id }) => id);

async function jobsAt(centre: ServiceProcess): Promise<{ id: number; state: string }[]> {
  const { text } = await centre.ask("GET", "/api/actions");
  const list: unknown = JSON.parse(text);
  return Array.isArray(list) ? list : [];
}

const runningAt = async (centre: ServiceProcess): Promise<number> =>
  (await jobsAt(centre)).filter(({ state }) => state === "running").length;

/** What the centre says each half minute of a cut, or that it is away. */
function reported(from: number, cutMs: number, asked: () => Promise<string>) {
  const ending = new AbortController();
  const timer = setInterval(async () => {
    const seconds = Math.round((Date.now() - from) / 1_000);
    const said = await asked().catch(() => "the centre is away");
    if (!ending.signal.aborted) say(`  ${seconds} of ${cutMs / 1_000} s: ${said}`);
  }, 30_000);
  return {
    end: async () => {
      ending.abort();
      clearInterval(timer);
    },
  };
}

async function asked(centre: ServiceProcess): Promise<string> {
  return `${(await unknownAt(centre)).length} commands unknown, ${await runningAt(centre)} actions running`;
}

/** The work of each site in this time. */
async function during(running: readonly Place[], ms: number): Promise<Work[]> {
  const counts = async () =>
    Promise.all(
      running.map(async ({ site: { bench } }) => {
        const { commandList } = await bench.service.listCommands({}, owner);
        const ruled = commandList.filter(({ cause, state }) => cause?.kind === "rule" && state === "done").length;
        return { reads: bench.farm.rigs.map(({ requests }) => requests.count), ruled };
      }),
    );
  const before = await counts();
  const from = performance.now();
  await wait(ms);
  const seconds = (performance.now() - from) / 1_000;
  return (await counts()).map(({ reads, ruled }, at) => ({
    seconds,
    reads: reads.map((each, index) => each - (before[at]?.reads[index] ?? 0)),
    ruled: ruled - (before[at]?.ruled ?? 0),
  }));
}

interface Works {
  readonly alive: readonly Work[];
  readonly dead: readonly Work[];
  readonly again: readonly Work[];
}

function unchanged(verdict: Verdict, { alive, dead, again }: Works): void {
  const mean = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  const [reads, ruled] = [
    [alive, dead, again].map((works) =>
      mean(works.flatMap(({ reads, seconds }) => reads.map((each) => each / seconds))),
    ),
    [alive, dead, again].map((works) => 60 * mean(works.map(({ ruled, seconds }) => ruled / seconds))),
  ];
  const texts = (numbers: readonly number[] = []): string => numbers.map((each) => each.toFixed(2)).join(", ");
  say(`each rig got ${texts(reads)} requests a second, and each rule acted ${texts(ruled)} times a minute,`);
  say("  while the centre was cut off, dead, and started again");
  // A rig is asked at least once for a read; one may come just before or after the time.
  const missed = dead.flatMap(({ reads, seconds }) => reads.map((each) => Math.floor(seconds / interval) - each));
  const most = Math.max(0, ...missed);
  verdict.check(`while it was dead, each rig was read each ${interval} s: ${most} reads missed at most (1)`, most <= 1);
  verdict.check(
    "while it was dead, the rule of each site acted",
    dead.every((work) => work.ruled > 0),
  );
}

interface Sent {
  readonly told: ReadonlyMap<string, Told>;
  readonly theirs: readonly number[];
  readonly actions: readonly number[];
}

/** What must not be: a sentence each. */
async function compared(
  centre: ServiceProcess,
  running: readonly (RunningSite & Place)[],
  sent: Sent,
): Promise<string[]> {
  const { told, theirs, actions } = sent;
  const wrong: string[] = [];
  const shown = Map.groupBy(await commandsAt(centre), ({ actor }) => personOf(actor));
  const details = await Promise.all(
    actions.map(async (id) => BulkAction.parse(JSON.parse((await centre.ask("GET", `/api/actions/${id}`)).text))),
  );
  for (const [at, { name, bench }] of running.entries()) {
    const { commandList } = await bench.service.listCommands({}, owner);
    const came = Map.groupBy(commandList, ({ actor }) => personOf(actor));
    if (came.has("late")) wrong.push(`${name} got a command that was refused at the centre`);
    for (const [person, outcome] of told) {
      if (siteOf(theirs[Number(person.slice(7)) % theirs.length] ?? 0) !== at + 1) continue;
      const states = (came.get(person) ?? []).map(({ state }) => state);
      const seen = (shown.get(person) ?? []).map(({ state }) => state);
      const really = states.join() || "failed";
      if (states.length > 1) wrong.push(`${person}: ${name} was told ${states.length} times`);
      if (outcome === "not sent" && states.length > 0)
        wrong.push(`${person}: said not to be sent, and came to ${name}`);
      if (outcome === "done" && really !== "done") wrong.push(`${person}: done here, ${really} at ${name}`);
      // What was not sent has no entry; of all else one remains.
      if (outcome !== "not sent" && seen.join() !== really)
        wrong.push(`${person}: shown as ${seen.join() || "nothing"}, ${really} at ${name}`);
    }
    const own = await bench.service.listBulkActions({}, owner);
    for (const [index, job] of details.entries()) {
      const its = own.filter(({ actor }) => personOf(actor) === `starter-${index}`);
      if (its.length > 1) wrong.push(`starter-${index}: ${name} has started it ${its.length} times`);
      const [first] = its;
      const there = first === undefined ? [] : (await bench.service.getBulkAction({ id: first.id }, owner)).results;
      const shares = job.results.filter(({ minerId }) => siteOf(minerId) === at + 1);
      const really = (
        first === undefined ? Array(shares.length).fill("failed") : there.map(({ state }) => state)
      ).join();
      const seen = shares.map(({ state }) => state).join();
      if (shares.length !== steered || seen !== really)
        wrong.push(`starter-${index}: shown as ${seen}, ${really} at ${name}`);
    }
    // They were added in the order of the rigs.
    for (const [index, { id }] of bench.store.miners.all().entries()) {
      const done = commandList.filter(({ minerId, state }) => minerId === id && state === "done").length;
      const got = bench.rig(index).requests.writes.length;
      // A rig remembers its last hundred.
      if (index > 0 && done !== got) wrong.push(`${name}: rig ${index + 1} has done ${done} commands, and got ${got}`);
    }
  }
  return wrong;
}

const personOf = (actor: string): string => actor.split(" for ")[0] ?? "";
