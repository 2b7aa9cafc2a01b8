import type { Place } from "../contract/place-operations.ts";
import type { FacilityDeviceState, Group, Miner } from "../contract/resources.ts";
import type { DisplayUnit, MinerWithUid } from "./miner-state.ts";

/**
 * Announces miners, groups and the farm to other programs on the broker. The bridge calls it, debounced, for new and
 * possibly changed ones; the announcer decides whether to publish.
 */
export interface Announcer {
  /** A miner is new or has changed, before its state is published. `display`: the unit of its hash rate, null while unknown. */
  miner(miner: MinerWithUid, display: DisplayUnit | null): void;
  /** A group is new or has changed; `miners` are its own and those of its subgroups. */
  group(group: Group, miners: readonly Miner[], display: DisplayUnit | null): void;
  /** `unnamed`: the number of other miners that are not identified yet, and may turn out to be known. */
  farm(miners: readonly Miner[], display: DisplayUnit | null, unnamed?: number): void;
  /** All facility devices, as now read; those that are missing were removed. */
  facility(devices: readonly FacilityDeviceState[]): void;
  /** All sites, as now read; those that are missing were removed. */
  sites(sites: readonly Place[]): void;
  /** The miner was removed: its announcement is cleared. */
  minerRemoved(uid: string): void;
  groupRemoved(id: number): void;
  /** Publishes everything again, after a connect and when Home Assistant has started. */
  reannounce(): void;
  /** Another bridge uses the topics: its retained messages are read once this bridge has the topics again. */
  reread(): void;
  close(): void;
}
