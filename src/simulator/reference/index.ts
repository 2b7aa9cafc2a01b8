/** The twin: a server with exactly the documented API of the foreign product. */

export type { KindName } from "./kinds.ts";
export { knownLocale, startTwin, type Twin, type TwinOptions, type TwinRequests } from "./twin.ts";
export type { MinerStatus, TwinMiner } from "./twin-miner.ts";
export type { TwinUser } from "./users.ts";
