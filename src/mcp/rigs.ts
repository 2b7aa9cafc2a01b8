import { z } from "zod";
import { nearest } from "../contract/nearest.ts";
import { type Mistake, namedMistakes } from "../contract/problems.ts";
import type { MinerRow, RowColumn } from "../contract/rows.ts";
import { isNumberText } from "../contract/site-numbers.ts";
import { Advice, advice } from "./advice.ts";
import { asData, withoutMarks } from "./data-text.ts";
import type { ToolContext } from "./tool.ts";

/** Rigs that one call names, and that one call acts on. */
const mostNamed = 500;
const mostRigs = 1_000;

export const RigRef = z.union([z.int().min(0), z.string().min(1).max(200)], "must be the id, uid or name of a rig");
export const GroupRef = z.union([z.int().min(0), z.string().min(1).max(400)], "must be the id or name of a group");

/** The arguments that say which rigs a tool acts on. */
export const targetInput = {
  rigs: z
    .array(RigRef)
    .min(1)
    .max(mostNamed, `must be at most ${mostNamed} rigs; name a group, or call the tool again for the next ones`)
    .optional()
    .describe("ids, uids or names of rigs"),
  group: GroupRef.optional().describe("id or name of a group, with its subgroups; 0 = rigs without a group"),
  all: z.literal(true).optional().describe("true = all rigs"),
};

interface Targets {
  readonly rigs?: readonly (number | string)[] | undefined;
  readonly group?: number | string | undefined;
  readonly all?: true | undefined;
}

/** The rigs, once each. Throws `Advice` with every mistake. */
export async function targetsOf({ rigs, group, all }: Targets, context: ToolContext): Promise<readonly MinerRow[]> {
  if ([rigs, group, all].filter((each) => each !== undefined).length !== 1)
    throw advice("rigs", "name exactly one of rigs, group and all");
  const found = rigs === undefined ? await rowsOf(context, ["name"], { group }) : await rigsNamed(rigs, context);
  if (found.length === 0) throw advice(group === undefined ? "all" : "group", "there are no rigs");
  if (found.length > mostRigs)
    throw advice(
      group === undefined ? "all" : "group",
      `these are ${found.length} rigs, and one call acts on at most ${mostRigs}; name a smaller group, or up to ${mostNamed} rigs at once`,
    );
  return found;
}

/** One rig. Throws `Advice`, with the nearest name. */
export async function rigNamed(rig: number | string, context: ToolContext): Promise<MinerRow> {
  const index = new RigIndex(await rowsOf(context, ["name", "uid"]));
  const found = index.find(rig);
  if (typeof found === "string") throw advice("rig", found);
  return found;
}

async function rigsNamed(rigs: readonly (number | string)[], context: ToolContext): Promise<MinerRow[]> {
  const index = new RigIndex(await rowsOf(context, ["name", "uid"]));
  const found = new Map<number, MinerRow>();
  const mistakes: Mistake[] = [];
  let unnamed = 0;
  for (const [at, rig] of rigs.entries()) {
    const row = mistakes.length < namedMistakes ? index.find(rig) : (index.exact(rig) ?? "");
    if (typeof row !== "string") found.set(row.id, row);
    else if (mistakes.length < namedMistakes) mistakes.push({ path: `rigs[${at}]`, message: row });
    else unnamed += 1;
  }
  if (mistakes.length > 0) throw new Advice(mistakes, unnamed);
  return [...found.values()];
}

/** Rigs by id, uid and name; the names as clients are shown them. */
class RigIndex {
  readonly #rows = new Map<string, MinerRow>();
  readonly #named = new Map<string, MinerRow[]>();

  constructor(rows: readonly MinerRow[]) {
    for (const row of rows) {
      for (const key of [String(row.id), row.uid]) if (key !== null) this.#rows.set(key, row);
      for (const name of new Set([row.name, shownName(row.name)].map(lower))) {
        const same = this.#named.get(name);
        if (same === undefined) this.#named.set(name, [row]);
        else same.push(row);
      }
    }
  }

  exact(rig: number | string): MinerRow | undefined {
    const wanted = withoutMarks(String(rig));
    const [only, another] = this.#named.get(lower(wanted)) ?? [];
    return this.#rows.get(wanted) ?? (another === undefined ? only : undefined);
  }

  /** The rig, or why there is none. */
  find(rig: number | string): MinerRow | string {
    const wanted = withoutMarks(String(rig));
    const found = this.exact(rig);
    if (found !== undefined) return found;
    const same = this.#named.get(lower(wanted)) ?? [];
    if (same.length > 1) {
      const ids = same.slice(0, 10).map(({ id }) => id);
      return `${same.length} rigs are named ${asData(wanted)}; use an id instead: ${ids.join(", ")}`;
    }
    const meant = nearest(wanted, this.#named.keys());
    const advice = meant === undefined ? "; list_rigs lists them" : `; did you mean ${asData(meant)}?`;
    return `there is no rig ${asData(wanted)}${advice}`;
  }
}

const lower = (text: string): string => text.toLowerCase();
const shownName = (name: string): string => withoutMarks(asData(name) ?? name);

interface RowFilter {
  readonly status?: MinerRow["status"][] | undefined;
  readonly group?: number | string | undefined;
  readonly tag?: string | undefined;
}

/** The rows of all rigs that the caller sees, with the usual columns and these. */
export async function rowsOf(
  { service, caller }: ToolContext,
  fields: readonly RowColumn[],
  { status, group, tag }: RowFilter = {},
): Promise<readonly MinerRow[]> {
  const { miners } = await service.listMinerRows(
    {
      view: "list",
      fields: [...fields],
      ...(status === undefined ? {} : { status }),
      ...(group === undefined ? {} : { group: typeof group === "number" ? group : groupRef(group) }),
      ...(tag === undefined ? {} : { tag: withoutMarks(tag) }),
    },
    caller,
  );
  return miners;
}

/** A group's id may come as text. */
function groupRef(group: string): number | string {
  const name = withoutMarks(group);
  return isNumberText(name) ? Number(name) : name;
}
