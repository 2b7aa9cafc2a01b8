import { minersIn } from "../contract/miners-in.ts";
import type { Miner, Notification, Summary } from "../contract/resources.ts";
import type { MinerRow } from "../contract/rows.ts";
import type { Caller, Reply } from "../contract/service.ts";
import { byId } from "./changes.ts";
import { rowsAfter } from "./rows.ts";

/** The lists that a caller received last, from which its watch continues. */
export interface LastLists {
  /** By id. */
  readonly miners?: ReadonlyMap<number, Miner>;
  /** As rows, by id. */
  readonly rows?: ReadonlyMap<number, MinerRow> | undefined;
  /** By id, whether it is acknowledged. */
  readonly notifications?: ReadonlyMap<number, boolean>;
  readonly summary?: Summary;
}

/** Callers kept; the one that has been idle the longest is dropped. */
const remembered = 16;

/** Lists of rows kept by version: between its list and its stream, a reader waits for one answer. */
const keptVersions = 8;

/** The last lists of each caller: a caller that first lists and then watches misses nothing. */
export class LastListsByCaller {
  readonly #lists = new Map<string, LastLists>();
  readonly #versions = new Map<string, ReadonlyMap<number, MinerRow>>();

  of(caller: Caller): LastLists {
    return this.#lists.get(nameOf(caller)) ?? {};
  }

  miners(caller: Caller, { groupList }: Reply<"listMiners">): void {
    this.#put(caller, { miners: byId(minersIn(groupList)) });
  }

  /** All rows, or the changed ones. */
  rows(caller: Caller, list: Reply<"listMinerRows">): void {
    this.#put(caller, { rows: rowsAfter(this.of(caller).rows, list) });
  }

  /**
   * The rows of a list created by this client: by its version, each of a caller's readers continues from its own list.
   */
  keep(version: string, rows: readonly MinerRow[]): void {
    this.#versions.set(version, new Map(rows.map((row) => [row.id, row])));
    if (this.#versions.size > keptVersions) this.#versions.delete(this.#versions.keys().next().value ?? "");
  }

  /** Undefined if it is no longer kept, or is not a list of this client. */
  ofVersion(version: number | string | undefined): ReadonlyMap<number, MinerRow> | undefined {
    return this.#versions.get(String(version));
  }

  notifications(caller: Caller, { notificationList }: Reply<"listNotifications">): void {
    this.#put(caller, { notifications: acknowledgedIn(notificationList) });
  }

  summary(caller: Caller, summary: Summary): void {
    this.#put(caller, { summary });
  }

  #put(caller: Caller, lists: LastLists): void {
    const name = nameOf(caller);
    const all = { ...this.of(caller), ...lists };
    this.#lists.delete(name);
    this.#lists.set(name, all);
    if (this.#lists.size > remembered) this.#lists.delete(this.#lists.keys().next().value ?? "");
  }
}

/** By id, whether it is acknowledged. */
export const acknowledgedIn = (
  list: readonly Pick<Notification, "id" | "isAcknowledged">[],
): ReadonlyMap<number, boolean> => new Map(list.map(({ id, isAcknowledged }) => [id, isAcknowledged]));

const nameOf = ({ actor, userId }: Caller): string => `${userId ?? ""} ${actor}`;
