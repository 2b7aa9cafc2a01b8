/** The columns of the list of rigs, in the order of the dialog that chooses them. */
export const columnKeys = [
  ...(["name", "status", "hashrate", "performance", "power", "efficiency", "temperature", "alarms", "repair"] as const),
  ...(["pool", "worker", "coin", "algorithm", "profit", "revenue", "cost", "energy", "uptime"] as const),
  ...(["rejected", "bestShare", "powerLimit", "mode", "model", "software", "address", "group", "tags"] as const),
  ...(["site", "container", "rack", "slot", "uid"] as const),
];
export type ColumnKey = (typeof columnKeys)[number];

export const isColumn = (name: string): name is ColumnKey => columnKeys.some((key) => key === name);

/** The default columns. */
export const usualColumns: readonly ColumnKey[] = [
  ...(["name", "status", "hashrate", "performance", "power", "temperature"] as const),
  ...(["profit", "model", "group", "address"] as const),
];
