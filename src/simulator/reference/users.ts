import { badRequest, notThere } from "./refusals.ts";

const ranks = ["view", "control", "administrator"] as const;

/** The privilege that a call needs of its user. */
export type Privilege = (typeof ranks)[number];

export interface TwinUser {
  readonly id: number;
  readonly name: string;
  readonly privilege: Privilege;
  /** Ids of the groups whose miners the user sees; null = all miners. */
  readonly groups: readonly number[] | null;
  /** Static IDs of the pools that the user sees; null = all. */
  readonly pools: readonly number[] | null;
}

export const users: readonly TwinUser[] = [
  { id: 1, name: "owner", privilege: "administrator", groups: null, pools: null },
  { id: 2, name: "anna", privilege: "control", groups: [2, 3], pools: [1, 2, 3] },
  { id: 3, name: "visitor", privilege: "view", groups: [1], pools: null },
];

/** Without a `user_id` everything is visible and allowed. */
const everything: TwinUser = { id: 0, name: "", privilege: "administrator", groups: null, pools: null };

export function userOf(query: URLSearchParams): TwinUser {
  const id = query.get("user_id");
  if (id === null) return everything;
  if (!/^\d{1,10}$/.test(id)) throw badRequest("The parameter user_id must be a number.");
  const user = users.find((each) => each.id === Number(id));
  if (user === undefined) throw notThere("user", id);
  return user;
}

export function userIdOf(name: string): number {
  const user = users.find((each) => each.name === name);
  if (user === undefined) throw notThere("user", name);
  return user.id;
}

export const mayDo = (user: TwinUser, needed: Privilege): boolean =>
  ranks.indexOf(user.privilege) >= ranks.indexOf(needed);

export const seesGroup = ({ groups }: TwinUser, id: number): boolean => groups === null || groups.includes(id);
export const seesPool = ({ pools }: TwinUser, id: number): boolean => pools === null || pools.includes(id);
