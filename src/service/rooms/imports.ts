import type { Core } from "../core.ts";
import { importOperations } from "../imports/imports.ts";
import type { ServiceRoom } from "../room.ts";
import type { Miners } from "./miners.ts";

/** Lists of rigs, in and out. */
export const openImports = ({ now }: Core, { context }: Miners) =>
  ({ operations: importOperations({ ...context, now }) }) satisfies ServiceRoom;
