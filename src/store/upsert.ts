import type { SqlValue } from "./sql-value.ts";
import type { Tables } from "./tables.ts";

/** As in migrations.ts. */
export type ColumnType = "integer" | "real" | "text" | "blob";

/** Adds rows to a table; one with the key of a stored row changes that. */
export interface Upsert {
  readonly table: keyof Tables;
  readonly columns: ReadonlyMap<string, ColumnType>;
  /** The places of the key among the columns. */
  readonly key: readonly number[];
  /** What follows the rows. */
  readonly onConflict: string;
  /** For one row, with `?` for each value. */
  readonly text: string;
}

/** The rows of one table, of which there may be thousands: each the values of all columns, in their order. */
export interface RowsStatement {
  readonly upsert: Upsert;
  readonly rows: readonly (readonly SqlValue[])[];
}

type ColumnTypes<T extends keyof Tables> = { readonly [C in keyof Tables[T]]-?: ColumnType };

/**
 * `columns`: all of the table. `changed`: the new value of a column of a stored row; by default that of the given row,
 * which SQL calls `excluded`.
 */
export const upsert = <T extends keyof Tables>(
  table: T,
  columns: ColumnTypes<T>,
  key: readonly (keyof ColumnTypes<T> & string)[],
  changed: (column: string) => string = (column) => `excluded.${column}`,
): ((rows: RowsStatement["rows"]) => RowsStatement) => {
  const types = new Map<string, ColumnType>(Object.entries(columns));
  const names = [...types.keys()];
  const isKey = (name: string): boolean => key.some((each) => each === name);
  const changes = names.filter((name) => !isKey(name)).map((name) => `${name} = ${changed(name)}`);
  const onConflict = `on conflict (${key.join(", ")}) do update set ${changes.join(", ")}`;
  const values = `values (${names.map(() => "?").join(", ")})`;
  const made: Upsert = {
    table,
    columns: types,
    key: names.flatMap((name, place) => (isKey(name) ? place : [])),
    onConflict,
    text: `insert into ${table} (${names.join(", ")}) ${values} ${onConflict}`,
  };
  return (rows) => ({ upsert: made, rows });
};
