import type { Change, State } from "./instance.ts";

/** When Rigbridge was away, in epoch ms: from its `offline` to its `online` at the broker. */
export interface Away {
  readonly from: number;
  readonly until: number;
  /** ms after that in which Home Assistant may still show an entity as unavailable. */
  readonly lagMs: number;
}

const isNothing = (state: string | null): boolean => state === null || state === "unknown";
/** Counts of rigs, which a restart does not change. */
const counts = /_miners(_[a-z]+)*$/;
/** Of total_increasing sensors: what a kill may lose. */
const lostByKill = 0.01;

/**
 * The changes of states during a restart that told of something that did not happen. An entity may be unavailable while
 * Rigbridge is away; then it has the state of before, or a number of a reading. Nothing else may be said of it.
 */
export function falseChanges(
  before: ReadonlyMap<string, State>,
  changes: readonly Change[],
  away: Away,
  uniqueIds: ReadonlyMap<string, string>,
): string[] {
  return changes.flatMap((change) => {
    const { entity, from, to, at } = change;
    const uniqueId = uniqueIds.get(entity);
    const was = before.get(entity);
    if (uniqueId === undefined) return [];
    const said = (why: string) => [`${entity}: ${from} -> ${to} ${why}`];
    if (was === undefined) return said("(it was not there before)");
    if (to === null) return said("(it was removed)");
    if (from === to) return [];
    if (to === "unavailable")
      return was.state === "unavailable" || at < away.until + away.lagMs ? [] : said("while Rigbridge was there");
    if (was.state === "unavailable") return said("although it was unavailable before");
    if (isNothing(to)) return isNothing(was.state) ? [] : said(`although it was ${was.state}`);
    return isPossible(was, to, uniqueId) ? [] : said(`although it was ${was.state}`);
  });
}

/** Whether a rig that is as before may have this state. */
function isPossible(was: State, to: string, uniqueId: string): boolean {
  const { state_class: stateClass, device_class: deviceClass } = was.attributes;
  const number = Number(to);
  if (was.state === to) return true;
  if (was.entity_id.startsWith("number.")) return Number.isFinite(number);
  if (stateClass === undefined || counts.test(uniqueId)) {
    // A rig's start is computed from its uptime, in seconds.
    if (deviceClass === "timestamp" && !was.entity_id.startsWith("event."))
      return Math.abs(Date.parse(to) - Date.parse(was.state)) < 30_000;
    return false;
  }
  if (stateClass === "total_increasing" || stateClass === "total")
    return isNothing(was.state) || number >= Number(was.state) * (1 - lostByKill);
  return Number.isFinite(number);
}
