import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { siteOf } from "../../src/contract/site-numbers.ts";
import { type SimulatedRig, startFarm } from "../../src/simulator/index.ts";
import { atEnd, type SiteRelay, startSiteRelay } from "../centre/centre-bench.ts";
import { until } from "../until.ts";
import { type ServiceProcess, startProcess } from "./process.ts";

const sites = 5;
/** Each gets one command, so that what it counts is what became of that. */
const rigsAtSite = 40;
const key = "key-of-each-service";
const keyAtSites = "key-of-the-centres";
/** s between two reads of a rig. */
const interval = 2;
/** ms in which a restarted centre shows all rigs. */
export const backMs = 5_000;

/** What became of a command, as its sender knows: done, not sent, or no answer about that. */
type Outcome = "done" | "refused" | "unclear";

interface Command {
  readonly miner: number;
  readonly rig: SimulatedRig;
  readonly centre: Centre;
  readonly key: string;
  outcome: Outcome;
}

const Rows = z.object({
  miners: z.array(z.object({ id: z.number(), name: z.string(), siteUnreachable: z.string().optional() })),
});
const Commands = z.object({
  commandList: z.array(z.object({ minerId: z.number(), state: z.string(), message: z.string() })),
});
const Done = z.object({ state: z.string().default("done") });

/** `rigbridge serve` with lines of its own to the sites; its store outlives the process. */
class Centre {
  readonly lines: readonly SiteRelay[];
  readonly #store: string;
  #service: ServiceProcess | null = null;

  constructor(lines: readonly SiteRelay[], store: string) {
    this.lines = lines;
    this.#store = store;
  }

  async start(): Promise<void> {
    const places = this.lines.map(({ url }, index) => ({ name: `Site ${index + 1}`, url, key: keyAtSites }));
    this.#service = await startProcess({ config: { http: { key }, store: { url: this.#store }, sites: places } });
  }

  async kill(): Promise<void> {
    const service = this.#service;
    if (service === null) return;
    this.#service = null;
    process.kill(service.pid, "SIGKILL");
    await service.close();
  }

  ask(method: string, path: string, headers: Record<string, string> = {}) {
    if (this.#service === null) throw new Error("the centre does not run");
    return this.#service.ask(method, path, { headers });
  }

  async rows(): Promise<z.infer<typeof Rows>["miners"]> {
    return Rows.parse(JSON.parse((await this.ask("GET", "/api/miners?view=list")).text)).miners;
  }

  /** Whether it shows all rigs as they are now. */
  async showsAll(): Promise<boolean> {
    const rows = await this.rows();
    return rows.length === sites * rigsAtSite && rows.every(({ siteUnreachable }) => siteUnreachable === undefined);
  }

  async commands(): Promise<z.infer<typeof Commands>["commandList"]> {
    return commandsOf(await this.ask("GET", "/api/commands"));
  }
}

const commandsOf = ({ text }: { readonly text: string }) => Commands.parse(JSON.parse(text)).commandList;

/** Sends a command, or repeats it: with the same key it is the same one. */
async function send({ centre, miner, key: itsKey }: Omit<Command, "outcome">): Promise<Outcome> {
  try {
    const headers = { "idempotency-key": itsKey };
    const answer = await centre.ask("POST", `/api/miners/${miner}?action=locate&on=true`, headers);
    if (answer.status === 503) return "refused";
    const isDone = answer.status === 200 && Done.parse(JSON.parse(answer.text)).state === "done";
    return isDone ? "done" : "unclear";
  } catch {
    return "unclear";
  }
}

/**
 * Two centres over the same sites, all of them processes. Their lines to all sites are cut while commands are under way: in
 * front of the first site before any arrives, in front of the second before any answer comes back, in front of the others
 * somewhere between. One centre goes on; the other is killed after a quarter of the cut, started again in the last one, and
 * killed and started once more when the lines are back. Returns a sentence for each thing that is wrong.
 */
export async function longCut(seconds: number, say: (line: string) => void): Promise<readonly string[]> {
  const wrong: string[] = [];
  const folder = await mkdtemp(join(tmpdir(), "rigbridge-cut-"));
  atEnd(() => rm(folder, { recursive: true }));
  const specs = Array.from({ length: sites * rigsAtSite }, () => ({ kind: "axeos", warm: true }) as const);
  const farm = await startFarm({ rigs: specs });
  atEnd(() => farm.close());
  const services: ServiceProcess[] = [];
  const users = [{ name: "centres", key: keyAtSites, privilege: "control", centre: true }];
  for (let site = 0; site < sites; site += 1) {
    const miners = farm.rigs
      .map(({ address }, index) => ({ address, driver: "axeos", name: `rig-${index}` }))
      .slice(site * rigsAtSite, (site + 1) * rigsAtSite);
    const config = { http: { key }, store: { url: "site.db" }, poll: { interval }, users, miners };
    const service = await startProcess({ config });
    atEnd(() => service.close());
    services.push(service);
  }
  const linesToSites = () => Promise.all(services.map(({ port }) => startSiteRelay(port)));
  const [steady, killed] = [
    new Centre(await linesToSites(), join(folder, "steady.db")),
    new Centre(await linesToSites(), join(folder, "killed.db")),
  ];
  for (const centre of [steady, killed]) {
    await centre.start();
    atEnd(() => centre.kill());
    await until(() => centre.showsAll(), "the rigs of all sites");
  }
  const commands = (await steady.rows()).map(({ id, name }, index): Command => {
    const rig = farm.rigs[Number(name.slice("rig-".length))];
    if (rig === undefined) throw new Error(`no rig is ${name}`);
    return { miner: id, rig, centre: index % 2 === 0 ? steady : killed, key: `key-${id}`, outcome: "unclear" };
  });
  const lines = [...steady.lines, ...killed.lines];
  const of = (centre: Centre) => commands.filter((command) => command.centre === centre);
  const reads = () => farm.rigs.map(({ requests }) => requests.count - requests.writes.length);

  for (const {
    lines: [first, second],
  } of [steady, killed]) {
    first?.stall("requests");
    second?.stall("answers");
  }
  const sending = Promise.all(
    commands.map(async (command) => {
      command.outcome = await send(command);
    }),
  );
  await Promise.all(
    lines.map(async (line) => {
      await pause(Math.random() * 2_000);
      await line.cut();
    }),
  );
  const cutAt = performance.now();
  const secondsCut = () => (performance.now() - cutAt) / 1_000;
  const at = (share: number) => pause(Math.max(0, share * seconds - secondsCut()) * 1_000);
  const progress = setInterval(() => say(`  cut for ${Math.round(secondsCut())} s`), 30_000);
  atEnd(() => clearInterval(progress));
  await sending;
  const told = (outcome: Outcome) => commands.filter((command) => command.outcome === outcome).length;
  say(
    `${commands.length} commands under way, lines to ${sites} sites cut: ${told("done")} done, ${told("refused")} not ` +
      `sent, ${told("unclear")} without an answer`,
  );
  const unknown = async (centre: Centre) => (await centre.commands()).filter(({ state }) => state === "unknown").length;
  for (const centre of [steady, killed]) {
    const [is, shown] = [of(centre).filter(({ outcome }) => outcome === "unclear").length, await unknown(centre)];
    if (is !== shown) wrong.push(`${is} commands have no answer, and ${shown} are shown as unknown`);
  }

  // Each window is as long, and nothing but the death of the centre is between them.
  const window = seconds / 4;
  const alive = await readsIn(window, reads);
  await killed.kill();
  const dead = await readsIn(window, reads);
  say(`  reads of the rigs in ${window} s: ${sum(alive)} before a centre was killed, ${sum(dead)} after it`);
  if (sum(dead) < 0.8 * sum(alive) || dead.some((count) => count === 0))
    wrong.push("the sites read their rigs less after the death of a centre");
  await at(0.75);
  await killed.start();
  for (const command of of(killed).slice(0, sites)) {
    const again = await send({ ...command, key: `${command.key}-late` });
    if (again !== "refused") wrong.push("a centre that was started during the cut does not refuse a command");
  }
  await at(1);
  clearInterval(progress);
  if ((await unknown(steady)) !== of(steady).filter(({ outcome }) => outcome === "unclear").length)
    wrong.push("what is not known was said to be known during the cut");

  const joined = performance.now();
  for (const line of lines) await line.join();
  for (const [name, centre] of Object.entries({ "that went on": steady, "started during the cut": killed })) {
    await until(() => centre.showsAll(), "the rigs of all sites after the cut");
    say(`  the centre ${name} shows all rigs ${ms(joined)} ms after the lines were back`);
  }
  await until(async () => (await unknown(steady)) === 0, "the sites to be asked");
  const ended = performance.now();
  await killed.kill();
  const started = performance.now();
  await killed.start();
  const ready = ms(started);
  await until(() => killed.showsAll(), "the rigs of all sites after a restart");
  const back = ms(started);
  say(
    `  killed and started again, the centre shows all rigs after ${back} ms (ready after ${ready}); at most ${backMs}`,
  );
  if (back > backMs) wrong.push(`a restarted centre shows all after ${back} ms`);
  say(`  all commands are known ${Math.round(ended - joined)} ms after the lines were back`);

  const there = await Promise.all(
    services.map(async (service) => commandsOf(await service.ask("GET", "/api/commands"))),
  );
  const came = new Map(
    there.flatMap((list, index) => [...Map.groupBy(list, ({ minerId }) => (index + 1) * 1e10 + minerId)]),
  );
  wrong.push(...(await wrongWith(commands, came, [steady, killed])));
  say(`  ${came.size} commands came to their sites and were done, as the rigs count them, unless named below`);
  for (const command of commands) {
    const before = command.rig.requests.writes.length;
    command.outcome = await send(command);
    const { length } = command.rig.requests.writes;
    if (command.outcome !== "done" || length !== 1)
      wrong.push(
        `${command.miner}: repeated with its key it is ${command.outcome}; its rig got ${before}, then ${length}`,
      );
  }
  say("  each command was repeated with its key");
  return wrong;
}

/** What the sites and the centres say of the commands against what the rigs got. */
async function wrongWith(
  commands: readonly Command[],
  came: ReadonlyMap<number, z.infer<typeof Commands>["commandList"]>,
  centres: readonly Centre[],
): Promise<string[]> {
  const wrong: string[] = [];
  for (const { miner, rig, outcome } of commands) {
    const states = (came.get(miner) ?? []).map(({ state }) => state);
    const { length } = rig.requests.writes;
    const isTrue = states.join() === (length === 1 ? "done" : "");
    if (!isTrue) wrong.push(`${miner}: its site has ${states.join() || "nothing"}, and its rig got ${length}`);
    if (outcome === "done" && length !== 1) wrong.push(`${miner}: said to be done, and its rig got ${length}`);
    if (outcome === "refused" && length !== 0) wrong.push(`${miner}: said not to be sent, and its rig got ${length}`);
  }
  for (const centre of centres) {
    const shown = Map.groupBy(await centre.commands(), ({ minerId }) => minerId);
    for (const { miner } of commands) {
      const [list, its] = [came.get(miner) ?? [], shown.get(miner) ?? []];
      const isLost = (message: string) => message === `Nothing was done: Site ${siteOf(miner)} has no such command`;
      const states = its.filter(({ message }) => !isLost(message)).map(({ state }) => state);
      if (states.join() !== list.map(({ state }) => state).join() || (list.length > 0 && its.length > list.length))
        wrong.push(
          `${miner}: ${its.map(({ state }) => state)} is shown, and ${list.map(({ state }) => state)} happened`,
        );
    }
  }
  return wrong;
}

/** Reads of each rig in so many seconds. */
async function readsIn(seconds: number, reads: () => readonly number[]): Promise<number[]> {
  const before = reads();
  await pause(seconds * 1_000);
  return reads().map((count, index) => count - (before[index] ?? 0));
}

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
const ms = (since: number): number => Math.round(performance.now() - since);
