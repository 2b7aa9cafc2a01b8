import type { Caller } from "rigbridge";

/** Who asks, for the audit of a service. */
export const caller: Caller = { actor: "node-red" };
