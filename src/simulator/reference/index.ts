/** The twin: a server with strictly the documented interface, as the reference product has it. */

export type { KindName } from "./kinds.ts";
export { knownLocale, startTwin, type Twin, type TwinOptions, type TwinRequests } from "./twin.ts";
export type { MinerStatus, TwinMiner } from "./twin-miner.ts";
export type { TwinUser } from "./users.ts";
