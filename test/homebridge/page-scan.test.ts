import { afterEach, expect, test } from "@jest/globals";
import { RigScan, type ScanProgress } from "../../homebridge/src/page/rig-scan.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";

let ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.toReversed()) await end();
  ending = [];
});

const scanning = (report: (progress: ScanProgress) => void = () => {}) =>
  new RigScan(report, new AbortController().signal);

test("rigs are found in all given networks, ordered by address", async () => {
  const farm = await startFarm({
    rigs: [
      { kind: "axeos", host: ownHost() },
      { kind: "axeos", host: ownHost() },
    ],
  });
  ending.push(() => farm.close());
  const addresses = farm.rigs.map(({ address }) => address);
  const { found, scanned, wasStopped, notes } = await scanning().run({ networks: ` ${addresses.join(" , ")}\n` });
  const inOrder = addresses.toSorted((one, other) => one.localeCompare(other, "en", { numeric: true }));
  expect(found.map(({ address }) => address)).toEqual(inOrder);
  expect(found[0]).toMatchObject({ what: expect.stringMatching(/Bitaxe/), note: null });
  expect({ scanned, wasStopped, notes }).toEqual({ scanned: 2, wasStopped: false, notes: [] });
});

test.each(["8.8.8.0/24", "10.0.0.0/8", "300.1.1.1", "fe80::1"])("%s is not searched", async (networks) => {
  const scan = scanning();
  await expect(scan.run({ networks })).rejects.toMatchObject({ code: "input.invalid" });
  await expect(scan.run({ networks: "127.0.0.1:1" })).resolves.toMatchObject({ found: [] });
});

test("a search reports its progress, prevents a second one, and can be stopped", async () => {
  const reports: ScanProgress[] = [];
  const scan = scanning((progress) => reports.push(progress));
  const running = scan.run({ networks: "127.101.0.0/17" });
  await until(
    () => reports.some(({ scanned, total }) => scanned > 0 && total > scanned),
    "the search to report its progress",
  );
  await expect(scan.run({ networks: "127.0.0.1" })).rejects.toMatchObject({ code: "not.possible" });
  scan.stop();
  const { wasStopped, scanned, total } = await running;
  expect(wasStopped).toBe(true);
  expect(scanned).toBeLessThan(total);
});
