import { bulkAction } from "../../contract/inputs.ts";
import { didYouMean } from "../../contract/nearest.ts";
import { invalidAll, RigbridgeError } from "../../contract/problems.ts";
import type { RunStep } from "../../contract/steps.ts";
import { detail } from "../../messages/detail.ts";
import type { Action } from "../commands/actions.ts";
import type { PoolBook } from "../money/pool-book.ts";
import type { Access } from "../users/access.ts";

interface RigStepContext {
  readonly book: PoolBook;
  readonly access: Access;
  /** W of the most profitable power; null if it is not known. */
  readonly best: ((minerId: number) => number | null) | undefined;
}

/** The action of a step; null for a step without one. Throws if a name in it does not exist. */
export function actionFor(step: RunStep, minerId: number, { book, access, best }: RigStepContext): Action | null {
  if ("software" in step) return { action: "apply_template", template_id: step.software };
  if ("set" in step) return settingFor(step.set, step.value, minerId, best);
  if ("pool" in step) return poolFor(step.pool, "single", step.target, book, access);
  if ("poolGroup" in step) return poolFor(step.poolGroup, "group", step.target, book, access);
  if (!("action" in step)) return null;
  const { action: name, orReboot, ...parameters } = step;
  const { action, mistakes } = bulkAction({ action: name, parameters, orReboot });
  if (action === null) throw invalidAll(mistakes);
  return orReboot === true ? { ...action, orReboot } : action;
}

function settingFor(
  property: string,
  value: string | number | boolean,
  minerId: number,
  best: RigStepContext["best"],
): Action {
  if (property !== "power_target" || value !== "best") return { action: "set", property, value: String(value) };
  const watts = best?.(minerId) ?? null;
  if (watts === null) throw new RigbridgeError("not.possible", detail("command.noWatts"));
  return { action: "set", property, value: String(watts) };
}

/**
 * `target`: the id resolved when the step was saved; undefined in runs of earlier versions, which have only the name.
 */
function poolFor(
  name: string,
  type: "single" | "group",
  target: number | undefined,
  book: PoolBook,
  access: Access,
): Action {
  const listed = book.addList(access).filter((entry) => entry.type === type);
  const [found, another] = listed.filter((entry) =>
    target === undefined ? entry.name === name : entry.id === String(target),
  );
  const what = type === "single" ? "pool" : "pool group";
  if (found === undefined) {
    const names = listed.map((entry) => entry.name);
    throw new RigbridgeError("not.found", `There is no ${what} "${name}"${didYouMean(name, names)}`);
  }
  if (another !== undefined) throw new RigbridgeError("not.possible", `Several ${what}s are called "${name}"`);
  return { action: "change_pool", pool_id: Number(found.id), pool_type: type };
}
