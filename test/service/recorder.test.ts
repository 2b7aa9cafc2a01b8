import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, jest, test } from "@jest/globals";
import { pino } from "pino";
import { Recorder } from "../../src/service/history/recorder.ts";
import { openStore } from "../../src/store/store.ts";
import { fakeOnly } from "../fake-timers.ts";
import { onTestFinished } from "../finished.ts";
import { folders } from "../store/folder.ts";
import { until } from "../until.ts";
import { configOf } from "./bench.ts";

const folder = folders();
const hour = 3_600_000;
const start = 500_000 * hour;

test("a turn packs the finished hour of 160 miners: a farm of 100,000 has 139 for each", async () => {
  const miners = 160;
  const file = join(folder(), "rigbridge.db");
  const now = () => start + 2 * hour;
  const store = await openStore({ file, now });
  const sample = { time: start, hashrate: 1, power: 2, temperature: 3, energy: 4 };
  await store.samples.append(Array.from({ length: miners }, (_, index) => ({ ...sample, minerId: index + 1 })));
  // The time of a turn passes for none of its steps, however busy the machine is.
  fakeOnly("setInterval", "clearInterval", "performance");
  const recorder = new Recorder(store, configOf({}), now, pino({ level: "silent" }));
  onTestFinished(async () => {
    await recorder.close();
    await store.close();
  });
  const raw = new DatabaseSync(file);
  onTestFinished(() => raw.close());
  const count = (table: string) => raw.prepare(`select count(*) as rows from ${table}`).get()?.rows;
  expect(count("sample")).toBe(miners);
  jest.advanceTimersByTime(5_000);
  await until(() => count("sample") === 0, "the samples to be packed");
  expect(count("sample_hour")).toBe(miners);
});
