import { isRecord } from "../contract/record.ts";
import { isNumberText, numberAt, numberThere, siteOf } from "../contract/site-numbers.ts";

/** The site that numbers belong to. */
export interface SiteName {
  readonly id: number;
  readonly name: string;
}

/**
 * The keys, in inputs and replies, whose whole numbers belong to one service: 0 is none of them. Other numbers are the same
 * at every site. A test compares these lists with the schemas of all operations.
 */
export const numberKeys: ReadonlySet<string> = new Set([
  ...["id", "ids", "minerId", "minerID", "miner", "miners", "removed", "hostId", "poolId", "pool_id", "pools"],
  ...["addedPools", "rule_id", "ruleId", "template_id", "commandId", "ownerId", "scheduleId", "tokenId", "run"],
  ...["userId", "makerId", "placeId", "place", "places"],
]);

/** The same for groups, where 0 is what is in no group: at a site, what is directly in the site. */
export const groupKeys: ReadonlySet<string> = new Set(["groupId", "groupID", "group", "groups", "parentId"]);

/** The number in the digits of a text: ids of pools and pool groups are texts in the documented API. */
const digitsIn = (text: string): number | null => (isNumberText(text) ? Number(text) : null);

/** A reply of a site, with its numbers as they are at the centre. Site 0 is the centre itself, whose numbers stay. */
export function outward(site: number, reply: unknown): unknown {
  return site === 0 ? reply : translated(reply, "", (number) => numberAt(site, number));
}

function translated(value: unknown, key: string, number: (there: number) => number): unknown {
  if (Array.isArray(value)) return value.map((each) => translated(each, key, number));
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value) || value < 0) return value;
    return groupKeys.has(key) || (numberKeys.has(key) && value > 0) ? number(value) : value;
  }
  if (typeof value === "string") {
    const digits = key === "id" ? digitsIn(value) : null;
    return digits === null || digits === 0 ? value : String(number(digits));
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, translated(each, name, number)]));
}

/** An input with the numbers of the sites that it names. */
export interface Addressed {
  /** The sites of its numbers; empty if it has none, or only those of the centre itself. */
  readonly sites: ReadonlySet<number>;
  /** The input as that site has it. */
  readonly input: object;
}

/** An input of the centre, as its sites have it: numbers there, and groups by their name there. */
export function inward(input: object, sites: Iterable<SiteName>): Addressed {
  const found = new Set<number>();
  const names = [...sites];
  const take = (number: number): number => {
    found.add(siteOf(number));
    return numberThere(number);
  };
  const walk = (value: unknown, key: string): unknown => {
    if (Array.isArray(value)) return value.map((each) => walk(each, key));
    if (typeof value === "number") {
      const isNumber = groupKeys.has(key) || numberKeys.has(key);
      // 0 is no thing of any site, unless it is a group.
      if (!isNumber || !Number.isSafeInteger(value) || (value === 0 && !groupKeys.has(key))) return value;
      return take(value);
    }
    if (typeof value === "string") {
      if (groupKeys.has(key)) return groupThere(value);
      const digits = key === "id" ? digitsIn(value) : null;
      return digits === null ? value : String(take(digits));
    }
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, walk(each, name)]));
  };
  const groupThere = (name: string): string | number => {
    const site = names.find((each) => name === each.name || name.startsWith(`${each.name} / `));
    found.add(site?.id ?? 0);
    if (site === undefined) return name;
    return name === site.name ? 0 : name.slice(site.name.length + 3);
  };
  const there = Object.fromEntries(Object.entries(input).map(([name, value]) => [name, walk(value, name)]));
  return { sites: found, input: there };
}

/** The name of a group as the centre shows it. */
export const groupNameAt = ({ name }: SiteName, group: string): string => (group === "" ? name : `${name} / ${group}`);
