import { describe, expect, test } from "@jest/globals";
import { displayFor, type TwinDisplay } from "../../../src/simulator/reference/display.ts";
import { formatFor } from "../../../src/units/format.ts";

const settings = { locale: "sv-SE", currency: "USD", timeZone: "Europe/Stockholm" };

/** As recorded from the foreign product. */
const recorded: readonly [string, (format: TwinDisplay) => string, string][] = [
  ["a hash rate", ({ hashrate }) => hashrate(73.22e12), "73,22 TH/s"],
  ["no hash rate", ({ hashrate }) => hashrate(0), "0 H/s"],
  ["the temperatures of three boards", ({ temperatures }) => temperatures([59, 59, 59]), "59 59 59 °C"],
  ["the temperature of one", ({ temperatures }) => temperatures([68]), "68 °C"],
  ["a run time", ({ duration }) => duration(6_060), "1h 41m"],
  ["money", ({ money }) => money(10.17), "$10,17"],
  ["work utility", ({ decimal }) => decimal(200_540.59), "200 540,59"],
  ["a count", ({ count }) => count(12_169), "12169"],
  ["a local time", ({ localTime }) => localTime(Date.UTC(2026, 0, 31, 23, 4, 5, 678)), "2026-02-01 00:04:05"],
];

describe.each([
  ["the twin", displayFor(settings)],
  ["the service", formatFor(settings)],
])("%s writes as recorded", (_, format) => {
  test.each(recorded)("%s", (_what, show, text) => expect(show(format)).toBe(text));
});
