/**
 * The columns of a list of rigs, in and out. Rigs are found by the first four; the others, and a new address, are set. An
 * empty cell changes nothing.
 */
export const importColumns = [
  ...(["uid", "mac", "serial", "address"] as const),
  ...(["name", "group", "site", "container", "rack", "slot", "tags"] as const),
  ...(["driver", "interval", "login", "nameplate"] as const),
] as const;
export type ImportColumn = (typeof importColumns)[number];
