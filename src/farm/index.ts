/** What front ends over a `MiningService` share: the farm as it changes, and what people want of a miner. */
export { flatInput } from "./flat-input.ts";
export {
  actionIntents,
  type Execution,
  execute,
  type Intent,
  isExecutable,
  type ServiceCall,
  settingIntents,
  settingsIntents,
  toServiceCall,
} from "./intents.ts";
export { type Logger, logTo, type Saying } from "./log.ts";
export { type ListedPool, listedPools, poolInUse } from "./pool-choices.ts";
export { PoolNames } from "./pool-names.ts";
export { RigFaults } from "./rig-faults.ts";
export { type Totals, totalsOf } from "./totals.ts";
export { type FarmListener, type FarmLists, readLists, watchFarm } from "./watch.ts";
