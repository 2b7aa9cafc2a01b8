import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Room } from "../../src/contract/resources.ts";
import { loadLanguage } from "../../src/web/language.ts";
import { stateOf } from "../../src/web/pages/family/room-state.ts";
import { stubBrowser } from "./stub-browser.ts";

let restoreBrowser: () => void;
beforeAll(async () => {
  restoreBrowser = stubBrowser();
  await loadLanguage();
});
afterAll(() => restoreBrowser());

const room: Room = {
  key: "a",
  name: "Room",
  kind: "surplus",
  groupId: null,
  miners: [1],
  on: true,
  control: null,
  changing: false,
  temperature: null,
  temperatureAt: null,
  demand: null,
  surplus: null,
  surplusAt: null,
  available: null,
  availableAt: null,
  power: 0,
  mining: 1,
  heldBy: null,
  max: null,
  highest: 3000,
  lowest: 1000,
  today: {
    date: "2026-11-23",
    energy: null,
    cost: null,
    revenue: null,
    profit: null,
    currency: "EUR",
    incomplete: false,
  },
};

describe("what a room does, in words", () => {
  test.each<[string, Partial<Room>]>([
    ["on, uses 1,500 W; 500 W are left", { power: 1500, available: 2000 }],
    ["on, uses 1,500 W; 0 W are left", { power: 1500, available: 1500.4 }],
    ["on, uses 1,500 W, of which 300 W are not from the roof", { power: 1500, available: 1200 }],
    ["on, uses 1,500 W", { power: 1500 }],
    ["on", { power: null }],
    ["on, uses 1,500 W, of which 1,500 W are not from the roof", { power: 1500, available: -900 }],
    ["on, waits until the roof has 1,000 W to spare", { available: 999, mining: 0, power: 30 }],
    ["on, starts when the sun lasts", { available: 1000, mining: 0 }],
    ["on, starts when the sun lasts", { available: 500, mining: 0, lowest: null }],
    ["on, waits for the next value of the meter", { mining: 0, power: null }],
    ["off · switched off by anna", { on: false, heldBy: { what: "anna", until: null } }],
    ["off · switched off by Owner", { on: false, mining: 0, heldBy: { what: "http", until: null } }],
    ["not known whether it is on: its rigs do not answer", { on: null, power: null }],
    ["warm enough, no heat now", { kind: "target", mining: 0, temperature: 21, demand: 0 }],
    ["too cold, heat starts soon", { kind: "target", mining: 0, temperature: 18, demand: 0.4 }],
    ["on, but no heat while the temperature is not known", { kind: "target", mining: 0, demand: 0.4 }],
    ["on, but its rigs use no power yet", { kind: "power" }],
    ["on, uses 900 W · set by Roof", { kind: "power", power: 900, heldBy: { what: "Roof", until: null } }],
  ])("%s", (text, changed) => {
    expect(stateOf({ ...room, ...changed })).toBe(text);
  });

  test("who has set it, and until when", () => {
    const heldBy = { what: "anna", until: "2026-11-23T12:00:00Z" };
    const set = { ...room, power: 900, heldBy };
    expect(stateOf({ ...set, kind: "target" })).toMatch(/^on, uses 900 W · set by anna, automatic again at \d+:00/);
    expect(stateOf({ ...set, kind: "power" })).toMatch(/^on, uses 900 W · set by anna, stays until \d+:00/);
  });
});
