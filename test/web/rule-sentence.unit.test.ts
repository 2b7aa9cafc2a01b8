import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readyMadeRules } from "../../src/catalogue/ready-made-rules.ts";
import { Condition, isOfFarm } from "../../src/contract/rule-conditions.ts";
import { RuleSettings, ScheduleSettings } from "../../src/contract/rules.ts";
import { Step } from "../../src/contract/steps.ts";
import { loadLanguage } from "../../src/web/language.ts";
import { filledIn } from "../../src/web/pages/rules/definition.ts";
import { areOfFarm, type ConditionKind } from "../../src/web/pages/rules/sentence/conditions.ts";
import { ruleSentence, scheduleSentence, templateSentence } from "../../src/web/pages/rules/sentence/index.ts";
import type { SentenceStep } from "../../src/web/pages/rules/sentence/steps.ts";
import type { NameOf } from "../../src/web/pages/rules/sentence/words.ts";
import { stubBrowser } from "./stub-browser.ts";

let restore: () => void;
beforeAll(async () => {
  restore = stubBrowser();
  await loadLanguage();
});
afterAll(() => restore());

const nameOf: NameOf = (of, value) => (of === "poolId" ? `Pool ${value}` : of === "rule" ? `Rule ${value}` : value);
type Values = Readonly<Record<string, unknown>>;

/** Some conditions of each kind, with the clause that says them. */
const conditions = {
  reading: [
    [{ reading: "temperature", above: 80, clear: 75 }, "the temperature is over 80 °C"],
    [
      { reading: "hashrate", below: "60%", of: "hashrateExpected" },
      "the hash rate is under 60% of the expected hash rate",
    ],
    [
      { reading: "hashrate", below: "60%", of: "median1h" },
      "the hash rate is under 60% of its median of the last hour",
    ],
    [{ reading: "uptime", above: 300 }, "the time since mining started is over 5 minutes"],
    [{ reading: "mining", equals: true }, "mining is on"],
    [{ reading: "price", above: 0.5 }, "the electricity price is over 0.5"],
  ],
  rate: [
    [{ rate: "rejected", above: "5%" }, "the rate of rejected shares over 10 minutes is over 5%"],
    [{ rate: "hardwareErrors", above: 20, over: "1h" }, "the rate of hardware errors over 1 hour is over 20 an hour"],
  ],
  state: [[{ state: ["stopped", "error"] }, "its status is Stopped or Error"]],
  offline: [
    [{ offline: true }, "it cannot be reached"],
    [{ offline: false }, "it can be reached"],
  ],
  reason: [[{ reason: "hot" }, "it does not hash (too hot)"]],
  pool: [
    [{ pool: "dead" }, "none of its pools answers"],
    [{ pool: "wrong" }, "it mines at a pool that is not known here"],
    [{ pool: "wrong", wanted: ["North", "South"] }, "it mines at a pool other than North or South"],
  ],
  device: [[{ device: ["sick", "dead"] }, "one of its boards or cards is sick or dead"]],
  event: [
    [{ event: "best_share" }, "it finds a new best share"],
    [{ event: "block_found" }, "it finds a block"],
    [{ event: "back_online" }, "it is back online"],
  ],
  topic: [[{ topic: "cellar/door", equals: "open" }, "the value at the MQTT topic cellar/door is open"]],
  hook: [[{ hook: "alarm" }, "the webhook alarm is called"]],
  weekly: [
    [
      { weekly: { days: ["mon", "tue-fri", "sun"], from: "22:00", to: "06:00" } },
      "it is between 22:00 and 06:00 on Mon–Fri and Sun",
    ],
  ],
  time: [
    [{ time: "08:00" }, "it is 08:00"],
    [{ time: "08:00", days: ["sat"] }, "it is 08:00 on Sat"],
  ],
  cron: [[{ cron: "0 3 * * *" }, "the cron expression 0 3 * * * comes due"]],
} satisfies Record<ConditionKind, readonly (readonly [Values, string])[]>;

/** Some steps of each kind, with what they say. */
const steps = {
  set: [
    [{ set: "power_limit", value: 900 }, "set power limit to 900 W"],
    [{ set: "power_target", value: "best" }, "set power to the most profitable value"],
    [{ set: "board_1", value: false }, "set Board 1 to off"],
    [{ set: "reboot", value: true }, "reboot"],
  ],
  action: [
    [{ action: "stop" }, "stop mining"],
    [{ action: "restart", orReboot: true }, "restart mining (or reboot)"],
    [{ action: "change_pool", pool_type: "single", pool_id: 3 }, "change the pool (Pool 3)"],
    [{ action: "set_power_limit", watts: "800" }, "set the power limit (800 W)"],
    [{ action: "set", property: "fan", value: 60 }, "set fan to 60%"],
    [{ action: "locate", on: true }, "show where the rig is"],
  ],
  pool: [[{ pool: "North" }, "mine at North"]],
  poolGroup: [[{ poolGroup: "Both" }, "mine at the pool group Both"]],
  template: [[{ template: "Winter" }, "apply the template Winter"]],
  notify: [
    [{ notify: "all", text: "x" }, "notify all channels"],
    [{ notify: "phone", text: "x" }, "notify phone"],
  ],
  webhook: [[{ webhook: "https://hooks.example/secret" }, "send a web request to hooks.example"]],
  publish: [[{ publish: "farm/alarm", payload: "x" }, "publish to the MQTT topic farm/alarm"]],
  wait: [[{ wait: "30s" }, "wait 30 seconds"]],
  rule: [[{ rule: "cool" }, "run the rule Rule cool"]],
  run: [[{ run: ["/usr/bin/fan", "on"] }, "run the program /usr/bin/fan"]],
  plug: [
    [{ plug: "on" }, "switch the plug on"],
    [{ plug: "cycle", wait: "15s" }, "switch the plug off, and on again after 15 seconds"],
  ],
  curtail: [
    [{ curtail: "peak" }, "begin the curtailment plan peak"],
    [{ curtail: "peak", otherTarget: { share: 50 }, lasts: "2h" }, "begin the curtailment plan peak for 2 hours"],
  ],
  endCurtailment: [[{ endCurtailment: "peak" }, "end the curtailment plan peak"]],
} satisfies Record<SentenceStep, readonly (readonly [Values, string])[]>;

const withCapital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

describe("the sentence of a rule", () => {
  test.each(Object.values(conditions).flat())("says the condition %j", (condition, clause) => {
    expect(Condition.safeParse(condition).success).toBe(true);
    const isFarm = isOfFarm(Condition.parse(condition));
    const head = isFarm ? "When " : "When, on any rig, ";
    expect(ruleSentence({ when: { all: [condition] }, do: [{ action: "stop" }] }, nameOf)).toBe(
      `${head}${clause}: stop mining.`,
    );
    expect(areOfFarm({ all: [condition] })).toBe(isFarm);
  });

  test.each(Object.values(steps).flat())("says the step %j", (step, text) => {
    expect(Step.safeParse(step).success).toBe(true);
    expect(templateSentence({ do: [step] }, nameOf)).toBe(withCapital(text));
  });

  test("says where, how long, how often and in which order", () => {
    const rule = {
      scope: { groups: ["Garage"], not: { miners: ["Old one"] } },
      when: { all: [{ reading: "temperature", above: 80 }], for: "5m" },
      limit: { perDay: 3, repeat: 3600 },
      guard: { share: "10%" },
      inhibitedBy: ["outage"],
      do: [{ action: "stop" }, { notify: "telegram", text: "hot" }],
      onClear: [{ action: "start" }],
    };
    expect(RuleSettings.safeParse({ key: "a", ...rule }).success).toBe(true);
    expect(ruleSentence(rule, nameOf)).toBe(
      "When, on any rig in Garage, except those named Old one, the temperature is over 80 °C for 5 minutes: " +
        "stop mining, then notify telegram; once it is over: start mining; at most 3 times a day; not again within 1 hour; " +
        "nothing if more than 10% of these rigs are affected at once; not while Rule outage fires.",
    );
  });

  test("says conditions inside conditions, repeats and what happens when they do not help", () => {
    const rule = {
      when: {
        any: [{ offline: true }, { all: [{ pool: "dead" }, { device: "dead" }] }],
        clearFor: 600,
        where: "miner.id > 3",
      },
      again: { after: 10, times: 5 },
      limit: { per: "rule", perDay: 1 },
      do: [{ action: "restart" }],
      onGiveUp: [{ plug: "off" }],
    };
    expect(RuleSettings.safeParse({ key: "a", ...rule }).success).toBe(true);
    expect(ruleSentence(rule, nameOf)).toBe(
      "When, on any rig, it cannot be reached or (none of its pools answers and one of its boards or cards is dead) " +
        "and the expression miner.id > 3 is true: restart mining; over after 10 minutes without this; " +
        "again up to 5 times, first after 10 seconds; if that does not help: switch the plug off; " +
        "at most once a day for all rigs together.",
    );
  });

  test("says one without conditions, one of the whole farm, and one that is not finished", () => {
    const scope = { tags: ["hot"] };
    expect(ruleSentence({ do: [{ action: "reboot" }] }, nameOf)).toBe("By hand or from another rule: reboot.");
    expect(ruleSentence({ scope, when: { all: [{ time: "08:00" }] }, do: [{ action: "stop" }] }, nameOf)).toBe(
      "When it is 08:00, on every rig tagged hot: stop mining.",
    );
    expect(
      ruleSentence({ when: { all: [{ reading: "power", above: null }], for: null }, do: [{ pool: "" }] }, nameOf),
    ).toBe("When, on any rig, the power is over … for …: mine at ….");
  });

  test("says what a newer service has by its own words", () => {
    expect(
      ruleSentence({ scope: { orbit: "low" }, when: { all: [{ moon: "full" }] }, do: [{ howl: 3 }] }, nameOf),
    ).toBe("When, on any rig …, “moon” is true: do “howl”.");
  });

  test.each(readyMadeRules.map((each) => [each.key, each] as const))("says the ready-made rule %s", (_, readyMade) => {
    const definition = { ...readyMade.rule, with: { ...readyMade.values, pool: "North" } };
    const said = ruleSentence(filledIn({ use: readyMade.key }, definition), nameOf);
    expect(said).toMatch(/^When.+: .+\.$/);
    expect(said).not.toMatch(/\$|undefined|null|NaN|…|“|\{/);
  });

  test("says a ready-made rule with the reader's own values and parts", () => {
    const { values, rule } = readyMadeRules.find(({ key }) => key === "back-to-the-wanted-pool") ?? {
      values: {},
      rule: {},
    };
    const own = { use: "back-to-the-wanted-pool", with: { pool: "North", channel: "phone" }, limit: { perDay: 1 } };
    expect(ruleSentence(filledIn(own, { ...rule, with: values }), nameOf)).toBe(
      "When, on any rig, it mines at a pool other than North for 5 minutes: mine at North, then notify phone; " +
        "over after 5 minutes without this; at most once a day; " +
        "nothing if more than 50% of these rigs are affected within 10 minutes.",
    );
  });
});

test("the sentence of a schedule says its times, its price, where, and its end", () => {
  const said = (schedule: Values) => {
    expect(ScheduleSettings.safeParse({ key: "a", ...schedule }).success).toBe(true);
    return scheduleSentence(schedule, nameOf);
  };
  const start = { do: [{ action: "start" }] };
  expect(said({ ...start, weekly: { from: "22:00", to: "06:00" }, onEnd: [{ action: "stop" }] })).toBe(
    "Between 22:00 and 06:00: start mining; at the end: stop mining.",
  );
  expect(said({ ...start, cron: "0 3 * * *", lasts: "2h", scope: { racks: ["A1"] } })).toBe(
    "At the times of the cron expression 0 3 * * *, for 2 hours, on every rig in rack A1: start mining.",
  );
  expect(said({ ...start, price: { below: 0.1 } })).toBe(
    "While electricity costs less than 0.1 per kWh: start mining.",
  );
});
