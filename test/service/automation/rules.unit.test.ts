import { describe, expect, test } from "@jest/globals";
import { openRuleBench, RecordedRuns, twoClocks } from "./rule-bench.ts";

const hot = {
  key: "too-hot",
  when: { all: [{ reading: "temperature", above: 85, clear: 80 }], for: "2m", clearFor: "1m" },
  do: [{ action: "stop" }],
  onClear: [{ action: "start" }],
};

describe("a rule", () => {
  test("fires once after its time, and again only after it has cleared for its time", async () => {
    const bench = await openRuleBench({ rules: [hot] });
    bench.read(1, { temperature: 86 });
    expect(bench.phase("too-hot")).toBe("pending");
    await bench.pass(110, 10, () => bench.read(1, { temperature: 86 }));
    expect(bench.runs.told).toEqual([]);
    await bench.pass(86_400, 10, () => bench.read(1, { temperature: 87 }));
    expect(bench.runs.told).toEqual(["too-hot: 1: action stop"]);
    // Between 80 and 85 °C it is hot still.
    await bench.pass(600, 10, () => bench.read(1, { temperature: 82 }));
    expect(bench.phase("too-hot")).toBe("firing");
    await bench.pass(50, 10, () => bench.read(1, { temperature: 79 }));
    expect(bench.phase("too-hot")).toBe("clearing");
    await bench.pass(30, 10, () => bench.read(1, { temperature: 81 }));
    expect(bench.phase("too-hot")).toBe("firing");
    await bench.pass(70, 10, () => bench.read(1, { temperature: 79 }));
    expect(bench.runs.told).toEqual(["too-hot: 1: action stop", "too-hot: 1: action start"]);
    await bench.pass(200, 10, () => bench.read(1, { temperature: 90 }));
    expect(bench.runs.told).toHaveLength(3);
  });

  test("whose readings are unknown stays as it is, and that time does not count", async () => {
    const bench = await openRuleBench({ rules: [hot] });
    bench.read(1, { temperature: 86 });
    await bench.pass(60, 10, () => bench.read(1, { temperature: 86 }));
    bench.read(1, null);
    await bench.pass(3_600);
    expect([bench.phase("too-hot"), bench.runs.told]).toEqual(["pending", []]);
    bench.read(1, { temperature: null });
    await bench.pass(600);
    bench.read(1, { temperature: 86 });
    expect(bench.runs.told).toEqual([]);
    await bench.pass(70, 10, () => bench.read(1, { temperature: 86 }));
    expect(bench.runs.told).toHaveLength(1);
    bench.read(1, null);
    await bench.pass(3_600);
    expect(bench.phase("too-hot")).toBe("firing");
  });

  test("does not fire when the clock jumps", async () => {
    const bench = await openRuleBench({
      rules: [hot, { key: "daily", when: { all: [{ time: "18:00" }] }, do: [{ notify: "all", text: "x" }] }],
      schedules: [{ key: "night", weekly: { from: "22:00", to: "06:00" }, do: [{ action: "start" }] }],
    });
    bench.read(1, { temperature: 86 });
    await bench.pass(30, 10, () => bench.read(1, { temperature: 86 }));
    bench.clocks.jump(11 * 3_600_000);
    await bench.pass(30, 10, () => bench.read(1, { temperature: 86 }));
    bench.clocks.jump(-48 * 3_600_000);
    await bench.pass(30, 10, () => bench.read(1, { temperature: 86 }));
    expect(bench.runs.told).toEqual([]);
    expect(await bench.scheduleTraces(1)).toEqual(["missed: the clock jumped over its beginning"]);
  });

  test("is re-entered after a restart, and fires nothing again", async () => {
    const clocks = twoClocks();
    const runs = new RecordedRuns();
    const first = await openRuleBench({ rules: [hot], clocks, runs, miners: 2 });
    await first.pass(130, 10, () => first.read(1, { temperature: 86 }));
    first.read(2, { temperature: 90 });
    await first.pass(100, 10, () => first.read(2, { temperature: 90 }));
    await first.close();
    expect(runs.told).toEqual(["too-hot: 1: action stop"]);
    clocks.pass(3_600_000);
    const second = await openRuleBench({ rules: [hot], clocks, runs, store: first.store, miners: 2 });
    expect([second.phase("too-hot", 1), second.phase("too-hot", 2)]).toEqual(["firing", "pending"]);
    second.read(1, { temperature: 86 });
    second.read(2, { temperature: 90 });
    await second.pass(10, 10);
    expect(runs.told).toHaveLength(1);
    await second.pass(20, 10, () => second.read(2, { temperature: 90 }));
    expect(runs.told).toEqual(["too-hot: 1: action stop", "too-hot: 2: action stop"]);
  });

  test("whose state was lost by a crash is not run twice for one firing", async () => {
    const clocks = twoClocks();
    const runs = new RecordedRuns();
    const first = await openRuleBench({ rules: [{ ...hot, when: { ...hot.when, for: 0 } }], clocks, runs });
    first.read(1, { temperature: 86 });
    await first.pass(0);
    expect(runs.told).toHaveLength(1);
    // Killed before its state was written.
    const second = await openRuleBench({
      rules: [{ ...hot, when: { ...hot.when, for: 0 } }],
      clocks,
      runs,
      store: first.store,
    });
    expect(second.phase("too-hot")).toBe("idle");
    second.read(1, { temperature: 86 });
    await second.pass(10);
    expect(runs.told).toHaveLength(1);
    expect(await second.traces("too-hot")).toEqual(["seen: it was begun before the service restarted"]);
  });

  test("acts at most as often as its limit says, and then at once if it is still needed", async () => {
    const bench = await openRuleBench({
      rules: [{ ...hot, when: { all: hot.when.all }, onClear: undefined, limit: { repeat: "30m", perDay: 2 } }],
    });
    const firings = async (temperature: number, seconds: number) => {
      bench.read(1, { temperature });
      await bench.pass(seconds, 60);
      return bench.runs.told.length;
    };
    expect(await firings(90, 60)).toBe(1);
    expect(await firings(70, 60)).toBe(1);
    expect(await firings(90, 1_200)).toBe(1);
    expect((await bench.traces("too-hot"))[0]).toBe("held: held back by its limit: once in 30m");
    expect(await firings(90, 660)).toBe(2);
    expect(await firings(70, 60)).toBe(2);
    expect(await firings(90, 43_200)).toBe(2);
    expect(await firings(90, 43_200)).toBe(3);
  });

  test("does not hear of what its own action changes", async () => {
    const bench = await openRuleBench({
      rules: [{ key: "back", when: { all: [{ event: "back_online" }] }, do: [{ action: "restart" }] }],
    });
    bench.runs.held = [];
    bench.read(1, { temperature: 60 });
    bench.read(1, null);
    bench.read(1, { temperature: 60 });
    await bench.pass(10);
    expect(bench.runs.told).toHaveLength(1);
    // The restart takes it away and brings it back.
    bench.read(1, null);
    await bench.pass(60);
    for (const end of bench.runs.held.splice(0)) end();
    await bench.pass(10);
    bench.read(1, { temperature: 60 });
    await bench.pass(400);
    expect(bench.runs.told).toHaveLength(1);
    bench.read(1, null);
    bench.read(1, { temperature: 60 });
    await bench.pass(10);
    expect(bench.runs.told).toHaveLength(2);
  });
});

describe("a rule that acts again", () => {
  const low = {
    key: "low",
    when: { all: [{ reading: "temperature", above: 85 }], for: "1m", clearFor: "10m" },
    again: { after: "2m", longest: "5m", times: 3 },
    do: [{ action: "restart" }],
    onGiveUp: [{ action: "stop" }],
  };
  const ill = { temperature: 90 };
  const healthy = { temperature: 60 };
  const restarted = "low: 1: action restart";
  const gaveUp = "low: 1: action stop";

  test("waits twice as long each time, gives up once, and begins anew after it has cleared", async () => {
    const bench = await openRuleBench({ rules: [low] });
    const told = async (seconds: number, readings = ill) => {
      await bench.pass(seconds, 10, () => bench.read(1, readings));
      return bench.runs.told;
    };
    expect(await told(80)).toEqual([restarted]);
    expect(await told(100)).toHaveLength(1);
    expect(await told(30)).toEqual([restarted, restarted]);
    expect(await told(210)).toHaveLength(2);
    expect(await told(30)).toHaveLength(3);
    expect(await told(270)).toHaveLength(3);
    expect(await told(86_400)).toEqual([restarted, restarted, restarted, gaveUp]);
    expect(await told(660, healthy)).toHaveLength(4);
    expect(await told(100)).toEqual([restarted, restarted, restarted, gaveUp, restarted]);
  });

  test("keeps counting where it is healthy for a moment only, and waits until it has been ill for its time again", async () => {
    const bench = await openRuleBench({ rules: [low] });
    const rounds = async (count: number) => {
      for (let round = 0; round < count; round += 1) {
        await bench.pass(300, 10, () => bench.read(1, healthy));
        await bench.pass(50, 10, () => bench.read(1, ill));
      }
    };
    await bench.pass(80, 10, () => bench.read(1, ill));
    await rounds(10);
    expect(bench.runs.told).toHaveLength(1);
    for (let round = 0; round < 10; round += 1) {
      await bench.pass(300, 10, () => bench.read(1, healthy));
      await bench.pass(400, 10, () => bench.read(1, ill));
    }
    expect(bench.runs.told).toEqual([restarted, restarted, restarted, gaveUp]);
  });

  test("counts on after a restart of the service", async () => {
    const clocks = twoClocks();
    const runs = new RecordedRuns();
    const first = await openRuleBench({ rules: [low], clocks, runs });
    await first.pass(250, 10, () => first.read(1, ill));
    await first.close();
    expect(runs.told).toHaveLength(2);
    const second = await openRuleBench({ rules: [low], clocks, runs, store: first.store });
    await second.pass(86_400, 60, () => second.read(1, ill));
    expect(runs.told).toEqual([restarted, restarted, restarted, gaveUp]);
  });

  test("does nothing during maintenance, neither another action nor giving up", async () => {
    const clocks = twoClocks();
    const until = new Date(clocks.now() + 6 * 3_600_000).toISOString();
    const bench = await openRuleBench({
      rules: [low],
      clocks,
      maintenance: [
        { name: "new fans", until, from: new Date(clocks.now() + 100_000).toISOString(), miners: ["rig 1"] },
      ],
    });
    await bench.pass(5 * 3_600, 10, () => bench.read(1, ill));
    expect(bench.runs.told).toEqual([restarted]);
    await bench.pass(2 * 3_600, 10, () => bench.read(1, ill));
    expect(bench.runs.told).toEqual([restarted, restarted, restarted, gaveUp]);
  });

  test("does nothing at a rig in repair, and acts when that is over", async () => {
    const bench = await openRuleBench({ rules: [low] });
    const facts = bench.entries.get(1)?.facts ?? {};
    Object.assign(facts, { repair: { note: "fans", since: "2026-03-02T08:00:00Z" } });
    await bench.pass(3_600, 10, () => bench.read(1, ill));
    expect(bench.runs.told).toEqual([]);
    Object.assign(facts, { repair: null });
    await bench.pass(600, 10, () => bench.read(1, ill));
    expect(bench.runs.told).toContain(restarted);
  });

  test("without steps for it says in its trace that it gave up", async () => {
    const { onGiveUp: _, ...plain } = low;
    const bench = await openRuleBench({ rules: [plain] });
    await bench.pass(3_600, 10, () => bench.read(1, ill));
    expect(bench.runs.told).toHaveLength(3);
    expect((await bench.traces("low"))[0]).toBe("failed: gave up: 3 actions did not help");
  });

  test("stays within its limit", async () => {
    const bench = await openRuleBench({ rules: [{ ...low, limit: { perDay: 2 } }] });
    await bench.pass(43_200, 10, () => bench.read(1, ill));
    expect(bench.runs.told).toEqual([restarted, restarted]);
  });
});

describe("a guard", () => {
  const restart = {
    key: "restart",
    when: { all: [{ offline: true }], for: "2m" },
    guard: { share: "10%", within: "5m" },
    do: [{ plug: "cycle" }],
  };

  test("lets 600 of 1,000 rigs that go away at once alone, and says so once", async () => {
    const bench = await openRuleBench({ rules: [restart], miners: 1_000 });
    bench.batch(Array.from({ length: 1_000 }, (_, index) => bench.change(index + 1, { temperature: 60 })));
    // One after the other, as their reads fail.
    for (let id = 1; id <= 600; id += 20) {
      bench.batch(Array.from({ length: 20 }, (_, index) => bench.change(id + index, null)));
      await bench.pass(1, 1);
    }
    await bench.pass(3_600);
    expect(bench.runs.told).toEqual([]);
    expect(bench.notices).toHaveLength(1);
    expect(bench.notices[0]).toMatch(/of 1,000 miners at once, so nothing was done/);
    // Most come back; those that do not are cured then.
    bench.batch(Array.from({ length: 597 }, (_, index) => bench.change(index + 1, { temperature: 60 })));
    await bench.pass(60);
    expect(bench.runs.told.toSorted()).toEqual([598, 599, 600].map((id) => `restart: ${id}: plug cycle`));
    expect(bench.notices.slice(1)).toEqual(["closed rule:1:guard"]);
  });

  test("does not hold a few", async () => {
    const bench = await openRuleBench({ rules: [restart], miners: 100 });
    bench.batch(Array.from({ length: 100 }, (_, index) => bench.change(index + 1, index < 10 ? null : {})));
    await bench.pass(130);
    expect(bench.runs.told).toHaveLength(10);
  });

  test("of half the scope is there without being asked for, where a rule acts on rigs", async () => {
    const { guard: _, ...unguarded } = restart;
    const bench = await openRuleBench({
      rules: [unguarded, { key: "tell", when: unguarded.when, do: [{ notify: "all", text: "x" }] }],
      miners: 10,
    });
    bench.batch(Array.from({ length: 6 }, (_, index) => bench.change(index + 1, null)));
    await bench.pass(600);
    expect(bench.runs.told.map((told) => told.split(":")[0])).toEqual(Array.from({ length: 6 }, () => "tell"));
  });
});

describe("a rule that is held", () => {
  const offline = { key: "offline", when: { all: [{ offline: true }] }, do: [{ notify: "all", text: "x" }] };

  test("by another one waits until that one has cleared", async () => {
    const bench = await openRuleBench({
      miners: 3,
      rules: [
        {
          key: "site",
          scope: { miners: ["rig 1"] },
          when: { all: [{ offline: true }], for: "1h" },
          do: [{ notify: "all", text: "y" }],
        },
        { ...offline, scope: { not: { miners: ["rig 1"] } }, inhibitedBy: ["site"] },
      ],
    });
    for (const id of [1, 2]) Object.assign(bench.entries.get(id)?.facts.location ?? {}, { site: "hall" });
    bench.batch([1, 2, 3].map((id) => bench.change(id, null)));
    await bench.pass(600);
    expect(bench.runs.told).toEqual(["offline: 3: notify all"]);
    expect(await bench.traces("offline")).toContain("held: held back by the rule site");
    bench.read(1, {});
    await bench.pass(60);
    expect(bench.runs.told).toEqual(["offline: 3: notify all", "offline: 2: notify all"]);
  });

  test("by maintenance acts after its end", async () => {
    const bench = await openRuleBench({
      miners: 3,
      rules: [offline],
      maintenance: [{ name: "new fans", racks: ["r1"], until: "2026-03-02T13:00:00Z" }],
    });
    bench.batch([1, 2, 3].map((id) => bench.change(id, null)));
    await bench.pass(3_500);
    expect(bench.runs.told).toEqual(["offline: 3: notify all"]);
    await bench.pass(200);
    expect(bench.runs.told).toHaveLength(3);
  });
});
