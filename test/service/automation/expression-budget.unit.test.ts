import { describe, expect, test } from "@jest/globals";
import { RuleSettings } from "../../../src/contract/rules.ts";
import { ruleRow } from "../../../src/service/automation/rule-rows.ts";
import { openStore } from "../../any-store.ts";
import { openRuleBench, twoClocks } from "./rule-bench.ts";

const fifty = "x".repeat(50);
const chain = `"${fifty}"${`.split("").map(x, "${fifty}").join("")`.repeat(4)} == "a"`;
const restart = [{ action: "restart" as const }];
const hostile = { key: "hostile", when: { all: [{ reading: "temperature", above: 10 }], where: chain }, do: restart };
const honest = {
  key: "honest",
  guard: false as const,
  do: restart,
  when: { all: [{ reading: "temperature", above: 10 }], where: 'miner.name.startsWith("rig")' },
};

/** All miners are read once, ten seconds after the read before. */
async function readAll(bench: Awaited<ReturnType<typeof openRuleBench>>, miners: number, turn: number): Promise<void> {
  const changes = Array.from({ length: miners }, (_, index) => bench.change(index + 1, { temperature: 50 + turn }));
  bench.batch(changes);
  await bench.pass(10);
}

describe("a rule whose expression is stopped", () => {
  test("is unknown, with one trace and one notification that say why, and costs next to nothing over 2,000 miners", async () => {
    const bench = await openRuleBench({ rules: [hostile, honest], miners: 2_000 });
    for (let turn = 0; turn < 4; turn += 1) await readAll(bench, 2_000, turn);
    expect(bench.phase("hostile")).toBe("idle");
    expect(await bench.traces("hostile")).toEqual([
      "unknown: its expression was stopped, and is unknown: it makes more than 20,000 characters and elements",
    ]);
    const rule = bench.automation.engine.find(1);
    const [trace] = await bench.automation.traces.list("rule", rule?.id ?? 0, () => true);
    expect(trace?.conditions).toEqual([
      { condition: chain, value: "it makes more than 20,000 characters and elements", holds: null },
    ]);
    expect(bench.notices).toEqual([
      "The rule hostile does not work as it should: its expression was stopped, and is unknown: it makes more than 20,000 characters and elements. Shorten the expression.",
    ]);
    // The other rule has fired at each.
    expect(bench.runs.requests).toHaveLength(2_000);
    await bench.close();
  });

  test("is evaluated seldom: what it may cost is refilled once a second", async () => {
    const bench = await openRuleBench({ rules: [hostile], miners: 1_000 });
    const meter = bench.automation.engine.find(1)?.meter;
    let [calls, seen] = [0, 0];
    await readAll(bench, 1_000, 0);
    for (let id = 1; id <= 1_000; id += 1) {
      meter?.test(id, () => {
        calls += 1;
        return { miner: {}, reading: {}, rule: {} };
      });
      seen += 1;
    }
    expect(seen).toBe(1_000);
    expect(calls).toBeLessThan(20);
    expect(meter?.stopped).toBe("it takes too many steps a second over all miners");
    await bench.close();
  });

  test("ends its notification when it stays within its limits for an hour, and when it is changed", async () => {
    const bench = await openRuleBench({ rules: [hostile] });
    await readAll(bench, 1, 0);
    const [row] = bench.store.rules.all();
    await bench.pass(3_700, 100);
    expect(bench.notices.slice(1)).toEqual([`closed rule:${row?.id}:expression`]);
    await readAll(bench, 1, 1);
    expect(bench.notices).toHaveLength(3);
    await bench.store.rules.declare(
      new Map([["hostile", ruleRow(RuleSettings.parse({ ...honest, key: "hostile" }), null)]]),
    );
    bench.automation.reload();
    expect(bench.notices.slice(3)).toEqual([`closed rule:${row?.id}:expression`]);
    await bench.close();
  });

  test("stops no other user's rules, however many its maker has", async () => {
    const store = await openStore({ file: ":memory:", now: twoClocks().now });
    const users = await Promise.all(
      ["mallory", "alice"].map((login) =>
        store.users.add({ name: login, keyHash: null, privilege: "administrator", groups: null, pools: null }),
      ),
    );
    const [mallory, alice] = users.map(({ id }) => id);
    const bench = await openRuleBench({ store, miners: 300 });
    for (let index = 0; index < 50; index += 1)
      await store.rules.add(ruleRow(RuleSettings.parse({ ...hostile, key: `hostile-${index}` }), mallory ?? 0));
    await store.rules.add(ruleRow(RuleSettings.parse(honest), alice ?? 0));
    bench.automation.reload();
    for (let turn = 0; turn < 3; turn += 1) await readAll(bench, 300, turn);
    expect(bench.runs.requests.filter(({ cause }) => cause.key === "honest")).toHaveLength(300);
    await bench.close();
  });
});

describe("a stored rule that this version refuses to evaluate", () => {
  test.each([
    [
      "an expression",
      { all: [{ offline: true }], where: 'bytes("a") == bytes("a")' },
      "its when.where is refused: bytes() is not known (at character 1)",
    ],
    [
      "a text that does not parse",
      { all: [{ offline: true }], where: "((((" },
      "its when.where is refused: is not a valid expression",
    ],
    ["a time that never comes", { all: [{ cron: "0 0 30 2 *" }] }, 'its when is refused: "0 0 30 2 *" never comes'],
  ])("because of %s is off with a notification, and the others work", async (_what, when, problem) => {
    const bench = await openRuleBench({ rules: [{ key: "old", when, do: restart }, honest] });
    await readAll(bench, 1, 0);
    expect(bench.automation.engine.find(1)?.problem).toContain(problem);
    expect(bench.notices).toEqual([expect.stringContaining(`The rule old is off: ${problem}`)]);
    expect(bench.runs.told).toEqual(["honest: 1: action restart"]);
    await bench.close();
  });
});

test("without rules, those and the schedules are listed as off, and nothing is evaluated or done", async () => {
  const clocks = twoClocks();
  const store = await openStore({ file: ":memory:", now: clocks.now });
  const always = { key: "always", cron: "* * * * *", lasts: 60, do: restart, onEnd: restart };
  const settings = { rules: [hostile, honest], schedules: [always], clocks, store };
  const off = "the service was started without";
  const bench = await openRuleBench({ ...settings, off });
  for (let turn = 0; turn < 20; turn += 1) await readAll(bench, 1, turn);
  bench.automation.hook("door");
  expect(bench.runs.requests).toEqual([]);
  expect(bench.notices).toEqual([]);
  expect(bench.automation.engine.rules.map(({ problem, compiled }) => ({ problem, compiled }))).toEqual([
    { problem: off, compiled: null },
    { problem: off, compiled: null },
  ]);
  expect(bench.automation.schedules.all.map(({ problem }) => problem)).toEqual([off]);
  await bench.close();
  const again = await openRuleBench(settings);
  await readAll(again, 1, 0);
  await readAll(again, 1, 1);
  expect(again.runs.told).toContain("honest: 1: action restart");
  await again.close();
});
