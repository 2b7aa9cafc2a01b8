import { sql } from "kysely";

/** For a list as long as it may be: one statement for every length, and no limit on it but memory's. */
export const isOneOf = (column: string, ids: readonly number[]) =>
  sql<boolean>`${sql.ref(column)} in (select value from json_each(${JSON.stringify(ids)}))`;
