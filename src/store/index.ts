export type * from "./store.ts";
export { allMiners, openStore, takeSample } from "./store.ts";
