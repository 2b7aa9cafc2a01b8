/** What a column of either engine holds. */
export type SqlValue = number | string | Uint8Array | null;
