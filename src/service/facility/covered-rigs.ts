import type { FacilityDevice } from "../../contract/facility-settings.ts";
import { withInnerGroups } from "../nested-groups.ts";

interface WithSettings {
  readonly settings: FacilityDevice;
}

/** A miner, as far as settings call it. */
interface Called {
  readonly facts: { readonly name: string; readonly groupId: number };
  readonly rig: { readonly state: WithUid; readonly declared: WithUid };
}

interface NestedGroup {
  readonly id: number;
  readonly parentId: number;
  readonly name: string;
}

interface WithUid {
  readonly uid: string | null;
}

/** The devices that measure or cool a miner, or have it at an outlet, by their settings and the groups of that moment. */
export class Cover<D extends WithSettings> {
  readonly #devices: readonly D[];
  readonly #byName = new Map<string, D[]>();
  readonly #byGroup = new Map<number, D[]>();

  constructor(devices: readonly D[], groups: readonly NestedGroup[]) {
    this.#devices = devices;
    for (const device of devices) {
      const { settings } = device;
      for (const name of new Set([...(settings.miners ?? []), ...outletMiners(settings)]))
        append(this.#byName, name, device);
      if ((settings.groups ?? []).length === 0) continue;
      const names = new Set(settings.groups);
      const named = groups.filter(({ name }) => names.has(name)).map(({ id }) => id);
      for (const id of withInnerGroups(named, groups)) append(this.#byGroup, id, device);
    }
  }

  has(device: D, entry: Called): boolean {
    let has = false;
    this.#visit(entry, (each) => {
      has ||= each === device;
    });
    return has;
  }

  /** The miners of every device, in one pass over all miners. */
  membersIn<E extends Called>(entries: Iterable<E>): ReadonlyMap<D, readonly E[]> {
    const members = new Map<D, E[]>(this.#devices.map((device) => [device, []]));
    for (const entry of entries)
      this.#visit(entry, (device) => {
        const rigs = members.get(device);
        if (rigs?.at(-1) !== entry) rigs?.push(entry);
      });
    return members;
  }

  /** A device may be visited several times. */
  #visit({ facts, rig: { state, declared } }: Called, visit: (device: D) => void): void {
    this.#byGroup.get(facts.groupId)?.forEach(visit);
    this.#byName.get(facts.name)?.forEach(visit);
    if (state.uid !== null) this.#byName.get(state.uid)?.forEach(visit);
    if (declared.uid !== null) this.#byName.get(declared.uid)?.forEach(visit);
  }
}

/** The miners that the outlets of a device name. */
export const outletMiners = (settings: FacilityDevice): readonly string[] =>
  settings.driver === "snmp" ? settings.outlets.flatMap(({ miner }) => miner ?? []) : [];

/** By which settings may call a miner. */
export const namesOf = ({ facts, rig: { state, declared } }: Called): readonly string[] =>
  [facts.name, state.uid, declared.uid].filter((name) => name !== null);

function append<K, D>(lists: Map<K, D[]>, key: K, device: D): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [device]);
  else list.push(device);
}
