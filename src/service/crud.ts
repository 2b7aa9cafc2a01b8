import { notFound, RigbridgeError, thing } from "../contract/problems.ts";
import type { ActionReply } from "../contract/resources.ts";
import { detail } from "../messages/detail.ts";
import type { Collection, Stored } from "../store/index.ts";

/** The visible rows: a row that was removed from the configuration file is kept, but hidden. */
export const enabled = <T>(collection: Collection<T>): Stored<T>[] =>
  collection.all().filter(({ disabled }) => !disabled);

/** Throws `not.found`. */
export function find<T>(collection: Collection<T>, id: number, what: string): Stored<T> {
  const row = collection.get(id);
  if (row === undefined || row.disabled) throw notFound(what, id);
  return row;
}

/** A row that may be changed over the API. Throws `not.found` or `owned.by-file`. */
export function findOwn<T>(collection: Collection<T>, id: number, what: string): Stored<T> {
  const row = find(collection, id, what);
  if (row.owner === "file")
    throw new RigbridgeError("owned.by-file", detail("thing.owned", { thing: thing(what), id }));
  return row;
}

/** Throws `owned.by-centre` for what a centre has defined here. */
export function refuseOfCentre(
  { centre }: { readonly centre?: string | undefined },
  what: string,
  id: number | string,
) {
  if (centre !== undefined)
    throw new RigbridgeError("owned.by-centre", detail("thing.ofCentre", { thing: thing(what), id, centre }));
}

/** The fields of a body that are defined. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** Throws `in.use` with the names of its users. */
export function refuseInUse(what: string, users: readonly string[]): void {
  if (users.length > 0)
    throw new RigbridgeError("in.use", detail("thing.used", { what, users: users.slice(0, 5).join(", ") }));
}

/** The reply to a successful action. */
export const done = (message: string): ActionReply => ({ success: true, message });
