import type { Caller } from "../contract/service.ts";

/** Who asks, in the audit. */
export const caller: Caller = { actor: "mqtt" };
