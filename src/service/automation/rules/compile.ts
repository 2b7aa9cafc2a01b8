import type { ExpressionContext } from "../../../config/expressions.ts";
import type { ResolvedRule } from "../../../config/rule-resolution.ts";
import {
  type Condition,
  conditionsIn,
  type Entry,
  isInner,
  isMomentary,
  isOfFarm,
} from "../../../contract/rule-conditions.ts";
import { kindOf, needsMiner, type RunStep } from "../../../contract/steps.ts";
import { compileCondition, type Input, type Subject, type Surroundings, type Test, type Value } from "./conditions.ts";
import type { ExpressionMeter } from "./expression-meter.ts";
import type { Truth } from "./machine.ts";

/** The values of a miner in expressions. */
export interface ExpressionNames {
  names(subject: Subject, rule: { readonly key: string; readonly name: string }): ExpressionContext;
}

export interface Explained {
  readonly condition: string;
  readonly value: Value;
  readonly holds: Truth;
}

/** The conditions of a rule as closures. */
export interface CompiledConditions {
  readonly conditions: readonly Condition[];
  /** The rule fires for a moment and clears at once. */
  readonly momentary: boolean;
  /** The rule concerns no single miner. */
  readonly ofFarm: boolean;
  test(subject: Subject, active: boolean): Truth;
  explain(subject: Subject, active: boolean): Explained[];
  /** The inputs in a rig's state; null: the rule also depends on other things. */
  readonly inputs: readonly Input[] | null;
}

/** `where` evaluates the expression of the rule; null without an expression, or in a trial without it. */
export function compileConditions(
  rule: ResolvedRule,
  around: Surroundings & ExpressionNames,
  where: ExpressionMeter | null,
): CompiledConditions | null {
  const { when } = rule;
  if (when === undefined) return null;
  const conditions = conditionsIn(when);
  const tests: Test[] = [];
  const compiled = (condition: Condition): Test => {
    const test = compileCondition(condition, around);
    tests.push(test);
    return test;
  };
  const whole = when.all === undefined ? or((when.any ?? []).map(tree)) : and(when.all.map(tree));
  function tree(entry: Entry): Pick<Test, "test"> {
    if (!isInner(entry)) return compiled(entry);
    return entry.all === undefined ? or((entry.any ?? []).map(compiled)) : and(entry.all.map(compiled));
  }
  const expression = (subject: Subject): Truth => where?.test(subject.id, () => around.names(subject, rule)) ?? null;
  const explained = (condition: string, subject: Subject): Explained => {
    const holds = expression(subject);
    return { condition, value: where?.stopped ?? null, holds };
  };
  const test = (subject: Subject, active: boolean): Truth => {
    const found = whole.test(subject, active);
    if (where === null || found === false) return found;
    const rest = expression(subject);
    return rest === false ? false : found === null ? null : rest;
  };
  const inputs = tests.map((each) => each.inputs);
  return {
    conditions,
    momentary: conditions.some(isMomentary),
    // An expression may use the miner.
    ofFarm: where === null && conditions.every(isOfFarm),
    test,
    explain: (subject, active) => [
      ...tests.map((each) => ({ condition: each.text, value: each.value(subject), holds: each.test(subject, active) })),
      ...(when.where === undefined ? [] : [explained(when.where, subject)]),
    ],
    inputs: where !== null || inputs.includes(null) ? null : inputs.flatMap((each) => each ?? []),
  };
}

type Part = Pick<Test, "test">;

/** Unknown if no part is false and some are unknown. */
const and = (parts: readonly Part[]): Part => ({
  test: (subject, active) => {
    let found: Truth = true;
    for (const part of parts) {
      const truth = part.test(subject, active);
      if (truth === false) return false;
      if (truth === null) found = null;
    }
    return found;
  },
});

/** Unknown if no part is true and some are unknown. */
const or = (parts: readonly Part[]): Part => ({
  test: (subject, active) => {
    let found: Truth = false;
    for (const part of parts) {
      const truth = part.test(subject, active);
      if (truth === true) return true;
      if (truth === null) found = null;
    }
    return found;
  },
});

/** Whether a list of steps changes rigs; a `rule` step counts as changing them. */
export const actsOnRigs = (steps: readonly RunStep[]): boolean =>
  steps.some((step) => needsMiner(step) || kindOf(step) === "rule");

/** Whether a rule only reports offline rigs, as the service does anyway. */
export const reportsAbsence = ({ when, do: steps = [] }: Pick<ResolvedRule, "when" | "do">): boolean =>
  when !== undefined &&
  when.where === undefined &&
  conditionsIn(when).every((condition) => "offline" in condition && condition.offline) &&
  steps.every((step) => "notify" in step);

/** A short description of a step, without texts and addresses, which may hold secrets. */
export function stepText(step: RunStep): string {
  const kind = kindOf(step);
  if ("set" in step) return `set ${step.set} to ${String(step.value)}`;
  if ("action" in step) return step.action;
  if ("webhook" in step) return `webhook ${new URL(step.webhook).host}`;
  if ("run" in step) return `run ${step.run[0] ?? ""}`;
  if ("plug" in step) return `plug ${step.plug}`;
  const value: unknown = Reflect.get(step, kind);
  return `${kind} ${String(value)}`;
}
