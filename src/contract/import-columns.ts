/**
 * The columns of a list of rigs, in and out. Rigs are found by the first four; the others, and a new address, are set. An
 * empty cell changes nothing.
 */
export const importColumns = [
  ...(["uid", "mac", "serial", "address"] as const),
  ...(["name", "group", "site", "building", "container", "row", "rack", "slot"] as const),
  ...(["rackRow", "rackColumn", "tags"] as const),
  ...(["driver", "interval", "login", "nameplate"] as const),
] as const;
/** Those of the table of rigs by their places. */
export const placedColumns = [
  ...(["uid", "mac", "serial", "address", "name", "site", "building", "row", "rack", "slot"] as const),
  ...(["rackRow", "rackColumn", "tags", "driver"] as const),
] as const satisfies readonly (typeof importColumns)[number][];
/** Those of the table of rigs with all settings: `building` is `container` there. */
export const exportColumns = importColumns.filter(
  (column): column is Exclude<(typeof importColumns)[number], "building"> => column !== "building",
);
export type ImportColumn = (typeof importColumns)[number];
