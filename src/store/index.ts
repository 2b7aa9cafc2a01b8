export type * from "./store.ts";
export { allMiners, farmFigures, farmSpans, noCommand, openStore, takeSample } from "./store.ts";
