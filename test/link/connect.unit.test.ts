import { describe, expect, test } from "@jest/globals";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { type RigReadings, unknownBoard, unknownReadings } from "../../src/contract/readings.ts";
import { connect } from "../../src/link/connect.ts";
import { range, toggle, trigger } from "../../src/link/controls.ts";
import type { Driver, Reading, Rig } from "../../src/link/driver.ts";
import { unknownIdentity } from "../../src/link/identity.ts";
import { openLink } from "../../src/link/link.ts";
import { refusal } from "../../src/link/transports/http.ts";

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

describe("a rig mines when its switch is on", () => {
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

  test("and by its own report where it has none", async () => {
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

  test("are none on a liquid-cooled rig, with any firmware, and have no control", async () => {
    const unknown = readings({ fans: [{ rpm: null, percent: null }] });
    for (const fans of [still, unknown]) {
      const { reading } = await seen({ ...fans, ...model("S19 Pro+ Hyd."), controls: [fan] });
      expect([reading.readings.fans, reading.controls]).toEqual([[], []]);
    }
  });

  test("stand still on any other, and turning fans are fans", async () => {
    const air = await seen({ ...still, ...model("S19 Pro"), controls: [fan] });
    expect([air.reading.readings.fans.length, air.reading.controls.length]).toEqual([2, 1]);
    for (const rpm of [1, 900]) {
      const turning = readings({ fans: [{ rpm, percent: null }] });
      expect((await seen({ ...turning, ...model("S21 Hyd."), controls: [fan] })).reading.controls).toEqual([fan]);
    }
  });
});

test("a frequency of 0 is not known", async () => {
  const boards = [0, 5e8].map((frequency, slot) => ({ ...unknownBoard(slot), frequency }));
  const { reading } = await seen(readings({ boards }));
  expect(reading.readings.boards.map(({ frequency }) => frequency)).toEqual([null, 5e8]);
});

test("optional abilities of a rig are passed on", async () => {
  const done: string[] = [];
  const { rig } = await seen({}, { quick: true, doubt: () => done.push("doubt"), close: () => done.push("close") });
  expect(await rig.set("locate", true, new AbortController().signal)).toBe("locate is true");
  rig.doubt?.();
  rig.close();
  expect({ quick: rig.quick, done }).toEqual({ quick: true, done: ["doubt", "close"] });
});

describe("what a firmware answers with 404", () => {
  const call = { method: "POST", path: "/api/pause" } as const;
  const absent = () => refusal("rig.example", call, { status: 404, headers: {}, body: "Not Found", notes: [] });
  const controls = [toggle("mining", true, effect), trigger("reboot", effect)];
  const signal = new AbortController().signal;
  const login = { url: "stratum+tcp://pool.example:3333", worker: "w", password: "x" };

  async function refusing(firmware: string, refused = absent) {
    let now = { firmware, uptime: 100 };
    const { rig } = await seen(
      {},
      {
        read: async () => ({
          ...blank,
          ...readings({ uptime: now.uptime }),
          identity: { ...unknownIdentity, firmware: now.firmware },
          controls,
          poolActions: ["add", "use"],
        }),
        set: async (key) => (key === "mining" ? Promise.reject(refused()) : "done"),
        pools: { add: async () => Promise.reject(refused()), use: async () => "done" },
      },
    );
    const offered = async () => {
      const reading = await rig.read(signal);
      return [...reading.controls.map(({ key }) => key), ...reading.poolActions];
    };
    return { rig, offered, becomes: (next: typeof now) => (now = next) };
  }

  test("is no longer offered until the rig restarts or has other firmware", async () => {
    const { rig, offered, becomes } = await refusing("1.0");
    expect(await offered()).toEqual(["mining", "reboot", "add", "use"]);
    await expect(rig.set("mining", false, signal)).rejects.toThrow(/404/);
    expect(await offered()).toEqual(["reboot", "add", "use"]);
    await expect(rig.pools.add?.(login, signal)).rejects.toThrow(/404/);
    expect(await rig.pools.use?.(login, signal)).toBe("done");
    expect(rig.pools.remove).toBeUndefined();
    expect(await offered()).toEqual(["reboot", "use"]);
    becomes({ firmware: "1.0", uptime: 20 });
    expect(await offered()).toEqual(["mining", "reboot", "add", "use"]);
    await expect(rig.set("mining", false, signal)).rejects.toThrow(/404/);
    becomes({ firmware: "1.1", uptime: 30 });
    expect(await offered()).toEqual(["mining", "reboot", "add", "use"]);
  });

  test("is the only refusal that takes a control away", async () => {
    const refused = () => refusal("rig.example", call, { status: 500, headers: {}, body: "", notes: [] });
    const { rig, offered } = await refusing("1.0", refused);
    await expect(rig.set("mining", false, signal)).rejects.toThrow(/500/);
    expect(await offered()).toEqual(["mining", "reboot", "add", "use"]);
  });
});

describe("a login that a command was refused for", () => {
  test("is noted with every read until a command succeeds", async () => {
    let isRight = false;
    const set = async () => (isRight ? "done" : Promise.reject(new RigbridgeError("rig.login", "the wrong password")));
    const { rig } = await seen({}, { set });
    const signal = new AbortController().signal;
    const said = async () => {
      const { locked, readings: read } = await rig.read(signal);
      return [locked?.why, read.notes];
    };
    expect(await said()).toEqual([undefined, []]);
    await expect(rig.set("reboot", true, signal)).rejects.toThrow(/wrong/);
    expect(await said()).toEqual(["login missing", ["the wrong password"]]);
    isRight = true;
    await rig.set("reboot", true, signal);
    expect(await said()).toEqual([undefined, []]);
  });
});

describe("what seldom changes is the same object", () => {
  const identity = { ...unknownIdentity, make: "Maker", model: "Model", serial: "1" };
  const offered = (value: number) => [
    range("fan", { unit: "%", min: 0, max: 100, step: 1, value }, effect),
    trigger("restart", effect),
  ];
  const reading = (value = 50) => ({
    identity: { ...identity },
    controls: offered(value),
    poolActions: ["add" as const],
  });

  test("from read to read of one rig, until it changes", async () => {
    let now: Partial<Reading> = reading();
    const { rig, reading: first } = await seen({}, { read: async () => ({ ...blank, ...now }) });
    const read = () => rig.read(new AbortController().signal);
    now = reading();
    const second = await read();
    expect(second.identity).toBe(first.identity);
    expect(second.controls).toBe(first.controls);
    expect(second.poolActions).toBe(first.poolActions);
    now = { ...reading(60), identity: { ...identity, serial: "2" }, poolActions: [] };
    const third = await read();
    expect(third).toMatchObject({ ...now, controls: offered(60) });
    expect(third.controls[1]).toBe(first.controls[1]);
    now = { ...now, controls: offered(60).slice(0, 1) };
    expect((await read()).controls).toEqual(offered(60).slice(0, 1));
  });

  test("in all rigs of a kind, each with its own serial", async () => {
    const { reading: one } = await seen(reading());
    const { reading: other } = await seen({ ...reading(), identity: { ...identity, serial: "2" } });
    expect(other.identity).toEqual({ ...identity, serial: "2" });
    expect(other.controls).toEqual(one.controls);
    for (const [index, control] of other.controls.entries()) expect(control).toBe(one.controls[index]);
    expect(other.poolActions).toBe(one.poolActions);
  });

  test("however many different ones there are", async () => {
    for (let value = 0; value < 5_000; value += 1)
      expect((await seen(reading(value))).reading.controls[0]?.value).toBe(value);
  });
});
