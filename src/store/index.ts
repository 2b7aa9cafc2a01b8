export type * from "./store.ts";
export { openStore, takeSample } from "./store.ts";
