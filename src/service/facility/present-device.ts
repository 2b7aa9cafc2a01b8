import type { FacilityDeviceState } from "../../contract/resources.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { Access } from "../users/access.ts";
import { namesOf, outletMiners } from "./covered-rigs.ts";
import type { Device } from "./device.ts";
import type { Difference } from "./difference.ts";

/**
 * Whether an access to some groups sees a device: it has rigs, all of them are visible, and its outlets name no others,
 * such as disabled ones or those that are not added yet.
 */
export function isVisible({ settings }: Device, rigs: readonly Entry[], access: Access): boolean {
  if (rigs.length === 0 || !rigs.every(({ facts }) => access.seesGroup(facts.groupId))) return false;
  const names = new Set(rigs.flatMap(namesOf));
  return outletMiners(settings).every((name) => names.has(name));
}

/** A device as GET /api/facility shows it. `now`: epoch ms. */
export function presentDevice(device: Device, difference: Difference | null, now: number): FacilityDeviceState {
  const { settings, state } = device;
  const { key, name, kind, driver, place } = settings;
  const { at, trouble, implausible } = state;
  const outlets = settings.driver === "snmp" ? settings.outlets : [];
  return {
    key,
    name: name ?? key,
    kind,
    driver,
    place: place ?? [],
    state: trouble !== null ? "silent" : at === null ? "unread" : implausible.length > 0 ? "implausible" : "ok",
    problem: trouble?.unquoted ?? (implausible.length > 0 ? implausible.join("; ") : null),
    age: at === null ? null : Math.max(0, Math.round((now - at) / 1000)),
    readings: { ...state.values, on: state.on },
    outlets: outlets.map(({ n, miner }) => {
      const read = state.outlets.find((outlet) => outlet.n === n);
      return { n, miner: miner ?? null, on: read?.on ?? null, power: read?.power ?? null };
    }),
    rigs: difference === null ? null : { total: difference.total, unknown: difference.unknown, power: difference.rigs },
  };
}
