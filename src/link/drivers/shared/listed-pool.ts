import { RigbridgeError } from "../../../contract/problems.ts";
import { detail } from "../../../messages/detail.ts";
import type { PoolLogin, PoolReading } from "../../driver.ts";

type Place = Pick<PoolLogin, "url" | "worker">;

/**
 * The pool of a newly read list that `wanted` refers to: the one at its index or, if indexes have moved, the only one
 * with its URL and worker. Throws `not.possible` if there is none, or if it is the firmware maker's own.
 */
export function listedPool<Pool extends Place & { readonly index: number }>(
  pools: readonly Pool[],
  wanted: PoolReading,
): Pool {
  refuseFee(wanted);
  const same = pools.filter((pool) => isSamePool(pool, wanted));
  const found = same.find(({ index }) => index === wanted.index) ?? (same.length === 1 ? same[0] : undefined);
  if (found === undefined) throw new RigbridgeError("not.possible", detail("command.noPool", { url: wanted.url }));
  return found;
}

/** The same in a list as the device stores it, where an entry's index is its position. */
export const listedEntry = <Entry>(
  entries: readonly Entry[],
  wanted: PoolReading,
  placeOf: (entry: Entry) => Place,
): Entry =>
  listedPool(
    entries.map((entry, index) => ({ entry, index, ...placeOf(entry) })),
    wanted,
  ).entry;

export function refuseFee({ devFee, url }: PoolReading): void {
  if (devFee) throw new RigbridgeError("not.possible", detail("command.makersPool", { url }));
}

export const lastPool = (): RigbridgeError => new RigbridgeError("pool.last", detail("command.lastPool"));

/** Devices write one URL in several ways: with or without scheme, with a slash at its end, in capitals. */
export const isSameUrl = (one: string, other: string): boolean => bare(one) === bare(other);

export const isSamePool = (one: Place, other: Place | undefined): boolean =>
  other !== undefined && one.worker === other.worker && isSameUrl(one.url, other.url);

const bare = (url: string): string =>
  url
    .replace(/^[a-z0-9+]+:\/\//i, "")
    .replace(/\/$/, "")
    .toLowerCase();
