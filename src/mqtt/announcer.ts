import type { Group, Miner, Summary } from "../contract/resources.ts";
import type { DisplayUnit } from "./miner-state.ts";

/**
 * Announces miners, groups and the farm to other programs on the broker. The bridge calls it, debounced, for what is new
 * or may have changed; the announcer decides whether to publish.
 */
export interface Announcer {
  /** A miner is new or has changed. `display`: the unit of its hash rate, null while unknown. */
  miner(miner: Miner, display: DisplayUnit | null): void;
  /** A group is new or has changed; `miners` are its own and those of its subgroups. */
  group(group: Group, miners: readonly Miner[], display: DisplayUnit | null): void;
  /** The whole farm: all miners that have a uid. */
  farm(summary: Summary | null, miners: readonly Miner[], display: DisplayUnit | null): void;
  /** The miner was removed: its announcement is cleared. */
  minerRemoved(uid: string): void;
  groupRemoved(id: number): void;
  /** Publishes everything again, after a connect and when Home Assistant has started. */
  reannounce(): void;
  close(): void;
}
