/** Generated from the contract's table (scripts/web.mjs). */
declare module "virtual:operations" {
  /** Method, path without its first slash; with a body, the names of the query's fields: without one, all are. */
  type OperationEntry = readonly ["GET" | "POST" | "PUT" | "PATCH" | "DELETE", string, (readonly string[])?];
  export const operations: Readonly<Record<string, OperationEntry>>;
}
