import type { NodeMessage } from "node-red";
import type { Group, Miner, PropertyValue } from "rigbridge";
import { groupPath } from "./miner-choice.ts";
import { stateProperties } from "./node-properties.ts";

/**
 * A miner as one flat object in SI units, null for unknown values: its identity, and its properties. `online`: it
 * answers; `stale`: the last read failed, so the values are older.
 */
export type MinerState = Readonly<Record<string, PropertyValue>>;

/** A message about a miner: `payload` is its state, `topic` its uid, `miner` the complete miner. */
export interface MinerMessage extends NodeMessage {
  readonly payload: MinerState;
  readonly topic: string;
  readonly miner: Miner;
}

export const minerMessage = (miner: Miner, groups: readonly Group[]): MinerMessage => ({
  payload: minerState(miner, groups),
  topic: topicOf(miner),
  // A service inside Node-RED shares its miners, and a flow may change its messages.
  miner: structuredClone(miner),
});

/** The uid; the id if the service gives no uid. */
export const topicOf = ({ uid, id }: Miner): string => uid ?? String(id);

export function minerState(miner: Miner, groups: readonly Group[]): MinerState {
  const { id, uid, name, hardware, hostDescription, groupId, isOffline, readings } = miner;
  const group = groups.find((each) => each.id === groupId);
  return {
    id,
    uid,
    name,
    model: hardware,
    address: hostDescription,
    group: group === undefined ? null : groupPath(groups, group),
    online: !isOffline,
    stale: readings.stale,
    at: readings.at,
    ...Object.fromEntries(stateProperties.map(([key, { read }]) => [key, read(miner, 0)])),
  };
}
