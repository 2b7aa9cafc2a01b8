import type { ManagedMiner } from "../../../contract/resources.ts";

export const whenPresent = ["leave", "replace", "add"] as const;
export type WhenPresent = (typeof whenPresent)[number];

/** What decides, for each host, whether and as what a managed miner is set up there. */
export interface Recipe {
  /** With `hostMark` for the name of the host; empty: that of the program. */
  readonly name: string;
  readonly softwareType: string;
  /** What happens on a host that has a miner of this program. */
  readonly whenPresent: WhenPresent;
}

export const hostMark = "{host}";

interface RecipeHost {
  readonly id: number;
  readonly name: string;
}

/** Why nothing is asked of the service for a host. */
export type Hindrance = "present" | "several" | "sameName";

/** One host's turn. */
export interface Turn {
  readonly hostId: number;
  readonly host: string;
  readonly name: string;
  /** The managed miner whose settings are replaced; null: a new one. */
  readonly replaces: number | null;
  readonly hindrance: Hindrance | null;
}

type Present = Pick<ManagedMiner, "id" | "hostId" | "softwareType" | "description">;

/** What the recipe means for these hosts, in their order. Two miners never get the same name. */
export function turnsOf(
  { name, softwareType, whenPresent: wish }: Recipe,
  hosts: readonly RecipeHost[],
  miners: readonly Present[],
): Turn[] {
  const given = new Set<string>();
  return hosts.map(({ id: hostId, name: host }) => {
    const own = miners.filter((each) => each.hostId === hostId && each.softwareType === softwareType);
    const named = name.replaceAll(hostMark, host).trim();
    const [replaced = null] = wish === "replace" ? own : [];
    const turn = { hostId, host, name: named, replaces: replaced?.id ?? null };
    if (wish === "leave" && own.length > 0) return { ...turn, hindrance: "present" };
    if (wish === "replace" && own.length > 1) return { ...turn, hindrance: "several" };
    const isTaken = miners.some(({ id, description }) => description === named && id !== replaced?.id);
    if (named !== "" && (isTaken || given.has(named))) return { ...turn, hindrance: "sameName" };
    given.add(named);
    return { ...turn, hindrance: null };
  });
}
