import type { BulkAction, BulkJob } from "../../../contract/resources.ts";

type Parameters = BulkJob["parameters"];

/** An action for some of the rigs, with the value that they get back. */
export interface GiveBack {
  readonly value: string;
  readonly parameters: Parameters;
  readonly ids: readonly number[];
}

/** How an action for many rigs is taken back. */
export interface UndoPlan {
  /** One for each former value. */
  readonly give: readonly GiveBack[];
  /** Rigs that get their former value back. */
  readonly rigs: number;
  /** Rigs that were changed, or may have been, and whose former value is not known. */
  readonly unknown: number;
}

interface Reversible {
  /** The value that the action set, as `before` writes such a value. */
  readonly set: (parameters: Parameters) => string;
  /** The parameters that set a former value. */
  readonly give: (parameters: Parameters, before: string) => Parameters;
}

/** Actions that change a setting; nothing undoes a reboot. */
const reversible: Readonly<Record<string, Reversible>> = {
  set: {
    set: ({ value }) => String(value),
    give: ({ property = "" }, value) => ({ property, value }),
  },
  set_power_limit: {
    set: ({ watts }) => String(watts),
    give: (_, value) => ({ watts: Number(value) }),
  },
  set_mode: {
    set: ({ mode }) => String(mode),
    give: (_, mode) => ({ mode }),
  },
  change_pool: {
    set: ({ pool_type = "single", pool_id }) => `${pool_type} ${pool_id}`,
    give: (_, before) => {
      const [type = "", id] = before.split(" ");
      return { pool_id: Number(id), pool_type: type };
    },
  },
  // These are of the page, which knows itself how to give back.
  group: { set: () => "", give: (_, group) => ({ group }) },
  place: { set: () => "", give: (_, place) => ({ place }) },
  tag: { set: ({ tag }) => String(tag), give: ({ tag = "" }) => ({ tag }) },
};

type Job = Pick<BulkAction, "action" | "parameters" | "dryRun" | "results">;

/** Null: there is nothing to take back, or no former value is known. */
export function undoPlan({ action, parameters, dryRun, results }: Job): UndoPlan | null {
  const kind = Object.hasOwn(reversible, action) ? reversible[action] : undefined;
  if (kind === undefined || dryRun) return null;
  const now = kind.set(parameters);
  const values = new Map<string, number[]>();
  let unknown = 0;
  for (const { minerId, state, before } of results) {
    if (state !== "done" && state !== "unknown") continue;
    if (before === null) unknown += 1;
    else if (!isSame(before, now)) values.set(before, [...(values.get(before) ?? []), minerId]);
  }
  const give = [...values].map(([value, ids]) => ({ value, ids, parameters: kind.give(parameters, value) }));
  return give.length === 0 ? null : { give, rigs: give.reduce((sum, { ids }) => sum + ids.length, 0), unknown };
}

/** "2400" and "2400.0" are one value, and "Auto" and "auto". */
const isSame = (one: string, other: string): boolean =>
  one.toLowerCase() === other.trim().toLowerCase() ||
  (one !== "" && other.trim() !== "" && Number(one) === Number(other));
