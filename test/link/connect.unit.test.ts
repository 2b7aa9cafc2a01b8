import { describe, expect, test } from "vitest";
import { type RigReadings, unknownBoard, unknownReadings } from "../../src/contract/readings.ts";
import { connect } from "../../src/link/connect.ts";
import { range, toggle } from "../../src/link/controls.ts";
import type { Driver, Reading, Rig } from "../../src/link/driver.ts";
import { unknownIdentity } from "../../src/link/identity.ts";
import { openLink } from "../../src/link/link.ts";

const blank: Reading = {
  identity: unknownIdentity,
  readings: unknownReadings(),
  pools: [],
  devices: [],
  controls: [],
  poolActions: [],
  software: null,
  logInterval: null,
  workUtility: null,
};

/** What a rig that reads so looks like behind its driver. */
async function seen(reading: Partial<Reading>, more: Partial<Rig> = {}): Promise<{ rig: Rig; reading: Reading }> {
  const rig: Rig = {
    read: async () => ({ ...blank, ...reading }),
    set: async (key, value) => `${key} is ${value}`,
    pools: {},
    close: () => {},
    ...more,
  };
  const driver: Driver = {
    id: "test",
    name: "test",
    ports: [],
    evidence: { readings: "ran", controls: "ran" },
    recognise: () => undefined,
    connect: () => rig,
  };
  const connected = connect(driver, openLink({ host: "rig.example", port: 1, tls: false }, {}));
  return { rig: connected, reading: await connected.read(new AbortController().signal) };
}

const effect = { lasting: false, restartsMining: false, seconds: 1 };
const readings = (some: Partial<RigReadings>): { readings: RigReadings } => ({
  readings: { ...unknownReadings(), ...some },
});

describe("whether a rig mines is what its switch says", () => {
  test.each<[boolean | null, boolean | null, boolean | null]>([
    [true, false, true],
    [false, true, false],
    [false, null, false],
    [true, null, null],
    [null, true, true],
    [null, false, false],
  ])("switch %j, mining %j: %j", async (value, mining, shown) => {
    const controls = [toggle("mining", value, effect)];
    expect((await seen({ ...readings({ mining }), controls })).reading.readings.mining).toBe(shown);
  });

  test("and what it says itself where it has none", async () => {
    expect((await seen(readings({ mining: false }))).reading.readings.mining).toBe(false);
  });
});

describe("fans at 0 rpm", () => {
  const fan = range("fan", { unit: "%", min: 0, max: 100, step: 1, value: 0 }, effect);
  const still = readings({
    fans: [
      { rpm: 0, percent: 0 },
      { rpm: 0, percent: null },
    ],
  });
  const model = (name: string) => ({ identity: { ...unknownIdentity, model: name } });

  test("are none on a rig that is cooled by a liquid, whoever made its firmware, and none are to be set", async () => {
    const { reading } = await seen({ ...still, ...model("S19 Pro+ Hyd."), controls: [fan] });
    expect([reading.readings.fans, reading.controls]).toEqual([[], []]);
  });

  test("stand still on any other, and fans that turn are fans", async () => {
    const air = await seen({ ...still, ...model("S19 Pro"), controls: [fan] });
    expect([air.reading.readings.fans.length, air.reading.controls.length]).toEqual([2, 1]);
    const turning = readings({ fans: [{ rpm: 900, percent: null }] });
    expect((await seen({ ...turning, ...model("S21 Hyd."), controls: [fan] })).reading.controls).toEqual([fan]);
  });
});

test("a frequency of 0 is not known", async () => {
  const boards = [0, 5e8].map((frequency, slot) => ({ ...unknownBoard(slot), frequency }));
  const { reading } = await seen(readings({ boards }));
  expect(reading.readings.boards.map(({ frequency }) => frequency)).toEqual([null, 5e8]);
});

test("what a rig can do besides is passed on", async () => {
  const done: string[] = [];
  const { rig } = await seen({}, { quick: true, doubt: () => done.push("doubt"), close: () => done.push("close") });
  expect(await rig.set("locate", true, new AbortController().signal)).toBe("locate is true");
  rig.doubt?.();
  rig.close();
  expect({ quick: rig.quick, done }).toEqual({ quick: true, done: ["doubt", "close"] });
});
