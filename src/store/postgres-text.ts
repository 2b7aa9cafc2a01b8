import type { Compilable } from "kysely";
import { RigbridgeError } from "../contract/problems.ts";
import type { ColumnType, RowsStatement, Statement, Upsert } from "./database.ts";

/** PostgreSQL's texts hold every character but the one with code 0. */
export const storable = (value: unknown): unknown =>
  typeof value === "string" ? value.replaceAll("\0", "\ufffd") : value;

/**
 * A value as SQL. Numbers are quoted too, so that the server gives all values the types of their places, as it does for
 * values that are sent apart, and a negative number after a minus is no comment.
 */
export const literal = (value: unknown): string => {
  if (value === null) return "null";
  if (typeof value === "number" && Number.isFinite(value)) return `'${value}'`;
  if (value instanceof Uint8Array) return `'\\x${Buffer.from(value).toString("hex")}'::bytea`;
  if (typeof value === "string") return quoted(value.replaceAll("\0", "\ufffd"));
  throw unstorable(value);
};

/** Right whether or not the server takes backslashes for escapes; what escapeLiteral of pg returns, faster for long texts. */
const quoted = (text: string): string => {
  const inside = text.replaceAll("'", "''");
  return inside.includes("\\") ? ` E'${inside.replaceAll("\\", "\\\\")}'` : `'${inside}'`;
};

/** The holder of the lease that a write belongs to. */
export interface Fence {
  readonly holder: string;
  readonly epoch: number;
}

/** The first statement of a transaction: refuses it once another service has the lease. */
export const fencing = ({ holder, epoch }: Fence): string => `select fence(${literal(holder)}, ${literal(epoch)})`;

/** A statement as SQL: several ones for rows of which some have the same key. */
export const textsOf = (statement: Statement): readonly string[] => {
  if ("rows" in statement) return distinct(statement).map((rows) => rowsText(statement.upsert, rows));
  const { text, values } = "text" in statement ? { ...statement, text: numbered(statement.text) } : compiled(statement);
  return [
    text.replace(placeholders, (found, place?: string) =>
      place === undefined ? found : literal(values[Number(place) - 1]),
    ),
  ];
};

type Rows = RowsStatement["rows"];

/** Splits rows before each whose key an earlier one has: a statement changes a row once. */
const distinct = ({ upsert: { key }, rows }: RowsStatement): readonly Rows[] => {
  const parts: Rows[] = [];
  const keys = new Set<string>();
  let from = 0;
  for (const [at, row] of rows.entries()) {
    const name = key.map((place) => storable(row[place])).join("\n");
    if (keys.has(name)) {
      parts.push(rows.slice(from, at));
      from = at;
      keys.clear();
    }
    keys.add(name);
  }
  return from < rows.length ? [...parts, rows.slice(from)] : parts;
};

/** Each column is one value: 5,000 rows take the server a fifth of the time of as many statements. */
const rowsText = ({ table, columns, onConflict }: Upsert, rows: Rows): string => {
  const arrays = Array.from(columns.values(), (type, place) => `${arrayOf(rows, place)}::${arrayTypes[type]}`);
  const names = [...columns.keys()].join(", ");
  return `insert into ${table} (${names}) select * from unnest(${arrays.join(", ")}) ${onConflict}`;
};

const arrayTypes = {
  integer: "bigint[]",
  real: "double precision[]",
  text: "text[]",
  blob: "bytea[]",
} as const satisfies Record<ColumnType, string>;

/** The values of a column as an array of PostgreSQL. */
const arrayOf = (rows: Rows, place: number): string => quoted(`{${rows.map((row) => element(row[place])).join()}}`);

const element = (value: unknown): string => {
  if (value === null) return "null";
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString("hex")}"`;
  if (typeof value === "string") return `"${escaped(value.replaceAll("\0", "\ufffd"))}"`;
  throw unstorable(value);
};

const escaped = (text: string): string => (/["\\]/.test(text) ? text.replaceAll(/["\\]/g, "\\$&") : text);

const unstorable = (value: unknown): RigbridgeError =>
  new RigbridgeError("internal", `A ${typeof value} cannot be stored`);

const compiled = (statement: Compilable) => {
  const { sql: text, parameters: values } = statement.compile();
  return { text, values };
};

/** Values outside quotes. */
const placeholders = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\d+)/g;

const numberedTexts = new Map<string, string>();

/** A text with `?` for each value, as PostgreSQL wants it. */
export const numbered = (text: string): string => {
  const known = numberedTexts.get(text);
  if (known !== undefined) return known;
  let place = 0;
  const changed = text.replace(/\?/g, () => `$${++place}`);
  numberedTexts.set(text, changed);
  return changed;
};
