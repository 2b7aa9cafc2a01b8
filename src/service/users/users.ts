import { createHash } from "node:crypto";
import { invalidAll, type Mistake, mistake, notFound, thing } from "../../contract/problems.ts";
import type { User } from "../../contract/resources.ts";
import type { Caller, Input, KeyHolder, MiningService } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";
import type { Collection, Store, Stored, StoredUser } from "../../store/index.ts";
import { done, enabled, findOwn, given } from "../crud.ts";
import type { AccessBook } from "./access.ts";

type UserOperations = Pick<MiningService, "getUser" | "listUsers" | "saveUser" | "deleteUser">;

export interface UserContext {
  readonly store: Store;
  readonly accessBook: AccessBook;
  /** The service's own key, which no user may have. */
  readonly serviceKey: () => string | undefined;
  /** Called when the access of a user has changed. */
  readonly changed: () => void;
}

/** Users: callers with access to everything see all users, others only themselves. */
export function userOperations({ store, accessBook, serviceKey, changed }: UserContext): UserOperations {
  const { users } = store;
  const visible = (caller: Caller): Stored<StoredUser>[] =>
    enabled(users).filter(({ id }) => id === caller.userId || accessBook.of(caller).all);
  const presentUser = (user: Stored<StoredUser>): User => ({
    id: user.id,
    name: user.name,
    privilege: user.privilege,
    groups: presentIds(user.groups, store.groups),
    pools: presentIds(user.pools, store.pools),
    hasKey: user.keyHash !== null,
    ...(user.centre === true ? { centre: true } : {}),
    ...(user.owner === "file" ? { owner: user.owner } : {}),
  });
  return {
    getUser: async ({ username }, caller) => {
      const user = userNamed(visible(caller), username);
      if (user === undefined) throw notFound("user", username);
      return { userId: user.id };
    },
    listUsers: async (_input, caller) => visible(caller).map(presentUser),
    saveUser: async (body) => {
      const existing = body.id === 0 ? undefined : findOwn(users, body.id, "user");
      const mistakes = mistakesIn(body, store, serviceKey());
      if (mistakes.length > 0) throw invalidAll(mistakes);
      const fields = fieldsOf(body);
      const saved =
        existing === undefined ? await users.add({ ...newUser, ...fields }) : await users.change(existing.id, fields);
      changed();
      return presentUser(saved);
    },
    deleteUser: async ({ id }) => {
      const user = findOwn(users, id, "user");
      await users.remove(id);
      changed();
      return done(`User ${user.name} removed`);
    },
  };
}

/** Finds users by the SHA-256 of their key, in hex. */
export function keyHolders({ users }: Store): (digest: string) => KeyHolder | undefined {
  let indexed: unknown;
  let holders: ReadonlyMap<string, KeyHolder> = new Map();
  return (digest) => {
    if (indexed !== users.all()) {
      indexed = users.all();
      holders = holdersOf(enabled(users));
    }
    return holders.get(digest);
  };
}

/**
 * Adds the user's name for the audit: the access of a user, used by a front end, does not prove that the user acted.
 */
export const withUserName =
  ({ users }: Store) =>
  (caller: Caller): Caller => {
    const user = caller.userId === undefined ? undefined : users.get(caller.userId);
    return user === undefined || user.name === caller.actor
      ? caller
      : { ...caller, actor: `${caller.actor} for ${user.name}` };
  };

/**
 * Removes a deleted group or pool from every user's list. An empty list gives access to nothing; it never becomes null,
 * which gives access to everything.
 */
export async function forgetFor({ users }: Store, list: "groups" | "pools", id: number): Promise<void> {
  for (const user of users.all()) {
    const ids = user[list];
    if (ids?.includes(id)) await users.change(user.id, { [list]: ids.filter((each) => each !== id) });
  }
}

/** Of two users with one name or key, the file's takes precedence over the API's. */
const fileFirst = (users: readonly Stored<StoredUser>[]): Stored<StoredUser>[] =>
  users.toSorted((a, b) => Number(b.owner === "file") - Number(a.owner === "file"));

const userNamed = (users: readonly Stored<StoredUser>[], wanted: string): Stored<StoredUser> | undefined =>
  fileFirst(users).find(({ name }) => name === wanted);

function holdersOf(users: readonly Stored<StoredUser>[]): Map<string, KeyHolder> {
  const holders = new Map<string, KeyHolder>();
  for (const { id, name, keyHash, centre } of fileFirst(users))
    if (keyHash !== null && !holders.has(keyHash))
      holders.set(keyHash, { id, name, ...(centre === true ? { centre } : {}) });
  return holders;
}

/** The defaults of a new user. */
const newUser: StoredUser = { name: "", keyHash: null, privilege: "view", groups: null, pools: null };

function fieldsOf({ name, key, privilege, groups, pools, centre }: Input<"saveUser">): Partial<StoredUser> {
  return given({
    name,
    keyHash: key === undefined || key === null ? key : digestOf(key),
    privilege,
    groups: groups && [...new Set(groups)],
    pools: pools && [...new Set(pools)],
    centre,
  });
}

/** The mistakes that schemas cannot find. Keys of removed users count: they may come back. */
function mistakesIn({ id, ...body }: Input<"saveUser">, store: Store, serviceKey: string | undefined): Mistake[] {
  const { name, key, groups, pools } = body;
  const others = store.users.all().filter((user) => user.id !== id);
  const keyHash = key === undefined || key === null ? null : digestOf(key);
  const keyTaken = keyHash !== null && others.some((user) => user.keyHash === keyHash);
  return [
    ...(name === undefined && id === 0 ? [{ path: "name", message: "is required" }] : []),
    ...(others.some((user) => !user.disabled && user.name === name)
      ? [{ path: "name", message: "is the name of another user" }]
      : []),
    ...(keyTaken || (key !== undefined && key !== null && key === serviceKey)
      ? [{ path: "key", message: "is in use already; choose another" }]
      : []),
    ...unknownIds("groups", "group", groups, store.groups),
    ...unknownIds("pools", "pool", pools, store.pools),
  ];
}

const unknownIds = (
  path: string,
  what: string,
  ids: readonly number[] | null | undefined,
  rows: Collection<unknown>,
): Mistake[] =>
  (ids ?? []).flatMap((id, index) =>
    isPresent(rows, id) ? [] : [mistake(`${path}[${index}]`, detail("input.noThing", { thing: thing(what), id }))],
  );

const presentIds = (ids: readonly number[] | null, rows: Collection<unknown>): number[] | null =>
  ids?.filter((id) => isPresent(rows, id)) ?? null;

const isPresent = (rows: Collection<unknown>, id: number): boolean => rows.get(id)?.disabled === false;

const digestOf = (key: string): string => createHash("sha256").update(key).digest("hex");
