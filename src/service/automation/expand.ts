import type { RunStep } from "../../contract/steps.ts";
import type { Store, Stored } from "../../store/index.ts";
import { enabled } from "../crud.ts";

/** How deep rules may call rules, and how many steps a run may have once they are written out. */
const deepest = 5;
const mostSteps = 200;
/** s that a plug is off in a cycle. */
const cycleSeconds = 10;

/**
 * The steps of a list with those of its templates and rules in their place. A template or rule that does not exist, or
 * that is too deep, stays as it is: running it fails, and its record says why.
 */
export function expanded(steps: readonly RunStep[], store: Store): RunStep[] {
  let left = mostSteps;
  const expand = (list: readonly RunStep[], depth: number): RunStep[] =>
    list.flatMap((step) => {
      const inner = depth < deepest ? innerSteps(step, store) : null;
      // Counted before they are written out: each of 50 rules may call 50 others.
      if (inner === null || left < inner.length) return [step];
      left -= inner.length;
      return expand(inner, depth + 1);
    });
  return expand(steps, 0);
}

/** Null for a step that is none of these, and for one that names nothing. */
function innerSteps(step: RunStep, store: Store): readonly RunStep[] | null {
  if ("template" in step) return named(enabled(store.templates), step.template)?.do ?? null;
  if ("rule" in step) return ruleNamed(store, step.rule)?.do ?? null;
  if ("plug" in step && step.plug === "cycle")
    return [{ plug: "off" }, { wait: step.wait ?? cycleSeconds }, { plug: "on" }];
  return null;
}

/** Why a template or rule could not be written out. */
export function notExpanded(step: RunStep, store: Store): string | null {
  if ("template" in step)
    return named(enabled(store.templates), step.template) === undefined
      ? `There is no template ${step.template}, or there are several`
      : `The template ${step.template} has no steps, or the run has more than ${mostSteps}`;
  if ("rule" in step)
    return ruleNamed(store, step.rule) === undefined
      ? `There is no rule ${step.rule}`
      : `The rule ${step.rule} has no steps, is called more than ${deepest} rules deep, or the run has more than ${mostSteps} steps`;
  return null;
}

/** The one with this name. */
const named = <T extends { readonly name: string }>(rows: readonly T[], name: string): T | undefined => {
  const [first, second] = rows.filter((row) => row.name === name);
  return second === undefined ? first : undefined;
};

/** By its key, or by its name where it has none. */
const ruleNamed = (store: Store, key: string): Stored<{ do: readonly RunStep[] | null }> | undefined => {
  const rules = enabled(store.rules);
  return rules.find((rule) => (rule.key ?? rule.definition?.key) === key) ?? named(rules, key);
};
