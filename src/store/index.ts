export type * from "./store.ts";
export { allMiners, farmSpans, noCommand, openStore, takeSample } from "./store.ts";
