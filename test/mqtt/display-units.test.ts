import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, jest, test } from "@jest/globals";
import { DisplayUnits, unitsIn } from "../../src/mqtt/display-units.ts";
import { fakeOnly } from "../fake-timers.ts";
import { onTestFinished } from "../finished.ts";
import { miner, readings } from "../homebridge/miners.ts";

test("units that could not be written are written once they can be, with no further choice", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rigbridge-units-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [parent, file] = [join(folder, "place"), join(folder, "place", "units.json")];
  const failed = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  const { write, ...place } = unitsIn(file);
  const watched = async (chosen: Readonly<Record<string, string>>): Promise<void> => {
    await write(chosen);
    written.resolve();
  };
  fakeOnly("setTimeout", "clearTimeout");
  const units = await DisplayUnits.open({ ...place, write: watched }, { warn: () => failed.resolve() });
  onTestFinished(() => units.close());
  // Where the folder would be.
  writeFileSync(parent, "");
  units.ofAll("farm", [miner({ readings: readings({ algorithm: "sha256", hashrate: 1e12 }) })]);
  jest.advanceTimersByTime(500);
  await failed.promise;
  rmSync(parent);
  jest.advanceTimersByTime(10_000);
  await written.promise;
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ farm: "TH/s" });
});
