import { bulkAction } from "../contract/inputs.ts";
import { invalidAll, type Mistake } from "../contract/problems.ts";
import type { Input } from "../contract/service.ts";
import type { Store } from "../store/index.ts";
import type { Access } from "./access.ts";
import type { Action } from "./actions.ts";
import type { Roster } from "./roster.ts";
import type { GroupSection } from "./views.ts";

type Body = Input<"startBulkAction">;

/** Of a long list of ids or parameters that are not there so many are named. */
const namedAtMost = 20;

/** What is asked for, and of which miners, each once. Throws `input.invalid` with all that is wrong. */
export function bulkRequest(
  body: Body,
  roster: Roster,
  store: Store,
  eyes: Access,
): { readonly action: Action; readonly minerIds: readonly number[] } {
  const mistakes: Mistake[] = [];
  const { action, mistakes: parameterMistakes } = bulkAction(body);
  const minerIds = [...new Set(targets(body, roster, store, eyes, mistakes))];
  if (action === null || mistakes.length > 0) throw invalidAll([...parameterMistakes, ...mistakes]);
  return { action, minerIds };
}

/** An action as the store keeps it. Throws `input.invalid` when this version does not take it. */
export function keptAction(kept: { readonly action: string; readonly parameters: Body["parameters"] }): Action {
  const { action, mistakes } = bulkAction(kept);
  if (action === null) throw invalidAll(mistakes);
  return action;
}

function targets({ miners, groups }: Body, roster: Roster, store: Store, eyes: Access, mistakes: Mistake[]): number[] {
  if (miners !== undefined) {
    const isThere = (id: number) => roster.seen(id, eyes) !== undefined || isDisabled(id, store, eyes);
    mistakes.push(...missing("miners", "miner", miners, isThere));
    return [...miners];
  }
  if (groups !== undefined) {
    const isThere = (id: number) => eyes.seesGroup(id) && (id === 0 || store.groups.get(id)?.disabled === false);
    const absent = missing("groups", "group", groups, isThere);
    const sections = allSections(roster.sections());
    const found = groups.flatMap((id) => sections.filter((each) => each.id === id).flatMap(minersIn));
    if (absent.length === 0 && found.length === 0)
      mistakes.push({ path: "groups", message: "there is no miner in them" });
    mistakes.push(...absent);
    return found;
  }
  const all = Array.from(roster.entriesFor(eyes), ({ facts }) => facts.id);
  if (all.length === 0) mistakes.push({ path: "all", message: "there is no miner" });
  return all;
}

/** The configuration file does not declare it any more: it fails by itself, and holds up nothing. */
export function isDisabled(id: number, { miners }: Store, eyes: Access): boolean {
  const miner = miners.get(id);
  return miner?.disabled === true && eyes.seesGroup(miner.groupId);
}

function missing(
  path: string,
  what: string,
  ids: readonly number[],
  isThere: (id: number) => boolean,
): readonly Mistake[] {
  const absent = ids.flatMap((id, index) =>
    isThere(id) ? [] : [{ path: `${path}[${index}]`, message: `there is no ${what} ${id}` }],
  );
  const more = absent.length - namedAtMost;
  if (more <= 0) return absent;
  return [...absent.slice(0, namedAtMost), { path, message: `${more} more are not there` }];
}

const allSections = (sections: readonly GroupSection[]): GroupSection[] =>
  sections.flatMap((section) => [section, ...allSections(section.groups)]);

const minersIn = ({ minerIds, groups }: GroupSection): number[] => [...minerIds, ...groups.flatMap(minersIn)];
