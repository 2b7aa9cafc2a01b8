import { afterEach, describe, expect, test } from "@jest/globals";
import { facilityTable } from "../../src/cli/facility.ts";
import type { Reply } from "../../src/contract/service.ts";
import { familyText } from "../../src/metrics/exposition.ts";
import { facilityFamilies } from "../../src/metrics/facility-metrics.ts";
import {
  meterFaults,
  startFan,
  startModbusMeter,
  startPdu,
  type VirtualFan,
  type VirtualPdu,
} from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { problem } from "../errors.ts";
import { freeUdpPort } from "../free-port.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  await closeBenches();
  for (const close of closing.splice(0).reverse()) await close();
});

const sticks = { kind: "cgminer", hardware: "sticks", warm: true } as const;
/** A service whose turns and clocks a test holds. */
async function facilityBench(rigs = 1) {
  const clock = stoppedClock();
  const turns: (() => Promise<void>)[] = [];
  const bench = await openBench({
    rigs: Array.from({ length: rigs }, () => sticks),
    clock: clock.now,
    monotonicNow: clock.now,
    repeat: (work, ms) => {
      if (ms === 1_000) turns.push(work);
      return () => void turns.splice(turns.indexOf(work), 1);
    },
  });
  const turn = async (seconds = 10): Promise<void> => {
    clock.pass(seconds);
    for (const work of [...turns]) await work();
    await bench.idle();
  };
  const save = (value: object[]) => bench.service.saveSettings({ section: "facility", value }, caller);
  const shown = async (): Promise<Reply<"listFacility">> => bench.service.listFacility({}, caller);
  const names = Array.from({ length: rigs }, (_, index) => `rig ${index + 1}`);
  const ids: number[] = [];
  for (const [index, name] of names.entries()) ids.push(await bench.add(bench.rig(index).address, { name }));
  return { bench, clock, turn, save, shown, ids };
}

const v3 = { authPassword: "authenticated", privPassword: "encrypted-too" };

async function pduFor(bench: Bench): Promise<{ pdu: VirtualPdu; settings: object }> {
  const pdu = await startPdu({ rigs: bench.farm.rigs, host: ownHost(), port: await freeUdpPort(), v3 });
  closing.push(() => pdu.close());
  const login = { version: "3", username: "rigbridge", ...v3 };
  const outlets = [{ n: 1, miner: "rig 1", delay: 0 }];
  const settings = { key: "pdu", kind: "pdu", driver: "snmp", address: pdu.address, preset: "apc-rpdu", outlets };
  return { pdu, settings: { ...settings, ...login } };
}

describe("a rig at an outlet of a PDU", () => {
  test("cannot lose it to a miner that a user of another group names like it", async () => {
    const { bench, save, ids } = await facilityBench(2);
    const [first = 0, second = 0] = ids;
    const { pdu, settings } = await pduFor(bench);
    await save([settings]);
    const groupId = (await bench.service.addGroup({ name: "Hall", parentId: 0 }, caller)).id;
    const user = { id: 0, name: "anna", privilege: "administrator" as const, groups: [groupId] };
    const anna = { actor: "anna", userId: (await bench.service.saveUser(user, caller)).id };
    await bench.service.changeMiner({ id: second, group: groupId }, caller);
    const named = problem(bench.service.changeMiner({ id: second, name: "rig 1" }, anna));
    expect((await named).code).toBe("user.forbidden");
    const added = bench.service.addMiner({ address: "127.0.0.1:9", name: "rig 1", group: groupId }, anna);
    expect((await problem(added)).code).toBe("user.forbidden");
    await bench.service.changeMiner({ id: second, name: "rig 3" }, anna);
    // The name was there before the outlet.
    await bench.service.changeMiner({ id: second, name: "rig 1" }, caller);
    await save([]);
    await save([settings]);
    for (const id of [first, second]) {
      await bench.poll(id);
      expect((await problem(bench.act(id, { action: "stop" }))).code).toBe("control.absent");
    }
    expect(pdu.written).toEqual([]);
  });

  test("is stopped and started with it, as by any other plug", async () => {
    const { bench, save, shown, ids, turn } = await facilityBench();
    const { pdu, settings } = await pduFor(bench);
    await save([settings]);
    await turn();
    const [id = 0] = ids;
    await bench.poll(id);
    expect(await bench.act(id, { action: "stop" })).toMatchObject({ success: true, state: "done" });
    expect([pdu.outlets[0], bench.rig(0).powered]).toEqual([false, false]);
    await bench.poll(id);
    expect((await bench.get(id)).statusInfo.statusDisplay).toBe("Stopped");
    expect((await shown())[0]?.outlets).toEqual([{ n: 1, miner: "rig 1", on: false, power: null }]);
    expect(await bench.act(id, { action: "start" })).toMatchObject({ success: true, state: "done" });
    expect([pdu.outlets[0], pdu.written]).toEqual([true, [1, 1]]);
  });

  test("stays on, and the command has failed with the reason, if the PDU only says that it switches", async () => {
    const { bench, save, ids, turn } = await facilityBench();
    const { pdu, settings } = await pduFor(bench);
    await save([settings]);
    await turn();
    const [id = 0] = ids;
    await bench.poll(id);
    pdu.fault = "stuck";
    const { code, message } = await problem(bench.act(id, { action: "stop" }));
    expect([code, message]).toEqual(["rig.refused", "pdu accepted the command, but outlet 1 stayed on for 10 s"]);
    expect((await bench.commands(id))[0]).toMatchObject({ state: "failed", message });
    expect([pdu.written, bench.rig(0).powered]).toEqual([[1], true]);
  });

  test("has no plug any more once the outlet names no rig", async () => {
    const { bench, save, ids, turn } = await facilityBench();
    const { pdu, settings } = await pduFor(bench);
    await save([settings]);
    await turn();
    await save([{ ...settings, outlets: [{ n: 1 }] }]);
    const [id = 0] = ids;
    await bench.poll(id);
    expect((await problem(bench.act(id, { action: "stop" }))).code).toBe("control.absent");
    expect(pdu.written).toEqual([]);
  });
});

async function meterFor(bench: Bench, clock: () => number, more: object = {}) {
  const meter = await startModbusMeter({ rigs: bench.farm.rigs, host: ownHost(), clock });
  closing.push(() => meter.close());
  const settings = { key: "meter", kind: "meter", driver: "modbus", address: meter.address, preset: "sdm630" };
  return { meter, settings: { ...settings, name: "Main meter", miners: ["rig 1", "rig 2"], ...more } };
}

describe("a meter", () => {
  test("shows what it measures, how old that is, and what its rigs say", async () => {
    const { bench, save, shown, turn, clock } = await facilityBench(2);
    const { settings } = await meterFor(bench, clock.now, { place: ["Texas", "B1"] });
    await save([settings]);
    expect((await shown())[0]).toMatchObject({ state: "unread", age: null, readings: { power: null } });
    await turn();
    clock.pass(4);
    const [device] = await shown();
    expect(device).toMatchObject({
      name: "Main meter",
      place: ["Texas", "B1"],
      state: "ok",
      age: 4,
      readings: { energy: expect.closeTo(1000, 1), voltage: 230, temperature: null, on: null },
    });
    expect(device?.readings.power).toBeGreaterThan(0);
    expect(device?.rigs).toMatchObject({ total: 2 });
  });

  test.each([
    ["zero", "implausible", "all its registers are 0"],
    ["nan", "implausible", /^power is not a number \(NaN\); energy is not a number/],
    ["negative", "implausible", /^energy is negative: -1000/],
    [
      "swapped",
      "implausible",
      /^power is .* W, too little to be measured; energy .*; voltage .*; current is not a number/,
    ],
    ["silent", "silent", /did not answer in time$/],
  ] as const)("that is %s is %s, with the reason", async (fault, state, why) => {
    expect(meterFaults).toContain(fault);
    const { bench, save, shown, turn, clock } = await facilityBench();
    const { meter, settings } = await meterFor(bench, clock.now, { miners: ["rig 1"] });
    await save([settings]);
    await turn();
    meter.fault = fault;
    await turn();
    const [device] = await shown();
    expect(device?.state).toBe(state);
    if (typeof why === "string") expect(device?.problem).toBe(why);
    else expect(device?.problem).toMatch(why);
  });

  test("that shows 8 % more than its rigs for 15 minutes is one notice, which says how many rigs are unknown", async () => {
    const { bench, save, turn, clock } = await facilityBench(2);
    const { meter, settings } = await meterFor(bench, clock.now);
    await save([settings]);
    meter.base = 100_000;
    const notices = async () => (await bench.notifications()).filter((each) => each.startsWith("Main meter"));
    for (let minute = 0; minute < 15; minute += 1) await turn(60);
    expect(await notices()).toEqual([]);
    for (let minute = 0; minute < 3; minute += 1) await turn(60);
    expect(await notices()).toEqual([
      expect.stringMatching(
        /^Main meter: Main meter shows \d+ W, its 2 rigs say \d+ W together: the difference has been above 8 % for 15 minutes; the power of 2 of them is unknown and not counted$/,
      ),
    ]);
    const open = async () =>
      (await bench.service.listNotifications({}, caller)).notificationList.filter(
        ({ title, closedUtc }) => title === "Main meter" && closedUtc === null,
      );
    expect((await open()).map(({ count }) => count)).toEqual([1]);
    await bench.service.saveSettings({ section: "facility", value: [{ ...settings, miners: [] }] }, caller);
    await turn();
    expect(await open()).toHaveLength(0);
  });
});

async function fanFor(more: object = {}, isOn = false): Promise<{ fan: VirtualFan; settings: object }> {
  const fan = await startFan(ownHost(), isOn);
  closing.push(() => fan.close());
  const registers = [{ reading: "on", table: "discrete", address: 1 }];
  const settings = { key: "fan", name: "East fan", kind: "fan", driver: "modbus", address: fan.address, registers };
  return { fan, settings: { ...settings, run: { address: 1 }, miners: ["rig 1"], startDelay: 0, ...more } };
}

describe("a fan", () => {
  test("starts before its rig, and the rig does not start without it", async () => {
    const { bench, save, ids, turn } = await facilityBench();
    const { settings: pdu } = await pduFor(bench);
    const { fan, settings } = await fanFor({}, true);
    await save([pdu, settings]);
    await turn();
    const [id = 0] = ids;
    await bench.poll(id);
    await bench.act(id, { action: "stop" });
    fan.isStuck = true;
    Object.assign(fan, { on: false });
    const { code, message } = await problem(bench.act(id, { action: "start" }));
    expect([code, message]).toEqual([
      "not.possible",
      "The fan East fan does not run, so the rig was not started: fan accepted the command, but it stayed off for 10 s",
    ]);
    expect(bench.rig(0).powered).toBe(false);
    fan.isStuck = false;
    expect(await bench.act(id, { action: "start" })).toMatchObject({ state: "done" });
    expect([fan.on, bench.rig(0).powered]).toEqual([true, true]);
  });

  test("stops its delay after the last rig has stopped, and starts for a rig that starts by itself", async () => {
    const { bench, save, ids, turn } = await facilityBench();
    const { settings: pdu } = await pduFor(bench);
    const { fan, settings } = await fanFor({ offDelay: 120 }, true);
    await save([pdu, settings]);
    await turn();
    const [id = 0] = ids;
    await bench.poll(id);
    await bench.act(id, { action: "stop" });
    await bench.poll(id);
    await turn(60);
    await turn(100);
    expect(fan.on).toBe(true);
    await turn(60);
    expect(fan.on).toBe(false);
  });

  /** A rig that is off at its outlet, and whose fan takes what is written without starting. */
  async function coldRig(more: object = {}) {
    const facility = await facilityBench();
    const { bench, save, ids, turn } = facility;
    const { pdu, settings: outlets } = await pduFor(bench);
    const { fan, settings } = await fanFor(more, true);
    await save([outlets, settings]);
    await turn();
    const [id = 0] = ids;
    await bench.poll(id);
    await bench.act(id, { action: "stop" });
    Object.assign(fan, { on: false, isStuck: true });
    return { ...facility, id, pdu, fan };
  }

  test("does not keep a stop waiting while it starts, and the stop replaces the start", async () => {
    const { bench, id, pdu, fan } = await coldRig();
    const written = pdu.written.length;
    const started = problem(bench.act(id, { action: "start" }));
    await until(() => fan.written > 0, "the fan to be started");
    expect((await bench.commands(id))[0]).toMatchObject({ action: "start", state: "queued" });
    expect((await problem(bench.act(id, { action: "stop" }))).message).toBe("The rig is stopped already");
    expect(fan.on).toBe(false);
    expect((await started).message).toBe("Not sent: a later command for this rig replaced the start while it waited");
    Object.assign(fan, { on: true });
    await bench.idle();
    expect([pdu.written.length, bench.rig(0).powered]).toEqual([written, false]);
  });

  test("has its time to start before the rig, which can be cancelled meanwhile", async () => {
    const { bench, id, pdu, fan } = await coldRig({ startDelay: 30 });
    const written = pdu.written.length;
    fan.isStuck = false;
    const started = problem(bench.act(id, { action: "start" }));
    await until(() => fan.on, "the fan to run");
    const [command] = await bench.commands(id);
    expect(command?.state).toBe("queued");
    await bench.service.cancelCommand({ id: command?.id ?? 0 }, caller);
    expect((await started).message).toBe("Cancelled before it was sent");
    expect([pdu.written.length, bench.rig(0).powered]).toEqual([written, false]);
  });

  test("starts before a step that switches the plug of its rig on", async () => {
    const { bench, id, pdu, fan } = await coldRig();
    const written = pdu.written.length;
    const { id: rule_id } = await bench.service.addRule({ key: "on", do: [{ plug: "on" }], manual: true }, caller);
    const ran = bench.act(id, { action: "rule", rule_id });
    await until(() => fan.written > 0, "the fan to be started");
    expect([pdu.written.length, bench.rig(0).powered]).toEqual([written, false]);
    Object.assign(fan, { on: true });
    await ran;
    await bench.idle();
    expect(bench.rig(0).powered).toBe(true);
  });

  test("stays on for five minutes after a start, though its rig is unknown in between", async () => {
    const { bench, id, fan, turn } = await coldRig({ offDelay: 0 });
    fan.isStuck = false;
    await bench.act(id, { action: "start" });
    bench.rig(0).fault = "silent";
    await bench.poll(id);
    await turn();
    bench.rig(0).fault = null;
    await bench.poll(id);
    await bench.act(id, { action: "stop" });
    await bench.poll(id);
    await turn(200);
    await turn();
    expect(fan.on).toBe(true);
    await turn(100);
    expect(fan.on).toBe(false);
  });

  test("starts for a rig that runs without it", async () => {
    const { bench, save, ids, turn } = await facilityBench();
    const { fan, settings } = await fanFor();
    await save([settings]);
    await bench.poll(ids[0] ?? 0);
    await turn();
    expect(fan.on).toBe(false);
    await turn();
    expect(fan.on).toBe(true);
    await turn();
    expect(fan.written).toBe(1);
  });

  test("that does not start is written to once a minute", async () => {
    const { bench, save, ids, turn, clock } = await facilityBench();
    const { fan, settings } = await fanFor();
    fan.isSilent = true;
    await save([settings]);
    await turn();
    fan.isSilent = false;
    fan.isStuck = true;
    await bench.poll(ids[0] ?? 0);
    await turn();
    await turn(1);
    expect(fan.written).toBe(1);
    await turn(30);
    expect(fan.written).toBe(1);
    clock.pass(60);
    await turn();
    expect(fan.written).toBe(2);
  });

  test("stays on while nothing is known of one of its rigs", async () => {
    const { bench, save, turn, ids } = await facilityBench();
    const { fan, settings } = await fanFor({ offDelay: 0 }, true);
    await save([settings]);
    bench.rig(0).powerOff();
    for (let read = 0; read < 4; read += 1) await bench.poll(ids[0] ?? 0);
    await turn(600);
    await turn(600);
    expect([fan.on, fan.written]).toEqual([true, 0]);
  });
});

test("devices are shown to users who see all of their rigs", async () => {
  const { bench, save, clock, ids } = await facilityBench(2);
  const { settings } = await meterFor(bench, clock.now, { miners: ["rig 1"] });
  const { settings: fan } = await fanFor({ miners: undefined });
  await save([settings, fan]);
  const groupId = (await bench.service.addGroup({ name: "Hall", parentId: 0 }, caller)).id;
  const { id: userId } = await bench.service.saveUser(
    { id: 0, name: "visitor", privilege: "view", groups: [groupId] },
    caller,
  );
  const seen = async () => (await bench.service.listFacility({}, { actor: "visitor", userId })).map(({ key }) => key);
  expect(await seen()).toEqual([]);
  await bench.service.changeMiner({ id: ids[0] ?? 0, group: groupId }, caller);
  expect(await seen()).toEqual(["meter"]);
  const { settings: pdu } = await pduFor(bench);
  await save([settings, pdu]);
  expect(await seen()).toEqual(["meter", "pdu"]);
  await bench.service.changeMiner({ id: ids[1] ?? 0, group: groupId }, caller);
  const two = { n: 2, miner: "rig 2", delay: 0 };
  await save([settings, { ...pdu, outlets: [...Object(pdu).outlets, two] }]);
  expect(await seen()).toEqual(["meter", "pdu"]);
  await bench.service.deleteMiner({ id: ids[1] ?? 0 }, caller);
  expect(await seen()).toEqual(["meter"]);
});

test("devices are metrics, and lines of the command line", async () => {
  const { bench, save, clock, turn } = await facilityBench();
  expect(await facilityFamilies(bench.service, caller)).toEqual([]);
  const { settings } = await meterFor(bench, clock.now, { miners: ["rig 1"] });
  const { settings: pdu } = await pduFor(bench);
  await save([settings, pdu]);
  await turn();
  const text = (await facilityFamilies(bench.service, caller)).map(familyText).join("");
  expect(text).toContain('rigbridge_facility_up{device="meter",name="Main meter",kind="meter"} 1\n');
  expect(text).toContain('rigbridge_facility_voltage_volts{device="meter",name="Main meter",kind="meter"} 230\n');
  expect(text).toContain('rigbridge_facility_outlet_on{device="pdu",name="pdu",kind="pdu",outlet="1"} 1\n');
  expect(text).not.toContain("rigbridge_facility_temperature_celsius{");
  const lines = facilityTable(await bench.service.listFacility({}, caller), false);
  expect(lines[1]).toMatch(/^Main meter +meter +ok +0 s +\d+ W, 1000\.\d kWh, 230 V, \d+\.\d A$/);
  expect(lines[2]).toMatch(/^pdu +pdu +ok +0 s +\d+ W, \d+\.\d A, 1 of 1 outlets on$/);
});
