import { hostname, networkInterfaces } from "node:os";
import { type Interfaces, ownNetworks } from "../link/networks.ts";

/** What this machine is called, without the domain. */
export const machineName = (): string => hostname().split(".")[0] || "Rigbridge";

/** One address for each private network that this machine is in. */
export const networkAddresses = (): readonly string[] => ownNetworks(interfaces()).addresses;

/** Where other machines reach a port that is open on all addresses: by name where this one is in no private network. */
export function reachableHosts(): readonly string[] {
  const addresses = networkAddresses();
  return addresses.length === 0 ? [machineName()] : addresses;
}

/** Every address that this machine has. */
export const ownAddresses = (): ReadonlySet<string> =>
  new Set(
    Object.values(interfaces())
      .flatMap((each) => each ?? [])
      .map(({ address }) => address),
  );

/** Some systems, like Android, do not let every program see them. */
function interfaces(): Interfaces {
  try {
    return networkInterfaces();
  } catch {
    return {};
  }
}
