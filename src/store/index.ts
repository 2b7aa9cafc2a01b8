export type * from "./store.ts";
export { openStore } from "./store.ts";
