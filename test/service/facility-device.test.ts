import { afterEach, expect, test } from "@jest/globals";
import { FacilityDevice } from "../../src/contract/facility-settings.ts";
import { noMessages } from "../../src/contract/messages.ts";
import { openDevice } from "../../src/link/facility/open-device.ts";
import { Device } from "../../src/service/facility/device.ts";
import { startFarm, startPdu } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { problem, refusal } from "../errors.ts";
import { freeUdpPort } from "../free-port.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const never = new AbortController().signal;
const outletNumbers = [1, 2, 3];

/** A PDU with three rigs, read and switched by a device whose clock a test holds. */
async function pduDevice() {
  const clock = stoppedClock();
  const host = ownHost();
  const rig = { host, kind: "cgminer", hardware: "sticks", warm: true } as const;
  const farm = await startFarm({ rigs: outletNumbers.map(() => rig), clock: clock.now });
  closing.push(() => farm.close());
  const v2c = { read: "look", write: "switch" };
  const pdu = await startPdu({ rigs: farm.rigs, host, port: await freeUdpPort(), v2c });
  closing.push(() => pdu.close());
  const login = { version: "2c", community: v2c.read, writeCommunity: v2c.write };
  const outlets = outletNumbers.map((n) => ({ n, miner: `rig ${n}` }));
  const of = { key: "pdu", kind: "pdu", driver: "snmp", preset: "apc-rpdu", address: pdu.address, outlets };
  const settings = FacilityDevice.parse({ ...of, ...login });
  const link = openDevice(settings, { messages: noMessages, now: Date.now });
  const device = new Device(settings, link, 0, { now: clock.now, monotonicNow: clock.now });
  closing.push(() => device.close());
  return { device, pdu, clock };
}

test("the outlets of a PDU that reports late are all switched at once", async () => {
  const { device, pdu } = await pduDevice();
  pdu.fault = "slow";
  const stops = Promise.all(outletNumbers.map((n) => device.outlet(n).switch(false, never)));
  await until(() => pdu.written.length === outletNumbers.length, "all outlets to be written to");
  expect(pdu.outlets).toEqual([true, true, true]);
  pdu.fault = null;
  await stops;
  expect([pdu.outlets, pdu.written]).toEqual([[false, false, false], outletNumbers]);
});

test("a command whose time ran out while the PDU was busy is not sent, and says so", async () => {
  const { device, pdu } = await pduDevice();
  pdu.fault = "silent";
  const first = new AbortController();
  const second = new AbortController();
  const firstStop = refusal(device.outlet(1).switch(false, first.signal));
  const secondStop = problem(device.outlet(2).switch(false, second.signal));
  second.abort();
  first.abort();
  pdu.fault = null;
  expect(await firstStop).toBe("rig.timeout");
  expect(await secondStop).toMatchObject({
    code: "rig.unreachable",
    message: "pdu was busy for too long, so the command was not sent",
  });
  await device.poll();
  expect(pdu.written).not.toContain(2);
});

test("callers that wait for a PDU share a read that begins after their calls", async () => {
  const { device } = await pduDevice();
  const reads = [device.poll(), device.poll(), device.poll()];
  expect(new Set(reads).size).toBe(2);
  await Promise.all(reads);
  expect(device.state.outlets).toHaveLength(3);
});

test("an outlet keeps its state when a read is missed, and is read again for its rig after 5 s", async () => {
  const { device, pdu, clock } = await pduDevice();
  const outlet = device.outlet(1);
  await device.poll();
  pdu.fault = "silent";
  await device.poll();
  expect(device.state.trouble?.code).toBe("rig.timeout");
  expect(await outlet.read(never)).toMatchObject({ on: true });
  pdu.fault = null;
  clock.pass(5);
  expect(await outlet.read(never)).toMatchObject({ on: true });
  expect(device.state.trouble).toBeNull();
});
