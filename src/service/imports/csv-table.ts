import Papa from "papaparse";
import { textOfCell } from "../../contract/csv.ts";
import { type ImportColumn, importColumns } from "../../contract/import-columns.ts";
import { type ImportMistake, mostImportRows } from "../../contract/imports.ts";
import { inAnyCase, nearest } from "../../contract/nearest.ts";
import { oneOf } from "../../contract/wording.ts";
import { parseAddress } from "../../link/address.ts";
import type { Detail } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";

/** A row of a list of rigs: the cells that are not empty, by their column. */
export interface TableRow {
  /** Of the file, from 1. */
  readonly line: number;
  readonly cells: ReadonlyMap<ImportColumn, string>;
}

export interface RigTable {
  /** The places of the columns, from 1. */
  readonly columns: ReadonlyMap<ImportColumn, number>;
  /** Columns of the dashboard's lists that cannot be set. */
  readonly ignored: readonly string[];
  readonly rows: readonly TableRow[];
  readonly mistakes: readonly ImportMistake[];
}

/** The columns by which rigs are found. */
export const keyColumns = ["uid", "mac", "serial", "address"] as const satisfies readonly ImportColumn[];
export type KeyColumn = (typeof keyColumns)[number];

/** What the dashboard's list of rigs has besides. */
const unset = [
  ...(["id", "status", "reason", "hashrate", "expected", "power", "temperature", "algorithm", "model"] as const),
  ...(["pool", "worker", "coin", "profit", "alarms", "readAt"] as const),
] as const;
const secrets = ["username", "user", "password", "pass", "token", "key", "secret"] as const;

/** A mistake of a cell, or of a whole line. */
export const mistakeAt = (
  line: number,
  [column, name]: readonly [number | null, string | null],
  what: Detail | string,
): ImportMistake =>
  typeof what === "string"
    ? { line, column, name, message: what }
    : { line, column, name, message: what.text, coded: what.coded };

/**
 * Reads a table with a line of column names, or addresses alone, one in each line. Cells are separated by whatever the first
 * line has most of: commas, semicolons or tabs.
 */
export function rigTable(csv: string): RigTable {
  const text = csv.replace(/^\u{FEFF}/u, "").replaceAll(/\r\n?/g, "\n");
  const { lines, mistakes } = linesOf(text);
  const [first, ...others] = lines;
  if (first === undefined) return broken(mistakeAt(1, [null, null], detail("import.empty")), mistakes);
  const hasHead = !isAddressAlone(first.cells);
  const head = headOf(hasHead ? first.cells : ["address"], first.line);
  const body = hasHead ? others : lines;
  if (body.length === 0) return broken(mistakeAt(first.line, [null, null], detail("import.empty")), mistakes);
  if (body.length > mostImportRows)
    return broken(mistakeAt(1, [null, null], detail("import.tooMany", { count: mostImportRows })), []);
  const rows = body.map(({ line, cells }) => {
    const filled = cells.flatMap((cell, index) => {
      const column = head.names[index];
      return column == null || cell === "" ? [] : [[column, cell] as const];
    });
    return { line, cells: new Map(filled) };
  });
  const beyond = body.flatMap(({ line, cells }) =>
    cells.flatMap((cell, index) =>
      index < head.names.length || cell === ""
        ? []
        : [mistakeAt(line, [index + 1, null], detail("import.cells", { count: head.names.length }))],
    ),
  );
  const columns = head.names.flatMap((name, index) => (name === null ? [] : [[name, index + 1] as const]));
  return {
    columns: new Map(columns),
    ignored: head.ignored,
    rows,
    mistakes: [...mistakes, ...head.mistakes, ...beyond],
  };
}

const broken = (mistake: ImportMistake, others: readonly ImportMistake[]): RigTable => ({
  columns: new Map(),
  ignored: [],
  rows: [],
  mistakes: [mistake, ...others],
});

interface CsvLine {
  readonly line: number;
  readonly cells: readonly string[];
}

/** The lines that are not empty, with trimmed cells. */
function linesOf(text: string): { lines: readonly CsvLine[]; mistakes: readonly ImportMistake[] } {
  const { data, errors } = Papa.parse<string[]>(text, { delimiter: delimiterOf(text), newline: "\n" });
  let line = 1;
  const starts = data.map((cells) => {
    const start = line;
    // A quoted cell may have several lines.
    line += 1 + cells.reduce((sum, cell) => sum + cell.split("\n").length - 1, 0);
    return start;
  });
  const quoted = errors.filter(({ type }) => type === "Quotes");
  // The parser may report one quotation mark twice.
  const rows = new Set(quoted.map(({ row = 0 }) => row));
  return {
    lines: data
      .map((cells, row) => ({ line: starts[row] ?? 0, cells: cells.map((cell) => textOfCell(cell.trim())) }))
      .filter(({ cells }) => cells.some((cell) => cell !== "")),
    mistakes: Array.from(rows, (row) => {
      const cells = data[row] ?? [];
      const column = cells.findIndex((cell) => cell.includes('"')) + 1 || cells.length;
      return mistakeAt(starts[row] ?? 0, [column, null], detail("import.quotes"));
    }),
  };
}

function delimiterOf(text: string): string {
  const [head = ""] = text.trimStart().split("\n", 1);
  const countOf = (delimiter: string): number => head.split(delimiter).length;
  return [";", "\t"].reduce((best, each) => (countOf(each) > countOf(best) ? each : best), ",");
}

function isAddressAlone([only = "", ...others]: readonly string[]): boolean {
  if (others.some((cell) => cell !== "") || nearest(only, [...importColumns, ...unset, ...secrets]) !== undefined)
    return false;
  try {
    parseAddress(only);
    return true;
  } catch {
    return false;
  }
}

/** The columns of a head; null for one that is not read. */
function headOf(cells: readonly string[], line: number) {
  const mistakes: ImportMistake[] = [];
  const ignored: string[] = [];
  const names = cells.map((name, index): ImportColumn | null => {
    const wrong = (what: Detail): null => {
      mistakes.push(mistakeAt(line, [index + 1, name], what));
      return null;
    };
    if (name === "") return null;
    if (inAnyCase(name, secrets) !== undefined) return wrong(detail("import.secret"));
    const known = inAnyCase(name, unset);
    if (known !== undefined) {
      ignored.push(known);
      return null;
    }
    const column = importColumns.find((each) => each === inAnyCase(name, importColumns));
    if (column === undefined) return wrong(oneOf(importColumns, name));
    return cells.findIndex((each) => inAnyCase(each, [column]) !== undefined) === index
      ? column
      : wrong(detail("import.columnTwice"));
  });
  if (!keyColumns.some((key) => names.includes(key)))
    mistakes.push(mistakeAt(line, [null, null], detail("import.noKey", { columns: keyColumns.join(", ") })));
  return { names, ignored, mistakes };
}
