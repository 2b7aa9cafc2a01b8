/** Generated from the contract's table (scripts/web.mjs). */
declare module "virtual:operations" {
  /** Method, path without its first slash; with a body, the names of the query's fields: without one, all are. */
  type OperationEntry = readonly ["GET" | "POST" | "PUT" | "PATCH" | "DELETE", string, (readonly string[])?];
  /** Those that the first page names. */
  export const operations: Readonly<Record<string, OperationEntry>>;
}

declare module "virtual:operations/others" {
  export const operations: typeof import("virtual:operations").operations;
}
