import type { RunStep } from "../../contract/steps.ts";
import type { Store, Stored, StoredRule, StoredTemplate } from "../../store/index.ts";
import { templateSteps } from "./lists.ts";
import type { Naming } from "./made-lists.ts";
import { type Made, mayContain } from "./rights.ts";
import type { StepTargets } from "./step-targets.ts";

/** How deep rules may call rules, and how many steps a run may have once they are written out. */
const deepest = 5;
const mostSteps = 200;
/** s that a plug is off in a cycle. */
const cycleSeconds = 10;

/**
 * The steps of a list with those of its templates and rules in their place, each with the id of what it names. A template
 * or rule that does not exist, that is too deep or that another made stays as it is: running it fails, and its record says
 * why.
 */
export function expanded(steps: readonly RunStep[], store: Store, made: Naming, targets: StepTargets): RunStep[] {
  let left = mostSteps;
  const expand = (list: readonly RunStep[], of: Naming, depth: number): RunStep[] =>
    list.flatMap((written) => {
      const step = targets.bound(written, of);
      const inner = depth < deepest ? innerList(step, of, store, made) : null;
      // Counted before they are written out: each of 50 rules may call 50 others.
      if (inner === null || left < inner.steps.length) return [step];
      left -= inner.steps.length;
      return expand(inner.steps, inner.of, depth + 1);
    });
  return expand(steps, made, 0);
}

/** Null for a step that is none of these, and for one that names nothing that may be run. */
function innerList(step: RunStep, of: Naming, store: Store, made: Made) {
  if ("plug" in step)
    return step.plug === "cycle"
      ? { of, steps: [{ plug: "off" }, { wait: step.wait ?? cycleSeconds }, { plug: "on" }] satisfies RunStep[] }
      : null;
  const row = listNamed(step, store)?.row;
  const steps = row === undefined || !mayContain(made, row) ? null : stepsOf(row);
  return row === undefined || steps === null ? null : { of: row, steps };
}

/** Why a template or rule could not be written out. */
export function notExpanded(step: RunStep, store: Store, made: Made): string | null {
  const named = listNamed(step, store);
  if (named === null) return null;
  const { what, name, row } = named;
  if (row === undefined) return `There is no ${what} ${name}, or there are several`;
  if (!mayContain(made, row)) return `The ${what} ${name} belongs to another user`;
  if (stepsOf(row) === null) return `The ${what} ${name} has only a name`;
  return `The ${what} ${name} is called more than ${deepest} lists deep, or the run has more than ${mostSteps} steps`;
}

type ListRow = Stored<StoredRule> | Stored<StoredTemplate>;

const stepsOf = (row: ListRow): readonly RunStep[] | null => ("softwareType" in row ? templateSteps(row) : row.do);

interface NamedList {
  readonly what: "template" | "rule";
  readonly name: string;
  /** Undefined if there is none. */
  readonly row: ListRow | undefined;
}

/** The template or rule that a step means; null for a step that names none. */
function listNamed(step: RunStep, store: Store): NamedList | null {
  const { target = 0 } = step;
  const present = <T extends ListRow>(row: T | undefined): T | undefined => (row?.disabled === false ? row : undefined);
  if ("template" in step) return { what: "template", name: step.template, row: present(store.templates.get(target)) };
  return "rule" in step ? { what: "rule", name: step.rule, row: present(store.rules.get(target)) } : null;
}
