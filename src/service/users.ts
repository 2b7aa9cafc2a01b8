import { notFound, notYet } from "../contract/problems.ts";
import type { KeyHolder, MiningService } from "../contract/service.ts";
import type { Store } from "../store/index.ts";
import { present } from "./stored.ts";

type UserOperations = Pick<MiningService, "getUser" | "listUsers" | "saveUser" | "deleteUser">;

export function userOperations({ users }: Store): UserOperations {
  return {
    getUser: async ({ username }) => {
      const user = present(users).find(({ name }) => name === username);
      if (user === undefined) throw notFound("user", username);
      return { userId: user.id };
    },
    listUsers: async () => Promise.reject(notYet("Users")),
    saveUser: async () => Promise.reject(notYet("Users")),
    deleteUser: async () => Promise.reject(notYet("Users")),
  };
}

/** Finds users by the SHA-256 of their key. */
export const keyHolders =
  ({ users }: Store) =>
  (digest: string): KeyHolder | undefined =>
    present(users).find(({ keyHash }) => keyHash === digest);
