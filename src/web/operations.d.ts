/** Generated from the contract's table (scripts/web.mjs). */
declare module "virtual:operations" {
  /** Method, path without its first slash, names of the query fields if it has a body, whether it has one. */
  type OperationEntry = readonly ["GET" | "POST" | "PUT" | "PATCH" | "DELETE", string, readonly string[], boolean];
  export const operations: Readonly<Record<string, OperationEntry>>;
}
