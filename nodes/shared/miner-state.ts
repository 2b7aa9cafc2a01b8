import type { NodeMessage } from "node-red";
import { type Group, type Miner, type Property, type PropertyValue, properties } from "rigbridge";
import { groupPath } from "./miner-choice.ts";

/**
 * A miner as one flat object, in SI units, null for what nobody knows: what it is, and each property of the neutral
 * table that is of the miner itself. `online`: it answers; `stale`: the last read was missed, and these are older.
 */
export type MinerState = Readonly<Record<string, PropertyValue>>;

/** What nodes send of a miner: `payload` is its state, `topic` its uid, `miner` all that the service tells of it. */
export interface MinerMessage extends NodeMessage {
  readonly payload: MinerState;
  readonly topic: string;
  readonly miner: Miner;
}

export const minerMessage = (miner: Miner, groups: readonly Group[]): MinerMessage => ({
  payload: minerState(miner, groups),
  topic: miner.uid ?? String(miner.id),
  miner,
});

export function minerState(miner: Miner, groups: readonly Group[]): MinerState {
  const { id, uid, name, hardware, hostDescription, groupId, isOffline, readings } = miner;
  const group = groups.find((each) => each.id === groupId);
  return {
    ...{ id, uid, name, model: hardware, address: hostDescription },
    group: group === undefined ? null : groupPath(groups, group),
    online: !isOffline,
    stale: readings.stale,
    at: readings.at,
    ...Object.fromEntries(shown.map(([key, { read }]) => [key, read(miner, 0)])),
  };
}

const all: readonly (readonly [string, Property])[] = Object.entries(properties);

/** Those of boards and fans stand in `miner.readings`. */
const shown = all.filter(([, { of, kind }]) => of === "miner" && kind !== "trigger");

/** Nobody has asked it yet, so nobody knows what it does; it is not said to be off either. */
export const isUnread = ({ hasValidStatus, readings, statusInfo }: Miner): boolean =>
  !hasValidStatus && readings.at === null && statusInfo.statusDisplay === "Starting";
