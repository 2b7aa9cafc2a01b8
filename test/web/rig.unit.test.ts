import { describe, expect, test } from "@jest/globals";
import type { Board, Control } from "../../src/contract/readings.ts";
import { unknownBoard } from "../../src/contract/readings.ts";
import type { Command, Miner } from "../../src/contract/resources.ts";
import { filterFrom, rigNamed } from "../../src/web/pages/activity/filters.ts";
import {
  actionFor,
  choicesOf,
  controlsOf,
  latestFor,
  stopsMining,
  wantedBy,
} from "../../src/web/pages/rig/control-command.ts";
import { boundsOf, curvesOf, periodFrom, withLive } from "../../src/web/pages/rig/curves.ts";
import { boardFaults, deviceFaults, isSwitchedOff, reportShares } from "../../src/web/pages/rig/faults.ts";
import { ownPage } from "../../src/web/pages/rig/own-page.ts";

const command = (about: Partial<Command>): Command => ({
  id: 1,
  minerId: 1,
  minerName: "A",
  actor: "anna",
  action: "set",
  parameters: {},
  state: "done",
  message: "",
  time: "2026-01-01T12:00:00.000Z",
  updated: "2026-01-01T12:00:00.000Z",
  ...about,
});

const flags = { canStop: false, canStart: false, canRestart: false, canReboot: false, isRunning: true };
const fan: Control = {
  key: "fan",
  kind: "range",
  unit: "%",
  min: 0,
  max: 100,
  step: 1,
  options: ["auto"],
  value: 40,
  lasting: true,
  restartsMining: false,
  seconds: 10,
};

describe("controls", () => {
  test("what only the flags of a rig tell of is a control, too, and nothing is offered twice", () => {
    const keys = (miner: Partial<Miner>) =>
      controlsOf({ controls: [], ...flags, ...miner } as unknown as Miner).map(({ key }) => key);
    expect(keys({ canStop: true, canReboot: true })).toEqual(["mining", "reboot"]);
    expect(keys({ controls: [fan, { ...fan, key: "mining", kind: "switch" }], canStart: true })).toEqual([
      "fan",
      "mining",
    ]);
    expect(keys({})).toEqual([]);
  });

  test("mining, restart and reboot have actions of their own, everything else is set", () => {
    expect(actionFor("mining", false)).toEqual({ action: "stop" });
    expect(actionFor("mining", true)).toEqual({ action: "start" });
    expect(actionFor("reboot", true)).toEqual({ action: "reboot" });
    expect(actionFor("board_2", false)).toEqual({ action: "set", property: "board_2", value: "false" });
    expect(actionFor("power_target", 1500)).toEqual({ action: "set", property: "power_target", value: "1500" });
  });

  test("a command belongs to the control that it changes", () => {
    expect(wantedBy(command({ parameters: { property: "fan", value: "60" } }), "fan")).toBe("60");
    expect(wantedBy(command({ parameters: { property: "fan", value: "60" } }), "mode")).toBeUndefined();
    expect(wantedBy(command({ action: "stop" }), "mining")).toBe(false);
    expect(wantedBy(command({ action: "set_power_limit", parameters: { watts: 900 } }), "power_limit")).toBe(900);
    expect(wantedBy(command({ action: "add_pool" }), "mining")).toBeUndefined();
  });

  test("the newest command about a control is shown for a while", () => {
    const list = [command({ id: 3, action: "stop" }), command({ id: 2, parameters: { property: "fan", value: "60" } })];
    const at = Date.parse("2026-01-01T12:05:00Z");
    expect(latestFor(list, "fan", at)?.id).toBe(2);
    expect(latestFor(list, "fan", at + 3_600_000)).toBeUndefined();
  });

  test("powers are sent by their label", () => {
    expect(choicesOf({ options: ["auto", { watts: 900, label: "eco" }] })).toEqual([
      { value: "auto", label: "auto", watts: null },
      { value: "eco", label: "eco", watts: 900 },
    ]);
    expect(choicesOf({ options: null })).toEqual([]);
  });
});

describe("boards", () => {
  const board = (about: Partial<Board>): Board => ({ ...unknownBoard(0), ...about });
  test.each([
    { about: { hashrate: 0 }, mining: true, faults: ["dead"] },
    { about: { hashrate: 0 }, mining: false, faults: [] },
    { about: { chips: 0, chipsExpected: 77 }, mining: false, faults: ["dead"] },
    { about: { hashrate: 1e12, chips: 70, chipsExpected: 77 }, mining: true, faults: ["chips"] },
    { about: { hashrate: 1e12, chipTemperature: 96 }, mining: true, faults: ["hot"] },
    { about: { hashrate: 1e12, temperature: 70, chips: 77, chipsExpected: 77 }, mining: true, faults: [] },
    { about: {}, mining: true, faults: [] },
  ])("$about is $faults while mining is $mining", ({ about, mining, faults }) => {
    expect(boardFaults(board(about), mining)).toEqual(faults);
  });

  test("one that is switched off is not dead, whatever it reports", () => {
    for (const about of [
      { hashrate: 0 },
      { chips: 0, chipsExpected: 77 },
      { hashrate: 0, chips: 70, chipsExpected: 77 },
    ])
      expect(boardFaults(board(about), true, true)).toEqual(["off"]);
  });
});

test("a board is switched off by its own control alone", () => {
  const control = (slot: number, value: boolean): Control => ({ ...fan, key: `board_${slot}`, kind: "switch", value });
  const rig = { controls: [control(0, true), control(1, false)] };
  expect([0, 1, 2].map((slot) => isSwitchedOff(rig, unknownBoard(slot)))).toEqual([false, true, false]);
});

describe("devices", () => {
  const faults = (statusDisplay: string, temperature: number, memoryTemperature: number | null = null) =>
    deviceFaults({ statusInfo: { statusDisplay }, deviceInfo: { temperature, memoryTemperature } });

  test("are dead, sick or off by their status", () => {
    expect(["Alive", "Dead", "Sick", "Disabled"].map((status) => faults(status, 60))).toEqual([
      [],
      ["dead"],
      ["sick"],
      ["off"],
    ]);
  });

  test("are hot from 85 °C, and from 100 °C of their memory", () => {
    expect([84, 85].map((each) => faults("Alive", each))).toEqual([[], ["hot"]]);
    expect([99, 100].map((each) => faults("Sick", 60, each))).toEqual([["sick"], ["sick", "hot"]]);
  });
});

describe("what stops mining", () => {
  test("is mining off, a sleep, and a power of nothing; by its number or its label", () => {
    const options = [
      { watts: 0, label: "off" },
      { watts: 900, label: "eco" },
    ];
    const stops = (key: Control["key"], value: string | number | boolean) => stopsMining({ key, options }, value);
    expect([stops("mining", false), stops("mining", true)]).toEqual([true, false]);
    expect([stops("mode", "sleep"), stops("mode", "eco")]).toEqual([true, false]);
    expect([stops("power_target", 0), stops("power_target", "off"), stops("power_target", "eco")]).toEqual([
      true,
      true,
      false,
    ]);
    expect([stops("power_limit", 0), stops("fan", 0)]).toEqual([false, false]);
  });
});

describe("shares of pools and devices", () => {
  const list = (...lines: (readonly [string, string])[]) =>
    lines.map(([line1, line2]) => ({ progressInfo: { line1, line2 } }));
  const readings = (accepted: number) => ({ shares: { accepted, rejected: 0, hardwareErrors: null } });

  test("are unknown where the rig has some and none of them has any", () => {
    expect(reportShares(list(["0", "0"], ["0", "0"]), readings(448))).toBe(false);
    expect(reportShares(list(["448", "0"], ["0", "0"]), readings(448))).toBe(true);
    expect(reportShares(list(["0", "3"]), readings(448))).toBe(true);
  });

  test("are zero for a rig that has found none yet", () => {
    expect(reportShares(list(["0", "0"]), readings(0))).toBe(true);
  });
});

describe("curves", () => {
  test("a pause is a gap, and energy counts from the first point", () => {
    const { times, hashrate, energy } = curvesOf({
      step: 60,
      points: [
        [0, 1, 10, 50, 500],
        [60_000, 2, 11, 51, 501],
        [120_000, null, null, null, null],
        [900_000, 3, 12, 52, 510],
      ],
    });
    expect(times).toEqual([0, 60_000, 120_000, 120_001, 900_000]);
    expect(hashrate).toEqual([1, 2, null, null, 3]);
    expect(energy).toEqual([0, 1, null, null, 10]);
  });

  test("slow reads in short steps are no gaps", () => {
    const points = [0, 30_000, 60_000, 90_000].map((time): [number, number, null, null, null] => [
      time,
      1,
      null,
      null,
      null,
    ]);
    expect(curvesOf({ step: 7, points }).hashrate).toEqual([1, 1, 1, 1]);
  });

  test("newer readings go on where the history ends, and energy never falls", () => {
    const history = withLive(
      {
        step: 60,
        points: [
          [60_000, 1, 1, 1, 9],
          [120_000, 1, 1, 1, 10],
        ],
      },
      [
        [60_000, 5, 5, 5, 5],
        [180_000, 2, 2, 2, 9],
      ],
    );
    expect(history.points.map(([time]) => time)).toEqual([60_000, 120_000, 180_000]);
    expect(curvesOf(history).energy).toEqual([0, 1, 1]);
  });

  test("a period in the address that makes no sense is the last day", () => {
    expect(periodFrom("7d", "", "")).toEqual({ key: "7d", from: null, to: null });
    expect(periodFrom("own", "2026-01-02T00:00", "2026-01-01T00:00").key).toBe("24h");
    expect(periodFrom("constructor", "", "").key).toBe("24h");
    const own = periodFrom("own", "2026-01-01T00:00", "2026-01-02T00:00");
    expect(own.key).toBe("own");
    // Nothing else may reach the query of a request.
    expect(boundsOf(own)).toEqual({ from: own.from, to: own.to });
  });
});

test.each([
  ["192.168.1.5:80", false, "http://192.168.1.5/"],
  ["rig.lan:443", false, "https://rig.lan/"],
  ["https://rig.lan:8443", false, "https://rig.lan:8443/"],
  ["192.168.1.5:4028", true, "http://192.168.1.5/"],
  ["192.168.1.5:4028", false, null],
  ["192.168.1.5:4067", false, null],
  ["javascript:alert(1)", true, null],
  ["javascript://rig:80/%0aalert(1)", true, null],
  ["http://user:secret@rig.lan", true, null],
  ["rig.lan/../x:80", true, null],
  ["", true, null],
])("the own page of a rig at %s is %s %s", (hostDescription, hasAsic, page) => {
  expect(ownPage({ hostDescription, hasAsic })).toBe(page);
});

describe("filters of the activity", () => {
  const get = (fields: Record<string, string>) => (name: string) => fields[name] ?? "";
  test("an address says what to list; what makes no sense is left out", () => {
    expect(filterFrom(get({ miner: "12", actor: "anna", since: "1h" }), 7_230_000)).toEqual({
      miner: 12,
      actor: "anna",
      since: 3_600_000,
    });
    expect(filterFrom(get({ miner: "x", since: "toString" }), 0)).toEqual({});
  });

  test("a rig is found by its name or id, if only one has it", () => {
    const rigs = [
      { id: 1, name: "Garage" },
      { id: 2, name: "Barn" },
      { id: 3, name: "barn" },
    ];
    expect(rigNamed(" garage ", rigs)?.id).toBe(1);
    expect(rigNamed("3", rigs)?.id).toBe(3);
    expect(rigNamed("Barn", rigs)).toBeNull();
    expect(rigNamed("attic", rigs)).toBeNull();
  });
});
