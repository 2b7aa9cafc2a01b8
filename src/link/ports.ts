import type { Driver } from "./driver.ts";
import { drivers } from "./drivers/index.ts";

/** The ports of an address without a port: HTTP, RPC, frames. */
const rigPorts = [80, 4028, 4433];

const all: readonly number[] = [...new Set(drivers.flatMap(({ ports }) => ports))];

/** The usual ports of rigs. Devices that use them need no port in their address. */
export const usualPorts = all.filter((port) => rigPorts.includes(port));

/** The usual ports of mining programs on computers. */
export const programPorts = all.filter((port) => !rigPorts.includes(port));

/** The default port of a mining program; null for a rig, and for a program without a usual port. */
export function programPort({ ports: [first] }: Driver): number | null {
  return first === undefined || rigPorts.includes(first) ? null : first;
}
