import type { TolerantReader } from "../../tolerant-reader.ts";

/** A power plan of its settings. */
export interface Plan {
  readonly level: number;
  /** It hashes nothing: its clock is "0 MHz". */
  readonly isIdle: boolean;
}

/**
 * The plans that can be selected. Sources do not agree whether `select` is the place of a plan in the list or its level, so
 * only plans count for which both are the same.
 */
export const plansOf = (setting: TolerantReader): Plan[] =>
  setting.list("powerplans", 16).flatMap((plan, index) => {
    const level = plan.integer("level");
    return level === index ? [{ level, isIdle: /^0(?:\.0*)?\s*MHz/i.test(plan.text("info") ?? "") }] : [];
  });

/** The plan in use; null while a clock was set by hand, and where it is not certain. */
export function planInUse(setting: TolerantReader): Plan | null {
  const select = setting.integer("select");
  if (setting.boolean("manual") === true || select === null) return null;
  return plansOf(setting).find(({ level }) => level === select) ?? null;
}
