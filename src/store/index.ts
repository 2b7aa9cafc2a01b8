export type * from "./store.ts";
export { mean, openStore } from "./store.ts";
