import { expect, test } from "vitest";
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
  ).toMatchInlineSnapshot();
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
  ).toMatchInlineSnapshot();
});
