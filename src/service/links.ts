import type { RunStep } from "../contract/steps.ts";

/**
 * The kinds of names in steps and rules. Channels are not among them: their keys are unique, and only users with access
 * to everything add any.
 */
export type NamedKind = "rule" | "inhibitor" | "template" | "pool" | "poolGroup";

export interface Named {
  readonly kind: NamedKind;
  readonly name: string;
}

/**
 * The ids of the names in a rule, schedule or template, by kind and name, resolved when it was saved; 0 for a name
 * without a target. Giving a name to something else later changes nothing.
 */
export type Links = Readonly<Record<string, number>>;

export const linkKey = ({ kind, name }: Named): string => `${kind} ${name}`;

/** The name in a step; null if it has none. */
export function namedBy(step: RunStep): Named | null {
  if ("rule" in step) return { kind: "rule", name: step.rule };
  if ("template" in step) return { kind: "template", name: step.template };
  if ("pool" in step) return { kind: "pool", name: step.pool };
  return "poolGroup" in step ? { kind: "poolGroup", name: step.poolGroup } : null;
}

/** Whether something is the target of a name. */
export const isLinked = (
  { links = {} }: { readonly links?: Links | undefined },
  kind: NamedKind,
  id: number,
): boolean => Object.entries(links).some(([key, each]) => each === id && key.startsWith(`${kind} `));
