import { afterEach, expect, test } from "@jest/globals";
import { startPdu, startPlug } from "../../../src/simulator/index.ts";
import { freeUdpPort } from "../../free-port.ts";
import { ownHost } from "../../own-host.ts";
import { caller, closeBenches } from "../bench.ts";
import { curtailmentBench } from "./curtailment-bench.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  await closeBenches();
  for (const close of closing.splice(0).reverse()) await close();
});

/** Its API takes no commands. */
const readOnly = { kind: "cgminer", hardware: "sticks", privileged: false, warm: true } as const;
const wanted = { target: { all: true }, level: "off" } as const;

/** Rigs at the outlets of a PDU, of which the settings name only some. */
async function pduBench(outlets: readonly object[]) {
  const bench = await curtailmentBench([readOnly, readOnly]);
  const { service } = bench;
  const pdu = await startPdu({
    rigs: bench.bench.farm.rigs,
    host: ownHost(),
    port: await freeUdpPort(),
    v2c: { read: "public", write: "private" },
  });
  closing.push(() => pdu.close());
  const device = { key: "pdu", kind: "pdu", driver: "snmp", address: pdu.address, preset: "apc-rpdu" };
  const login = { version: "2c", community: "public", writeCommunity: "private" };
  await service.saveSettings({ section: "facility", value: [{ ...device, ...login, outlets }] }, caller);
  await bench.turn(10);
  return { ...bench, pdu };
}

test("a rig that takes no commands is cut by its outlet, counts once the PDU shows it, and gets its power back", async () => {
  const { service, start, get, report, settles, turn, pdu, ids, mining } = await pduBench([
    { n: 1, miner: "rig 1", delay: 0 },
    { n: 2, miner: "rig 2", delay: 0, cutPower: false },
  ]);
  expect(await service.previewCurtailment(wanted, caller)).toMatchObject({
    stopped: 1,
    leftOut: [{ code: "control.absent", message: expect.stringContaining("cutPower"), miners: 1 }],
  });
  pdu.fault = "slow";
  const { id } = await start(wanted);
  expect((await get(id)).rigs).toMatchObject({ sent: 1, reached: 0 });
  pdu.fault = null;
  await settles(async () => (await get(id)).rigs.reached === 1, "the outlet");
  expect(pdu.outlets).toEqual([false, true]);
  expect(await mining()).toEqual([false, true]);
  expect((await report(id)).rigs).toMatchObject([{ minerId: ids[0], state: "reached", wanted: 0 }]);
  await turn(60);
  await service.endCurtailment({ id }, caller);
  await settles(async () => (await get(id)).state === "ended", "the end");
  expect((await get(id)).rigs).toMatchObject({ restored: 1 });
  expect(pdu.outlets).toEqual([true, true]);
  await settles(async () => !(await mining()).includes(false), "the rig to mine");
}, 60_000);

test("a smart plug cuts a rig that has no control, and gives it back its power", async () => {
  const bench = await curtailmentBench([readOnly]);
  const { service, ids, start, get, settles } = bench;
  const plug = await startPlug({ kind: "shelly2", rig: bench.bench.rig(0) });
  closing.push(() => plug.close());
  const supply = { type: "shelly", address: plug.address, channel: 0, cutPower: true, delay: 0 } as const;
  await service.changeMiner({ id: ids[0] ?? 0, supply }, caller);
  await bench.turn(10);
  const { id } = await start(wanted);
  await settles(async () => (await get(id)).rigs.reached === 1, "the plug");
  expect([plug.on, (await get(id)).power.now]).toEqual([false, 0]);
  await service.endCurtailment({ id }, caller);
  await settles(async () => (await get(id)).state === "ended", "the end");
  expect([plug.on, (await get(id)).rigs.restored]).toEqual([true, 1]);
}, 60_000);
