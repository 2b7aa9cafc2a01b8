import { afterEach, expect, test } from "@jest/globals";
import { MinerDetail } from "../../src/contract/resources.ts";
import { unusable } from "../../src/fleet/state.ts";
import { drivers } from "../../src/link/drivers/index.ts";
import { failing, failOver } from "../failing-rig.ts";
import { onTestFinished } from "../finished.ts";
import { recordingLog } from "../mqtt/bridged.ts";
import { workers } from "../pollers.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

/** A worker thread has drivers of its own, which test/end-to-end/failing-rig.test.ts makes fail. */
const testHere = workers > 0 ? test.skip : test;

/** Two rigs, one of which the program fails over. */
async function openTwo(field: string, options?: { readonly after: number }) {
  onTestFinished(failOver(drivers, field, options));
  const { log, lines } = recordingLog();
  const rigs = [
    { kind: "axeos", name: failing.hostname, warm: true },
    { kind: "axeos", warm: true },
  ] as const;
  const bench = await openBench({ rigs, log });
  const id = await bench.add(bench.rig(0).address, { name: "Failing", driver: "axeos" });
  const sound = await bench.add(bench.rig(1).address, { name: "Sound", driver: "axeos" });
  return { bench, sound, id, errors: () => lines.filter(({ level }) => level >= 50).map(({ msg }) => msg) };
}

const listed = async ({ service }: Bench): Promise<string[]> =>
  (await service.listMiners({}, caller)).groupList.flatMap(({ minerList }) =>
    minerList.map(({ name, statusInfo }) => `${name}: ${statusInfo.statusDisplay}`),
  );

const ofReading = ["pools", "devices", "controls", "poolActions", "software", "workUtility", "logInterval"];
const ofReadings = ["hashrate", "power", "temperature", "shares", "errors", "notes", "boards", "fans", "uptime"];
const deeper = ["readings.boards.0.serial", "readings.fans.0.rpm", "pools.0.url", "devices.0.name", "controls.0.key"];
const fields = ["identity", "identity.mac", "readings", ...ofReading, ...ofReadings.map((key) => `readings.${key}`)];

testHere.each([...fields, ...deeper])(
  "a rig whose %s makes the program fail is marked, the log has its id once, and the others go on",
  async (field) => {
    const { bench, sound, id, errors } = await openTwo(field);
    for (let read = 0; read < 3; read += 1) await bench.poll(id);
    const shown = MinerDetail.strict().parse(await bench.poll(id));
    expect(shown).toMatchObject({ name: "Failing", hasValidStatus: false, readings: { notes: [unusable.message] } });
    expect(await bench.poll(sound)).toMatchObject({ name: "Sound", hasValidStatus: true });
    expect(await listed(bench)).toEqual(["Failing: Error", "Sound: Mining"]);
    expect(await bench.service.getSummary({}, caller)).toMatchObject({ totalCount: 2, runningCount: 1 });
    await expect(bench.act(id, { action: "restart" })).rejects.toMatchObject({ code: "internal" });
    expect(errors()).toEqual([`miner ${id} cannot be shown`]);
  },
);

testHere("a rig that the program fails over is shown again as soon as that is over", async () => {
  const repair = failOver(drivers, "readings.shares");
  onTestFinished(repair);
  const bench = await openBench({ rigs: [{ kind: "axeos", name: failing.hostname, warm: true }] });
  const id = await bench.add(bench.rig(0).address, { driver: "axeos" });
  expect(await bench.get(id)).toMatchObject({ statusInfo: { statusDisplay: "Error" } });
  repair();
  expect(await bench.poll(id)).toMatchObject({ statusInfo: { statusDisplay: "Mining" }, readings: { notes: [] } });
});

testHere("a rig that makes the program fail later does not prevent listing the others", async () => {
  const { bench, id, errors } = await openTwo("readings.shares", { after: 20 });
  expect(await bench.get(id)).toMatchObject({ statusInfo: { statusDisplay: "Mining" } });
  for (let look = 0; look < 20; look += 1) await bench.get(id);
  expect(await bench.get(id)).toMatchObject({ statusInfo: { statusDisplay: "Error" } });
  expect(await listed(bench)).toEqual(["Failing: Error", "Sound: Mining"]);
  expect(errors()).toEqual([`miner ${id} cannot be shown`]);
});
