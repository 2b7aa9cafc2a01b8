import { expect, test } from "@jest/globals";
import { Duration, durationText } from "../../src/contract/duration.ts";
import { kindOf, needsMiner, Steps, TemplateSteps } from "../../src/contract/steps.ts";
import { wording } from "../../src/contract/wording.ts";

/** The mistakes in one step, each with its path inside the list. */
const mistakesIn = (step: unknown, schema = Steps): string[] => {
  const { error } = schema.safeParse([step], { error: wording });
  return (error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
};

test.each([
  [{ set: "power_target", value: "best" }, "set", true],
  [{ set: "board_3", value: false }, "set", true],
  [{ action: "set_power_limit", watts: 2400 }, "action", true],
  [{ action: "restart", orReboot: true }, "action", true],
  [{ pool: "main" }, "pool", true],
  [{ poolGroup: "backup" }, "poolGroup", true],
  [{ template: "night" }, "template", true],
  [{ plug: "cycle", wait: "10s" }, "plug", true],
  [{ notify: "all", text: "{{ miner.name }} {{ reading.shares.accepted }}" }, "notify", false],
  [{ webhook: "https://hooks.example/1", headers: { Authorization: "Bearer x" } }, "webhook", false],
  [{ publish: "farm/alarm", payload: "on" }, "publish", false],
  [{ wait: "2m" }, "wait", false],
  [{ rule: "too-hot" }, "rule", false],
  [{ curtail: "peak", otherTarget: { share: 50 }, lasts: "2h" }, "curtail", false],
  [{ endCurtailment: "peak" }, "endCurtailment", false],
  [{ run: ["/usr/bin/true", "{{ rule.key }}"] }, "run", false],
])("%j is a step", (step, kind, ofMiner) => {
  const [parsed] = Steps.parse([step]);
  expect(parsed && kindOf(parsed)).toBe(kind);
  expect(parsed && needsMiner(parsed)).toBe(ofMiner);
  expect(Steps.parse([parsed])).toEqual([parsed]);
});

test.each([
  ["stop", ["0: must be a step, an object with one of set, action, "]],
  [{}, ["0: is not a known step; there are set, action, "]],
  [{ notfy: "phone", text: "hot" }, ['; did you mean "notify"?']],
  [{ set: "fan", value: 60, pool: "main" }, ["0: has both set and pool; write a step for each"]],
  [
    { set: "power_targt", value: 0 },
    ["0: set must be the key of a control: mining, ", '; did you mean "power_target"?'],
  ],
  [{ set: "fan" }, ["0: value is required"]],
  [{ action: "set_power_limit", wats: 3 }, ["0: has unknown keys: wats", "0.watts: is required for set_power_limit"]],
  [{ action: "stop", orReboot: true }, ["0.orReboot: is only for the action restart"]],
  [{ action: "rule", rule_id: 1 }, ["0: action must be one of reboot, stop, "]],
  [
    { notify: "phone", text: "{{ miner.nme }}" },
    ['0.text: "{{ miner.nme }}" is not known; did you mean "miner.name"?'],
  ],
  [{ notify: "phone", text: "{{ miner.name }" }, ['0.text: has "{{" without "}}"']],
  [{ publish: "farm/#", payload: "" }, ["0.publish: must be one topic", "0.payload: must not be empty"]],
  [
    { webhook: "ftp://x", methd: "GET", headers: { a: 3 } },
    ["webhook must be a web address", "; headers.a must be text", '; methd is not known; did you mean "method"?'],
  ],
  [{ wait: 0 }, ["0.wait: must be 1s to 7d"]],
  [{ wait: "soon" }, ['0: wait must be a duration like "30s", "2m", "1h" or "1d"']],
  [{ curtail: "peak", otherTarget: {} }, ["0.otherTarget: needs exactly one of reduce, limit, share and all"]],
  [{ curtail: "peak", endCurtailment: "peak" }, ["0: has both curtail and endCurtailment"]],
  [{ run: [] }, ["0.run: needs at least 1 of them"]],
])("%j is refused with its mistakes", (step, wanted) => {
  const mistakes = mistakesIn(step).join("\n");
  for (const part of wanted) expect(mistakes).toContain(part);
  expect(mistakes).not.toBe("");
});

test("a template sets pools and controls, and sends nothing elsewhere", () => {
  expect(TemplateSteps.safeParse([{ pool: "main" }, { set: "fan", value: "auto" }]).success).toBe(true);
  for (const step of [{ notify: "all", text: "hot" }, { webhook: "http://x" }, { rule: "a" }, { template: "b" }])
    expect(mistakesIn(step, TemplateSteps)[0]).toContain("is not a known step; there are pool, poolGroup, set, action");
});

test("a list has 1 to 50 steps", () => {
  const wait = { wait: "1s" };
  expect(Steps.safeParse([]).success).toBe(false);
  expect(Steps.safeParse(Array(50).fill(wait)).success).toBe(true);
  expect(Steps.safeParse(Array(51).fill(wait)).success).toBe(false);
});

test.each([
  ["30s", 30],
  ["2m", 120],
  ["1.5h", 5400],
  ["1 d", 86_400],
  [45, 45],
])("the duration %j is %d s", (text, seconds) => {
  expect(Duration(0, 1e6).parse(text)).toBe(seconds);
});

test("a duration is written as it is read", () => {
  for (const text of ["30s", "2m", "1h", "7d", "90s"]) expect(durationText(Duration(0, 1e6).parse(text))).toBe(text);
});
