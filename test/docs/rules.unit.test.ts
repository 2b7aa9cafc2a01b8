import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { readyMadeRules } from "../../src/catalogue/ready-made-rules.ts";
import { checkedConfig } from "../../src/config/index.ts";
import { numberReadings, When } from "../../src/contract/rule-conditions.ts";
import { openRuleBench } from "../service/automation/rule-bench.ts";

// depends on: docs/rules.md

const page = readFileSync(new URL("../../docs/rules.md", import.meta.url), "utf8");
const examples = Array.from(page.matchAll(/```yaml\n(.*?)```/gs), ([, text = ""]) => text);

/** What the examples name. */
const farm = {
  groups: [{ name: "Garage" }, { name: "Cellar" }],
  miners: [
    { address: "10.0.0.1", name: "test" },
    { address: "10.0.0.2", name: "lottery" },
  ],
  pools: [{ name: "Main", url: "stratum+tcp://main.example:3333" }],
};

describe("docs/rules.md", () => {
  test.each(examples)("has an example that is right: %s", (text) => {
    expect(() => checkedConfig({ ...farm, ...parse(text) })).not.toThrow();
  });

  test("names every ready-made rule, every reading, and only conditions that there are", () => {
    for (const { key } of readyMadeRules) expect(page).toContain(key);
    for (const name of Object.keys(numberReadings)) expect(page).toContain(`${name}`);
    const rows = page.slice(page.indexOf("## Conditions"), page.indexOf("## Guard"));
    const conditions = Array.from(rows.matchAll(/`(\{ .*? \})`/g), ([, text = ""]) => parse(text));
    expect(conditions.length).toBeGreaterThan(15);
    for (const condition of conditions) expect(() => When.parse({ all: [condition] })).not.toThrow();
  });

  test("says what its first rule does", async () => {
    const { rules } = parse(examples.find((text) => text.includes("key: too-hot")) ?? "");
    const bench = await openRuleBench({ rules: [{ ...rules[0], scope: { miners: ["rig 1"] } }] });
    const hot = { temperature: 86, hashrate: 70, hashrateExpected: 100 };
    await bench.pass(110, 10, () => bench.read(1, hot));
    expect(bench.runs.told).toEqual([]);
    await bench.pass(600, 10, () => bench.read(1, hot));
    expect(bench.runs.told).toEqual(["too-hot: 1: set power_target, notify all"]);
    await bench.pass(600, 10, () => bench.read(1, { ...hot, temperature: 79 }));
    expect(bench.runs.told.slice(1)).toEqual(["too-hot: 1: action start"]);
    const [{ texts, steps } = { texts: undefined, steps: [] }] = bench.runs.requests;
    expect(texts?.(1, String(Reflect.get(steps[1] ?? {}, "text")))).toBe("rig 1 79 °C");
  });
});
