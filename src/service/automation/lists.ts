import { notFound, RigbridgeError } from "../../contract/problems.ts";
import type { RunStep } from "../../contract/steps.ts";
import type { Store, Stored, StoredRule, StoredTemplate } from "../../store/index.ts";
import type { Action } from "../commands/actions.ts";
import { find } from "../crud.ts";
import type { Access } from "../users/access.ts";
import { ownFirst } from "./rights.ts";
import { keyOf } from "./rule-rows.ts";
import type { UsableLists } from "./usable-lists.ts";

/** The list of steps that an action runs. */
export interface StepList {
  readonly kind: "template" | "manual";
  readonly id: number;
  /** Its key in texts and in the audit; without a key, its name. */
  readonly key: string;
  readonly steps: readonly RunStep[];
}

/**
 * The template or manual rule that an action runs, of those that the caller can use; null for other actions. Throws
 * `not.found`, `nothing.to.do`.
 */
export function listOf(
  { action, template_id = 0, rule_id = 0 }: Action,
  store: Store,
  usable: UsableLists,
  access: Access,
): StepList | null {
  if (action !== "apply_template" && action !== "rule") return null;
  const isTemplate = action === "apply_template";
  const what = isTemplate ? "managed template" : "rule";
  const template = isTemplate ? find(store.templates, template_id, what) : null;
  if (template !== null && !usable.template(template, access)) throw notFound(what, template_id);
  const row = template ?? manualRule(rule_id, usable.manualRules(access), access);
  const { id, key, name } = row;
  const steps = template === null ? row.do : templateSteps(template);
  if (steps === null)
    throw new RigbridgeError(
      "nothing.to.do",
      `The ${what} ${name} has only a name; give it steps to do (nothing was done)`,
    );
  return { kind: isTemplate ? "template" : "manual", id, key: key ?? name, steps };
}

/** The managed-miner settings of a template, then its steps; null for an empty template. */
export function templateSteps(template: Stored<StoredTemplate>): readonly RunStep[] | null {
  const { id, softwareType, algorithm, dualAlgorithm, commandLineParams } = template;
  const isSet = [softwareType, algorithm, dualAlgorithm, commandLineParams].some((field) => field !== null);
  return isSet ? [{ software: id }, ...(template.do ?? [])] : template.do;
}

/**
 * Finds a rule by id, key, or (without a key) name. Of several matches, the caller's own comes first, then the file's
 * or the owner's. Throws `not.found`, also for a rule that cannot be run by hand.
 */
function manualRule(given: number | string, rules: readonly Stored<StoredRule>[], access: Access): Stored<StoredRule> {
  const ranked = ownFirst(rules, access);
  const found =
    ranked.find(({ id }) => id === given) ??
    ranked.find((row) => keyOf(row) === given) ??
    ranked.find(({ name }) => name === given);
  if (found === undefined) throw notFound("rule", given);
  return found;
}
