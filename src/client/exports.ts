/** What a program that has nothing but the client needs of the contract; `rigbridge` exports it, too. */

export type { EventType, RowEvent, ServiceEvent } from "../contract/events.ts";
export { minersIn } from "../contract/miners-in.ts";
export { type Operation, type OperationName, operations } from "../contract/operations.ts";
export { type Mistake, type ProblemCode, RigbridgeError } from "../contract/problems.ts";
export type * from "../contract/readings.ts";
export type * from "../contract/resources.ts";
export type { MinerRow, MinerRowList } from "../contract/rows.ts";
export type { Caller, CallName, Input, MiningService, Reach, Reply, StreamName } from "../contract/service.ts";
