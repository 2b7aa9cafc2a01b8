/** Mining services on this machine and in its networks, and rigs there. */

export { type FindOptions, type FoundService, findServices } from "./find.ts";
export { type FoundRigAt, findRigs, type RigSearch } from "./rigs.ts";
