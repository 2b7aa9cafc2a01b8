import { setImmediate as turn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { RigbridgeError } from "../../contract/problems.ts";
import {
  columnsFor,
  type MinerRow,
  type RowColumn,
  type RowSource,
  requiredColumns,
  rowColumnNames,
  rowReaders,
  rowWith,
  usualColumns,
} from "../../contract/rows.ts";
import { type Read, RoughChanges } from "./rough-changes.ts";

/** Where rows get their data. */
export interface RowSources {
  /** The last event for the row; its values stay the same until the next one. */
  markOf(minerId: number): number;
  /**
   * The last event with which the row changed group. A user who lost sight of it in between needs the row again, even
   * unchanged.
   */
  movedAt(minerId: number): number;
  /** Monotonic ms. */
  now(): number;
  /** The values of these columns. */
  values(minerId: number, names: readonly RowColumn[]): unknown[];
}

/** The columns of a source; `failed` gives the one that is used instead if a column cannot be read. */
export function columnValues(names: readonly RowColumn[], source: () => RowSource, failed: () => RowSource): unknown[] {
  const valuesIn = (each: RowSource): unknown[] => names.map((name) => rowReaders[name](each));
  try {
    return valuesIn(source());
  } catch {
    return valuesIn(failed());
  }
}

/** Columns by name, with their positions in the table. */
export interface Columns {
  readonly names: readonly RowColumn[];
  readonly places: readonly number[];
  /** A row without values. Copying its shape is faster than building it name by name, ten thousand times a list. */
  readonly blank: Readonly<Record<string, unknown>>;
}

/** The columns of a request. */
export interface Selection {
  /** The columns of the JSON. */
  readonly columns: Columns;
  /** The columns of the object, which is always complete. */
  readonly complete: Columns;
  /** The columns whose changes count: the selected ones, and those that filters use. */
  readonly watched: Columns;
}

const columnsOf = (names: readonly RowColumn[]): Columns => ({
  names,
  places: names.map((name) => rowColumnNames.indexOf(name)),
  blank: rowWith(names, () => undefined),
});

const usual = columnsOf(usualColumns);
const usualSelection: Selection = { columns: usual, complete: usual, watched: usual };

/** `fields` undefined: the usual columns. */
export function selectionOf(fields: readonly RowColumn[] | undefined): Selection {
  if (fields === undefined) return usualSelection;
  const columns = columnsOf(columnsFor(fields));
  return {
    columns,
    complete: columnsOf([...new Set([...usualColumns, ...columns.names])]),
    watched: columnsOf([...new Set<RowColumn>([...columns.names, "group", "status", "tags"])]),
  };
}

/** The readers of the columns give the values their types; what is checked is that no column is missing. */
const isComplete = (row: Readonly<Record<string, unknown>>): row is MinerRow =>
  requiredColumns.every((column) => row[column] !== undefined);

const never = -1;
/** Its multiples are spread evenly between whole numbers. */
const goldenRatio = 0.618_033_988_75;

/** A built row: its JSON, and the object on request. */
export class ShownRow {
  readonly json: Buffer;
  readonly #object: () => MinerRow;

  constructor(json: Buffer, object: () => MinerRow) {
    this.json = json;
    this.#object = object;
  }

  get row(): MinerRow {
    return this.#object();
  }
}

/** One miner as a row. Each column is read on request, at most once per event. */
export class Row {
  readonly #id: number;
  readonly #sources: RowSources;
  readonly #values: unknown[] = Array.from(rowColumnNames, () => undefined);
  /** By column: the event at which it was read, and the event of its last change. */
  readonly #readAt: number[] = Array.from(rowColumnNames, () => never);
  readonly #changedAt: number[] = Array.from(rowColumnNames, () => never);
  /** Set once a subscriber watches the row outside its visible range; most rows never need it. */
  #rough: RoughChanges | null = null;
  /** The event of its last change for such subscribers. */
  #roughlyAt = never;
  /** The row with the usual columns, unchanged since this event. */
  #usual: ShownRow | null = null;
  #usualSince = never;
  /** The event at which the usual columns were read. */
  #usualAt = never;

  constructor(id: number, sources: RowSources) {
    this.#id = id;
    this.#sources = sources;
  }

  /** The last event for this row. */
  get mark(): number {
    return this.#sources.markOf(this.#id);
  }

  isRead({ places }: Columns): boolean {
    const { mark } = this;
    return this.#usualAt === mark && places === usual.places
      ? true
      : places.every((place) => this.#readAt[place] === mark);
  }

  /** The last event that changed one of these columns. */
  changedAt(columns: Columns): number {
    const moved = this.#sources.movedAt(this.#id);
    if (columns === usual) {
      this.#readUsual();
      return Math.max(moved, this.#usualSince);
    }
    this.#read(columns);
    return Math.max(moved, this.#newestOf(columns));
  }

  /**
   * Like `changedAt`, for subscribers that do not show the row: small changes, and those soon after another, do not
   * count.
   */
  roughlyChangedAt(columns: Columns): number {
    this.#read(columns);
    if (this.#rough === null) {
      this.#rough = new RoughChanges((this.#id * goldenRatio) % 1);
      this.#rough.counts(this.#readOf(columns, () => false));
      this.#roughlyAt = this.#newestOf(columns);
    }
    return Math.max(this.#sources.movedAt(this.#id), this.#roughlyAt);
  }

  status(): unknown {
    this.#read(statusColumn);
    return this.#values[statusPlace];
  }

  shown({ columns, complete }: Selection): ShownRow {
    if (columns !== usual) return this.#shown(columns, complete);
    this.#readUsual();
    this.#usual ??= this.#shown(columns, complete);
    return this.#usual;
  }

  #shown(columns: Columns, complete: Columns): ShownRow {
    this.#read(columns);
    return new ShownRow(Buffer.from(JSON.stringify(this.#with(columns))), () => this.object(complete));
  }

  /** As an object with these columns, which include the usual ones. */
  object(complete: Columns): MinerRow {
    this.#read(complete);
    const row = this.#with(complete);
    if (isComplete(row)) return row;
    throw new RigbridgeError("internal", `The row of miner ${this.#id} is incomplete`);
  }

  #with({ names, places, blank }: Columns): Record<string, unknown> {
    const row = { ...blank };
    for (let at = 0; at < names.length; at += 1) row[names[at] ?? ""] = this.#values[places[at] ?? 0];
    return row;
  }

  #newestOf({ places }: Columns): number {
    return places.reduce((newest, place) => Math.max(newest, this.#changedAt[place] ?? never), never);
  }

  #readUsual(): void {
    const { mark } = this;
    if (this.#usualAt === mark) return;
    this.#read(usual);
    this.#usualAt = mark;
    const since = this.#newestOf(usual);
    if (since === this.#usualSince) return;
    this.#usualSince = since;
    this.#usual = null;
  }

  #read(columns: Columns): void {
    if (this.isRead(columns)) return;
    const { mark } = this;
    const isMissing = (index: number): boolean => this.#readAt[columns.places[index] ?? 0] !== mark;
    const values = this.#sources.values(
      this.#id,
      columns.names.filter((_, index) => isMissing(index)),
    );
    const places = columns.places.filter((_, index) => isMissing(index));
    for (const [index, place] of places.entries()) {
      const value = values[index];
      if (!isSame(this.#values[place], value)) {
        this.#values[place] = value;
        this.#changedAt[place] = mark;
      }
      this.#readAt[place] = mark;
    }
    if (this.#rough?.counts(this.#readOf(columns, (place) => this.#changedAt[place] === mark))) this.#roughlyAt = mark;
  }

  #readOf({ places }: Columns, isChanged: (place: number) => boolean): Read {
    return { places, values: this.#values, isChanged, now: this.#sources.now() };
  }
}

const statusColumn = columnsOf(["status"]);
const [statusPlace = 0] = statusColumn.places;

const isSame = (before: unknown, after: unknown): boolean =>
  before === after || (typeof after === "object" && isDeepStrictEqual(before, after));

/** Rows built without yielding, and ms of work between two yields. */
const madeAtOnce = 200;
const turnMs = 20;

/** The rows of all requested miners. */
export class RowCache {
  readonly #sources: RowSources;
  readonly #rows = new Map<number, Row>();

  constructor(sources: RowSources) {
    this.#sources = sources;
  }

  /** The row of an existing miner. */
  of(minerId: number): Row {
    const known = this.#rows.get(minerId);
    if (known !== undefined) return known;
    const row = new Row(minerId, this.#sources);
    this.#rows.set(minerId, row);
    return row;
  }

  remove(minerId: number): void {
    this.#rows.delete(minerId);
  }

  /** Builds the rows, yielding in between; undefined if there are few enough to build at once. */
  prepare(ids: readonly number[], selection: Selection): Promise<void> | undefined {
    const missing = ids.filter((id) => !this.of(id).isRead(selection.columns));
    return missing.length <= madeAtOnce ? undefined : this.#make(missing, selection);
  }

  async #make(ids: readonly number[], selection: Selection): Promise<void> {
    let began = performance.now();
    for (const id of ids) {
      // Skips rows removed in the meantime.
      this.#rows.get(id)?.shown(selection);
      if (performance.now() - began < turnMs) continue;
      await turn();
      began = performance.now();
    }
  }
}
