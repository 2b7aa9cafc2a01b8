import { isDeepStrictEqual } from "node:util";
import {
  type ExportedMiner,
  type ImportMistake,
  type ImportPreview,
  type ImportRow,
  mostImportMistakes,
} from "../../contract/imports.ts";
import { invalid, notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Caller, MiningService } from "../../contract/service.ts";
import { formatAddress } from "../../link/address.ts";
import { detail } from "../../messages/detail.ts";
import { enabled } from "../crud.ts";
import { blankMiner } from "../miners/declared-miner.ts";
import { groupFinder, groupPaths } from "../miners/groups.ts";
import { newRow, patchOf } from "../miners/miner-input.ts";
import type { MinerContext } from "../miners/miners.ts";
import { nowhere } from "../places/place-book.ts";
import { Placing } from "../places/placing.ts";
import type { Access } from "../users/access.ts";
import { type RigTable, rigTable } from "./csv-table.ts";
import { type Plan, planOf, tagsCell } from "./plan.ts";
import { matched, type RigKeys } from "./rig-index.ts";

type ImportOperations = Pick<MiningService, "exportMiners" | "previewImport" | "commitImport">;

export interface ImportContext extends MinerContext {
  /** Epoch ms. */
  now(): number;
}

interface Preview {
  readonly table: RigTable;
  readonly rows: readonly ImportRow[];
  readonly userId: number | null;
  readonly actor: string;
  /** Epoch ms. */
  readonly expires: number;
}

/** Previews that are kept, and for how many ms. */
const keptPreviews = 20;
const keptMs = 600_000;

/** Lists of rigs, in and out. Previews are kept in memory: a restart drops them. */
export function importOperations(context: ImportContext): ImportOperations {
  const { registry, store, accessBook, addReal, placed } = context;
  const previews = new Map<number, Preview>();
  let lastId = 0;
  const forgetOld = (): void => {
    const ids = [...previews.keys()];
    for (const [id, { expires }] of previews)
      if (expires <= context.now() || ids.length - ids.indexOf(id) > keptPreviews) previews.delete(id);
  };
  return {
    exportMiners: async (_input, caller) => ({ list: exported(context, accessBook.of(caller)) }),
    previewImport: async ({ csv }, caller) => {
      const access = accessBook.of(caller);
      const table = rigTable(csv);
      const { plan, mistakes } = planFor(table, context, access);
      const expires = context.now() + keptMs;
      let id: number | null = null;
      if (mistakes.length === 0) {
        lastId += 1;
        id = lastId;
        previews.set(id, { table, rows: plan.rows, ...ownerOf(access, caller), expires });
        forgetOld();
      }
      return presented(table, plan.rows, mistakes, { id, expires });
    },
    commitImport: async ({ id }, caller) => {
      forgetOld();
      const access = accessBook.of(caller);
      const preview = previews.get(id);
      if (preview === undefined || !isDeepStrictEqual(ownerOf(access, caller), ownerIn(preview)))
        throw notFound("preview", id);
      const { plan, placing, mistakes } = planFor(preview.table, context, access);
      if (mistakes.length > 0 || !isDeepStrictEqual(plan.rows, preview.rows))
        throw new RigbridgeError("not.possible", detail("import.changed"));
      previews.delete(id);
      const rows = await store.miners.addAndChange(plan.added, plan.changed, placing.changes);
      const put = (): void => {
        for (const row of rows) if (store.miners.get(row.id) !== undefined) registry.put(row);
        registry.arrange();
      };
      if (plan.added.length > 0) await addReal(put);
      else put();
      placed(placing);
      const { error: _, ...counts } = countsOf(plan.rows);
      return counts;
    },
  };
}

/** Only who asked for a preview can commit it. */
const ownerOf = ({ userId }: Access, { actor }: Caller) => ({ userId, actor });
const ownerIn = ({ userId, actor }: Preview) => ({ userId, actor });

/** What an import would do now. */
function planFor(table: RigTable, context: ImportContext, access: Access) {
  const { registry, store, places } = context;
  const mistakes: ImportMistake[] = [...table.mistakes];
  const matches = matched(table, rigKeys(context, access), mistakes);
  const find = groupFinder(store.groups, access);
  const paths = groupPaths(store.groups, access);
  /** Also of rigs that are hidden from the caller, or being added. */
  const taken = new Map(enabled(store.miners).map(({ id, address }) => [address, id]));
  const placing = new Placing(context.places, store);
  const checks = {
    ...context,
    registry: {
      entriesFor: registry.entriesFor.bind(registry),
      visible: registry.visible.bind(registry),
      nameFor: registry.nameFor.bind(registry),
      isManaged: registry.isManaged.bind(registry),
      checkAddress: (address: string, id: number | null) =>
        registry.refuseHolder(address, taken.get(address), id, access),
    },
  };
  const plan: Plan = planOf(
    table,
    matches,
    {
      present: (id) => {
        const { facts, rig } = registry.entry(id);
        // A managed miner has no row: nothing of it can be set here, but a list may contain it.
        const row = store.miners.get(id) ?? {
          ...blankMiner,
          ...facts,
          tags: [...facts.tags],
          address: formatAddress(rig.declared.address),
        };
        return {
          row,
          location: { ...(places.get(row.placeId)?.location ?? nowhere), slot: row.slot },
          name: facts.name,
          shownAddress: facts.host.description,
          group: paths.get(row.groupId) ?? null,
        };
      },
      group: (name) => {
        const found = find(name);
        if (typeof found === "number") return { id: found, path: paths.get(found) ?? name };
        throw invalid("group", found.message);
      },
      newRow: (body) => newRow(body, checks, placing, access),
      patchOf: (body) => patchOf(body, checks, placing, access),
    },
    mistakes,
  );
  return { plan, placing, mistakes };
}

function rigKeys({ registry }: ImportContext, access: Access): RigKeys[] {
  return Array.from(registry.entriesFor(access), ({ facts: { id, host }, rig: { state, declared } }) => ({
    id,
    shownAddress: host.description,
    name: registry.nameFor(id, access),
    uid: state.uid,
    mac: state.identity?.mac ?? null,
    serial: state.identity?.serial ?? null,
    address: declared.program === undefined ? declared.address : null,
  }));
}

function countsOf(rows: readonly ImportRow[]): ImportPreview["counts"] {
  const counts = { added: 0, changed: 0, same: 0, error: 0 };
  for (const { state } of rows) counts[state] += 1;
  return counts;
}

function presented(
  { ignored }: RigTable,
  rows: readonly ImportRow[],
  mistakes: readonly ImportMistake[],
  { id, expires }: Pick<ImportPreview, "id" | "expires">,
): ImportPreview {
  const listed = mistakes
    .toSorted((one, other) => one.line - other.line || (one.column ?? 0) - (other.column ?? 0))
    .slice(0, mostImportMistakes);
  return {
    id,
    expires,
    counts: countsOf(rows),
    ignored: [...ignored],
    rows: [...rows],
    mistakes: listed,
    moreMistakes: mistakes.length - listed.length,
  };
}

function exported({ registry, store, places }: ImportContext, access: Access): ExportedMiner[] {
  const paths = groupPaths(store.groups, access);
  return enabled(store.miners).flatMap((row) => {
    const state = registry.visible(row.id, access)?.rig.state;
    if (state === undefined) return [];
    return {
      uid: state.uid,
      mac: state.identity?.mac ?? null,
      serial: state.identity?.serial ?? null,
      address: row.address,
      name: row.name,
      group: paths.get(row.groupId) ?? null,
      ...(places.get(row.placeId)?.location ?? nowhere),
      slot: row.slot,
      tags: tagsCell(row.tags),
      driver: row.driver,
      interval: row.interval,
      login: row.login === "" ? null : row.login,
      nameplate: row.powerNameplate,
    };
  });
}
