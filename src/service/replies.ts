import type { ActionReply } from "../contract/resources.ts";

/** The reply to a successful action. */
export const done = (message: string): ActionReply => ({ success: true, message });
