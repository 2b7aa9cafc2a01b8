export type * from "./store.ts";
export { allMiners, noCommand, openStore, takeSample } from "./store.ts";
