import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { startFarm } from "../../src/simulator/index.ts";
import { openStore } from "../../src/store/index.ts";
import { running } from "../cli/command.ts";
import { miner } from "../store/rows.ts";
import { within } from "../until.ts";

const ready = /is ready at/;

/** A store as a service leaves it that has read so many rigs: what it remembers of one, for all. */
export async function storeOfMany(folder: string, count: number): Promise<void> {
  const file = join(folder, "rigbridge.db");
  await rememberOne(folder);
  const store = await openStore({ file, now: Date.now });
  const rows = Array.from({ length: count }, (_, index) => [String(index), miner(addressOf(index))] as const);
  await store.miners.declare(new Map(rows));
  await store.close();
  const database = new DatabaseSync(file);
  database.exec("update resource set owner = 'store', key = null where collection = 'miner'");
  const all = "from resource, one where collection = 'miner'";
  database.exec(`with one as (select * from rig_memory limit 1) insert or ignore into rig_memory
    select id, 'mac-' || id, driver, identity, controls, layout, started_at, software, reason, records ${all}`);
  database.exec(`with one as (select 1) insert or ignore into rig_energy select id, 12345.5 ${all}`);
  database.exec(`with one as (select * from active_pool) insert or ignore into active_pool
    select resource.id, one.id, url, worker, ordinal ${all}`);
  database.exec("pragma wal_checkpoint(truncate)");
  database.close();
  writeFileSync(join(folder, "rigbridge.yaml"), JSON.stringify({ store: { url: "rigbridge.db" } }));
}

/** Nothing listens at these. */
const addressOf = (index: number): string => `127.102.${10 + Math.floor(index / 250)}.${1 + (index % 250)}:9`;

/** Reads one rig until its energy is written. */
async function rememberOne(folder: string): Promise<void> {
  const farm = await startFarm({ rigs: [{ kind: "cgminer", warm: true }] });
  const miners = farm.rigs.map(({ address }) => ({ address, interval: 1 }));
  writeFileSync(join(folder, "one.yaml"), JSON.stringify({ store: { url: "rigbridge.db" }, miners }));
  const service = await running(["serve", "--config", "one.yaml", "--port", "0"], ready, { cwd: folder });
  await pause(3_000);
  service.signal("SIGTERM");
  await within(service.ended, "the service to end");
  await farm.close();
}
