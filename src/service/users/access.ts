import { type OperationName, operations } from "../../contract/operations.ts";
import { notFound, RigbridgeError } from "../../contract/problems.ts";
import { type Privilege, privileges } from "../../contract/resources.ts";
import type { Caller } from "../../contract/service.ts";
import type { Store, Stored, StoredUser } from "../../store/index.ts";

/** What somebody may see and do. A filter, not a proof: who has the service's own key may look through anyone's eyes. */
export interface Access {
  readonly privilege: Privilege;
  /** Sees all miners and all pools, and what belongs to the service as a whole. */
  readonly all: boolean;
  /** 0 = the miners in no group. */
  seesGroup(groupId: number): boolean;
  seesPool(poolId: number): boolean;
}

/** Whether these eyes are those of somebody who may tell miners what to do. */
export const mayAct = ({ privilege }: Access): boolean => privilege !== "view";

const everything: Access = { privilege: "administrator", all: true, seesGroup: () => true, seesPool: () => true };

const atLeast = (privilege: Privilege, needed: Privilege): boolean =>
  privileges.indexOf(privilege) >= privileges.indexOf(needed);

/** Who may see and do what. A user who sees a group sees those inside it too. */
export class AccessBook {
  readonly #store: Store;
  readonly #known = new Map<number, { readonly user: Stored<StoredUser>; readonly access: Access }>();
  /** The same sights with fewer rights: what is kept for an access is kept for each of these too. */
  readonly #limited = new WeakMap<Access, Map<Privilege, Access>>();
  #groups: unknown;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Throws `not.found` for a user that there is not: an unknown user is never everybody. */
  of({ userId, privilege }: Caller): Access {
    const access = userId === undefined ? everything : this.#ofUser(userId);
    return privilege === undefined || atLeast(privilege, access.privilege) ? access : this.#limit(access, privilege);
  }

  #limit(access: Access, privilege: Privilege): Access {
    const known = this.#limited.get(access) ?? new Map<Privilege, Access>();
    this.#limited.set(access, known);
    const limited = known.get(privilege) ?? { ...access, privilege };
    known.set(privilege, limited);
    return limited;
  }

  #ofUser(userId: number): Access {
    const user = this.#store.users.get(userId);
    if (user === undefined || user.disabled) throw notFound("user", userId);
    const groups = this.#store.groups.all();
    if (this.#groups !== groups) this.#known.clear();
    this.#groups = groups;
    const known = this.#known.get(userId);
    if (known?.user === user) return known.access;
    const access = this.#accessOf(user);
    this.#known.set(userId, { user, access });
    return access;
  }

  /** Throws `not.found` for an unknown user, `user.forbidden` for what this one may not do. */
  check(name: OperationName, caller: Caller): void {
    const access = this.of(caller);
    const needed = operations[name].access;
    if (!atLeast(access.privilege, needed.privilege))
      throw new RigbridgeError(
        "user.forbidden",
        `This user may ${may[access.privilege]}; this takes the privilege ${needed.privilege}`,
      );
    if (needed.scope === "all") needsAll(access);
  }

  #accessOf({ privilege, groups, pools }: Stored<StoredUser>): Access {
    const seen = groups === null ? null : this.#withInner(groups);
    const seenPools = pools === null ? null : new Set(pools);
    return {
      privilege,
      all: seen === null && seenPools === null,
      seesGroup: (groupId) => seen === null || seen.has(groupId),
      seesPool: (poolId) => seenPools === null || seenPools.has(poolId),
    };
  }

  #withInner(groups: readonly number[]): ReadonlySet<number> {
    const all = this.#store.groups.all().filter(({ disabled }) => !disabled);
    const seen = new Set(groups);
    for (let size = 0; size !== seen.size; ) {
      size = seen.size;
      for (const { id, parentId } of all) if (seen.has(parentId)) seen.add(id);
    }
    return seen;
  }
}

const may: Readonly<Record<Privilege, string>> = {
  view: "only look",
  control: "look and tell miners what to do",
  administrator: "do everything",
};

/** For what belongs to the service as a whole. Throws `user.forbidden`. */
export function needsAll(access: Access): void {
  if (!access.all) throw new RigbridgeError("user.forbidden", "This takes a user who sees all groups and pools");
}
