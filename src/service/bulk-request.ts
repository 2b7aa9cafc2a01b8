import { MinerActionQuery } from "../contract/inputs.ts";
import { type Mistake, RigbridgeError } from "../contract/problems.ts";
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
  const action = readAction(body, mistakes);
  const minerIds = [...new Set(targets(body, roster, store, eyes, mistakes))];
  if (action === null || mistakes.length > 0) throw wrong(mistakes);
  return { action, minerIds };
}

/** An action as the store keeps it. Throws `input.invalid` when this version does not take it. */
export function keptAction(kept: { readonly action: string; readonly parameters: Body["parameters"] }): Action {
  const mistakes: Mistake[] = [];
  const action = readAction(kept, mistakes);
  if (action === null) throw wrong(mistakes);
  return action;
}

const wrong = (mistakes: readonly Mistake[]): RigbridgeError => {
  const detail = mistakes.map(({ path, message }) => `${path}: ${message}`).join("; ");
  return new RigbridgeError("input.invalid", detail, { errors: mistakes });
};

const known = Object.keys(MinerActionQuery.shape).filter((name) => name !== "action");

/** The same schema as for one miner, whose parameters come as text. Null when there are mistakes. */
function readAction(
  { action, parameters }: { readonly action: string; readonly parameters: Body["parameters"] },
  mistakes: Mistake[],
): Action | null {
  const given = Object.entries(parameters);
  const unknown = given.filter(([name]) => !known.includes(name));
  const texts = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
  const { success, data, error } = MinerActionQuery.safeParse({ ...texts, action });
  mistakes.push(
    ...(error?.issues ?? []).map(({ path, message }) => ({ path: pathOf(path), message })),
    ...unknown.slice(0, namedAtMost).map(([name]) => ({
      path: `parameters.${name}`,
      message: `is not known; there are ${known.join(", ")}`,
    })),
  );
  return success && unknown.length === 0 ? data : null;
}

const pathOf = ([name]: readonly PropertyKey[]): string =>
  name === "action" ? "action" : `parameters.${String(name)}`;

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
