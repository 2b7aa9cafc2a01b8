import { bulkAction } from "../../contract/inputs.ts";
import { invalidAll, type Mistake, namedMistakes } from "../../contract/problems.ts";
import type { Input } from "../../contract/service.ts";
import type { Store } from "../../store/index.ts";
import type { Action } from "../commands/actions.ts";
import { groupFinder, minersInSections, noGroup } from "../miners/groups.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import { minersInPlaces, placeFinder } from "../miners/placement.ts";
import { walkGroups } from "../nested-groups.ts";
import { placesOf } from "../places/place-book.ts";
import type { Access } from "../users/access.ts";

type Body = Input<"startBulkAction">;

/** The reported mistakes, and the number of those left out. */
interface Mistakes {
  readonly named: readonly Mistake[];
  readonly more: number;
}
const noMistakes: Mistakes = { named: [], more: 0 };

/** The action and its miners without duplicates. Throws `input.invalid` with every mistake. */
export function bulkRequest(
  body: Body,
  registry: MinerRegistry,
  store: Store,
  access: Access,
): { readonly action: Action; readonly minerIds: readonly number[] } {
  const { action, mistakes } = bulkAction(body);
  const { minerIds, mistaken } = targetsOf(body, registry, store, access);
  if (action === null || mistaken.named.length > 0) throw invalidAll([...mistakes, ...mistaken.named], mistaken.more);
  return { action: withReboot(action, body.orReboot === true), minerIds: [...new Set(minerIds)] };
}

const withReboot = (action: Action, orReboot: boolean): Action => (orReboot ? { ...action, orReboot } : action);

function targetsOf(
  { miners, groups, places }: Body,
  registry: MinerRegistry,
  store: Store,
  access: Access,
): { readonly minerIds: readonly number[]; readonly mistaken: Mistakes } {
  if (miners !== undefined) {
    const exists = (id: number) => registry.visible(id, access) !== undefined || isDisabled(id, store, access);
    return { minerIds: miners, mistaken: missing("miners", "miner", miners, exists) };
  }
  if (groups !== undefined) {
    const { ids, mistaken: absent } = groupIds(groups, store, access);
    const sections = new Map(Array.from(walkGroups(registry.sections()), ({ group }) => [group.id, group]));
    const minerIds = minersInSections([...ids].flatMap((id) => sections.get(id) ?? []));
    const empty = absent.named.length === 0 && minerIds.length === 0;
    return { minerIds, mistaken: empty ? oneMistake("groups", "these groups have no miners") : absent };
  }
  if (places !== undefined) {
    const find = placeFinder(placesOf(store), registry, access);
    const found = places.map(find);
    const named = found.flatMap((each, index) =>
      typeof each === "number" ? [] : [{ path: `places[${index}]`, ...each }],
    );
    const ids = found.filter((each) => typeof each === "number");
    const minerIds = minersInPlaces(placesOf(store).within(ids), registry, access);
    const empty = named.length === 0 && minerIds.length === 0;
    return {
      minerIds,
      mistaken: empty
        ? oneMistake("places", "these places have no miners")
        : { named: named.slice(0, namedMistakes), more: Math.max(0, named.length - namedMistakes) },
    };
  }
  const minerIds = Array.from(registry.entriesFor(access), ({ facts }) => facts.id);
  return { minerIds, mistaken: minerIds.length === 0 ? oneMistake("all", "there are no miners") : noMistakes };
}

/** The group ids without duplicates. Groups that share a name can only be given by id. */
function groupIds(groups: readonly (number | string)[], store: Store, access: Access) {
  const ids = new Set<number>();
  const named: Mistake[] = [];
  let more = 0;
  const find = groupFinder(store.groups, access);
  for (const [index, group] of groups.entries()) {
    const found = group === 0 && !access.seesGroup(0) ? noGroup(group) : find(group);
    if (typeof found === "number") ids.add(found);
    else if (named.length < namedMistakes) named.push({ path: `groups[${index}]`, ...found });
    else more += 1;
  }
  return { ids, mistaken: { named, more } };
}

const oneMistake = (path: string, message: string): Mistakes => ({ named: [{ path, message }], more: 0 });

/** Whether the miner was removed from the configuration file: its item fails, the other miners continue. */
export function isDisabled(id: number, { miners }: Store, access: Access): boolean {
  const miner = miners.get(id);
  return miner?.disabled === true && access.seesGroup(miner.groupId);
}

/** Formats messages only for the reported mistakes: there may be 100,000. */
function missing(path: string, what: string, ids: readonly number[], exists: (id: number) => boolean): Mistakes {
  const absent = ids.flatMap((id, index) => (exists(id) ? [] : [index]));
  const named = absent
    .slice(0, namedMistakes)
    .map((index) => ({ path: `${path}[${index}]`, message: `there is no ${what} ${ids[index]}` }));
  return { named, more: absent.length - named.length };
}
