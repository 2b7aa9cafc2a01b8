import { afterEach, expect, test } from "@jest/globals";
import { CurtailmentPlanBody } from "../../../src/contract/curtailment.ts";
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

test("a day of events adds up in the reports to what the meter counts", async () => {
  const host = ownHost();
  const vtn = await startVtn({ host });
  closing.push(() => vtn.close());
  vtn.programs = [{ id: "ers", programName: "Load response", payloadDescriptors: units }];
  const signal = { key: "ercot", plan: "site", kind: "openadr", url: vtn.url, maxAge: "5m", onStale: "hold" };
  const bench = await curtailmentBench(
    Array.from({ length: 4 }, () => whatsminer),
    { signals: [signal] },
  );
  const { service, ids, turn, now, report, mining } = bench;
  const meter = await startModbusMeter({ rigs: bench.bench.farm.rigs, host, clock: now });
  closing.push(() => meter.close());
  const main = { key: "main", kind: "meter", driver: "modbus", address: meter.address, preset: "sdm630", interval: 2 };
  await service.saveSettings({ section: "facility", value: [main] }, caller);
  const { id: placeId } = await service.addPlace(
    { kind: "site", name: "Texas", parentId: null, order: 0, meter: "main" },
    caller,
  );
  for (const id of ids) await service.changeMiner({ id, placeId }, caller);
  const plan = { key: "site", scope: { places: ["Texas"] }, target: { all: true as const } };
  await service.addCurtailmentPlan(CurtailmentPlanBody.parse(plan), caller);
  await turn(10);

  const watts = async (): Promise<number> => (await service.listFacility({}, caller))[0]?.readings.power ?? Number.NaN;
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
  /** kWh that the meter shows less than before, by curtailment. */
  const counted = new Map<number, number>();
  for (const [hour, intervalMinutes, kilowatts] of day) {
    while (now() < begun + hour * hourMs) await turn(1_800);
    const start = new Date(now()).toISOString();
    const full = await watts();
    vtn.events = [event(start, intervalMinutes, kilowatts)];
    let active: number | null = null;
    for (let isOver = false; !isOver; ) {
      const [from, held] = [now(), await watts()];
      const minutes = (from - Date.parse(start)) / 60_000;
      await turn(minutes % intervalMinutes < 2 || minutes % intervalMinutes > intervalMinutes - 1 ? 2 : 20);
      const [newest] = await service.listCurtailments({ limit: 1 }, caller);
      const isOfNow = newest !== undefined && Date.parse(newest.started) >= Date.parse(start);
      const ended = newest?.ended ?? null;
      // Each value holds until the next, as in the report.
      const until = ended === null ? now() : Date.parse(ended);
      if (active !== null)
        counted.set(active, (counted.get(active) ?? 0) + ((full - held) * (until - from)) / hourMs / 1000);
      active = isOfNow && ended === null ? newest.id : null;
      isOver = isOfNow && ended !== null;
    }
    vtn.events = [];
    for (let turns = 0; turns < 30; turns += 1) await turn(10);
    expect(await mining()).toEqual([true, true, true, true]);
  }
  expect(counted.size).toBe(3);
  for (const [id, kwh] of counted) {
    const { shed } = await report(id);
    expect(kwh).toBeGreaterThan(0.5);
    // Each sample has the meter's reading of the turn before, which counts at the steps of short events.
    expect(Math.abs((shed.byMeter ?? Number.NaN) - kwh)).toBeLessThan(0.06 * kwh);
    expect(Math.abs((shed.energy ?? Number.NaN) - kwh)).toBeLessThan(0.01 * kwh);
  }
}, 120_000);
