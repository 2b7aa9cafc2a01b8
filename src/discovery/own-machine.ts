import { hostname, networkInterfaces } from "node:os";
import { type Interfaces, ownNetworks } from "../link/networks.ts";

/** This machine's host name, without the domain. */
export const machineName = (): string => hostname().split(".")[0] || "Rigbridge";

/** This machine's address in each of its private networks. */
export const networkAddresses = (): readonly string[] => ownNetworks(ownInterfaces()).addresses;

/** Hosts for URLs of a server that listens on all addresses: the host name if there is no private network. */
export function reachableHosts(): readonly string[] {
  const addresses = networkAddresses();
  return addresses.length === 0 ? [machineName()] : addresses;
}

/** All addresses of this machine. */
export const ownAddresses = (): ReadonlySet<string> =>
  new Set(
    Object.values(ownInterfaces())
      .flatMap((each) => each ?? [])
      .map(({ address }) => address),
  );

/** Some systems, like Android, do not allow every program to list them. */
export function ownInterfaces(): Interfaces {
  try {
    return networkInterfaces();
  } catch {
    return {};
  }
}
