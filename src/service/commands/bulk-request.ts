import { bulkAction } from "../../contract/inputs.ts";
import { invalidAll, type Mistake, namedMistakes, RigbridgeError } from "../../contract/problems.ts";
import type { Input } from "../../contract/service.ts";
import type { Store } from "../../store/index.ts";
import { groupFinder, minersInSections } from "../miners/groups.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import { walkGroups } from "../nested-groups.ts";
import type { Access } from "../users/access.ts";
import type { Action } from "./actions.ts";

type Body = Input<"startBulkAction">;

/** What is wrong: what can be named, and how many more. */
interface Wrong {
  readonly named: readonly Mistake[];
  readonly more: number;
}
const nothing: Wrong = { named: [], more: 0 };

/** What is asked for, and of which miners, each once. Throws `input.invalid` with all that is wrong. */
export function bulkRequest(
  body: Body,
  registry: MinerRegistry,
  store: Store,
  access: Access,
): { readonly action: Action; readonly minerIds: readonly number[] } {
  const { action, mistakes } = bulkAction(body);
  const { minerIds, wrong } = targets(body, registry, store, access);
  if (action === null || wrong.named.length > 0) throw invalidAll([...mistakes, ...wrong.named], wrong.more);
  return { action: withReboot(action, body.orReboot === true), minerIds: [...new Set(minerIds)] };
}

interface KeptAction {
  readonly action: string;
  readonly parameters: Body["parameters"];
}

/** An action as the store keeps it: what it takes beside its parameters stands among them. */
export const actionToKeep = ({ action, parameters, orReboot }: Body): KeptAction => ({
  action,
  parameters: orReboot ? { ...parameters, orReboot } : parameters,
});

/** The action that the store has kept. Throws `input.invalid` when this version does not take it. */
export function keptAction({ action: name, parameters: { orReboot, ...parameters } }: KeptAction): Action {
  const { action, mistakes } = bulkAction({ action: name, parameters });
  if (action === null) throw invalidAll(mistakes);
  return withReboot(action, orReboot === true);
}

const withReboot = (action: Action, orReboot: boolean): Action => (orReboot ? { ...action, orReboot } : action);

function targets(
  { miners, groups }: Body,
  registry: MinerRegistry,
  store: Store,
  access: Access,
): { readonly minerIds: readonly number[]; readonly wrong: Wrong } {
  if (miners !== undefined) {
    const isThere = (id: number) => registry.visible(id, access) !== undefined || isDisabled(id, store, access);
    return { minerIds: miners, wrong: missing("miners", "miner", miners, isThere) };
  }
  if (groups !== undefined) {
    const { ids, wrong: absent } = groupIds(groups, store, access);
    const sections = new Map(Array.from(walkGroups(registry.sections()), ({ group }) => [group.id, group]));
    const minerIds = minersInSections([...ids].flatMap((id) => sections.get(id) ?? []));
    const empty = absent.named.length === 0 && minerIds.length === 0;
    return { minerIds, wrong: empty ? wrongly("groups", "there is no miner in them") : absent };
  }
  const minerIds = Array.from(registry.entriesFor(access), ({ facts }) => facts.id);
  return { minerIds, wrong: minerIds.length === 0 ? wrongly("all", "there is no miner") : nothing };
}

/** The groups that are named, each once. Those of one name are told apart by their ids only. */
function groupIds(groups: readonly (number | string)[], store: Store, access: Access) {
  const ids = new Set<number>();
  const named: Mistake[] = [];
  let more = 0;
  const find = groupFinder(store.groups, access);
  for (const [index, group] of groups.entries()) {
    const path = `groups[${index}]`;
    const id = group === 0 && !access.seesGroup(0) ? noGroup(path) : orMistake(() => find(group, path));
    if (typeof id === "number") ids.add(id);
    else if (named.length < namedMistakes) named.push(id);
    else more += 1;
  }
  return { ids, wrong: { named, more } };
}

const noGroup = (path: string): Mistake => ({ path, message: "there is no group 0" });

function orMistake(find: () => number): number | Mistake {
  try {
    return find();
  } catch (error) {
    const [mistake] = error instanceof RigbridgeError ? error.errors : [];
    if (mistake === undefined) throw error;
    return mistake;
  }
}

const wrongly = (path: string, message: string): Wrong => ({ named: [{ path, message }], more: 0 });

/** The configuration file does not declare it any more: it fails by itself, and holds up nothing. */
export function isDisabled(id: number, { miners }: Store, access: Access): boolean {
  const miner = miners.get(id);
  return miner?.disabled === true && access.seesGroup(miner.groupId);
}

/** Put into words as far as they are named: there may be 100,000. */
function missing(path: string, what: string, ids: readonly number[], isThere: (id: number) => boolean): Wrong {
  const absent = ids.flatMap((id, index) => (isThere(id) ? [] : [index]));
  const named = absent
    .slice(0, namedMistakes)
    .map((index) => ({ path: `${path}[${index}]`, message: `there is no ${what} ${ids[index]}` }));
  return { named, more: absent.length - named.length };
}
