import type { RunStep } from "../../contract/steps.ts";
import type { Store } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { templateSteps } from "./lists.ts";
import { type Made, mayContain } from "./rights.ts";

/** How deep rules may call rules, and how many steps a run may have once they are written out. */
const deepest = 5;
const mostSteps = 200;
/** s that a plug is off in a cycle. */
const cycleSeconds = 10;

/**
 * The steps of a list with those of its templates and rules in their place. A template or rule that does not exist, that
 * is too deep or that another made stays as it is: running it fails, and its record says why.
 */
export function expanded(steps: readonly RunStep[], store: Store, made: Made): RunStep[] {
  let left = mostSteps;
  const expand = (list: readonly RunStep[], depth: number): RunStep[] =>
    list.flatMap((step) => {
      const inner = depth < deepest ? innerSteps(step, store, made) : null;
      // Counted before they are written out: each of 50 rules may call 50 others.
      if (inner === null || left < inner.length) return [step];
      left -= inner.length;
      return expand(inner, depth + 1);
    });
  return expand(steps, 0);
}

/** Null for a step that is none of these, and for one that names nothing that may be run. */
function innerSteps(step: RunStep, store: Store, made: Made): readonly RunStep[] | null {
  if ("plug" in step)
    return step.plug === "cycle" ? [{ plug: "off" }, { wait: step.wait ?? cycleSeconds }, { plug: "on" }] : null;
  const named = listNamed(step, store);
  return named?.row !== undefined && mayContain(made, named.row) ? named.row.do : null;
}

/** Why a template or rule could not be written out. */
export function notExpanded(step: RunStep, store: Store, made: Made): string | null {
  const named = listNamed(step, store);
  if (named === null) return null;
  const { what, name, row } = named;
  if (row === undefined) return `There is no ${what} ${name}, or there are several`;
  if (!mayContain(made, row)) return `The ${what} ${name} belongs to another user`;
  if (row.do === null) return `The ${what} ${name} has only a name`;
  return `The ${what} ${name} is called more than ${deepest} lists deep, or the run has more than ${mostSteps} steps`;
}

interface NamedList {
  readonly what: "template" | "rule";
  readonly name: string;
  /** Undefined if there is none, or several. */
  readonly row: (Made & { readonly do: readonly RunStep[] | null }) | undefined;
}

/** The template or rule that a step names: a rule by its key, or by its name where it has none. */
function listNamed(step: RunStep, store: Store): NamedList | null {
  if ("template" in step) {
    const template = only(enabled(store.templates), step.template);
    const row = template === undefined ? undefined : { ...template, do: templateSteps(template) };
    return { what: "template", name: step.template, row };
  }
  if (!("rule" in step)) return null;
  const rules = enabled(store.rules);
  const row = rules.find(({ key, definition }) => (key ?? definition?.key) === step.rule) ?? only(rules, step.rule);
  return { what: "rule", name: step.rule, row };
}

/** The one with this name. */
const only = <T extends { readonly name: string }>(rows: readonly T[], name: string): T | undefined => {
  const [first, second] = rows.filter((row) => row.name === name);
  return second === undefined ? first : undefined;
};
