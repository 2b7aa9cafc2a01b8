import type { PolledRig } from "../../fleet/poller.ts";
import { parseAddress, type RigAddress } from "../../link/address.ts";
import { drivers } from "../../link/drivers/index.ts";
import { usualPorts } from "../../link/ports.ts";
import type { FoundRig } from "../../link/scan.ts";

/** The identifiers of a rig: its MAC, its serial number, and its address. */
export const marksOf = ({ address, driver, identity }: FoundRig): string[] =>
  marks(parseAddress(address), driver, identity.mac, identity.serial);

/**
 * The rigs of miners that may be among those found, by each of their identifiers. Only these few get their identifiers: a farm
 * has thousands, and reports of rigs come by the second.
 */
export function rigsByMark(found: readonly FoundRig[], rigs: Iterable<PolledRig>): ReadonlyMap<string, PolledRig> {
  const byMark = new Map<string, PolledRig>();
  if (found.length === 0) return byMark;
  const hosts = new Set(found.map(({ address }) => parseAddress(address).host));
  const macs = new Set(found.map(({ identity }) => identity.mac));
  const serials = new Set(found.map(({ identity }) => identity.serial));
  for (const rig of rigs) {
    const { mac = null, serial = null } = rig.state.identity ?? {};
    const isNamed = (mac !== null && macs.has(mac)) || (serial !== null && serials.has(serial));
    if (isNamed || hosts.has(rig.declared.address.host)) for (const mark of marksOfRig(rig)) byMark.set(mark, rig);
  }
  return byMark;
}

export function marksOfRig({ declared, state }: PolledRig): string[] {
  const { mac = null, serial = null } = state.identity ?? {};
  return marks(declared.address, declared.driver ?? state.driver, mac, serial);
}

function marks({ host, port, tls }: RigAddress, driverId: string | null, mac: string | null, serial: string | null) {
  const usual = drivers.find(({ id }) => id === driverId)?.ports ?? usualPorts;
  const ports = port !== null ? [port] : tls ? [443] : usual;
  return [
    ...ports.map((each) => `${host}:${each}`),
    ...(mac === null ? [] : [`mac ${mac}`]),
    ...(serial === null ? [] : [`serial ${serial}`]),
  ];
}
