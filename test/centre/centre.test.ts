import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { RowEvent, ServiceEvent } from "../../src/contract/events.ts";
import { minersIn } from "../../src/contract/miners-in.ts";
import type { Caller, MiningService } from "../../src/contract/service.ts";
import { numberAt, numberThere, siteOf } from "../../src/contract/site-numbers.ts";
import { type RigSpec, startTwin } from "../../src/simulator/index.ts";
import { answering, closeServers, sendJson } from "../client/servers.ts";
import { problem, refusal } from "../errors.ts";
import { onTestFinished } from "../finished.ts";
import { closeBenches } from "../service/bench.ts";
import { until } from "../until.ts";
import { owner, startCentre, startSite } from "./centre-bench.ts";
import { commandsOverCutLines } from "./cut-lines.ts";

afterEach(closeBenches);

const cgminer: RigSpec = { kind: "cgminer", warm: true, restartSeconds: 0 };
const axeos: RigSpec = { kind: "axeos", warm: true, restartSeconds: 0 };

const rowsOf = async (service: MiningService, who: Caller = owner) =>
  (await service.listMinerRows({ view: "list" }, who)).miners;

/** Barn with two rigs, Cabin with one, and one rig of the centre itself. */
async function startFarms() {
  const barn = await startSite("Barn", { rigs: [cgminer, axeos] });
  const cabin = await startSite("Cabin", { rigs: [cgminer] });
  const running = await startCentre([barn, cabin], { own: { rigs: [cgminer] } });
  await running.own.add(running.own.rig(0).address, { driver: "cgminer" });
  await until(async () => (await rowsOf(running.centre)).length === 4, "the rows of all sites");
  const rows = await rowsOf(running.centre);
  const at = (site: number) => rows.filter(({ id }) => siteOf(id) === site).map(({ id }) => id);
  return { barn, cabin, ...running, at };
}

/** The events from now on. */
function watch<E>(stream: (signal: AbortSignal) => AsyncIterable<E>): E[] {
  const ending = new AbortController();
  const events: E[] = [];
  const done = (async () => {
    for await (const event of stream(ending.signal)) events.push(event);
  })();
  onTestFinished(async () => {
    ending.abort();
    await done;
  });
  return events;
}

function* endless(): Generator<string> {
  while (true) yield `{"paths":"${"x".repeat(1_000_000)}`;
}

describe("a centre", () => {
  test("shows the rigs of all sites, in rows, whole and in sums, under its own numbers", async () => {
    const { barn, centre, at } = await startFarms();
    const group = await barn.bench.service.addGroup({ name: "Attic", parentId: 0 }, owner);
    const [first = 0] = at(1);
    await barn.bench.service.changeMiner({ id: numberThere(first), group: group.id }, owner);
    await until(
      async () => (await rowsOf(centre)).some((row) => row.group === numberAt(1, group.id)),
      "the row in its new group",
    );
    expect(await centre.listGroups({}, owner)).toEqual([
      { id: numberAt(1, 0), name: "Barn", parentId: 0 },
      { id: numberAt(1, group.id), name: "Barn / Attic", parentId: numberAt(1, 0) },
      { id: numberAt(2, 0), name: "Cabin", parentId: 0 },
    ]);
    const { groupList } = await centre.listMiners({}, owner);
    expect(groupList.map(({ name, minerList }) => [name, minerList.length])).toEqual(
      expect.arrayContaining([
        ["Barn / Attic", 1],
        ["Cabin", 1],
      ]),
    );
    expect(minersIn(groupList).map(({ id }) => id)).toEqual(expect.arrayContaining([...at(0), ...at(1), ...at(2)]));
    for (const filter of ["Barn", numberAt(1, 0)]) {
      const rows = await centre.listMinerRows({ view: "list", group: filter }, owner);
      expect(rows.miners.map(({ id }) => id)).toEqual(at(1));
      expect(
        minersIn((await centre.listMiners({ group: filter }, owner)).groupList)
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(at(1).toSorted());
    }
    const attic = await centre.listMinerRows({ view: "list", group: "Barn / Attic" }, owner);
    expect(attic.miners.map(({ id }) => id)).toEqual([first]);
    expect((await centre.getMiner({ id: first }, owner)).groupId).toBe(numberAt(1, group.id));
    const summary = await centre.getSummary({}, owner);
    expect([summary.totalCount, summary.runningCount, summary.money?.minerCount]).toEqual([4, 4, 4]);
    const { coinList } = summary;
    const hashrate = (await rowsOf(centre)).reduce((sum, row) => sum + (row.hashrate ?? 0), 0);
    const shown = coinList.reduce((sum, each) => sum + (each.hashrateValue ?? 0), 0);
    if (coinList.length > 0) expect(shown / hashrate).toBeCloseTo(1, 2);
    await expect(centre.getMiner({ id: numberAt(2, 77) }, owner)).rejects.toMatchObject({
      code: "not.found",
      message: `There is no miner ${numberAt(2, 77)}`,
    });
    expect(await refusal(centre.getMiner({ id: numberAt(9, 1) }, owner))).toBe("not.found");
  });

  test("passes a command on to the rig, once for each key, with the person in the log of the site", async () => {
    const { barn, centre, own, at } = await startFarms();
    const anna = await own.service.saveUser({ id: 0, name: "anna", privilege: "control" }, owner);
    const who: Caller = { actor: "anna", userId: anna.id, idempotency: { key: "k-1" } };
    const [, rig = 0] = at(1);
    const input = { id: rig, action: "locate", on: true } as const;
    const reply = await centre.minerAction(input, who);
    expect(await centre.minerAction(input, who)).toEqual(reply);
    const there = await barn.bench.commands(numberThere(rig));
    expect(there.map(({ action, actor, state }) => [action, actor, state])).toEqual([
      ["locate", "anna for head-office", "done"],
    ]);
    expect(reply.commandId).toBe(numberAt(1, there[0]?.id ?? 0));
    const { commandList } = await centre.listCommands({}, owner);
    expect(commandList.map(({ id, minerId }) => [id, minerId])).toEqual([[reply.commandId, rig]]);
    // Another user's request with the same key is another request.
    await centre.minerAction(input, { ...owner, idempotency: { key: "k-1" } });
    expect(await barn.bench.commands(numberThere(rig))).toHaveLength(2);
  });

  test("shows a command whose answer was lost as unknown until its site is back and was asked", async () => {
    const { cabin, centre, at, reaches } = await startFarms();
    const [rig = 0] = at(2);
    const listed = async () =>
      (await centre.listCommands({}, owner)).commandList.map(({ minerId, action, state, actor }) => [
        minerId,
        action,
        state,
        actor,
      ]);
    const events = watch<ServiceEvent>((signal) => centre.watchEvents({ types: ["command"] }, owner, signal));
    const stateOf = () => events.findLast((event) => event.type === "command");
    // The event follows what is stored.
    const isTold = (state: string) => until(() => stateOf()?.data.state === state, `${state} to be told`);

    // The site does it, and its answer is lost.
    cabin.stall("answers");
    const taken = refusal(centre.minerAction({ id: rig, action: "restart" }, owner));
    const isDone = async () => (await cabin.bench.commands(numberThere(rig)))[0]?.state === "done";
    await until(isDone, "the command to be done at the site");
    await cabin.cut();
    expect(await taken).toBe("service.unreachable");
    expect(await listed()).toEqual([[rig, "restart", "unknown", "test"]]);
    await cabin.join();
    await reaches("Cabin", "connected");
    await isTold("done");
    expect(await listed()).toEqual([[rig, "restart", "done", "test for head-office"]]);
    expect(stateOf()?.data).toMatchObject({ minerId: rig, state: "done" });

    // The site never gets it.
    cabin.stall("requests");
    const lost = refusal(centre.minerAction({ id: rig, action: "restart" }, owner));
    await cabin.cut();
    expect(await lost).toBe("service.unreachable");
    expect(await listed()).toEqual([[rig, "restart", "unknown", "test"]]);
    await cabin.join();
    await reaches("Cabin", "connected");
    await isTold("failed");
    expect((await listed())[0]).toEqual([rig, "restart", "failed", "test"]);
    expect(stateOf()?.data).toMatchObject({
      minerId: rig,
      state: "failed",
      message: "Nothing was done: Cabin has no such command",
    });
    expect(await cabin.bench.commands(numberThere(rig))).toHaveLength(1);
  });

  test("splits an action for many miners by site, and goes on where one cannot be reached", async () => {
    const { cabin, centre, at, reaches } = await startFarms();
    const body = { action: "restart", parameters: {}, parallel: 16, delay: 0, dryRun: false } as const;
    const ended = async (id: number) => {
      await until(async () => (await centre.getBulkAction({ id }, owner)).state !== "running", "the job to end");
      return centre.getBulkAction({ id }, owner);
    };
    const all = await ended((await centre.startBulkAction({ ...body, all: true }, owner)).id);
    expect([all.total, all.results.map(({ minerId }) => minerId).toSorted()]).toEqual([
      4,
      [...at(0), ...at(1), ...at(2)].toSorted(),
    ]);
    const jobs = await centre.listBulkActions({}, owner);
    expect(jobs.map(({ id, total }) => [id, total])).toEqual([[all.id, 4]]);
    await cabin.cut();
    await reaches("Cabin", "unreachable");
    const some = { ...body, miners: [...at(1), ...at(2)] };
    const job = await ended((await centre.startBulkAction(some, owner)).id);
    const lost = job.results.find(({ minerId }) => siteOf(minerId) === 2);
    expect([job.total, job.failed >= 1, lost?.state]).toEqual([3, true, "failed"]);
    expect(lost?.message).toMatch(/^The site Cabin cannot be reached, so nothing was sent/);
    expect(await refusal(centre.startBulkAction({ ...body, miners: at(2) }, owner))).toBe("service.not-ready");
    // A site names what it refuses by the numbers of the request.
    const unknown = numberAt(1, 99);
    const { id } = await centre.startBulkAction({ ...body, miners: [...at(0), unknown] }, owner);
    const { results } = await ended(id);
    expect(results.find(({ minerId }) => minerId === unknown)?.message).toBe(`miners[1]: there is no miner ${unknown}`);
    expect(await refusal(centre.startBulkAction({ ...body, miners: [unknown] }, owner))).toBe(
      "input.invalid miners[0]",
    );
    // The pool, rule or template of an action is that of the miners' own site.
    const ofBarn = { ...body, action: "change_pool", parameters: { type: "single", pool_id: numberAt(1, 1) } } as const;
    expect(await refusal(centre.startBulkAction({ ...ofBarn, miners: at(0) }, owner))).toBe(
      "input.invalid parameters.pool_id",
    );
  });

  test("shows a share whose answer was lost as unknown until its site is back and was asked, and starts it never again", async () => {
    const { barn, cabin, centre, at, reaches } = await startFarms();
    const [, here = 0] = at(1);
    const [there = 0] = at(2);
    const body = { action: "restart", parameters: {}, parallel: 16, delay: 0, dryRun: false } as const;
    const both = { ...body, miners: [here, there] };
    const jobsThere = async () => (await cabin.bench.service.listBulkActions({}, owner)).length;
    const shown = async (id: number) => {
      const { state, total, unknown, results } = await centre.getBulkAction({ id }, owner);
      const its = results.find(({ minerId }) => minerId === there);
      return { state, total, unknown, its: its?.state, said: its?.message };
    };
    const isKnown = async (id: number) =>
      until(async () => (await shown(id)).state !== "running", "the site to be asked");
    const lost = "The line to Cabin was lost before it answered; it is asked when it is back";

    // The site does its share, and its answer is lost.
    const keyed = { ...owner, idempotency: { key: "one" } };
    cabin.stall("answers");
    const starting = centre.startBulkAction(both, keyed);
    await until(
      async () => (await cabin.bench.commands(numberThere(there)))[0]?.state === "done",
      "it to be done there",
    );
    await cabin.cut();
    const taken = await starting;
    expect(await centre.startBulkAction(both, keyed)).toEqual(taken);
    const listed = await centre.listBulkActions({}, owner);
    expect(listed).toEqual([expect.objectContaining({ ...taken, state: "running", total: 2, unknown: 1, failed: 0 })]);
    expect(await shown(taken.id)).toEqual({ state: "running", total: 2, unknown: 1, its: "unknown", said: lost });
    await cabin.join();
    await reaches("Cabin", "connected");
    await isKnown(taken.id);
    expect(await shown(taken.id)).toMatchObject({ state: "done", total: 2, unknown: 0, its: "done" });
    expect((await centre.listBulkActions({ request: "one" }, owner)).map(({ id, done }) => [id, done])).toEqual([
      [taken.id, 2],
    ]);
    expect(await centre.startBulkAction(both, keyed)).toEqual(taken);

    expect(await refusal(centre.startBulkAction({ ...both, parallel: 1 }, keyed))).toBe("idempotency.reused");

    // The site never gets its share.
    cabin.stall("requests");
    const other = centre.startBulkAction(both, owner);
    await until(async () => (await barn.bench.service.listBulkActions({}, owner)).length === 2, "the other share");
    await cabin.cut();
    const { id } = await other;
    expect(await shown(id)).toMatchObject({ state: "running", its: "unknown" });
    await cabin.join();
    await reaches("Cabin", "connected");
    await isKnown(id);
    // An action of which no site says anything now is still there, and not at its end.
    await Promise.all([barn.cut(), cabin.cut()]);
    await Promise.all([reaches("Barn", "unreachable"), reaches("Cabin", "unreachable")]);
    const away = await centre.listBulkActions({}, owner);
    expect(away.map((job) => [job.id, job.state])).toEqual([
      [id, "running"],
      [taken.id, "running"],
    ]);
    await Promise.all([barn.join(), cabin.join()]);
    await Promise.all([reaches("Barn", "connected"), reaches("Cabin", "connected")]);
    const said = "Nothing was done: Cabin has no such action";
    expect(await shown(id)).toEqual({ state: "done", total: 2, unknown: 0, its: "failed", said });
    expect([await jobsThere(), (await cabin.bench.commands(numberThere(there))).length]).toEqual([1, 1]);
  });

  test("asks for an action whose only share was lost, also after the centre was restarted", async () => {
    const { cabin, barn, centre, own, at, close } = await startFarms();
    const [there = 0] = at(2);
    const group = await cabin.bench.service.addGroup({ name: "Attic", parentId: 0 }, owner);
    await cabin.bench.service.changeMiner({ id: numberThere(there), group: group.id }, owner);
    const isMoved = async () => (await rowsOf(centre)).some((row) => row.group === numberAt(2, group.id));
    await until(isMoved, "the row in its new group");
    const isNamed = async () => (await centre.listGroups({}, owner)).some(({ name }) => name === "Cabin / Attic");
    await until(isNamed, "the new group");
    const body = { action: "restart", parameters: {}, parallel: 1, delay: 0, dryRun: false } as const;
    cabin.stall("answers");
    const keyed = { ...owner, idempotency: { key: "one" } };
    const starting = centre.startBulkAction({ ...body, groups: ["Cabin / Attic"] }, keyed);
    await until(
      async () => (await cabin.bench.commands(numberThere(there)))[0]?.state === "done",
      "it to be done there",
    );
    await cabin.cut();
    const { id } = await starting;
    const unknown = { id, action: "restart", state: "running", actor: "test", total: 1, unknown: 1 };
    expect(await centre.listBulkActions({}, owner)).toEqual([expect.objectContaining(unknown)]);
    expect(await centre.listBulkActions({ request: "one" }, owner)).toHaveLength(1);
    expect(await refusal(centre.listBulkActions({ request: "two" }, owner))).toBe("service.not-ready");
    expect(await refusal(centre.cancelBulkAction({ id }, owner))).toBe("not.possible");
    await close();
    await cabin.join();
    const again = await startCentre([barn, cabin], { own });
    const job = async () => again.centre.getBulkAction({ id }, owner);
    await until(async () => (await job()).state === "done", "the site to be asked");
    expect(await job()).toMatchObject({ total: 1, done: 1, unknown: 0, results: [{ minerId: there, state: "done" }] });
    expect(await again.centre.listBulkActions({}, owner)).toHaveLength(1);
    expect(await again.centre.listBulkActions({ request: "two" }, owner)).toEqual([]);
    expect(await cabin.bench.commands(numberThere(there))).toHaveLength(1);
  });

  test("keeps the rows of a site that is cut off, marked, with one event and one notification, and is up to date again", async () => {
    const { cabin, centre, at, reaches } = await startFarms();
    const [rig = 0] = at(2);
    const rowOf = async () => (await rowsOf(centre)).find(({ id }) => id === rig);
    const before = await rowOf();
    const { version } = await centre.listMinerRows({ view: "list" }, owner);
    const events = watch<RowEvent>((signal) => centre.watchMinerRows({ view: "list" }, owner, signal));
    await cabin.cut();
    await reaches("Cabin", "unreachable");
    const lost = await rowOf();
    const siteUnreachable = expect.any(String);
    expect(lost).toEqual({ ...before, readAt: lost?.siteUnreachable, siteUnreachable });
    await until(() => events.some(({ type }) => type === "site"), "the event of the site");
    expect(events.filter(({ type, data }) => type === "miner" && "id" in data && data.id === rig)).toEqual([]);
    const summary = await centre.getSummary({}, owner);
    expect([summary.totalCount, summary.metaData.warningList[0]]).toEqual([
      3,
      "1 of 2 sites: the sums leave out 1 miner of Cabin",
    ]);
    const said = async () =>
      (await centre.listNotifications({}, owner)).notificationList.filter(({ title }) =>
        title?.startsWith("The site Cabin"),
      );
    expect(await said()).toMatchObject([{ closedUtc: null, count: 1 }]);
    const newer = await centre.listNotifications({ since: numberAt(1, 0) }, owner);
    expect(newer.notificationList.every(({ id }) => siteOf(id) >= 1)).toBe(true);
    expect(newer.notificationCount).toBe(newer.notificationList.length);
    const refused = await problem(centre.minerAction({ id: rig, action: "restart" }, owner));
    expect([refused.code, refused.status]).toEqual(["service.not-ready", 503]);
    const list = await centre.listMiners({}, owner);
    expect(list.metaData.warningList[0]).toMatch(/^Without Cabin and its 1 miner: The site Cabin cannot be reached/);

    await cabin.bench.service.changeMiner({ id: numberThere(rig), name: "renamed" }, owner);
    await cabin.join();
    await reaches("Cabin", "connected");
    await until(async () => (await rowOf())?.name === "renamed", "the row as it is now");
    expect((await rowOf())?.siteUnreachable).toBeUndefined();
    // A client that has only heard of the loss gets the row again.
    const since = await centre.listMinerRows({ view: "list", since: version }, owner);
    expect(since.miners.map(({ id }) => id)).toContain(rig);
    expect(await said()).toMatchObject([{ closedUtc: expect.any(String) }]);
    expect((await centre.getSummary({}, owner)).totalCount).toBe(4);
  });

  test("sends whole miners to those who watch them", async () => {
    const { barn, centre, at } = await startFarms();
    const unknown = { actor: "nobody", userId: 999 };
    // An answer that has begun could not be 404 any more.
    expect(() => centre.watchEvents({}, unknown, AbortSignal.timeout(1_000))).toThrow(/999/);
    const events = watch<ServiceEvent>((signal) => centre.watchEvents({ types: ["miner"] }, owner, signal));
    const [rig = 0] = at(1);
    const isNamed = (event: ServiceEvent): boolean =>
      event.type === "miner" && event.data.id === rig && event.data.name.startsWith("renamed");
    let changes = 0;
    await until(async () => {
      changes += 1;
      await barn.bench.service.changeMiner({ id: numberThere(rig), name: `renamed ${changes}` }, owner);
      return events.some(isNamed);
    }, "the miner with a new name");
    const found = events.find((event) => event.type === "miner" && event.data.id === rig);
    expect(found?.type === "miner" && found.data.readings.at).toEqual(expect.any(String));
  });

  test("lets a caller do at a site what they may do here, and no more than its own key may there", async () => {
    const barn = await startSite("Barn", { rigs: [cgminer], privilege: "view" });
    const cabin = await startSite("Cabin", { rigs: [cgminer] });
    const { centre, own } = await startCentre([barn, cabin]);
    const user = async (privilege: "view" | "control", groups: number[] | null): Promise<Caller> => {
      const { id } = await own.service.saveUser({ id: 0, name: `${privilege} ${groups}`, privilege, groups }, owner);
      return { actor: "user", userId: id };
    };
    const [viewer, some] = [await user("view", null), await user("control", [])];
    const [there, here] = await rowsOf(centre).then((rows) =>
      [1, 2].map((site) => rows.find(({ id }) => siteOf(id) === site)),
    );
    const locate = (id = 0) => ({ id, action: "restart" }) as const;
    expect(await refusal(centre.minerAction(locate(there?.id), owner))).toBe("user.forbidden");
    const atBarn = there?.id ?? 0;
    const bulk = { action: "restart", parameters: {}, parallel: 1, delay: 0, dryRun: false } as const;
    const writes = [
      centre.changeMiner({ id: atBarn, name: "renamed" }, owner),
      centre.deleteMiner({ id: atBarn }, owner),
      centre.addGroup({ name: "Attic", parentId: numberAt(1, 0) }, owner),
      centre.startBulkAction({ ...bulk, miners: [atBarn] }, owner),
    ];
    for (const write of writes) expect(await refusal(write)).toBe("user.forbidden");
    const before = await centre.listMiners({ group: "Barn" }, owner);
    expect(minersIn(before.groupList).map(({ id, name }) => [id, name])).toEqual([[atBarn, there?.name]]);
    expect(await refusal(centre.minerAction(locate(here?.id), viewer))).toBe("user.forbidden");
    expect(await refusal(centre.minerAction(locate(here?.id), some))).toBe("user.forbidden");
    expect(await rowsOf(centre, some)).toEqual([]);
    expect(minersIn((await centre.listMiners({}, some)).groupList)).toEqual([]);
    expect((await centre.getSummary({}, some)).totalCount).toBe(0);
    expect(await rowsOf(centre, viewer)).toHaveLength(2);
    const { canReboot, canRestart } = await centre.getMiner({ id: here?.id ?? 0 }, viewer);
    expect([canReboot, canRestart]).toEqual([false, false]);
    const pool = { description: "main", coinAlgorithm: "SHA-256", plainWorkerPassword: "hidden" };
    const url = "stratum+tcp://pool.example:3333";
    const unset = { coinClass: undefined, coinShortName: undefined, workerName: undefined, walletAddress: undefined };
    await cabin.bench.service.savePool({ id: 0, url, ...pool, ...unset }, owner);
    const { list } = await centre.listPools({}, owner);
    expect(list.map(({ id, plainWorkerPassword }) => [siteOf(id), plainWorkerPassword])).toEqual([[2, ""]]);
    const [shown] = list;
    await centre.savePool(
      { ...unset, id: shown?.id ?? 0, description: "new name", coinAlgorithm: undefined, plainWorkerPassword: "" },
      owner,
    );
    expect((await cabin.bench.service.listPools({}, owner)).list).toMatchObject([
      { description: "new name", plainWorkerPassword: "hidden" },
    ]);
  });

  test("refuses what cannot be a site, with the reason, and shows the others", async () => {
    const barn = await startSite("Barn", { rigs: [cgminer] });
    const other = await startCentre([barn]);
    const itself = await startSite("Itself");
    const places = [
      barn,
      { ...barn, name: "Twin" },
      { ...barn, name: "Wrong key", key: "another-key-than-that" },
      { name: "Itself", url: itself.url, key: itself.key },
    ];
    const { centre, reaches, site } = await startCentre(places, { own: itself.bench, waits: false });
    await reaches("Barn", "connected");
    const problems = [];
    for (const name of ["Twin", "Wrong key", "Itself"]) {
      await reaches(name, "refused");
      problems.push((await site(name))?.problem);
    }
    expect(problems).toEqual([
      "It is the same service as the site Barn",
      expect.stringContaining("key"),
      "It is this service itself",
    ]);
    expect(await rowsOf(centre)).toHaveLength(1);
    expect((await other.centre.about(owner)).sites).toBe(1);
  });

  test("keeps the number of a site by its name, also after it was away from the configuration", async () => {
    const barn = await startSite("Barn");
    const cabin = await startSite("Cabin");
    const first = await startCentre([barn, cabin]);
    const numbers = async ({ centre }: typeof first) =>
      Object.fromEntries((await centre.listSites({}, owner)).map(({ id, name }) => [name, id]));
    expect(await numbers(first)).toEqual({ Barn: 1, Cabin: 2 });
    await first.close();
    const second = await startCentre([cabin, { ...barn, name: "Shed" }], { own: first.own });
    expect(await numbers(second)).toEqual({ Cabin: 2, Shed: 3 });
    await second.close();
    const third = await startCentre([barn], { own: first.own });
    expect(await numbers(third)).toEqual({ Barn: 1 });
  });

  test("says that another store answers at a site, and that a rig is at two sites", async () => {
    const barn = await startSite("Barn", { rigs: [axeos] });
    const other = await startSite("Other", { rigs: [cgminer, axeos] });
    const first = await startCentre([barn]);
    await first.close();
    const { centre } = await startCentre([{ ...other, name: "Barn" }], { own: first.own });
    const titles = async () => (await centre.listNotifications({}, owner)).notificationList.map(({ title }) => title);
    expect(await titles()).toContain("Another store at Barn");

    const [mine] = (await barn.bench.service.listMinerRows({ view: "list" }, owner)).miners;
    const twin = await startSite("Twin");
    await twin.bench.add(barn.bench.rig(0).address, { driver: "axeos" });
    const both = await startCentre([barn, twin]);
    await until(async () => (await rowsOf(both.centre)).length === 2, "both rows");
    const said = (await both.centre.listNotifications({}, owner)).notificationList;
    const about = said.find(({ title }) => title === "The same rigs at two sites");
    expect([about?.closedUtc, about?.message.includes(mine?.name ?? "no name")]).toEqual([null, true]);
  });

  test("shows a server of another product as far as that goes, and says what it lacks", async () => {
    const twin = await startTwin({ miners: 3, key: "key-of-the-twin-server" });
    onTestFinished(() => twin.close());
    const { centre, site } = await startCentre([{ name: "Old farm", url: twin.url, key: "key-of-the-twin-server" }]);
    await until(async () => (await rowsOf(centre)).length === 3, "its rows");
    const [row] = await rowsOf(centre);
    expect(await centre.getMiner({ id: row?.id ?? 0 }, owner)).toMatchObject({ id: row?.id, name: row?.name });
    expect((await centre.getSummary({}, owner)).totalCount).toBe(3);
    expect((await centre.listPools({}, owner)).list.every(({ id }) => siteOf(id) === 1)).toBe(true);
    expect(await site("Old farm")).toMatchObject({ version: null, lacks: expect.arrayContaining(["addMiner"]) });
    expect(await refusal(centre.deleteMiner({ id: row?.id ?? 0 }, owner))).toBe("service.unsupported");
    const { list, metaData } = { list: await centre.listGroups({}, owner), ...(await centre.getSummary({}, owner)) };
    expect(list.map(({ name }) => name)).toContain("Old farm");
    expect(metaData.warningList.filter((each) => each.startsWith("Without"))).toEqual([]);
  });

  test.each([
    ["hangs", () => new Promise(() => undefined)],
    ["answers a page of HTML", (response: ServerResponse) => response.end("<html>hello</html>")],
    ["answers with JSON of another shape", (response: ServerResponse) => sendJson(response, { id: "<script>" })],
    ["never ends its answer", (response: ServerResponse) => void Readable.from(endless()).pipe(response)],
  ])("says why a server that %s is no site, and serves the others meanwhile", async (_, answer) => {
    const server = await answering((_request, response) => void answer(response));
    onTestFinished(closeServers);
    const barn = await startSite("Barn", { rigs: [cgminer] });
    const { centre, reaches, site } = await startCentre([barn, { name: "Odd", url: server.url, key: "key-of-odd" }], {
      waits: false,
    });
    await reaches("Barn", "connected");
    await until(async () => !["connecting", "connected"].includes((await site("Odd"))?.state ?? ""), "the odd server");
    expect((await site("Odd"))?.problem).toMatch(/127\.0\.0\.1/);
    expect(await rowsOf(centre)).toHaveLength(1);
    expect((await centre.getSummary({}, owner)).metaData.warningList[0]).toMatch(/^1 of 2 sites/);
  });

  // Five rounds of 200 commands with longer cuts are `npm run torture -- sites`.
  test("loses no command and has none done twice while the lines to its sites are cut", async () => {
    const { wrong, done, cuts } = await commandsOverCutLines(3, 40, 150);
    expect(wrong).toEqual([]);
    expect(done).toBeGreaterThan(0);
    expect(cuts).toBeGreaterThan(0);
  });
});
