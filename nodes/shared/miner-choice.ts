import { type Group, type Miner, ownGroupName } from "rigbridge";
import { z } from "zod";
import { optional, type TypedField, ValueType } from "./config.ts";
import type { Farm } from "./farm-connection.ts";
import { Fault, fieldFault, shortened, unknownName } from "./faults.ts";

/** Fields of a node that select miners; the editor shows them with `rigbridge.minerFields`. */
export const minerFields = {
  scope: z.enum(["miners", "group", "all"], "required"),
  miners: optional,
  minersType: ValueType.default("str"),
  group: optional,
  groupType: ValueType.default("str"),
};

type MinerFields = z.infer<z.ZodObject<typeof minerFields>>;

/** Which miners are selected, with the fields evaluated for one message. */
export type Choice =
  | { readonly scope: "all" }
  | { readonly scope: "group"; readonly group: unknown }
  | { readonly scope: "miners"; readonly miners: unknown };

/** Evaluates the fields; `value` evaluates one of them. */
export async function choiceOf(fields: MinerFields, value: (field: TypedField) => Promise<unknown>): Promise<Choice> {
  const { scope, miners, minersType, group, groupType } = fields;
  if (scope === "all") return { scope };
  if (scope === "group") return { scope, group: await value({ name: "group", value: group, type: groupType }) };
  return { scope, miners: await value({ name: "miners", value: miners, type: minersType }) };
}

/**
 * The selected miners, each once. A miner is matched by id, uid, name or address, in that order; several come as a list
 * or a text with commas; a miner as nodes send it (`msg.miner`) stands for itself. Throws a Fault that names the field:
 * `not.found` if nothing matches, `input.invalid` if a name is ambiguous or missing.
 */
export function chosenMiners(farm: Pick<Farm, "miners" | "groups">, choice: Choice): readonly Miner[] {
  const miners = [...farm.miners.values()];
  if (choice.scope === "all") return nonEmpty(miners, new Fault("not.found", "no-miners"));
  if (choice.scope === "group") {
    const group = groupNamed(farm.groups, choice.group);
    const ids = withSubgroups(farm.groups, group.id);
    return nonEmpty(
      miners.filter(({ groupId }) => ids.has(groupId)),
      new Fault("not.found", "empty-group", { group: group.name }),
    );
  }
  const named = namesIn(miners, choice.miners).map((name) => minerNamed(miners, name));
  return nonEmpty([...new Set(named)], fieldFault("miners", "empty"));
}

const nonEmpty = (miners: readonly Miner[], fault: Fault): readonly Miner[] => {
  if (miners.length === 0) throw fault;
  return miners;
};

const named = z.union([z.string(), z.number()]).transform((name) => String(name).trim());
const minerLike = z.object({ id: z.int(), uid: z.string().nullable() }).transform(({ id, uid }) => uid ?? String(id));
const oneMiner = z.union([named, minerLike]);

/** The whole text is tried first, since names may contain commas. */
function namesIn(miners: readonly Miner[], given: unknown): readonly string[] {
  const list = z.array(oneMiner).safeParse(Array.isArray(given) ? given : [given]).data;
  if (list === undefined) throw fieldFault("miners", "no-name");
  return list
    .flatMap((name) => (matching(miners, name).length > 0 ? [name] : name.split(",").map((part) => part.trim())))
    .filter((name) => name !== "");
}

function minerNamed(miners: readonly Miner[], name: string): Miner {
  const [only, ...others] = matching(miners, name);
  if (only === undefined)
    throw unknownName(
      "not.found",
      "miners",
      "miner",
      name,
      miners.map((miner) => miner.name),
    );
  if (others.length > 0)
    throw fieldFault("miners", "ambiguous-miner", {
      name: shortened(name),
      n: others.length + 1,
      uids: [only, ...others]
        .slice(0, 5)
        .map(({ uid, id }) => uid ?? id)
        .join(", "),
    });
  return only;
}

/** All matches of the closest kind that has any. */
export function matching(miners: readonly Miner[], name: string): readonly Miner[] {
  const folded = name.toLowerCase();
  const kinds: readonly ((miner: Miner) => boolean)[] = [
    ({ id }) => String(id) === name,
    ({ uid }) => uid === folded,
    (miner) => miner.name === name,
    (miner) => miner.name.toLowerCase() === folded,
    ({ hostDescription }) => hostDescription.toLowerCase() === folded,
    ({ hostDescription }) => hostDescription.toLowerCase().replace(/:\d+$/, "") === folded,
  ];
  for (const is of kinds) {
    const found = miners.filter(is);
    if (found.length > 0) return found;
  }
  return [];
}

/** By id, name, or a path like `Site / Hall`. */
export function groupNamed(groups: readonly Group[], given: unknown): Group {
  const name = named.safeParse(given).data ?? "";
  if (name === "") throw fieldFault("group", "empty");
  const byId = groups.filter(({ id }) => String(id) === name);
  const byPath = groups.filter((group) => groupPath(groups, group).toLowerCase() === name.toLowerCase());
  const byName = groups.filter((group) => group.name.toLowerCase() === name.toLowerCase());
  const [only, another] = [byId, byPath, byName].find((found) => found.length > 0) ?? [];
  if (only === undefined)
    throw unknownName(
      "not.found",
      "group",
      "group",
      name,
      groups.map((group) => group.name),
    );
  if (another !== undefined)
    throw fieldFault("group", "ambiguous-group", {
      name: shortened(name),
      paths: byName.map((group) => `${groupPath(groups, group)} (${group.id})`).join(", "),
    });
  return only;
}

/** Like `Site / Hall`, from the top down. */
export function groupPath(groups: readonly Group[], group: Group): string {
  const path = [ownGroupName(group)];
  const seen = new Set([group.id]);
  for (let at = parentOf(groups, group); at !== undefined && !seen.has(at.id); at = parentOf(groups, at)) {
    seen.add(at.id);
    path.unshift(ownGroupName(at));
  }
  return path.join(" / ");
}

const parentOf = (groups: readonly Group[], { parentId }: Group): Group | undefined =>
  groups.find(({ id }) => id === parentId);

/** The ids of a group and the groups inside it. */
export function withSubgroups(groups: readonly Group[], top: number): ReadonlySet<number> {
  const ids = new Set([top]);
  for (const id of ids) for (const group of groups) if (group.parentId === id) ids.add(group.id);
  return ids;
}
