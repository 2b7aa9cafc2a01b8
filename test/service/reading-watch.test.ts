import { expect, test } from "@jest/globals";
import { pino } from "pino";
import { keyBits, keysIn } from "../../src/fleet/changed-keys.ts";
import { briefOf } from "../../src/fleet/state.ts";
import { openCore } from "../../src/service/core.ts";
import type { ReadingChange } from "../../src/service/miners/reading-watch.ts";
import { startRooms } from "../../src/service/room.ts";
import { openMiners } from "../../src/service/rooms/miners.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { openStore } from "../any-store.ts";
import { onTestFinished } from "../finished.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { configOf } from "./bench.ts";

/** A registry over two Bitaxes, of which only requests read the rigs. */
async function openTwo() {
  const host = ownHost();
  const farm = await startFarm({ rigs: [1, 2].map(() => ({ kind: "axeos", warm: true, host })) });
  const store = await openStore({ file: ":memory:", now: Date.now });
  const lines: string[] = [];
  const log = pino({ level: "error" }, { write: (line) => void lines.push(line) });
  const config = configOf({ miners: farm.rigs.map(({ address }) => ({ address, driver: "axeos" })) });
  const options = { config, store, log };
  const core = await openCore(options);
  const miners = openMiners(core);
  const { registry } = miners;
  const close = await startRooms([core, miners]);
  onTestFinished(async () => {
    await close();
    await store.close();
    await farm.close();
  });
  const read = async (id: number): Promise<void> => registry.fleet.poll(registry.entry(id).rig);
  return { farm, registry, read, lines, ids: [1_000_000_001, 1_000_000_002] as const };
}

test("a listener to readings gets the miners that have changed, with the keys that have, and before", async () => {
  const { farm, registry, read, ids } = await openTwo();
  for (const id of ids) await read(id);
  const batches: (readonly ReadingChange[])[] = [];
  const end = registry.watchReadings((changes) => void batches.push(changes));
  const [rig] = farm.rigs;
  if (rig === undefined) throw new Error("a rig");
  rig.model.mining = false;
  await read(ids[0]);
  const stop = () => batches.flat().find(({ id, keys }) => id === ids[0] && keysIn(keys).includes("mining"));
  await until(() => stop() !== undefined, "the change");
  const change = stop();
  if (change === undefined) throw new Error("a change");
  const keys = keysIn(change.keys);
  expect(keys).toEqual(expect.arrayContaining(["status", "reason", "hashrate", "mining", "controls"]));
  expect(keys).not.toContain("algorithm");
  expect(change.keys & (keyBits.hashrate ?? 0)).not.toBe(0);
  expect(briefOf(change.before)?.readings.hashrate).toBeGreaterThan(0);
  expect(briefOf(change.state)?.readings).toMatchObject({ hashrate: 0, mining: false });
  expect(change.state.reading?.readings.mining).toBe(false);
  rig.powerOff();
  batches.length = 0;
  await read(ids[0]);
  await read(ids[0]);
  await read(ids[0]);
  await until(() => batches.flat().some(({ state }) => state.reading === null), "the rig to be away");
  expect(keysIn(batches.flat().at(-1)?.keys ?? 0)).toContain("status");
  end();
  batches.length = 0;
  await rig.powerOn();
  await read(ids[0]);
  await read(ids[1]);
  expect(batches).toEqual([]);
});

test("a listener to readings that fails is logged, and the others get their changes", async () => {
  const { registry, read, lines, ids } = await openTwo();
  const seen = new Set<number>();
  registry.watchReadings(() => {
    throw new Error("an invented fault of a listener");
  });
  registry.watchReadings((changes) => {
    for (const { id } of changes) seen.add(id);
  });
  for (const id of ids) await read(id);
  await until(() => seen.size === 2, "the first reads");
  expect(lines.join("")).toContain("a listener to readings failed");
});
