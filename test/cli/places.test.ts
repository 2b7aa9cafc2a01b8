import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { placeNamed } from "../../src/cli/places.ts";
import { sightingTable } from "../../src/cli/sightings.ts";
import { onTestFinished } from "../finished.ts";
import { closeBenches } from "../service/bench.ts";
import { command, rigbridge } from "./command.ts";
import { servedBench } from "./served-bench.ts";

afterEach(closeBenches);

test("places are imported, listed, exported and located", async () => {
  const { bench, env } = await servedBench({ rigs: [{ kind: "axeos", warm: true }] });
  const folder = await mkdtemp(join(tmpdir(), "rigbridge-places-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "places.csv");
  const { address } = bench.rig(0);
  expect((await rigbridge(["places"], { env })).stdout).toBe("There are no places; see docs/places.md.\n");
  await writeFile(file, `address,site,rack\n${address},Texas,R1\n127.0.0.1:2,Texas,R2\n`);
  await command(["import", file, "--yes"], { env });
  await bench.idle();
  expect((await command(["places"], { env })).stdout).toMatch(
    /^Place +Rigs +Mining +Hash rate +Power +Alarms\nTexas +site +2 +1 .*\n {2}R1 +rack +1 +1 .*\n {2}R2 +rack +1 +0 .*\n$/,
  );
  expect(JSON.parse((await command(["places", "--json"], { env })).stdout)).toMatchObject([
    { path: "Texas", rigs: 2 },
    { path: "Texas/R1", rigs: 1 },
    { path: "Texas/R2", rigs: 1 },
  ]);
  await writeFile(file, (await command(["places", "--csv"], { env })).stdout);
  expect((await command(["import", file, "--yes"], { env })).stdout).toBe("0 rigs to add, 0 to change, 2 the same.\n");
  await writeFile(file, `address\n${address}\n`);
  expect((await command(["import", file, "--yes", "--unplace"], { env })).stdout).toContain("1 changed, 1 the same.");
  expect((await command(["locate", "texas/r1", "--seconds", "1"], { env })).stdout).toMatch(
    /^Locate signal on for 1 s: 1 rig in Texas\/R1 \(action \d+\)\n$/,
  );
  expect((await command(["locate", "Texas/R2"], { env })).stderr).toBe("No rig of this place can signal where it is\n");
  expect((await command(["locate", "Texas/R3"], { env })).stderr).toBe(
    'There is no place "Texas/R3"; did you mean "Texas/R1"?\n',
  );
});

test("sightings are listed, and their rigs put into places", async () => {
  const { env } = await servedBench({});
  expect((await command(["sightings"], { env })).stdout).toBe("No rig was sighted; see docs/places.md.\n");
  expect((await command(["sightings", "7"], { env })).stderr).toContain("no sighting 7");
  expect((await command(["sightings", "7", "--row", "1"], { env })).stderr).toBe(
    "A position needs --row and --column\n",
  );
  expect((await command(["sightings", "--place", "Texas"], { env })).stderr).toContain("Give the id of a sighting");
  const identity = {
    make: "Bitmain",
    model: "Antminer S21",
    firmware: null,
    mac: "02:00:00:AA:BB:01",
    hostname: null,
    serial: null,
  };
  const seen = { time: "2026-11-30T07:00:00Z", source: "lease" as const, driver: "antminer", identity, note: null };
  expect(
    sightingTable([
      { ...seen, id: 8, address: "10.1.0.8", miner: null, name: null, movedFrom: null },
      { ...seen, id: 7, address: "10.1.0.7", miner: 3, name: "Attic", movedFrom: "10.1.0.3" },
    ]),
  ).toEqual([
    expect.stringMatching(/^Id +Address +Rig +MAC +Miner +Was at$/),
    expect.stringMatching(/^ 8 +10\.1\.0\.8 +Bitmain Antminer S21 +02:00:00:AA:BB:01 +new *$/),
    expect.stringMatching(/^ 7 +10\.1\.0\.7 .* Attic +10\.1\.0\.3$/),
  ]);
});

test("a place is named by its path before its id, and by its id if several have the path", () => {
  const list = [
    { id: 1, path: "2" },
    { id: 2, path: "Texas" },
    { id: 3, path: "A/B" },
    { id: 4, path: "a/b" },
  ];
  expect([placeNamed(list, "2"), placeNamed(list, "3")].map(({ id }) => id)).toEqual([1, 3]);
  expect(() => placeNamed(list, "a/b")).toThrow(/^Several places are named "a\/b"/);
});
