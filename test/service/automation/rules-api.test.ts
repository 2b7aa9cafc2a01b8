import { afterEach, describe, expect, test } from "@jest/globals";
import { minersIn } from "../../../src/contract/miners-in.ts";
import { startFarm } from "../../../src/simulator/index.ts";
import { problem as refusal } from "../../errors.ts";
import { onTestFinished } from "../../finished.ts";
import { until } from "../../until.ts";
import { caller, closeBenches, openBench } from "../bench.ts";
import { RecordedRuns, twoClocks } from "./rule-bench.ts";

afterEach(closeBenches);

const restart = [{ action: "restart" as const }];

describe("rules over the API", () => {
  test("are added, changed, listed with the ready-made ones, and removed; an id is never given again", async () => {
    const { service } = await openBench();
    const added = await service.addRule(
      { key: "hot", when: { all: [{ offline: true }], for: 120 }, do: restart },
      caller,
    );
    expect(added).toMatchObject({
      id: 1,
      key: "hot",
      name: "hot",
      enabled: true,
      owner: "store",
      manual: false,
      makerId: null,
    });
    const changed = await service.changeRule({ id: "hot", name: "Hot", enabled: false }, caller);
    expect(changed).toMatchObject({
      id: 1,
      key: "hot",
      name: "Hot",
      enabled: false,
      definition: { when: { for: 120 } },
    });
    const list = await service.listRules({}, caller);
    expect(list.rules).toEqual([changed]);
    expect(list.readyMade.map(({ key }) => key)).toContain("daily-summary");
    await service.deleteRule({ id: "1" }, caller);
    expect((await service.listRules({}, caller)).rules).toEqual([]);
    expect(await service.addRule({ key: "hot", do: restart }, caller)).toMatchObject({ id: 2 });
  });

  test("lose the keys that a change sets to null, and take new values of a ready-made rule", async () => {
    const { service } = await openBench();
    await service.addRule(
      { key: "hot", when: { all: [{ offline: true }] }, limit: { perDay: 2 }, do: restart, onClear: restart },
      caller,
    );
    const { definition } = await service.changeRule({ id: "hot", limit: null, onClear: null, name: "Hot" }, caller);
    expect(Object.keys(definition).sort()).toEqual(["do", "key", "name", "when"]);
    const refused = await refusal(service.changeRule({ id: "hot", do: null }, caller));
    expect(refused.errors).toEqual([{ path: "do", message: "is required: a rule with conditions does something" }]);
    await service.addRule({ use: "sleep-when-too-hot", with: { temperature: 70 } }, caller);
    const changed = await service.changeRule({ id: "sleep-when-too-hot", with: { temperature: 75 } }, caller);
    expect(changed.definition).toEqual({ use: "sleep-when-too-hot", with: { temperature: 75 } });
    expect((await service.changeRule({ id: "sleep-when-too-hot", with: null }, caller)).definition).toEqual({
      use: "sleep-when-too-hot",
    });
    await service.addSchedule({ key: "s", cron: "0 3 * * *", lasts: 3600, do: restart, onEnd: restart }, caller);
    const schedule = await service.changeSchedule({ id: "s", lasts: null, onEnd: null }, caller);
    expect(Object.keys(schedule.definition).sort()).toEqual(["cron", "do", "key"]);
  });

  test("keep the headers of a web hook whose values come back empty, for the same address only", async () => {
    const { service, store } = await openBench();
    const hook = { webhook: "http://192.0.2.7/a", method: "POST" as const };
    const headersOf = () => store.rules.all().flatMap(({ do: steps = [] }) => steps ?? []);
    await service.addRule({ key: "tell", do: [{ ...hook, headers: { authorization: "Bearer abc" } }] }, caller);
    const [listed] = (await service.listRules({}, caller)).rules;
    expect(listed?.definition.do).toEqual([{ ...hook, headers: { authorization: "" } }]);
    await service.changeRule({ id: "tell", do: [{ ...hook, body: "on", headers: { authorization: "" } }] }, caller);
    expect(headersOf()).toEqual([{ ...hook, body: "on", headers: { authorization: "Bearer abc" } }]);
    const elsewhere = { ...hook, webhook: "http://192.0.2.8/a", headers: { authorization: "" } };
    await service.changeRule({ id: "tell", do: [elsewhere] }, caller);
    expect(headersOf()).toEqual([elsewhere]);
  });

  test("that refer to nothing, to each other in a loop, or to a key that is taken are refused with every mistake", async () => {
    const { service } = await openBench({ config: { rules: [{ key: "a", do: [{ action: "restart" }] }] } });
    await service.addRule({ key: "b", do: [{ rule: "a" }] }, caller);
    const refused = await refusal(
      service.addRule(
        {
          key: "a",
          scope: { groups: ["Hall"] },
          inhibitedBy: ["nobody"],
          when: { all: [{ offline: true }] },
          do: [{ rule: "a" }],
        },
        caller,
      ),
    );
    expect(refused.errors).toMatchObject([
      { path: "key", message: '"a" is the key of rule 1 already' },
      { path: "scope.groups[0]", message: 'there is no group "Hall"' },
      { path: "inhibitedBy[0]", message: 'there is no rule "nobody"' },
      { path: "do", message: "the rules run each other in a loop: a → a" },
    ]);
    const loop = await refusal(service.changeRule({ id: "b", do: [{ rule: "b" }] }, caller));
    expect(loop.errors).toEqual([{ path: "do", message: "the rules run each other in a loop: b → b" }]);
    expect((await service.listRules({}, caller)).rules).toHaveLength(2);
  });

  test("of the configuration file belong to it", async () => {
    const { service } = await openBench({
      config: { rules: [{ name: "Night shift" }], schedules: [{ key: "s", cron: "0 3 * * *", do: restart }] },
    });
    for (const change of [
      service.changeRule({ id: "1", enabled: false }, caller),
      service.deleteRule({ id: "Night shift" }, caller),
      service.changeSchedule({ id: "s", enabled: false }, caller),
      service.deleteSchedule({ id: "s" }, caller),
    ])
      expect((await refusal(change)).code).toBe("owned.by-file");
  });

  test("keep their ids when the file changes them", async () => {
    const bench = await openBench({ config: { rules: [{ name: "First" }, { key: "second", name: "Second" }] } });
    const ids = async () =>
      (await bench.service.listRules({}, caller)).rules.map(({ id, key, name }) => `${id} ${key} ${name}`);
    expect(await ids()).toEqual(["1 First First", "2 second Second"]);
    await bench.restart({ rules: [{ key: "second", name: "Renamed" }, { use: "daily-summary" }] });
    expect(await ids()).toEqual(["2 second Renamed", "3 daily-summary Daily summary"]);
    await bench.restart({ rules: [{ name: "First" }, { key: "second" }] });
    expect(await ids()).toEqual(["1 First First", "2 second second"]);
  });

  test("do not show the secrets of web hooks", async () => {
    const { service } = await openBench();
    const step = {
      webhook: "http://192.0.2.1/hook",
      method: "POST" as const,
      headers: { authorization: "Bearer word-of-mine" },
    };
    await service.addRule({ key: "tell", do: [step] }, caller);
    await service.addSchedule({ key: "tell", cron: "0 3 * * *", do: [step] }, caller);
    const answers = JSON.stringify([await service.listRules({}, caller), await service.listSchedules({}, caller)]);
    expect(answers).toContain("authorization");
    expect(answers).not.toContain("word-of-mine");
  });

  test("show what comes in the next days", async () => {
    const { service } = await openBench({ clock: () => Date.UTC(2026, 2, 2, 12) });
    await service.addSchedule(
      { key: "night", weekly: { from: "22:00", to: "06:00", timeZone: "UTC" }, do: restart },
      caller,
    );
    const upcoming = await service.upcomingSchedules({ days: 2 }, caller);
    expect(upcoming).toEqual([
      {
        scheduleId: 1,
        key: "night",
        name: "night",
        start: "2026-03-02T22:00:00.000Z",
        end: "2026-03-03T06:00:00.000Z",
      },
      {
        scheduleId: 1,
        key: "night",
        name: "night",
        start: "2026-03-03T22:00:00.000Z",
        end: "2026-03-04T06:00:00.000Z",
      },
    ]);
  });
});

describe("a rule on a virtual rig", () => {
  /** Rigs on real sockets; time passes for the rules when the test says so. */
  async function farmWith(rules: readonly object[], rigs = 1) {
    const clocks = twoClocks();
    const runs = new RecordedRuns();
    let turn = async (): Promise<void> => undefined;
    const bench = await openBench({
      rigs: Array.from({ length: rigs }, () => ({ kind: "axeos", warm: true }) as const),
      clock: clocks.now,
      monotonicNow: clocks.monotonicNow,
      runs,
      ruleTurns: (work) => {
        turn = work;
        return () => undefined;
      },
      config: { rules },
    });
    const ids: number[] = [];
    for (let index = 0; index < rigs; index += 1) ids.push(await bench.add(bench.rig(index).address));
    await bench.idle();
    const pass = async (seconds: number) => {
      for (let passed = 0; passed < seconds; passed += 30) {
        clocks.pass(30_000);
        for (const id of ids) await bench.poll(id);
        await bench.idle();
        await turn();
      }
    };
    return { bench, runs, ids, pass, turn: () => turn() };
  }

  test("is an event when it changes, fires, is held, clears and goes, once a second at most; so are schedules and windows", async () => {
    const { bench, pass, turn } = await farmWith(
      [{ key: "warm", when: { all: [{ reading: "temperature", above: 20 }] }, guard: false, do: restart }],
      2,
    );
    const { service } = bench;
    const ended = new AbortController();
    const heard: string[] = [];
    const listening = (async () => {
      for await (const event of service.watchEvents({ types: ["rule"] }, caller, ended.signal))
        if (event.type === "rule") heard.push(`${event.data.kind} ${event.data.key} ${event.data.state}`);
    })();
    const heardSo = (count: number) => until(() => heard.length >= count, `${count} events, not ${heard.join()}`);
    await pass(30);
    await heardSo(1);
    // Two miners, one event.
    expect(heard.splice(0)).toEqual(["rule warm active"]);
    await turn();
    await turn();
    const { id } = await service.addMaintenance({ name: "work", until: "2100-01-01T00:00:00Z" }, caller);
    await service.addRule(
      { key: "hot", when: { all: [{ reading: "temperature", above: 20 }] }, guard: false, do: restart },
      caller,
    );
    await turn();
    await heardSo(3);
    expect(heard.splice(0)).toEqual(["maintenance work active", "rule hot idle", "rule hot held"]);
    await service.changeRule({ id: "hot", enabled: false }, caller);
    await service.deleteRule({ id: "hot" }, caller);
    await service.deleteMaintenance({ id }, caller);
    await service.addSchedule({ key: "night", cron: "0 3 * * *", do: restart }, caller);
    await heardSo(4);
    expect(heard).toEqual(["rule hot disabled", "rule hot removed", "maintenance work removed", "schedule night idle"]);
    ended.abort();
    await listening;
  });

  test("and schedules list what they did together, for those who see them", async () => {
    const { bench, ids, pass } = await farmWith(
      [
        {
          key: "warm",
          name: "Too warm",
          when: { all: [{ reading: "temperature", above: 20 }] },
          guard: false,
          do: restart,
        },
      ],
      2,
    );
    const { service } = bench;
    await service.addSchedule({ key: "soon", cron: "* * * * *", do: restart }, caller);
    await pass(90);
    const { runs } = await service.listRuns({}, caller);
    expect(runs.filter(({ kind }) => kind === "rule")).toMatchObject(
      ids
        .toReversed()
        .map((minerId) => ({ minerId, key: "warm", name: "Too warm", outcome: "done", run: expect.any(Number) })),
    );
    expect(runs).toContainEqual(expect.objectContaining({ kind: "schedule", key: "soon", minerId: null }));
    expect(runs.map(({ id }) => id)).toEqual(runs.map(({ id }) => id).toSorted((a, b) => b - a));
    const [first = 0] = ids;
    expect((await service.listRuns({ miner: first }, caller)).runs.map(({ minerId }) => minerId)).toEqual([first]);
    const schedules = (await service.listRuns({ kind: "schedule" }, caller)).runs;
    expect(new Set(schedules.map(({ kind }) => kind))).toEqual(new Set(["schedule"]));
    expect((await service.listRuns({ since: Date.parse("2100-01-01") }, caller)).runs).toEqual([]);
    const { id: userId } = await service.saveUser({ id: 0, name: "anna", privilege: "view", groups: [] }, caller);
    expect((await service.listRuns({}, { actor: "anna", userId })).runs).toEqual([]);
  });

  test("says what it did last and when its next time comes", async () => {
    const { bench, turn } = await farmWith([
      { key: "warm", when: { all: [{ reading: "temperature", above: 1 }] }, guard: false, do: restart },
      { key: "daily", when: { all: [{ time: "08:00" }] }, do: restart },
      { key: "off", enabled: false, when: { all: [{ time: "08:00" }] }, do: restart },
    ]);
    const list = async () => (await bench.service.listRules({}, caller)).rules;
    const next = "2026-03-03T08:00:00.000Z";
    expect((await list()).map(({ nextTime }) => nextTime)).toEqual([null, next, null]);
    await turn();
    expect((await list()).map(({ lastRun }) => lastRun)).toEqual([
      { time: "2026-03-02T12:00:00.000Z", outcome: "done", message: "fired" },
      null,
      null,
    ]);
  });

  test("that is added while its conditions hold fires although no reading changes", async () => {
    const { bench, runs, ids, turn } = await farmWith([]);
    await bench.service.addRule(
      { key: "warm", when: { all: [{ reading: "temperature", above: 1 }] }, guard: false, do: restart },
      caller,
    );
    await turn();
    expect(runs.told).toEqual([`warm: ${ids[0]}: action restart`]);
    await bench.service.changeRule({ id: "warm", when: { all: [{ reading: "temperature", above: 2 }] } }, caller);
    await turn();
    expect(runs.told).toHaveLength(2);
    await turn();
    expect(runs.told).toHaveLength(2);
  });

  test("fires when it is too hot, and its trace says why and what was done", async () => {
    const { bench, runs, ids, pass } = await farmWith([
      {
        key: "warm",
        when: { all: [{ reading: "temperature", above: 20 }, { state: "mining" }], for: "1m" },
        do: restart,
      },
    ]);
    await pass(600);
    expect(runs.told).toEqual([`warm: ${ids[0]}: action restart`]);
    const { runs: traces } = await bench.service.listRuleRuns({ id: "warm" }, caller);
    expect(traces).toMatchObject([
      {
        minerId: ids[0],
        outcome: "done",
        conditions: [
          { condition: "temperature above 20", holds: true },
          { condition: "state mining", value: "mining", holds: true },
        ],
        actions: [{ action: "restart", minerId: ids[0], state: "done" }],
      },
    ]);
    expect((await bench.service.listRules({}, caller)).rules[0]).toMatchObject({ firing: 1, pending: 0, held: 0 });
  });

  test("that dies is noticed once, and again when it is back", async () => {
    const { bench, runs, pass } = await farmWith([
      {
        key: "down",
        when: { all: [{ offline: true }], for: "1m" },
        do: [{ notify: "all", text: "{{ miner.name }} is away" }],
        onClear: [{ notify: "all", text: "{{ miner.name }} is back" }],
      },
    ]);
    await pass(60);
    bench.rig(0).fault = "off";
    await pass(300);
    expect(runs.requests).toHaveLength(1);
    bench.rig(0).fault = null;
    await pass(120);
    expect(runs.requests.map(({ occurrence }) => occurrence)).toHaveLength(2);
  });

  test("is tried over its history, and nothing is done", async () => {
    const { bench, runs, ids, pass } = await farmWith([]);
    await pass(900);
    await bench.service.addRule(
      {
        key: "warm",
        when: {
          all: [
            { reading: "temperature", above: 20 },
            { reading: "fanRpm", above: 0 },
          ],
          for: 120,
        },
        do: restart,
      },
      caller,
    );
    await bench.service.addRule(
      { key: "strong", when: { all: [{ reading: "temperature", above: 20 }], for: 120 }, do: restart },
      caller,
    );
    const tried = await bench.service.tryRule({ id: "strong" }, caller);
    expect(tried.firings).toMatchObject([{ minerId: ids[0], clearedAt: null, limited: false }]);
    const unknown = await bench.service.tryRule({ id: "warm" }, caller);
    expect([unknown.firings, unknown.notes]).toEqual([
      [],
      ["the history does not hold fanRpm: conditions on it are unknown"],
    ]);
    const three = await Promise.allSettled([1, 2, 3].map(() => bench.service.tryRule({ id: "strong" }, caller)));
    expect(three.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(runs.requests).toEqual([]);
  });

  test("is tried with its guard and its expression", async () => {
    const { bench, ids, pass } = await farmWith([], 4);
    await bench.service.changeMiner({ id: ids[0] ?? 0, name: "rig 0" }, caller);
    await pass(900);
    const when = { all: [{ reading: "temperature" as const, above: 20 }], for: 120 };
    const all = { key: "all", when, guard: { share: "50%" }, do: restart };
    await bench.service.addRule(all, caller);
    const tried = await bench.service.tryRule({ id: "all" }, caller);
    expect(tried.guard).toEqual({ allowed: 2, most: 4, held: 4 });
    expect(tried.firings.map(({ minerId, guarded }) => [minerId, guarded]).sort()).toEqual(ids.map((id) => [id, true]));
    expect(tried.where).toBeNull();

    const few = { ...all, key: "few", when: { ...when, where: `miner.name == "rig 0" && reading.temperature > 1.0` } };
    await bench.service.addRule(few, caller);
    const one = await bench.service.tryRule({ id: "few" }, caller);
    expect(one.firings).toMatchObject([{ minerId: ids[0], guarded: false }]);
    expect(one.guard).toEqual({ allowed: 2, most: 1, held: 0 });
    expect(one.where).toMatchObject({ unknown: 0 });
    expect([one.where?.true, one.where?.false].every((count) => Number(count) > 0)).toBe(true);

    const fans = { ...all, key: "fans", when: { ...when, where: "reading.fans.exists(f, f.rpm > 100000)" } };
    await bench.service.addRule(fans, caller);
    const unknown = await bench.service.tryRule({ id: "fans" }, caller);
    expect(unknown).toMatchObject({ firings: [], where: { true: 0 } });
    expect(unknown.notes).toEqual([
      "`where` uses past hash rates, power and temperatures, but current names, groups and tags",
    ]);
  });

  test("is held by its limit when a person runs it, too", async () => {
    const { bench, ids } = await farmWith([
      { key: "locate", limit: { repeat: "1h" }, do: [{ action: "locate", on: true }] },
    ]);
    await bench.act(ids[0] ?? 0, { action: "rule", rule_id: 1 });
    const refused = await refusal(bench.act(ids[0] ?? 0, { action: "rule", rule_id: 1 }));
    expect([refused.code, refused.message]).toEqual([
      "not.possible",
      "The rule locate is held back by its limit: once in 1h; nothing was done",
    ]);
    await until(async () => (await bench.commands(ids[0] ?? 0)).length === 1, "one command");
  });

  test("is held by its guard when a person runs it for many", async () => {
    const { bench, ids, pass } = await farmWith(
      [
        {
          key: "locate",
          guard: { share: "50%" },
          when: { all: [{ event: "back_online" }] },
          manual: true,
          do: [{ action: "locate", on: true }],
        },
      ],
      4,
    );
    const start = (miners: number[]) =>
      bench.service.startBulkAction(
        { action: "rule", parameters: { rule_id: 1 }, miners, parallel: 16, delay: 0, dryRun: false },
        caller,
      );
    // A new miner is counted within some seconds.
    await pass(30);
    expect((await refusal(start(ids))).message).toMatch(/its guard: 4 of 4 miners at once; nothing was done/);
    await start(ids.slice(0, 2));
  });

  test("that a person runs on demo rigs beside real ones says that it leaves those alone", async () => {
    const farm = await startFarm({ rigs: [{ kind: "axeos" }, { kind: "axeos" }, { kind: "axeos" }] });
    onTestFinished(() => farm.close());
    const rules = [{ key: "locate", name: "Locate", manual: true, do: [{ action: "locate", on: true }] }];
    const [real, ...virtual] = farm.rigs;
    const demo = virtual.map(({ address }, index) => ({ address, name: `demo ${index}` }));
    const miners = [{ address: real?.address ?? "" }];
    const { service } = await openBench({ demo, config: { rules, miners } });
    const ids = minersIn((await service.listMiners({}, caller)).groupList).flatMap(({ id }) =>
      id > 1.9e9 ? [id] : [],
    );
    const alone = service.minerAction({ id: ids[0] ?? 0, action: "rule", rule_id: 1 }, caller);
    expect((await refusal(alone)).message).toBe(
      "The rule Locate does not apply to this miner: rules do not act on demo rigs",
    );
    const all = {
      action: "rule" as const,
      parameters: { rule_id: 1 },
      miners: ids,
      parallel: 16,
      delay: 0,
      dryRun: true,
    };
    expect((await refusal(service.startBulkAction(all, caller))).message).toBe(
      "The rule Locate does not apply to any of these 2 miners: rules do not act on demo rigs",
    );
  });

  test("that a person runs for all miners runs on those in its scope, and is refused for others", async () => {
    const { bench, ids, pass } = await farmWith(
      [
        {
          key: "locate",
          name: "Locate",
          scope: { miners: ["two"] },
          manual: true,
          do: [{ action: "locate", on: true }],
        },
      ],
      2,
    );
    const [one = 0, two = 0] = ids;
    await bench.service.changeMiner({ id: two, name: "two" }, caller);
    await pass(30);
    const refused = await refusal(bench.act(one, { action: "rule", rule_id: 1 }));
    expect([refused.code, refused.message]).toEqual([
      "nothing.to.do",
      "The rule Locate does not apply to this miner: outside the scope of the rule",
    ]);
    const { id } = await bench.service.startBulkAction(
      { action: "rule", parameters: { rule_id: 1 }, all: true, parallel: 16, delay: 0, dryRun: false },
      caller,
    );
    const { results } = await bench.service.getBulkAction({ id }, caller);
    expect(results.map(({ minerId }) => minerId)).toEqual([two]);
  });
});
