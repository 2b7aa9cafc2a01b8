import { type OperationAccess, type OperationName, operations } from "../../contract/operations.ts";
import { notFound, RigbridgeError } from "../../contract/problems.ts";
import { type Privilege, privileges } from "../../contract/resources.ts";
import type { Caller } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, Stored, StoredUser } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { withInnerGroups } from "../nested-groups.ts";

/** What a caller may see and do. Not proof of identity: the holder of the service's key may use any user's access. */
export interface Access {
  readonly privilege: Privilege;
  /** Includes all miners and all pools, and everything that belongs to the service as a whole. */
  readonly all: boolean;
  /** Null: no single user. */
  readonly userId: number | null;
  /** 0: the miners in no group. */
  seesGroup(groupId: number): boolean;
  seesPool(poolId: number): boolean;
}

/** Whether this access allows commands to miners. */
export const mayAct = ({ privilege }: Access): boolean => privilege !== "view";

/** Whether this access allows an operation with at least some input. */
export const mayCall = ({ privilege, all }: Access, name: OperationName): boolean => {
  const needed = operations[name].access;
  return atLeast(privilege, needed.privilege) && (all || needed.scope === "visible");
};

const everything: Access = {
  privilege: "administrator",
  all: true,
  userId: null,
  seesGroup: () => true,
  seesPool: () => true,
};

const atLeast = (privilege: Privilege, needed: Privilege): boolean =>
  privileges.indexOf(privilege) >= privileges.indexOf(needed);

/** The access of each caller. A user who sees a group also sees its subgroups. */
export class AccessBook {
  readonly #store: Store;
  readonly #cached = new Map<number, { readonly user: Stored<StoredUser>; readonly access: Access }>();
  /** Each access with lower privileges: one object each, since caches are kept per access. */
  readonly #limited = new WeakMap<Access, Map<Privilege, Access>>();
  #groups: unknown;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Throws `not.found` for an unknown user, who never gets the access of the owner. */
  of({ userId, privilege }: Caller): Access {
    const access = userId === undefined ? everything : this.#ofUser(userId);
    return privilege === undefined || atLeast(privilege, access.privilege) ? access : this.#limit(access, privilege);
  }

  /** The accesses of all users who may add and change miners of this group. */
  administratorsOf(groupId: number): Access[] {
    return enabled(this.#store.users)
      .map(({ id }) => this.#ofUser(id))
      .filter((access) => access.privilege === "administrator" && access.seesGroup(groupId));
  }

  #limit(access: Access, privilege: Privilege): Access {
    const cached = this.#limited.get(access) ?? new Map<Privilege, Access>();
    this.#limited.set(access, cached);
    const limited = cached.get(privilege) ?? { ...access, privilege };
    cached.set(privilege, limited);
    return limited;
  }

  #ofUser(userId: number): Access {
    const user = this.#store.users.get(userId);
    if (user === undefined || user.disabled) throw notFound("user", userId);
    const groups = this.#store.groups.all();
    if (this.#groups !== groups) this.#cached.clear();
    this.#groups = groups;
    const cached = this.#cached.get(userId);
    if (cached?.user === user) return cached.access;
    const access = this.#accessOf(user);
    this.#cached.set(userId, { user, access });
    return access;
  }

  /** Throws `not.found` for an unknown user, `user.forbidden` if the user's privilege is too low. */
  check(name: OperationName, caller: Caller): void {
    const access = this.of(caller);
    const needed: OperationAccess = operations[name].access;
    if (!atLeast(access.privilege, needed.privilege))
      throw new RigbridgeError(
        "user.forbidden",
        detail("rights.privilege", { may: detail(`rights.${access.privilege}`), privilege: needed.privilege }),
      );
    if (needed.scope === "all") needsAll(access);
    if (needed.centre === true && !this.#isCentre(caller))
      throw new RigbridgeError("user.forbidden", detail("owned.notCentre"));
  }

  #isCentre({ userId, centre }: Caller): boolean {
    if (centre !== undefined) return true;
    return userId !== undefined && this.#store.users.get(userId)?.centre === true;
  }

  #accessOf({ id, privilege, groups, pools }: Stored<StoredUser>): Access {
    const seen = groups === null ? null : withInnerGroups(groups, enabled(this.#store.groups));
    const seenPools = pools === null ? null : new Set(pools);
    return {
      privilege,
      all: seen === null && seenPools === null,
      userId: id,
      seesGroup: (groupId) => seen === null || seen.has(groupId),
      seesPool: (poolId) => seenPools === null || seenPools.has(poolId),
    };
  }
}

/** For operations on the service as a whole. Throws `user.forbidden`. */
export function needsAll(access: Access): void {
  if (!access.all) throw new RigbridgeError("user.forbidden", detail("rights.all"));
}
