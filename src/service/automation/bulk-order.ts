import type { BulkOrder } from "../../contract/bulk-orders.ts";
import { briefOf } from "../../fleet/state.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";

/**
 * The miners of a bulk action in the order in which they are sent it. Unknown ones are last, equal ones as they are listed.
 * `usualEfficiency`: J per hash of a miner that counts instead of its last reading; null: it is not known.
 */
export function inOrder(
  minerIds: readonly number[],
  order: BulkOrder,
  registry: MinerRegistry,
  usualEfficiency: (minerId: number) => number | null = () => null,
): readonly number[] {
  if (order === "listed") return minerIds;
  const rank = ranks[order];
  const ranked = minerIds.map((id) => {
    const usual = order === "efficiency" ? usualEfficiency(id) : null;
    if (usual !== null) return { id, rank: -usual };
    const entry = registry.find(id);
    return { id, rank: (entry && rank(entry, registry)) ?? Number.POSITIVE_INFINITY };
  });
  // Infinity minus Infinity is no number.
  ranked.sort((one, other) => (one.rank === other.rank ? 0 : one.rank - other.rank));
  return ranked.map(({ id }) => id);
}

type Rank = (entry: Entry, registry: MinerRegistry) => number | null;

/** The lowest is first. */
const ranks: Readonly<Record<Exclude<BulkOrder, "listed">, Rank>> = {
  efficiency: ({ rig }) => {
    const { power = null, hashrate = null } = briefOf(rig.state)?.readings ?? {};
    return power === null || hashrate === null || hashrate <= 0 ? null : -power / hashrate;
  },
  profit: ({ facts }, { display }) => display.jsonCache.current(facts.id)?.figures?.earnings.profitPerDay ?? null,
  power: ({ rig }) => {
    const power = briefOf(rig.state)?.readings.power ?? null;
    return power === null ? null : -power;
  },
};
