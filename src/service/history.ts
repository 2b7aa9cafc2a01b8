import { notYet } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";
import type { Store } from "../store/index.ts";
import type { AccessBook } from "./access.ts";
import type { Roster } from "./roster.ts";

export const historyOperations = (
  _roster: Roster,
  _store: Store,
  _access: AccessBook,
  _now: () => number,
): Pick<MiningService, "getHistory"> => ({ getHistory: async () => Promise.reject(notYet("History")) });
