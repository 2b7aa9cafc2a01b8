import { afterEach, describe, expect, test } from "@jest/globals";
import { momentNow, SendDeadline, sendingBefore } from "../../../src/async/send-deadline.ts";
import { FacilityDevice } from "../../../src/contract/facility-settings.ts";
import { noMessages } from "../../../src/contract/messages.ts";
import type { FacilityLink, RawReading } from "../../../src/link/facility/facility-link.ts";
import { openDevice } from "../../../src/link/facility/open-device.ts";
import {
  type Farm,
  meterFaults,
  startFan,
  startFarm,
  startModbusMeter,
  startPdu,
  startSensor,
  startShellyEm,
} from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { problem, refusal } from "../../errors.ts";
import { freeUdpPort } from "../../free-port.ts";
import { ownHost } from "../../own-host.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const soon = (ms = 30_000): AbortSignal => AbortSignal.timeout(ms);

async function farm(rigs = 2): Promise<Farm> {
  const host = ownHost();
  const rig = { host, kind: "cgminer", hardware: "sticks", warm: true } as const;
  const running = await startFarm({ rigs: Array.from({ length: rigs }, () => rig), clock: stoppedClock().now });
  closing.push(() => running.close());
  return running;
}

function opened(settings: object): FacilityLink {
  const device = openDevice(FacilityDevice.parse({ key: "one", kind: "meter", ...settings }), {
    messages: noMessages,
    now: Date.now,
  });
  closing.push(() => device.close());
  return device;
}

const numbers = ({ values }: RawReading) =>
  Object.fromEntries([...values].map(([quantity, each]) => [quantity, "value" in each ? each.value : each.problem]));

async function modbusMeter(rigs = 2) {
  const { rigs: behind } = await farm(rigs);
  const meter = await startModbusMeter({ rigs: behind, host: ownHost(), clock: stoppedClock().now });
  closing.push(() => meter.close());
  return { meter, device: opened({ driver: "modbus", address: meter.address, preset: "sdm630" }), behind };
}

describe("a meter over Modbus TCP", () => {
  test("reads what its rigs draw", async () => {
    const { device, behind } = await modbusMeter();
    const watts = behind.reduce((sum, { model }) => sum + model.power, 0);
    const read = numbers(await device.read(soon()));
    expect(read.power).toBeCloseTo(watts, 0);
    expect(read).toMatchObject({ energy: 1000, voltage: 230, current: expect.closeTo(watts / 230, 1) });
  });

  test("has no number where a register says NaN", async () => {
    const { device, meter } = await modbusMeter();
    meter.fault = "nan";
    expect(numbers(await device.read(soon())).power).toBe("is not a number (NaN)");
  });

  test("does not answer in time when it is silent, and is asked once", async () => {
    const { device, meter } = await modbusMeter();
    meter.fault = "silent";
    expect((await problem(device.read(soon(300)))).code).toBe("rig.timeout");
    expect(meter.requests).toBe(1);
  });

  test("still has its other readings if it refuses a register", async () => {
    const { meter } = await modbusMeter();
    const registers = [
      { reading: "power", table: "input", address: 0x34 },
      { reading: "temperature", table: "holding", address: 7 },
    ];
    const device = opened({ driver: "modbus", address: meter.address, registers });
    const { power, temperature } = numbers(await device.read(soon()));
    expect(power).toBeGreaterThan(0);
    expect(temperature).toMatch(/^was refused: .* refused holding 7: illegal data address$/);
  });

  test("cannot be reached where nothing listens", async () => {
    const { meter, device } = await modbusMeter();
    await meter.close();
    closing.pop();
    expect((await problem(device.read(soon()))).code).toBe("rig.unreachable");
  });
});

describe("a Shelly meter", () => {
  test.each(meterFaults)("reads what its rigs draw, and something else when it is %s", async (fault) => {
    const { rigs } = await farm();
    const meter = await startShellyEm({ rigs, host: ownHost(), clock: stoppedClock().now });
    closing.push(() => meter.close());
    const device = opened({ driver: "shelly", address: meter.address });
    const before = numbers(await device.read(soon()));
    expect(before).toMatchObject({ energy: 1000, voltage: 230, temperature: 41.2 });
    meter.fault = fault;
    if (fault === "silent") return expect(await refusal(device.read(soon(300)))).toBe("rig.timeout");
    const after = numbers(await device.read(soon()));
    const changed = { zero: { power: 0, voltage: 0 }, negative: { energy: -1000 }, nan: {} }[fault as string];
    expect(after).toMatchObject(changed ?? before);
    if (fault === "nan") expect(after.power).toBeUndefined();
  });
});

test("a sensor reads a number in JSON", async () => {
  const sensor = await startSensor(ownHost());
  closing.push(() => sensor.close());
  const paths = { temperature: "sensors.0.temperature" };
  const device = opened({ kind: "sensor", driver: "http-json", url: sensor.url, paths });
  expect(numbers(await device.read(soon()))).toEqual({ temperature: 24.5 });
  sensor.temperature = null;
  expect(numbers(await device.read(soon()))).toEqual({ temperature: "has no number at sensors.0.temperature" });
});

test("a fan is switched by a coil, and says whether it runs", async () => {
  const fan = await startFan(ownHost());
  closing.push(() => fan.close());
  const settings = { kind: "fan", driver: "modbus", address: fan.address, run: { address: 1 } };
  const device = opened({ ...settings, registers: [{ reading: "on", table: "discrete", address: 1 }] });
  expect((await device.read(soon())).on).toBe(false);
  await device.run?.(true, soon());
  expect([(await device.read(soon())).on, fan.written]).toEqual([true, 1]);
});

describe("a fan behind a gateway", () => {
  const fanBehindGateway = async (exception: number) => {
    const fan = await startFan(ownHost());
    closing.push(() => fan.close());
    fan.exception = exception;
    const registers = [
      { reading: "on", table: "discrete", address: 1 },
      { reading: "power", table: "input", address: 7 },
    ];
    const settings = { kind: "fan", driver: "modbus", address: fan.address, run: { address: 1 } };
    return {
      fan,
      device: opened({ ...settings, registers }),
      meter: opened({ ...settings, registers: [registers[1]] }),
    };
  };

  test.each([
    [2, "rig.refused"],
    [4, "rig.garbled"],
    [6, "rig.unreachable"],
    [10, "rig.unreachable"],
    [11, "rig.timeout"],
  ] as const)("that answers exception %d is not switched: %s", async (exception, code) => {
    const { device } = await fanBehindGateway(exception);
    expect(await refusal(device.run?.(true, soon()) ?? Promise.resolve())).toBe(code);
  });

  test.each([
    [6, "rig.unreachable"],
    [10, "rig.unreachable"],
    [11, "rig.timeout"],
  ] as const)("cannot be read at all when it answers exception %d: %s", async (exception, code) => {
    const { meter } = await fanBehindGateway(exception);
    expect(await refusal(meter.read(soon()))).toBe(code);
  });

  test("has accepted a write that it acknowledges, and then says that it runs", async () => {
    const { device, fan } = await fanBehindGateway(5);
    await device.run?.(true, soon());
    fan.exception = null;
    expect([(await device.read(soon())).on, fan.written]).toEqual([true, 1]);
  });
});

const v3 = { authPassword: "authenticated", privPassword: "encrypted-too" };
const v2c = { read: "look", write: "switch" };
const logins = {
  v3: { version: "3", username: "rigbridge", ...v3 },
  v2c: { version: "2c", community: v2c.read, writeCommunity: v2c.write },
} as const;

async function pdu(login: object, outlets: object[] = [{ n: 1, miner: "first" }, { n: 2 }]) {
  const { rigs } = await farm();
  const virtual = await startPdu({ rigs, host: ownHost(), port: await freeUdpPort(), v3, v2c });
  closing.push(() => virtual.close());
  const settings = { kind: "pdu", driver: "snmp", address: virtual.address, preset: "apc-rpdu", outlets, ...login };
  return { virtual, device: opened(settings), rigs };
}

describe.each(["v3", "v2c"] as const)("a PDU over SNMP %s", (version) => {
  test("reads its power and its outlets, and switches a rig off and on", async () => {
    const { device, virtual, rigs } = await pdu(logins[version]);
    const read = await device.read(soon());
    expect(numbers(read).power).toBeCloseTo(
      rigs.reduce((sum, { model }) => sum + model.power, 0),
      -1,
    );
    expect(read.outlets).toEqual([
      { n: 1, on: true, power: null },
      { n: 2, on: true, power: null },
    ]);
    await device.switchOutlet?.(1, false, soon());
    expect((await device.read(soon())).outlets[0]).toMatchObject({ n: 1, on: false });
    expect([rigs[0]?.powered, rigs[1]?.powered, virtual.written]).toEqual([false, true, [1]]);
    await device.switchOutlet?.(1, true, soon());
    expect([virtual.outlets[0], virtual.written]).toEqual([true, [1, 1]]);
  });

  test("that is silent does not answer in time, and is read again later", async () => {
    const { device, virtual } = await pdu(logins[version]);
    await device.read(soon());
    virtual.fault = "silent";
    expect(await refusal(device.read(soon(300)))).toBe("rig.timeout");
    virtual.fault = null;
    expect((await device.read(soon())).outlets).toHaveLength(2);
  });
});

describe("a PDU over SNMP", () => {
  test("is not written to at an outlet that names no rig", async () => {
    const { device, virtual } = await pdu(logins.v3);
    const { code, message } = await problem(device.switchOutlet?.(2, false, soon()) ?? Promise.resolve());
    expect([code, message]).toEqual(["rig.refused", "outlet 2 of one names no rig, so it is not switched"]);
    expect(virtual.written).toEqual([]);
  });

  test("is only read over v2c without a community for switching", async () => {
    const { device, virtual } = await pdu({ version: "2c", community: v2c.read });
    expect(await refusal(device.switchOutlet?.(1, false, soon()) ?? Promise.resolve())).toBe("rig.read-only");
    expect(virtual.written).toEqual([]);
  });

  test("is not written to after the deadline of the work", async () => {
    const { device, virtual } = await pdu(logins.v2c);
    const deadline = new SendDeadline();
    deadline.moveTo(momentNow(), 0);
    const late = sendingBefore(deadline, () => device.switchOutlet?.(1, false, soon()) ?? Promise.resolve());
    expect(await refusal(late)).toBe("service.no.active");
    expect(virtual.written).toEqual([]);
  });

  test("rejects an unknown user of v3", async () => {
    const { device } = await pdu({ ...logins.v3, username: "somebody" });
    expect(await refusal(device.read(soon()))).toBe("rig.login");
  });
});
