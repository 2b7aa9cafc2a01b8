import type { RunStep } from "../../contract/steps.ts";
import type { Store, Stored, StoredRule, StoredTemplate } from "../../store/index.ts";
import { templateSteps } from "./lists.ts";
import type { Naming } from "./made-lists.ts";
import { type Made, mayContain } from "./rights.ts";
import type { StepTargets } from "./step-targets.ts";

/** How deep rules may call rules, and how many steps an expanded run may have. */
const deepest = 5;
const mostSteps = 200;
/** Seconds that a plug stays off in a cycle. */
const cycleSeconds = 10;

/**
 * The steps of a list, with each template and rule replaced by its own steps, and each name by its id. A template or
 * rule that does not exist, is nested too deeply or belongs to another user is left as it is: that step fails, and its
 * record says why.
 */
export function expanded(steps: readonly RunStep[], store: Store, made: Naming, targets: StepTargets): RunStep[] {
  let left = mostSteps;
  const expand = (list: readonly RunStep[], of: Naming, depth: number): RunStep[] =>
    list.flatMap((written) => {
      const step = targets.bound(written, of);
      const inner = depth < deepest ? innerList(step, of, store, made) : null;
      // Counted before expansion: each of 50 rules may call 50 others.
      if (inner === null || left < inner.steps.length) return [step];
      left -= inner.steps.length;
      return expand(inner.steps, inner.of, depth + 1);
    });
  return expand(steps, made, 0);
}

/** Null for a step that calls no list, and for one whose target may not be run. */
function innerList(step: RunStep, of: Naming, store: Store, made: Made) {
  if ("plug" in step)
    return step.plug === "cycle"
      ? { of, steps: [{ plug: "off" }, { wait: step.wait ?? cycleSeconds }, { plug: "on" }] satisfies RunStep[] }
      : null;
  const row = listNamed(step, store)?.row;
  const steps = row === undefined || !mayContain(made, row) ? null : stepsOf(row);
  return row === undefined || steps === null ? null : { of: row, steps };
}

/** Why a template or rule could not be expanded. */
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
  /** Undefined if it does not exist. */
  readonly row: ListRow | undefined;
}

/** The template or rule that a step names; null if it names none. */
function listNamed(step: RunStep, store: Store): NamedList | null {
  const { target = 0 } = step;
  const present = <T extends ListRow>(row: T | undefined): T | undefined => (row?.disabled === false ? row : undefined);
  if ("template" in step) return { what: "template", name: step.template, row: present(store.templates.get(target)) };
  return "rule" in step ? { what: "rule", name: step.rule, row: present(store.rules.get(target)) } : null;
}
