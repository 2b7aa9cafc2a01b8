import { describe, expect, test } from "vitest";
import { unknownReadings } from "../../src/contract/readings.ts";
import { textMistake, textNames } from "../../src/contract/texts.ts";
import { render } from "../../src/service/automation/text.ts";

const at = "2026-01-31T12:00:00.000Z";
const readings = { ...unknownReadings(), at, stale: false, energy: 1234, efficiency: 2.34567891e-11, startedAt: null };
const miner = {
  uid: "aabb",
  name: 'Rig "1"',
  tags: ["air", "hall"],
  location: { site: "Farm", container: null, rack: "R1", slot: null },
  identity: { make: "Bitaxe", model: "Gamma", firmware: null, mac: null, hostname: null, serial: null },
  readings: { ...readings, temperature: 65.25, mining: true, reason: null },
};
const values = { miner, group: "Hall", rule: { key: "too-hot", name: "Too hot" } };

describe("a text", () => {
  test.each([
    ["{{ miner.name }} in {{miner.group}} ({{ miner.tags }})", 'Rig "1" in Hall (air, hall)'],
    ["{{ miner.location }}, {{ miner.model }}, {{ miner.uid }}", "Farm / R1, Gamma, aabb"],
    ["{{ reading.temperature }} °C, {{ reading.efficiency }}", "65.25 °C, 2.34568e-11"],
    ["{{ reading.power }} W, {{ reading.shares.accepted }}, {{ reading.psu.model }}", "– W, –, –"],
    ["{{ reading.mining }} {{ rule.name }}", "true Too hot"],
    ["no names { here }", "no names { here }"],
    ['{"text": "{{ miner.name }}"}', '{"text": "Rig \\"1\\""}'],
  ])("%s", (text, written) => {
    expect(textMistake(text)).toBeNull();
    expect(render(text, values)).toBe(written);
  });

  test("about no miner has dashes for its values", () => {
    expect(render("{{ miner.name }} {{ reading.power }} {{ rule.key }}", { ...values, miner: null })).toBe(
      "– – too-hot",
    );
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
    for (const name of textNames) expect(render(`{{ ${name} }}`, values)).not.toMatch(/object|undefined|\{/);
  });
});
