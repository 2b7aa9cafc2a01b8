import type { FacilityDevice } from "../../contract/facility-settings.ts";
import type { Store } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import type { Entry } from "../miners/miner-entries.ts";
import { withInnerGroups } from "../nested-groups.ts";

/** The miners that a device measures or cools, and those at its outlets. */
export function coveredRigs(
  settings: FacilityDevice,
  all: readonly Entry[],
  groups: Store["groups"],
): readonly Entry[] {
  const names = new Set(settings.groups ?? []);
  const named = enabled(groups).filter(({ name }) => names.has(name));
  const ids = withInnerGroups(
    named.map(({ id }) => id),
    enabled(groups),
  );
  const miners = new Set([...(settings.miners ?? []), ...outletMiners(settings)]);
  return all.filter(({ facts, rig }) => ids.has(facts.groupId) || isCalled(miners, facts.name, rig));
}

const outletMiners = (settings: FacilityDevice): readonly string[] =>
  settings.driver === "snmp" ? settings.outlets.flatMap(({ miner }) => miner ?? []) : [];

const isCalled = (names: ReadonlySet<string>, name: string, { state, declared }: Entry["rig"]): boolean =>
  names.size > 0 &&
  (names.has(name) ||
    (state.uid !== null && names.has(state.uid)) ||
    (declared.uid !== null && names.has(declared.uid)));
