import { coins as predefinedCoins } from "../../catalogue/coins.ts";
import type { Config } from "../../config/schema.ts";
import { openStore, type Store } from "../../store/index.ts";
import { demoIdsAfter } from "../miners/declared-miner.ts";
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
