import type { ColumnType, RowsStatement, Upsert } from "./database.ts";
import type { Tables } from "./tables.ts";

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
