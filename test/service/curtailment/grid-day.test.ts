import { afterEach, expect, test } from "@jest/globals";
import { CurtailmentPlanBody } from "../../../src/contract/curtailment.ts";
import { powerOf } from "../../../src/simulator/facility/meter-model.ts";
import { startModbusMeter, startVtn } from "../../../src/simulator/index.ts";
import { ownHost } from "../../own-host.ts";
import { caller, closeBenches } from "../bench.ts";
import { curtailmentBench, whatsminer } from "./curtailment-bench.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  await closeBenches();
  for (const close of closing.splice(0).reverse()) await close();
});

const hourMs = 3_600_000;
const units = [{ objectType: "EVENT_PAYLOAD_DESCRIPTOR", payloadType: "DISPATCH_SETPOINT", units: "KW" }];

/** Four rigs at a site with a meter that is read every two seconds, and what that meter has counted at each moment. */
async function meteredSite(config: Record<string, unknown> = {}, device: Record<string, unknown> = {}) {
  const rigs = Array.from({ length: 4 }, () => whatsminer);
  const bench = await curtailmentBench(rigs, config);
  const { service, clock, ids, now, report, turn } = bench;
  const meter = await startModbusMeter({ rigs: bench.bench.farm.rigs, host: ownHost(), clock: now });
  closing.push(() => meter.close());
  const main = { key: "main", kind: "meter", driver: "modbus", address: meter.address, preset: "sdm630", interval: 2 };
  await service.saveSettings({ section: "facility", value: [{ ...main, ...device }] }, caller);
  const site = { kind: "site", name: "Texas", parentId: null, order: 0, meter: "main" } as const;
  const { id: placeId } = await service.addPlace(site, caller);
  for (const id of ids) await service.changeMiner({ id, placeId }, caller);
  /** Epoch ms: W of now, and kWh. */
  const counted = new Map<number, { readonly power: number; readonly energy: number }>();
  /** Some seconds later; the meter counts them before the rigs are commanded anything. */
  const pass = async (seconds: number): Promise<void> => {
    clock.pass(seconds);
    const power = bench.bench.farm.rigs.reduce((sum, rig) => sum + powerOf(rig), 0);
    counted.set(now(), { power, energy: meter.energy });
    await turn(0);
  };
  /** kWh that the meter has counted less than if the power had stayed as it was at the begin. */
  const truth = async (id: number): Promise<number> => {
    const { started, ended } = (await report(id)).curtailment;
    const [begin, end] = [Date.parse(started), Date.parse(ended ?? "")];
    const [before, after] = [counted.get(begin), counted.get(end)];
    if (before === undefined || after === undefined) throw new Error(`no count at ${started} or ${ended}`);
    return ((before.power / 1_000) * (end - begin)) / hourMs - (after.energy - before.energy);
  };
  const expectExact = async (id: number, by: "counter" | "power"): Promise<void> => {
    const { shed } = await report(id);
    const kwh = await truth(id);
    expect(kwh).toBeGreaterThan(0.05);
    expect(shed).toMatchObject({ seen: 1, meterSeen: 1, meterBy: by });
    expect(Math.abs((shed.byMeter ?? Number.NaN) / kwh - 1)).toBeLessThan(0.01);
    expect(Math.abs((shed.energy ?? Number.NaN) / kwh - 1)).toBeLessThan(0.01);
  };
  return { ...bench, meter, pass, truth, expectExact };
}

const onlyPower = {
  preset: undefined,
  registers: [{ reading: "power", table: "input", address: 0x34, type: "f32" }],
};

test.each([
  ["30 s", 30, {}, "counter"],
  ["5 min", 300, {}, "counter"],
  ["5 min by a meter that has no counter", 300, onlyPower, "power"],
] as const)("the report of %s says what the meter counted, as soon as it has ended", async (_, seconds, device, by) => {
  const { pass, start, get, expectExact, now } = await meteredSite({}, device);
  for (let turns = 0; turns < 20; turns += 1) await pass(1);
  const { id } = await start({
    scope: { places: ["Texas"] },
    target: { all: true },
    until: new Date(now() + seconds * 1_000).toISOString(),
  });
  while ((await get(id)).ended === null) await pass(1);
  await expectExact(id, by);
});

test("a meter that was silent is not bridged: the report says what share of the time it saw", async () => {
  const { pass, start, get, report, truth, meter, now } = await meteredSite({}, onlyPower);
  for (let turns = 0; turns < 20; turns += 1) await pass(1);
  const end = now() + 300_000;
  const until = new Date(end).toISOString();
  const { id } = await start({ scope: { places: ["Texas"] }, target: { all: true }, until });
  while ((await get(id)).ended === null) {
    meter.fault = end - now() > 100_000 && end - now() < 160_000 ? "nan" : null;
    await pass(1);
  }
  const { shed } = await report(id);
  expect(shed.meterSeen).toBeGreaterThan(0.75);
  expect(shed.meterSeen).toBeLessThan(0.81);
  expect((shed.byMeter ?? 0) / (await truth(id))).toBeCloseTo(shed.meterSeen ?? 0, 1);
});

test("a day of events adds up in the reports to what the meter counts", async () => {
  const host = ownHost();
  const vtn = await startVtn({ host });
  closing.push(() => vtn.close());
  vtn.programs = [{ id: "ers", programName: "Load response", payloadDescriptors: units }];
  const signal = { key: "ercot", plan: "site", kind: "openadr", url: vtn.url, maxAge: "5m", onStale: "hold" };
  const { service, pass, now, mining, expectExact } = await meteredSite({ signals: [signal] });
  const plan = { key: "site", scope: { places: ["Texas"] }, target: { all: true as const } };
  await service.addCurtailmentPlan(CurtailmentPlanBody.parse(plan), caller);
  await pass(10);

  const event = (start: string, minutes: number, kilowatts: readonly number[]) => ({
    id: start.replaceAll(/\W/g, "-"),
    programID: "ers",
    eventName: "Load response",
    modificationDateTime: start,
    intervalPeriod: { start, duration: `PT${minutes}M` },
    intervals: kilowatts.map((value, index) => ({
      id: index,
      payloads: [{ type: "DISPATCH_SETPOINT", values: [value] }],
    })),
  });
  /** Hours after the begin, minutes of an interval, and kW. */
  const day = [
    [6, 20, [6]],
    [13, 12, [9, 3, 0]],
    [17, 30, [0]],
  ] as const;
  const begun = now();
  for (const [hour, intervalMinutes, kilowatts] of day) {
    while (now() < begun + hour * hourMs - 60_000) await pass(1_740);
    for (let turns = 0; turns < 30; turns += 1) await pass(2);
    const start = new Date(now()).toISOString();
    vtn.events = [event(start, intervalMinutes, kilowatts)];
    let over: number | null = null;
    while (over === null) {
      const minutes = (now() - Date.parse(start)) / 60_000;
      await pass(minutes % intervalMinutes < 2 || minutes % intervalMinutes > intervalMinutes - 1 ? 2 : 20);
      const [newest] = await service.listCurtailments({ limit: 1 }, caller);
      const isOfNow = newest !== undefined && Date.parse(newest.started) >= Date.parse(start);
      if (isOfNow && newest.ended !== null) over = newest.id;
    }
    vtn.events = [];
    for (let turns = 0; turns < 30; turns += 1) await pass(10);
    expect(await mining()).toEqual([true, true, true, true]);
    await expectExact(over, "counter");
  }
}, 240_000);
