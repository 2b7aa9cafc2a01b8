import { describe, expect, test } from "@jest/globals";
import { textMistake, textNames } from "../../../src/contract/texts.ts";
import { textsOf } from "../../../src/service/automation/texts.ts";
import { formatFor } from "../../../src/units/format.ts";
import { entryOf, reading } from "./rule-bench.ts";

const identity = { make: "Bitaxe", model: "Gamma", firmware: null, mac: null, hostname: null, serial: null };
const facts = {
  name: 'Rig "1"',
  tags: ["air", "hall"],
  groupId: 1,
  location: { site: "Farm", container: null, rack: "R1", slot: null },
};
const rig = (id: number, readings: Parameters<typeof reading>[1]) => {
  const entry = entryOf(id);
  const state = {
    ...reading(entry.rig.state, readings, {}, Date.UTC(2026, 0, 31)),
    uid: "aabb",
    identity,
    hashingSince: 0,
  };
  return { facts: { ...entry.facts, ...facts }, rig: Object.assign(entry.rig, { state }) };
};
const entries = new Map([
  [1, rig(1, { temperature: 65.25, hashrate: 1e12, power: 1000, mode: "", mining: true })],
  [2, rig(2, { temperature: 70, hashrate: 2e12, power: null })],
]);
const texts = textsOf({
  entryOf: (id) => entries.get(id),
  groupName: (id) => (id === 1 ? "Hall" : null),
  lastOutputOf: () => null,
  format: formatFor({ locale: "en-US", currency: "USD", timeZone: "UTC" }),
})({ key: "too-hot", name: "Too hot" }, () => [...entries.keys()]);

describe("a text", () => {
  test.each([
    ["{{ miner.name }} in {{miner.group}} ({{ miner.tags }})", 'Rig "1" in Hall (air, hall)'],
    ["{{ miner.location }}, {{ miner.model }}, {{ miner.uid }}", "Farm / R1, Gamma, aabb"],
    ["{{ reading.temperature }} °C, {{ reading.efficiency }}", "65.25 °C, 1e-9"],
    ["{{ reading.hashrate }}, {{ reading.psu.model }}, {{ reading.mode }}", "1.00 TH/s, –, –"],
    ["{{ reading.mining }} {{ rule.name }}", "yes Too hot"],
    ["no names { here }", "no names { here }"],
    ['{"text": "{{ miner.name }}"}', '{"text": "Rig \\"1\\""}'],
  ])("%s", (text, written) => {
    expect(textMistake(text)).toBeNull();
    expect(texts(1, text)).toBe(written);
  });

  test("about no miner has the sums of all of them, their highest temperature, and dashes for the rest", () => {
    expect(texts(null, "{{ miner.name }} {{ reading.hashrate }} {{ reading.temperature }} {{ reading.power }}")).toBe(
      "– 3.00 TH/s 70 1000",
    );
    expect(texts(null, "{{ rule.key }}: {{ rule.miners }}, {{ reading.fans }}")).toBe("too-hot: 2, –");
  });

  test.each([
    ["{{ constructor }}", '"{{ constructor }}" is not known; texts name fields of miner, reading and rule'],
    ["{{ miner.__proto__ }}", '"{{ miner.__proto__ }}" is not known'],
    ["{{ reading.temprature }}", '"{{ reading.temprature }}" is not known; did you mean "reading.temperature"?'],
    ["{{ 1 + 1 }}", '"{{ 1 + 1 }}" is not known'],
    ["{{ miner.password }}", '"{{ miner.password }}" is not known'],
    ["{{ miner.name", 'has "{{" without "}}"'],
  ])("is refused when it is saved: %s", (text, sentence) => {
    expect(textMistake(text)).toContain(sentence);
  });

  test("has a value or a dash for every name, and never an object", () => {
    for (const name of textNames)
      for (const minerId of [1, null])
        expect(texts(minerId, `{{ ${name} }}`)).toMatch(/^(?!.*(object|undefined|\{)).+$/s);
  });
});
