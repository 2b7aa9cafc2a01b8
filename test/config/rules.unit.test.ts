import { expect, test } from "@jest/globals";
import { expressionMistakes } from "../../src/config/expressions.ts";
import { checkedConfig } from "../../src/config/index.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";

const mistakes = (config: object): string[] => {
  try {
    checkedConfig(config);
    return [];
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    return error.errors.map(({ path, message }) => `${path}: ${message}`);
  }
};

const restart = [{ action: "restart" }];

test("a rule with only a name stays allowed, and so does one with every key", () => {
  const example = {
    key: "too-hot",
    name: "Sleep when too hot",
    scope: { groups: ["Garage"], tags: ["air"], not: { miners: ["test"] } },
    when: {
      all: [
        { reading: "temperature", above: 85, clear: 80 },
        { reading: "hashrate", below: "80%", of: "hashrateExpected" },
        { state: "mining" },
      ],
      for: "2m",
      clearFor: "1m",
      where: "reading.boards.exists(b, b.chips < b.chipsExpected)",
    },
    limit: { repeat: "30m", perDay: 4, per: "miner" },
    guard: { share: "10%", within: "5m" },
    inhibitedBy: ["Night"],
    do: [
      { set: "power_target", value: 0 },
      { notify: "all", severity: "critical", text: "{{ miner.name }} {{ reading.temperature }} °C" },
    ],
    onClear: [{ action: "start" }],
    manual: true,
  };
  const config = {
    groups: [{ name: "Garage" }],
    miners: [{ address: "10.0.0.1", name: "test" }],
    rules: [{ name: "Night" }, example, { use: "sleep-when-too-hot", with: { temperature: 80 } }],
    schedules: [
      {
        key: "nightly-tariff",
        weekly: { days: ["mon-fri"], from: "22:00", to: "06:00", timeZone: "Europe/Berlin" },
        do: [{ set: "power_target", value: "100%" }],
        onEnd: [{ set: "power_target", value: "30%" }],
      },
      { key: "cheap", price: { below: 0.08 }, do: restart },
    ],
    maintenance: [{ name: "new fans", groups: ["Garage"], until: "2026-05-01T18:00:00+02:00" }],
  };
  expect(mistakes(config)).toEqual([]);
});

test("names every mistake at once, with its place", () => {
  expect(
    mistakes({
      rules: [
        { key: "a", do: [{ rule: "b" }] },
        { key: "b", do: [{ rule: "c" }, { pool: "Mian" }] },
        { key: "c", do: [{ rule: "a" }] },
        { key: "a", do: restart },
        {
          key: "d",
          scope: { groups: ["Hall"], miners: ["rig 9"] },
          inhibitedBy: ["nobody"],
          when: { all: [{ hook: "door" }, { topic: "home/game", equals: "on" }] },
          do: [{ notify: "phone", text: "x" }, { template: "T" }, { run: ["rm"] }],
        },
        { key: "e", when: { all: [{ cron: "0 0 30 2 *" }] }, do: restart },
        { key: "f", when: { all: [{ reading: "temprature", above: 3 }] }, do: restart },
        { key: "g", when: { all: [{ load: 3 }] }, do: restart },
        { key: "h", when: { all: [{ any: [{ all: [{ offline: true }] }] }] }, do: restart },
        { key: "i", when: { all: [{ reading: "hashrate", below: "80%" }] }, do: restart },
        { key: "j", when: { all: [{ offline: true }], where: "reading.powr > 3.0" }, do: restart },
        { use: "sleep-when-hot" },
        { use: "back-to-the-wanted-pool" },
        { key: "k", when: { all: [{ offline: true }] } },
        { key: "l", when: { all: [{ reading: "temperature", above: 80, clear: 85 }] }, do: restart },
        { key: "m", do: [{ set: "fann", value: 3 }] },
      ],
      schedules: [
        { key: "s", cron: "61 * * * *", do: restart },
        { key: "t", weekly: { from: "22:00", to: "06:00" }, cron: "0 3 * * *", do: restart },
      ],
      maintenance: [{ name: "m", groups: ["Hall"], until: "2026-05-01T18:00:00Z" }],
    }).map((each) => each.slice(0, 150)),
  ).toEqual([
    "rules[6].when.all[0]: reading must be one of hashrate, hashrateAverage, hashrateExpected, power, powerLimit, efficiency, energy, temperature, chipTemp",
    "rules[7].when.all[0]: load is not available yet: this version runs nothing on the hosts of miners",
    "rules[8].when.all[0]: any[0] is not a known condition; there are reading, rate, state, offline, reason, pool, device, event, topic, hook, weekly, time",
    'rules[9].when.all[0].of: is required for a share, like "80%": hashrateExpected, median1h or another reading',
    "rules[13].do: is required: a rule with conditions does something",
    "rules[14].when.all[0].clear: must not be higher than above",
    "rules[15].do[0]: set must be the key of a control: mining, power_limit, power_target, throttle, mode, frequency, voltage, fan, temperature_target, loc",
    "schedules[1].weekly: needs exactly one of weekly, cron and price",
    "rules[3].key: is also the key of rules[0]",
    'rules[1].do[1]: there is no pool "Mian"',
    'rules[4].scope.groups[0]: there is no group "Hall"',
    'rules[4].scope.miners[0]: there is no miner "rig 9"',
    'rules[4].when: there is no web hook "door"',
    'rules[4].inhibitedBy[0]: there is no rule "nobody"',
    'rules[4].do[0]: there is no channel "phone"',
    'rules[4].do[1]: there is no managed template "T"',
    "rules[4].do[2]: run needs automation: {programs: true} in the configuration",
    'rules[5].when: "0 0 30 2 *" never comes: there is no such day',
    'rules[10].when.where: "reading.powr" is not known (at character 1); did you mean "power"?',
    'rules[11].use: there is no ready-made rule "sleep-when-hot"; did you mean "sleep-when-too-hot"?',
    "rules[12].with.pool: is required for back-to-the-wanted-pool",
    "rules[0].do: the rules run each other in a loop: a → b → c → a",
    'schedules[0].cron: "61 * * * *" is not a cron pattern: Invalid value for minute: 61',
    'maintenance[0].groups[0]: there is no group "Hall"',
  ]);
});

test("an expression is refused with the place of what is wrong in it", () => {
  expect(
    [
      'miner.name.matches("(a+)+b")',
      "reading.temprature > 85.0",
      "reading.boards.exists(b, b.chip < b.chipsExpected)",
      "foo > 3",
      "reading.power >",
      "reading.power + 1.0",
      "[1].map(a, [1].map(b, [1].map(c, c))) == []",
      `${"(".repeat(50)}true${")".repeat(50)}`,
      Array.from({ length: 200 }, () => "true").join(" && "),
      'miner.location.rack == "r1" && "air" in miner.tags && rule.key == "x"',
    ].map(expressionMistakes),
  ).toEqual([
    ["matches() is not allowed (at character 1); use contains(), startsWith() or endsWith()"],
    ['"reading.temprature" is not known (at character 1); did you mean "temperature"?'],
    ['"b.chip" is not known (at character 26); did you mean "chips"?'],
    ['"foo" is not known (at character 1); there are miner, reading and rule'],
    ["is not a valid expression: Unexpected token: EOF (at character 16)"],
    ["must be true or false, and is of the type double"],
    ["map() is nested too deeply (at character 23)"],
    ["is not a valid expression: Exceeded maxDepth (20) (at character 21)"],
    ["is not a valid expression: Exceeded maxAstNodes (200) (at character 1)"],
    [],
  ]);
});
