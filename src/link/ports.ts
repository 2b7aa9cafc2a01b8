import type { Driver } from "./driver.ts";
import { drivers } from "./drivers/index.ts";

/** Where an address without a port leads: HTTP, RPC, frames. */
const rigPorts = [80, 4028, 4433];

const all: readonly number[] = [...new Set(drivers.flatMap(({ ports }) => ports))];

/** The usual ports of rigs: what answers there needs no port in its address. */
export const usualPorts = all.filter((port) => rigPorts.includes(port));

/** The usual ports of mining programs on computers. */
export const programPorts = all.filter((port) => !rigPorts.includes(port));

/** The port of a mining program in whose address none is given; null for a rig, and for a program without a usual one. */
export function programPort({ ports: [first] }: Driver): number | null {
  return first === undefined || rigPorts.includes(first) ? null : first;
}
