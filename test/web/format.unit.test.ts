import { afterAll, beforeAll, expect, test } from "@jest/globals";
import * as format from "../../src/web/format.ts";
import { loadLanguage } from "../../src/web/language.ts";
import { stubBrowser } from "./stub-browser.ts";

let restoreBrowser: () => void;
beforeAll(async () => {
  restoreBrowser = stubBrowser();
  await loadLanguage();
});
afterAll(() => restoreBrowser());

test("unknown is a dash in every format, and 0 is 0", () => {
  const { hashrate, power, energy, efficiency, temperature, percent, money, duration, number, dateTime } = format;
  const all = [hashrate, power, energy, efficiency, temperature, percent, duration, number, dateTime];
  expect(all.map((each) => each(null))).toEqual(all.map(() => format.unknown));
  expect(money(null, "EUR")).toBe(format.unknown);
  expect([hashrate(0), power(0), energy(0), temperature(0), duration(0), money(0, "EUR")]).toEqual([
    "0 H/s",
    "0 W",
    "0 kWh",
    "0 °C",
    "0 s",
    "€0.00",
  ]);
});

test("numbers have three significant digits and the field's units", () => {
  expect(format.hashrate(3.214e12)).toBe("3.21 TH/s");
  expect(format.hashrate(104.6e12)).toBe("105 TH/s");
  expect(format.hashrate(1.23e18)).toBe("1.23 EH/s");
  expect(format.hashrate(850)).toBe("850 H/s");
  expect(format.hashrate(42, "Equihash 144_5")).toBe("42.0 Sol/s");
  expect(format.hashrate(9.1, "Cuckatoo32")).toBe("9.10 G/s");
  expect(format.power(3250.4)).toBe("3,250 W");
  expect(format.power(1_234_000)).toBe("1.23 MW");
  expect(format.energy(1234)).toBe("1.2 kWh");
  expect(format.efficiency(1.85e-11)).toBe("18.5 J/TH");
  expect(format.efficiency(4.1e-3)).toBe("4.10 J/kH");
  expect(format.money(0.00042, "EUR")).toBe("€0.00042");
  expect(format.money(12.345, null)).toBe("12.35");
});

test("the values of an axis have one unit", () => {
  expect([0, 5_000, 12_500].map((value) => format.power(value, 12_500))).toEqual(["0 kW", "5 kW", "12.5 kW"]);
  expect([0, 4_000, 8_000].map((value) => format.power(value, 8_000))).toEqual(["0 W", "4,000 W", "8,000 W"]);
  expect([0, 0.5, 1].map((value) => format.power(value, 1))).toEqual(["0 W", "0.5 W", "1 W"]);
  expect([0, 5e11, 1e12].map((value) => format.hashrate(value, null, 1e12))).toEqual(["0 TH/s", "0.5 TH/s", "1 TH/s"]);
  expect([0, 500, 1_250].map((value) => format.energy(value, 1_250))).toEqual(["0 kWh", "0.5 kWh", "1.25 kWh"]);
});

test("times and names", () => {
  const now = Date.parse("2026-11-22T12:00:00Z");
  expect(format.duration(2 * 86_400 + 4 * 3600 + 59)).toBe("2 d 4 h");
  expect(format.duration(3600)).toBe("1 h");
  expect(format.ago("2026-11-22T11:55:00Z", now)).toBe("5 minutes ago");
  // A clock that is ahead of the service's.
  expect(format.ago("2026-11-22T12:00:30Z", now)).toBe("now");
  expect(["Rig 10", "rig 2", "Rig 1"].toSorted(format.byName)).toEqual(["Rig 1", "rig 2", "Rig 10"]);
  expect(format.counted(1, { one: "# rig", other: "# rigs" })).toBe("1 rig");
  expect(format.counted(1200, { one: "# rig", other: "# rigs" })).toBe("1,200 rigs");
});
