import { RigbridgeError } from "../../contract/problems.ts";
import type { RunStep } from "../../contract/steps.ts";
import type { Store, Stored, StoredTemplate } from "../../store/index.ts";
import type { Action } from "../commands/actions.ts";
import { enabled, find } from "../crud.ts";

/** The list of steps that an action runs. */
export interface StepList {
  readonly kind: "template" | "manual";
  readonly id: number;
  /** Its key in texts and in the audit: its name where it has none. */
  readonly key: string;
  readonly steps: readonly RunStep[];
}

/** The template or manual rule that an action runs; null for other actions. Throws `not.found`, `nothing.to.do`. */
export function listOf({ action, template_id = 0, rule_id = 0 }: Action, store: Store): StepList | null {
  if (action !== "apply_template" && action !== "rule") return null;
  const isTemplate = action === "apply_template";
  const what = isTemplate ? "managed template" : "rule";
  const template = isTemplate ? find(store.templates, template_id, what) : null;
  const row = template ?? manualRule(rule_id, store);
  const { id, key, name } = row;
  const steps = template === null ? row.do : templateSteps(template);
  if (steps === null)
    throw new RigbridgeError(
      "nothing.to.do",
      `The ${what} ${name} has only a name; give it steps to do (nothing was done)`,
    );
  return { kind: isTemplate ? "template" : "manual", id, key: key ?? name, steps };
}

/** The managed-miner settings of a template, then its steps; null for a template that has only a name. */
export function templateSteps(template: Stored<StoredTemplate>): readonly RunStep[] | null {
  const { id, softwareType, algorithm, dualAlgorithm, commandLineParams } = template;
  const isSet = [softwareType, algorithm, dualAlgorithm, commandLineParams].some((field) => field !== null);
  return isSet ? [{ software: id }, ...(template.do ?? [])] : template.do;
}

/** By its id, or by its key, or its name where it has none. Throws `not.found` also for a rule that people cannot run. */
function manualRule(given: number | string, store: Store) {
  const rules = enabled(store.rules).filter(({ manual }) => manual);
  const found =
    rules.find(({ id }) => id === given) ??
    rules.find(({ key, definition }) => (key ?? definition?.key) === given) ??
    rules.find(({ name }) => name === given);
  return found ?? find(store.rules, -1, "rule");
}
