export { backUpStore, restoreStore } from "./backup.ts";
export { type CopiedStore, type CopyProgress, copyStore, type StorePlace } from "./copy.ts";
export { type ExaminedStore, examineStore } from "./examine.ts";
export { type KeptValues, signalMemories } from "./kept-values.ts";
export { type ExaminedDatabase, examinePostgres } from "./open-postgres.ts";
export { MayBeStored } from "./postgres-failures.ts";
export { freeBytes, megabytes } from "./space.ts";
export type * from "./store.ts";
export {
  allMiners,
  farmFigures,
  farmSpans,
  mqttUnits,
  noCommand,
  openPostgresStore,
  openStore,
  takeSample,
} from "./store.ts";
