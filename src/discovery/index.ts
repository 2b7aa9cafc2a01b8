/** Finds mining services and rigs on this machine and in its networks. */
export { type BrokerSearch, type FoundBroker, findBrokers } from "./brokers.ts";
export { type FindOptions, type FoundService, findServices } from "./find.ts";
export { type FoundRigAt, findRigs, type RigSearch } from "./rigs.ts";
