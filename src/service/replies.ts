import type { ActionReply } from "../contract/resources.ts";

/** What was asked for has been done. */
export const done = (message: string): ActionReply => ({ success: true, message });
