import { createHash } from "node:crypto";
import type { MinerRowList } from "../../contract/rows.ts";
import type { Caller, Encoded, Input } from "../../contract/service.ts";
import type { Store } from "../../store/index.ts";
import type { Access, AccessBook } from "../users/access.ts";
import type { ReadShares } from "../users/read-shares.ts";
import { groupIdOf } from "./groups.ts";
import type { MinerRegistry } from "./miner-registry.ts";
import { type Row, type RowCache, type Selection, type ShownRow, selectionOf } from "./row-cache.ts";

/** The events that row versions are built from. */
export interface RowChanges {
  /** Unique for each start of the service. */
  readonly run: string;
  /** The newest event. */
  readonly last: number;
  /** The last event that concerns any row. */
  readonly newestMark: number;
  /** The event since which this access is unchanged. */
  since(access: Access): number;
  /** Like `RowMarks`. */
  leftSince(version: number, access: Access): number[] | null;
}

/** The rows of a service, as each access sees them. */
export interface ListedRows {
  readonly cache: RowCache;
  /** The ids of the visible miners. */
  visible(access: Access): number[];
  /** The ids of the miners in a group and its groups. Throws `input.invalid` for a group that is hidden from this access. */
  inGroup(group: number | string, access: Access): ReadonlySet<number>;
  hasTag(id: number, tag: string): boolean;
  /** What decides which group is in which. */
  nesting(): unknown;
}

export interface RowContext {
  readonly listed: ListedRows;
  readonly accessBook: Pick<AccessBook, "of">;
  readonly shares: ReadShares;
  readonly changes: RowChanges;
}

/** The rows of the service's own miners. */
export const rowsOfRegistry = (registry: MinerRegistry, { groups }: Pick<Store, "groups">): ListedRows => ({
  cache: registry.display.rows,
  visible: (access) => Array.from(registry.entriesFor(access), ({ facts }) => facts.id),
  inGroup: (group, access) => new Set(registry.minersInGroup(groupIdOf(group, groups, access))),
  hasTag: (id, tag) => registry.entry(id).facts.tags.includes(tag),
  nesting: () => groups.all().map(({ id, parentId }) => [id, parentId]),
});

type RowsInput = Omit<Input<"listMinerRows">, "view">;

/** A subscription to rows: columns of rows that changed after an event. */
export interface RowWatch extends WatchedRows {
  readonly changedAfter: number;
}

/** The watched changes of rows. */
export interface WatchedRows {
  readonly selection: Selection;
  /** Miners of which every change counts; of others, only large changes count. Null: every change of every miner. */
  readonly shown: ReadonlySet<number> | null;
}

export const watchedRows = ({ fields, shown }: Pick<RowsInput, "fields" | "shown">): WatchedRows => ({
  selection: selectionOf(fields),
  shown: shown === undefined ? null : new Set(shown),
});

const changedAt = (id: number, row: Row, { selection: { watched }, shown }: WatchedRows): number =>
  shown === null || shown.has(id) ? row.changedAt(watched) : row.roughlyChangedAt(watched);

/** The rows of a reply, and the ids that the client must drop. */
interface Listed {
  readonly version: string;
  readonly whole: boolean;
  readonly rows: readonly Row[];
  readonly removed: readonly number[];
}

const comma = Buffer.from(",");

/**
 * The miners as rows of a table, all or only changed ones. A version contains the run of the service, the newest event,
 * and a digest of the request; with any other `since`, the reply is the whole list.
 */
export function minerRows({ listed: place, accessBook, shares, changes }: RowContext) {
  /** Whether a visible row is listed. Throws `input.invalid` for a group that is hidden from this access. */
  const filterOf = ({ status, group, tag }: RowsInput, access: Access): ((id: number, row: Row) => boolean) => {
    const members = group === undefined ? null : place.inGroup(group, access);
    return (id, row) => {
      if (members !== null && !members.has(id)) return false;
      if (tag !== undefined && !place.hasTag(id, tag)) return false;
      return status === undefined || status.some((each) => each === row.status());
    };
  };
  /** The digest of a request; it changes with the request, the access, and the groups. */
  const digestOf = ({ status, group, tag, fields }: RowsInput, access: Access): string => {
    const groups = group === undefined ? null : place.nesting();
    const asked = [status?.toSorted(), group, tag, fields?.toSorted(), changes.since(access), groups];
    return createHash("sha1").update(JSON.stringify(asked)).digest("hex").slice(0, 12);
  };

  /** The event of a version from which this request can continue. */
  const continuedFrom = (since: string | undefined, digest: string): number | null => {
    const [run, event, request] = since?.split(".") ?? [];
    const known = run === changes.run && request === digest && /^\d{1,15}$/.test(event ?? "");
    return known && Number(event) <= changes.last ? Number(event) : null;
  };

  const listed = (input: RowsInput, access: Access, digest: string): Listed => {
    const isListed = filterOf(input, access);
    const watch = watchedRows(input);
    const version = continuedFrom(input.since, digest);
    const left = version === null ? null : changes.leftSince(version, access);
    const rows: Row[] = [];
    const removed = new Set(left);
    for (const id of place.visible(access)) {
      const row = place.cache.of(id);
      removed.delete(id);
      if (version === null || left === null) {
        // Later changes of its rows are measured from the whole list.
        if (watch.shown !== null) row.roughlyChangedAt(watch.selection.watched);
        // A newly shown miner is sent, because its small changes were left out.
      } else if (watch.shown?.has(id) !== true && changedAt(id, row, watch) <= version) continue;
      if (isListed(id, row)) rows.push(row);
      else if (left !== null) removed.add(id);
    }
    return { version: `${changes.run}.${changes.last}.${digest}`, whole: left === null, rows, removed: [...removed] };
  };

  const prepare = (input: RowsInput, caller: Caller): Promise<void> | undefined =>
    place.cache.prepare(place.visible(accessBook.of(caller)), selectionOf(input.fields));

  /** As JSON, in pieces. */
  const chunksOf = ({ version, whole, rows, removed }: Listed, selection: Selection): Buffer[] => {
    const chunks: Buffer[] = [Buffer.from(`{"version":"${version}","whole":${whole},"miners":[`)];
    for (const [index, row] of rows.entries()) {
      if (index > 0) chunks.push(comma);
      chunks.push(row.shown(selection).json);
    }
    chunks.push(Buffer.from(`],"removed":${JSON.stringify(removed)}}`));
    return chunks;
  };

  return {
    prepare,
    /** The row for this event; undefined if nothing has changed or a later event carries the change. */
    changedRow: (id: number, event: number, watch: RowWatch): ShownRow | undefined => {
      const row = place.cache.of(id);
      const isNews = row.mark === event && changedAt(id, row, watch) > watch.changedAfter;
      return isNews ? row.shown(watch.selection) : undefined;
    },
    listMinerRows: async (input: RowsInput, caller: Caller): Promise<MinerRowList> => {
      const preparing = prepare(input, caller);
      if (preparing !== undefined) await preparing;
      const access = accessBook.of(caller);
      const { rows, ...list } = listed(input, access, digestOf(input, access));
      const selection = selectionOf(input.fields);
      return { ...list, removed: [...list.removed], miners: rows.map((row) => row.object(selection.complete)) };
    },
    encoded: (input: RowsInput, caller: Caller): Encoded => {
      shares.take(caller, 0);
      return shares.measured(caller, 0, () => {
        const access = accessBook.of(caller);
        const digest = digestOf(input, access);
        const chunks = chunksOf(listed(input, access, digest), selectionOf(input.fields));
        const length = chunks.reduce((sum, { length: bytes }) => sum + bytes, 0);
        const from = continuedFrom(input.since, digest) ?? "whole";
        const shown =
          input.shown === undefined
            ? ""
            : `-${createHash("sha1").update(input.shown.join()).digest("hex").slice(0, 12)}`;
        return { etag: `W/"${changes.run}-${changes.newestMark}-${digest}-${from}${shown}"`, length, chunks };
      });
    },
  };
}
