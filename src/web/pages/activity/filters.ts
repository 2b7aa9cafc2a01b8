import { isNumberText } from "../../../contract/site-numbers.ts";
import type { CommandFilter } from "../../commands.ts";
import { type EntryFilters, kinds, results } from "./entries.ts";

const hourMs = 3_600_000;

/** The period of the audit, in ms; null: all of it. */
export const ages = { "1h": hourMs, "24h": 24 * hourMs, "7d": 7 * 24 * hourMs, "30d": 30 * 24 * hourMs } as const;
export type Age = keyof typeof ages;

export const isAge = (text: string): text is Age => Object.hasOwn(ages, text);

/** The filter in an address. The time is rounded to minutes, so that the same address sends the same request. */
export function filterFrom(get: (name: string) => string, now: number): CommandFilter {
  const [miner, actor, since] = [get("miner"), get("actor"), get("since")];
  const from = isAge(since) ? Math.floor((now - ages[since]) / 60_000) * 60_000 : undefined;
  return {
    ...(isNumberText(miner) ? { miner: Number(miner) } : {}),
    ...(actor === "" ? {} : { actor: actor.slice(0, 200) }),
    ...(from === undefined ? {} : { since: from }),
  };
}

/** The fields of the address that filter. */
export const filterNames = ["what", "miner", "actor", "owner", "result", "since"] as const;

/** The filters that the page applies itself; the service has applied the rig and the period. */
export const entryFilters = (get: (name: string) => string, { miner, actor, since }: CommandFilter): EntryFilters => ({
  kind: kinds.find((each) => each === get("what")) ?? null,
  miner: miner ?? null,
  actor: actor ?? "",
  owner: get("owner"),
  result: results.find((each) => each === get("result")) ?? null,
  since: since ?? 0,
});

interface Named {
  readonly id: number;
  readonly name: string;
}

/** The rig with this name or id; null if there is none, or more than one. */
export function rigNamed(text: string, rigs: Iterable<Named>): Named | null {
  const wanted = text.trim().toLowerCase();
  const found = [...rigs].filter(({ id, name }) => name.toLowerCase() === wanted || String(id) === wanted);
  return found.length === 1 ? (found[0] ?? null) : null;
}
