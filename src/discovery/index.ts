/** Mining services on this machine and in its networks. */

export { type FindOptions, type FoundService, findServices } from "./find.ts";
