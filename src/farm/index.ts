/** Shared by the front ends of a `MiningService`: the farm as it changes, and intents for a miner. */
export { type BackOff, backOffMs, KeyedMutex, retry, Semaphore } from "../async/index.ts";
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
export { type HostLog, type Logger, logTo } from "./log.ts";
export { type ListedPool, listedPools, PoolNames, poolInUse } from "./pools.ts";
export { RigFaults } from "./rig-faults.ts";
export { type Energies, energyIn, type Totals, totalsOf } from "./totals.ts";
export { type FarmListener, type FarmLists, readLists, watchFarm } from "./watch.ts";
