import type { FacilityDevice } from "../../contract/facility-settings.ts";
import type { Store } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import type { Entry } from "../miners/miner-entries.ts";
import { withInnerGroups } from "../nested-groups.ts";

/** Whether a device measures or cools a miner, or has it at an outlet, by its settings and the present groups. */
export function coverOf(settings: FacilityDevice, groups: Store["groups"]): (entry: Entry) => boolean {
  const names = new Set(settings.groups ?? []);
  const all = enabled(groups);
  const named = all.filter(({ name }) => names.has(name));
  const ids = withInnerGroups(
    named.map(({ id }) => id),
    all,
  );
  const miners = new Set([...(settings.miners ?? []), ...outletMiners(settings)]);
  return ({ facts, rig }) => ids.has(facts.groupId) || isCalled(miners, facts.name, rig);
}

const outletMiners = (settings: FacilityDevice): readonly string[] =>
  settings.driver === "snmp" ? settings.outlets.flatMap(({ miner }) => miner ?? []) : [];

const isCalled = (names: ReadonlySet<string>, name: string, { state, declared }: Entry["rig"]): boolean =>
  names.size > 0 &&
  (names.has(name) ||
    (state.uid !== null && names.has(state.uid)) ||
    (declared.uid !== null && names.has(declared.uid)));
