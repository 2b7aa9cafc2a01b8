import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type ImportMistake,
  type ImportPreview,
  type ImportRow,
  longestImport,
  mostImportMistakes,
  mostImportRows,
} from "../../contract/imports.ts";
import { invalid, notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Caller, Input, MiningService } from "../../contract/service.ts";
import { formatAddress } from "../../link/address.ts";
import { detail } from "../../messages/detail.ts";
import { enabled } from "../crud.ts";
import { blankMiner } from "../miners/declared-miner.ts";
import { groupFinder, groupPaths } from "../miners/groups.ts";
import { newRow, patchOf } from "../miners/miner-input.ts";
import type { MinerContext } from "../miners/miners.ts";
import { checkPosition, shownPlacement, takenBy, visiblePlaces } from "../miners/placement.ts";
import { chainOf, type PlaceBook, type PlaceChain } from "../places/place-book.ts";
import { type Placement, Placing } from "../places/placing.ts";
import type { Access } from "../users/access.ts";
import { mistakeAt, type RigTable, rigTable } from "./csv-table.ts";
import { exported } from "./exported.ts";
import { type Plan, planOf } from "./plan.ts";
import { type Match, matched, type RigKeys } from "./rig-index.ts";
import { lostPlacement, type PresentPlacement } from "./row-placement.ts";

type ImportOperations = Pick<MiningService, "exportMiners" | "exportPlaces" | "previewImport" | "commitImport">;

export interface ImportContext extends MinerContext {
  /** Epoch ms. */
  now(): number;
}

/** A table, and what is done to the rigs that are not in it. */
interface ImportTable extends RigTable {
  readonly omitted: Input<"previewImport">["omitted"];
}

interface Preview {
  readonly input: Input<"previewImport">;
  /** Of the rows that it showed. The text and this take a tenth of the memory of the rows. */
  readonly digest: string;
  readonly userId: number | null;
  readonly actor: string;
  /** Epoch ms. */
  readonly expires: number;
}

/** Previews that are kept, the characters that their files may have together, and for how many ms. */
const keptPreviews = 20;
const keptText = 2 * longestImport;
const keptMs = 600_000;

/** Lists of rigs, in and out. Previews are kept in memory: a restart drops them. */
export function importOperations(context: ImportContext): ImportOperations {
  const { registry, store, accessBook, addReal, placed } = context;
  const previews = new Map<number, Preview>();
  let lastId = 0;
  const forgetOld = (): void => {
    let [count, text] = [0, 0];
    for (const [id, preview] of [...previews].toReversed()) {
      count += 1;
      text += preview.input.csv.length;
      if (preview.expires <= context.now() || count > keptPreviews || (count > 1 && text > keptText))
        previews.delete(id);
    }
  };
  return {
    exportMiners: async (_input, caller) => ({ list: exported(context, accessBook.of(caller), ({ row }) => row) }),
    exportPlaces: async (_input, caller) => ({
      list: exported(context, accessBook.of(caller), ({ facts }) => shownPlacement(facts)).map(
        ({ container, group: _group, interval: _interval, login: _login, nameplate: _nameplate, ...rig }) => ({
          ...rig,
          building: container,
        }),
      ),
    }),
    previewImport: async (input, caller) => {
      const access = accessBook.of(caller);
      const table = tableOf(input);
      const { plan, mistakes } = planFor(table, context, access);
      const expires = context.now() + keptMs;
      let id: number | null = null;
      if (mistakes.length === 0) {
        lastId += 1;
        id = lastId;
        previews.set(id, { input, digest: digestOf(plan.rows), ...ownerOf(access, caller), expires });
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
      const { plan, placing, mistakes } = planFor(tableOf(preview.input), context, access);
      if (mistakes.length > 0 || digestOf(plan.rows) !== preview.digest)
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

const tableOf = ({ csv, omitted }: Preview["input"]): ImportTable => ({ ...rigTable(csv), omitted });

function digestOf(rows: readonly ImportRow[]): string {
  const hash = createHash("sha256");
  for (const row of rows) hash.update(JSON.stringify(row));
  return hash.digest("hex");
}

/** What an import would do now. */
function planFor(table: ImportTable, context: ImportContext, access: Access) {
  const { registry, store, places } = context;
  const mistakes: ImportMistake[] = [...table.mistakes];
  const matches = matched(table, rigKeys(context, access), mistakes);
  const find = groupFinder(store.groups, access);
  const paths = groupPaths(store.groups, access);
  /** Also of rigs that are hidden from the caller, or being added. */
  const taken = new Map(enabled(store.miners).map(({ id, address }) => [address, id]));
  const placing = new Placing(context.places, store, visiblePlaces(context.places, registry, access));
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
          placement: presentPlacement(shownPlacement(facts), places),
          name: facts.name,
          shownAddress: facts.host.description,
          group: paths.get(row.groupId) ?? null,
        };
      },
      placementOfNew: (rig) => presentPlacement(registry.defaultPlacement(rig), places),
      group: (name) => {
        const found = find(name);
        if (typeof found === "number") return { id: found, path: paths.get(found) ?? name };
        throw invalid("group", found.message);
      },
      newRow: (body) => newRow(body, checks, placing, access),
      patchOf: (body) => patchOf(body, checks, placing, access),
      place: (id, { chain, slot, position }, now, line) => {
        const placeId = placeOf(chain, now, placing);
        const kept = placeId === now.placeId ? now.position : null;
        const placement = { placeId, slot, position: position ?? kept };
        if (position != null && id !== null && store.miners.get(id)?.owner === "file")
          throw invalid("position.row", detail("import.filePosition"));
        checkPosition(placement, places);
        placing.put(id, placement, line);
        return placement;
      },
    },
    mistakes,
  );
  const omitted = table.omitted === "unplace" ? unplace(matches, placing, context, access) : [];
  const conflicts = placing.conflicts();
  for (const conflict of conflicts)
    mistakes.push(
      mistakeAt(
        conflict.line ?? 0,
        [table.columns.get("rackRow") ?? null, "rackRow"],
        conflict.other.line === null
          ? takenBy(conflict, registry, access)
          : detail("import.taken", { line: conflict.other.line }),
      ),
    );
  const wrong = new Set(conflicts.map(({ line }) => line));
  const rows = plan.rows.map((row) => (wrong.has(row.line) ? { ...row, state: "error" as const, changes: [] } : row));
  const changed = new Map(plan.changed);
  for (const { miner } of omitted) changed.set(miner, unplacedFields);
  return { plan: { ...plan, changed, rows: [...rows, ...omitted] }, placing, mistakes };
}

/** The place of a chain of names: a rack without a row is the one with this location, if there is one. */
function placeOf(chain: PlaceChain, now: PresentPlacement, placing: Placing): number | null {
  if (isDeepStrictEqual(chain, now.chain)) return now.placeId;
  const { site, building, rack, row } = chain;
  return row === null ? placing.at({ site, container: building, rack }) : placing.inside(chain);
}

/** Takes the place of each rig that is not in the table, unless the file declares it. */
function unplace(
  matches: readonly Match[],
  placing: Placing,
  { registry, store, places }: ImportContext,
  access: Access,
): (ImportRow & { readonly miner: number })[] {
  const entries = Array.from(registry.entriesFor(access));
  refuseUnplace(entries.length);
  const listed = new Set(matches.map((match) => match?.id));
  return entries.flatMap(({ facts: { id, name } }) => {
    const row = store.miners.get(id);
    if (row === undefined || row.placeId === null || row.owner === "file" || listed.has(id)) return [];
    placing.put(id, unplacedFields);
    const changes = lostPlacement(presentPlacement(row, places));
    return [{ line: 0, state: "changed" as const, miner: id, name, changes }];
  });
}

/** Throws `input.invalid` if there are more rigs than a table can list: it would always leave some out. */
export function refuseUnplace(rigs: number): void {
  if (rigs > mostImportRows)
    throw invalid("omitted", `cannot be unplace: a table lists at most ${mostImportRows} rigs, and there are ${rigs}`);
}

const unplacedFields: Placement = { placeId: null, position: null, slot: null };

const presentPlacement = ({ placeId, position, slot }: Placement, places: PlaceBook): PresentPlacement => ({
  placeId,
  position,
  slot,
  chain: chainOf(places.get(placeId)),
});

function rigKeys({ registry }: ImportContext, access: Access): RigKeys[] {
  return Array.from(registry.entriesFor(access), ({ facts: { id, host }, rig: { state, declared } }) => ({
    id,
    shownAddress: host.description,
    // Only errors name a rig.
    get name() {
      return registry.nameFor(id, access);
    },
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
