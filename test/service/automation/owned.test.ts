import { afterEach, describe, expect, test } from "@jest/globals";
import type { Caller, Input } from "../../../src/contract/service.ts";
import { problem } from "../../errors.ts";
import { caller, closeBenches, openBench } from "../bench.ts";
import { RecordedRuns, twoClocks } from "./rule-bench.ts";

afterEach(closeBenches);

const restart = [{ action: "restart" as const }];
const hot = { key: "hot", when: { all: [{ reading: "temperature", above: 1 }] }, do: restart, guard: false };
const night = { key: "night", weekly: { days: ["mon-sun"], from: "22:00", to: "06:00" }, do: restart };
const fans = { name: "fans", until: "2100-01-01T00:00:00Z" };
const users = [{ name: "head-office", key: "key-of-the-centre", privilege: "administrator", centre: true }];

type Set = Partial<Input<"replaceOwned">>;

async function startOwned(options: Parameters<typeof openBench>[0] = {}) {
  const bench = await openBench({ config: { users }, ...options });
  const { userId } = await bench.service.getUser({ username: "head-office" }, caller);
  const centre: Caller = { actor: "anna", userId };
  const push = (set: Set, version = JSON.stringify(set).slice(0, 90)) =>
    bench.service.replaceOwned({ version, rules: [], schedules: [], maintenance: [], ...set }, centre);
  const rules = async () => (await bench.service.listRules({}, caller)).rules;
  return { bench, centre, push, rules };
}

describe("what a centre defines at a service", () => {
  test("is listed as its own, and is changed by it alone", async () => {
    const { bench, push, rules } = await startOwned();
    const { service } = bench;
    expect(await push({ rules: [hot], schedules: [night], maintenance: [fans] })).toMatchObject({
      centre: "head-office",
      mine: true,
      actor: "anna for head-office",
      rules: 1,
      schedules: 1,
      maintenance: 1,
      refused: [],
    });
    const owned = { owner: "centre", centre: "head-office" };
    expect(await rules()).toMatchObject([{ key: "hot", problem: null, ...owned }]);
    expect(await service.listSchedules({}, caller)).toMatchObject([{ key: "night", ...owned }]);
    const [window] = await service.listMaintenance({}, caller);
    expect(window).toMatchObject({ name: "fans", active: true, ...owned });
    const refusals = [
      await problem(service.changeRule({ id: "hot", enabled: false }, caller)),
      await problem(service.deleteRule({ id: "hot" }, caller)),
      await problem(service.changeSchedule({ id: "night", name: "x" }, caller)),
      await problem(service.deleteSchedule({ id: "night" }, caller)),
      await problem(service.deleteMaintenance({ id: window?.id ?? 0 }, caller)),
    ];
    expect(refusals.map(({ code, status }) => [code, status])).toEqual(refusals.map(() => ["owned.by-centre", 409]));
    expect(refusals[0]?.message).toBe("rule hot belongs to the centre head-office; change it there");
    expect(await service.listOwned({}, caller)).toMatchObject([{ centre: "head-office", mine: false }]);

    expect(await push({ rules: [{ ...hot, name: "Too hot" }] })).toMatchObject({ rules: 1, schedules: 0 });
    expect(await rules()).toMatchObject([{ id: 1, name: "Too hot" }]);
    expect(await service.listSchedules({}, caller)).toEqual([]);
    expect(await service.listMaintenance({}, caller)).toEqual([]);
  });

  test("is taken only from a user that is a centre", async () => {
    const { bench } = await startOwned();
    const other = await bench.service.saveUser({ id: 0, name: "anna", privilege: "administrator" }, caller);
    for (const who of [caller, { actor: "anna", userId: other.id }]) {
      const refused = await problem(
        bench.service.replaceOwned({ version: "1", rules: [], schedules: [], maintenance: [] }, who),
      );
      expect([refused.code, refused.message]).toEqual([
        "user.forbidden",
        "Only a user that is a centre may do that: set centre in the settings of the user",
      ]);
    }
  });

  test("is refused one by one, with every mistake; what was there before it stays, and own rules keep their names", async () => {
    const { bench, push, rules } = await startOwned();
    const { service } = bench;
    await service.addRule({ key: "mine", do: restart }, caller);
    await push({ rules: [hot, { key: "by-hand", do: [{ rule: "hot" }] }] });
    const { refused } = await push({
      rules: [
        { ...hot, scope: { groups: ["Attic"], miners: ["nobody"] } },
        { key: "mine", do: restart },
        { key: "odd", when: { all: [{ moon: "full" }] }, do: restart },
        { key: "elsewhere", runsAt: ["Barn"], do: restart },
        { key: "follows", do: [{ rule: "odd" }] },
        { key: "good", do: [{ rule: "also-good" }] },
        { key: "also-good", do: restart },
        { key: "good", do: restart },
        { key: "uses-gone", do: [{ rule: "by-hand" }] },
      ],
      schedules: [{ ...night, scope: { groups: ["Cellar"] } }],
    });
    expect(refused.map(({ kind, name, message }) => `${kind} ${name}: ${message}`).toSorted()).toEqual([
      "rule elsewhere: runsAt: must not name other sites",
      'rule follows: do[0]: there is no rule "odd"',
      "rule good: key: is used twice",
      'rule hot: scope.groups[0]: there is no group "Attic"; scope.miners[0]: there is no miner "nobody"',
      'rule mine: key: "mine" is the key of rule 1 already',
      expect.stringMatching(/^rule odd: when\.all\[0\]/),
      'rule uses-gone: there is no rule "by-hand"',
      'schedule night: scope.groups[0]: there is no group "Cellar"',
    ]);
    expect((await rules()).map(({ key, owner, definition }) => [key, owner, definition.scope])).toEqual([
      ["mine", "store", undefined],
      ["hot", "centre", undefined],
      ["good", "centre", undefined],
      ["also-good", "centre", undefined],
    ]);
    expect(await service.listOwned({}, caller)).toMatchObject([{ refused: { length: refused.length } }]);
    // No notification says that a rule of the set is missing.
    expect(await bench.notifications()).toEqual([]);
    await service.addGroup({ name: "Attic", parentId: 0 }, caller);
    expect((await push({ rules: [{ ...hot, scope: { groups: ["Attic"] } }] })).refused).toEqual([]);
  });

  test("may not close a loop, neither in itself nor with own rules, and may turn one round", async () => {
    const { bench, push } = await startOwned();
    const runs = (key: string, ...rules: string[]) => ({ key, do: rules.map((rule) => ({ rule })) });
    expect((await push({ rules: [runs("a", "b"), { key: "b", do: restart }] })).refused).toEqual([]);
    expect((await push({ rules: [{ key: "a", do: restart }, runs("b", "a")] })).refused).toEqual([]);
    await bench.service.addRule(
      { key: "mine", do: [{ rule: "b" }] },
      { actor: "anna", userId: (await bench.service.getUser({ username: "head-office" }, caller)).userId },
    );
    const { refused } = await push({ rules: [runs("a", "mine"), runs("b", "a"), runs("c", "d"), runs("d", "c")] });
    expect(refused.map(({ name }) => name).toSorted()).toEqual(["a", "b", "c", "d"]);
    expect(refused.every(({ message }) => message.startsWith("do: the rules run each other in a loop"))).toBe(true);
  });

  test("keeps what a rule has done over a set that does not change it, and over a restart", async () => {
    const clocks = twoClocks();
    let turn = async (): Promise<void> => undefined;
    const { bench, push, rules } = await startOwned({
      config: { users },
      rigs: [{ kind: "axeos", warm: true }],
      clock: clocks.now,
      monotonicNow: clocks.monotonicNow,
      runs: new RecordedRuns(),
      ruleTurns: (work) => {
        turn = work;
        return () => undefined;
      },
    });
    const id = await bench.add(bench.rig(0).address);
    await push({ rules: [hot] });
    clocks.pass(30_000);
    await bench.poll(id);
    await turn();
    const firing = async () => (await rules()).map(({ key, firing }) => [key, firing]);
    expect(await firing()).toEqual([["hot", 1]]);
    await push({ rules: [hot, { key: "another", do: restart }] });
    expect(await firing()).toEqual([
      ["hot", 1],
      ["another", 0],
    ]);
    await bench.restart();
    expect(await firing()).toEqual([
      ["hot", 1],
      ["another", 0],
    ]);
    expect(await rules()).toMatchObject([{ owner: "centre" }, { owner: "centre" }]);
  });

  test("is released by an administrator: it is then the service's own, or gone", async () => {
    const { bench, push, rules } = await startOwned();
    const { service } = bench;
    await push({ rules: [hot], maintenance: [fans] });
    expect((await problem(service.releaseOwned({ centre: "nobody", keep: true }, caller))).code).toBe("not.found");
    await service.releaseOwned({ centre: "head-office", keep: true }, caller);
    expect(await rules()).toMatchObject([{ key: "hot", owner: "store", makerId: null }]);
    expect((await service.changeRule({ id: "hot", name: "Mine" }, caller)).name).toBe("Mine");
    expect(await service.listOwned({}, caller)).toEqual([]);
    const { refused } = await push({ rules: [hot], maintenance: [fans] });
    expect(refused).toEqual([{ kind: "rule", name: "hot", message: 'key: "hot" is the key of rule 1 already' }]);
    await service.releaseOwned({ centre: "head-office", keep: false }, caller);
    expect((await service.listMaintenance({}, caller)).map(({ owner }) => owner)).toEqual(["store"]);
  });

  test("is not taken at all if there would be too many rules", async () => {
    const { bench, push } = await startOwned();
    await bench.service.addRule({ key: "mine", do: restart }, caller);
    const rules = Array.from({ length: 1_000 }, (_, index) => ({ key: `rule-${index}`, do: restart }));
    const pools = [{ description: "Main", url: "stratum+tcp://main.example:3333" }];
    const templates = [{ name: "Again", do: restart }];
    const refused = await problem(push({ rules, pools, templates }, "too many"));
    expect([refused.code, refused.message]).toEqual(["not.possible", expect.stringMatching(/1,?000/)]);
    expect((await bench.service.listPools({}, caller)).list).toEqual([]);
    expect((await bench.service.listManagedTemplates({}, caller)).managedTemplateList).toEqual([]);
    expect(await bench.service.listOwned({}, caller)).toEqual([]);
    expect(await push({ rules: rules.slice(1), pools, templates })).toMatchObject({
      rules: 999,
      pools: 1,
      templates: 1,
    });
  });

  test("is taken over by one who is made again under the same name", async () => {
    const { service } = await openBench();
    const made = async () =>
      (await service.saveUser({ id: 0, name: "office", privilege: "administrator", centre: true }, caller)).id;
    const set = { version: "1", rules: [hot], schedules: [], maintenance: [] };
    const first = await made();
    await service.replaceOwned(set, { actor: "centre", userId: first });
    await service.deleteUser({ id: first }, caller);
    const again = await made();
    const reply = await service.replaceOwned({ ...set, version: "2" }, { actor: "centre", userId: again });
    expect(reply).toMatchObject({ rules: 1, refused: [], mine: true });
    const { rules } = await service.listRules({}, caller);
    expect(rules).toMatchObject([{ id: 1, makerId: again, problem: null }]);
    expect(await service.listOwned({}, caller)).toHaveLength(1);
  });
});
