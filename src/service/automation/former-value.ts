import { RigbridgeError } from "../../contract/problems.ts";
import type { Store } from "../../store/index.ts";
import type { Action } from "../commands/actions.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { PoolBook } from "../money/pool-book.ts";
import type { Access } from "../users/access.ts";

export interface FormerContext {
  readonly book: Pick<PoolBook, "definition" | "logins">;
  readonly store: Pick<Store, "managedMiners">;
  readonly access: Access;
}

/**
 * What a miner has, by its last reading, of the setting that an action changes: the value of a control, or the pool as
 * `single 3` or `group 3`. Null if that is not known, or if the action is not one that a former value would undo.
 */
export function formerValue(action: Action, { facts, rig }: Entry, context: FormerContext): string | null {
  if (action.action === "change_pool") return formerPool(facts.id, rig, context);
  const key = controlOf(action);
  const control = rig.state.reading?.controls.find((each) => each.key === key);
  return control === undefined || control.kind === "trigger" || control.value === null ? null : String(control.value);
}

/** Whether a former value would undo this action: only then are rigs looked at. */
export const hasFormerValue = (action: Action): boolean =>
  action.action === "change_pool" || controlOf(action) !== undefined;

function controlOf({ action, property }: Action): string | undefined {
  if (action === "set") return property;
  return action === "set_power_limit" ? "power_limit" : action === "set_mode" ? "mode" : undefined;
}

/** Only a pool that would bring back the same login. */
function formerPool(id: number, rig: Entry["rig"], { book, store, access }: FormerContext): string | null {
  const managed = store.managedMiners.get(id);
  if (managed !== undefined)
    return managed.poolId === 0 ? null : `${managed.isPoolGroup ? "group" : "single"} ${managed.poolId}`;
  const active = rig.state.reading?.pools.find((pool) => pool.active);
  const known = active === undefined ? undefined : book.definition(active.url, active.worker);
  if (active === undefined || known === undefined) return null;
  try {
    const [login] = book.logins(known.id, "single", access);
    return login?.worker === active.worker ? `single ${known.id}` : null;
  } catch (error) {
    if (error instanceof RigbridgeError) return null;
    throw error;
  }
}
