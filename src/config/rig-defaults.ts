import { isWithin, type Network, parseNetwork } from "../link/networks.ts";
import type { Config } from "./schema.ts";

type Entry = Config["defaults"][number];

/**
 * What the configured defaults give a rig: of each setting, that of the first entry that has it and whose group and range
 * contain the rig. `groups` are the names of its group and of those around it.
 */
export function rigDefaults(
  entries: readonly Entry[],
  host: string,
  groups: ReadonlySet<string>,
): Pick<Entry, "login" | "interval" | "location"> {
  const fitting = entries.filter((entry) => fits(entry, host, groups));
  return {
    login: fitting.find(({ login }) => login !== undefined)?.login,
    interval: fitting.find(({ interval }) => interval !== undefined)?.interval,
    location: fitting.find(({ location }) => location !== undefined)?.location,
  };
}

function fits(entry: Entry, host: string, groups: ReadonlySet<string>): boolean {
  if (entry.group !== undefined && !groups.has(entry.group)) return false;
  const range = rangeOf(entry);
  return range === null || isWithin(range, host);
}

/** Parsed once: each rig is compared with every entry. */
const ranges = new WeakMap<Entry, Network>();

function rangeOf(entry: Entry): Network | null {
  if (entry.range === undefined) return null;
  const range = ranges.get(entry) ?? parseNetwork(entry.range);
  ranges.set(entry, range);
  return range;
}
