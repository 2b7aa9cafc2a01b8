import { RigbridgeError } from "../../contract/problems.ts";
import type { Caller } from "../../contract/service.ts";
import type { Collection } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { declareAll } from "../declare.ts";
import { emptyManagedMiner } from "../hosts/managed.ts";
import type { Coins } from "../money/coins.ts";
import { placesOf } from "../places/place-book.ts";
import type { Calls } from "../users/guard.ts";
import type { Demo } from "./demo.ts";

/** Brings its rows in line with its configuration; the host and its miner have no place there. */
export async function declareDemo({ config, host, rows }: Demo, coins: Coins): Promise<void> {
  await declareAll(config, rows, coins, placesOf(rows));
  if (host === undefined) return;
  const { hostname, description, digest, software, miner } = host;
  const groupId = enabled(rows.groups).find(({ name }) => name === host.group)?.id ?? 0;
  const poolId = enabled(rows.pools).find((pool) => pool.description === host.pool)?.id ?? 0;
  const { id: hostId } = await rows.hosts.add({ hostname, description, groupId, uid: null, gpus: null });
  await rows.agents.add({ hostId, digest });
  const settings = { description: miner, hostId, poolId, softwareType: software, running: true };
  await rows.managedMiners.add({ ...emptyManagedMiner, ...settings });
}

const caller: Caller = { actor: "service" };

/**
 * Removes what belongs to the demo beside its rigs, as a user would, so that everything that follows these rows knows. What
 * users made to try it out stays, without what it named of the demo.
 */
export async function removeDemo({ rows }: Demo, calls: Calls): Promise<void> {
  const remove = async (collection: Collection<unknown>, by: (id: number) => Promise<unknown>): Promise<void> => {
    for (const { id } of enabled(collection))
      await by(id).catch((error: unknown) => {
        // Something that a user made names it: it goes with the store of the demo.
        if (!(error instanceof RigbridgeError)) throw error;
      });
  };
  await remove(rows.rules, (id) => calls.deleteRule({ id: String(id) }, caller));
  await remove(rows.schedules, (id) => calls.deleteSchedule({ id: String(id) }, caller));
  await remove(rows.maintenance, (id) => calls.deleteMaintenance({ id }, caller));
  await remove(rows.managedMiners, (id) => calls.deleteManagedMiner({ id }, caller));
  await remove(rows.hosts, (id) => calls.deleteHost({ id }, caller));
  await remove(rows.poolGroups, (id) => calls.deletePoolGroup({ id }, caller));
  await remove(rows.pools, (id) => calls.deletePool({ id }, caller));
  await remove(rows.groups, (id) => calls.deleteGroup({ id }, caller));
  for (const { shortName } of rows.coins.all()) await calls.saveCoin({ shortName, reset: true }, caller);
}
