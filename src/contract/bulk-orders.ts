/** Orders in which the miners of a bulk action are sent it: as listed, or the worst J/TH, the least profit or the most power first. */
export const bulkOrders = ["listed", "efficiency", "profit", "power"] as const;
export type BulkOrder = (typeof bulkOrders)[number];
