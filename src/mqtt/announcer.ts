import type { Group, Miner, Summary } from "../contract/resources.ts";
import type { DisplayUnit } from "./miner-state.ts";

/**
 * What makes miners, groups and the farm known to others at the broker. The bridge calls it, debounced, for what has
 * come or may have changed; whether anything is published is the announcer's business.
 */
export interface Announcer {
  /** A miner is there, or is another one now. Display: the unit of its hash rate for people, null while unknown. */
  miner(miner: Miner, display: DisplayUnit | null): void;
  /** A group is there, or is another one now; with the miners in it, those of its subgroups too. */
  group(group: Group, miners: readonly Miner[], display: DisplayUnit | null): void;
  /** The whole farm: all miners that have a uid. */
  farm(summary: Summary | null, miners: readonly Miner[], display: DisplayUnit | null): void;
  /** The miner is no more: what was published for it is emptied. */
  gone(uid: string): void;
  /** The same for a group. */
  groupGone(id: number): void;
  /** After a connect, and when Home Assistant was started: everything is published again. */
  reannounce(): void;
  close(): void;
}
