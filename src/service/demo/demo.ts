import { coins as predefinedCoins } from "../../catalogue/coins.ts";
import type { Config } from "../../config/schema.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Caller } from "../../contract/service.ts";
import { type Collection, openStore, type Store } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { declareAll } from "../declare.ts";
import { emptyManagedMiner } from "../hosts/managed.ts";
import { demoIdsAfter } from "../miners/declared-miner.ts";
import type { Coins } from "../money/coins.ts";
import type { Calls } from "../users/guard.ts";
import { overDemo, type StoreWithDemo } from "./demo-store.ts";

/** A host of the demo with one managed miner. Its agent connects over the service's `takeAgent`. */
export interface DemoHostRow {
  readonly hostname: string;
  readonly description: string;
  /** The digest of the agent's token, as for `takeAgent`. */
  readonly digest: string;
  /** Names of a group and a pool of the demo. */
  readonly group: string;
  readonly pool: string;
  /** The mining program, by its id in GET /api/miningsoftware. */
  readonly software: string;
  /** Name of the managed miner. */
  readonly miner: string;
}

/** Virtual rigs to try things out, with what belongs to them: groups, pools, rules, maintenance, a host. */
export interface Demo {
  /** What it consists of, as in a configuration file. Its sections, such as `electricity`, are not used here. */
  readonly config: Config;
  readonly host?: DemoHostRow;
  /** The store of the service, with the demo in memory over it. */
  readonly store: StoreWithDemo;
  /** The part of it that is in memory, and ends with the process. */
  readonly rows: Store;
  /** Whether its rigs have a past of two weeks, which is made up. */
  readonly hasPast: boolean;
  /** Called when the first real miner has been added, and the demo has left. */
  readonly left?: () => Promise<void>;
}

export type DemoOptions = Pick<Demo, "config" | "host" | "hasPast" | "left"> & {
  /** What predefined coins earn, in BTC per MH/s and day. */
  readonly profits?: Readonly<Record<string, number>>;
  /** The store of the service. */
  readonly over: Store;
  /** Epoch ms. */
  readonly now: () => number;
};

/** The service that is started with it closes it. */
export async function openDemo({ over, now, profits = {}, ...demo }: DemoOptions): Promise<Demo> {
  const rows = await openStore({ file: ":memory:", now, idsAfter: demoIdsAfter });
  for (const { shortName, name, algorithm } of predefinedCoins) {
    const profit = profits[shortName];
    const worth = { profitUsd: null, updated: now(), coinClass: "PreDefined" } as const;
    if (profit !== undefined) await rows.coins.add({ shortName, name, algorithm, profit, ...worth });
  }
  return { ...demo, rows, store: overDemo(over, rows) };
}

/** Brings its rows in line with its configuration; the host and its miner have no place there. */
export async function declareDemo({ config, host, rows }: Demo, coins: Coins): Promise<void> {
  await declareAll(config, rows, coins);
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
