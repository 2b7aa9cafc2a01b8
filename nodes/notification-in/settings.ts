import { type Severity, severities } from "rigbridge";
import { z } from "zod";
import { count, required } from "../shared/config.ts";
import { minerFields } from "../shared/miner-choice.ts";

export const NotificationInConfig = z.object({
  service: required,
  ...minerFields,
  /** In title or message; empty = any. */
  text: z.string().max(200, "too-long").default(""),
  textKind: z.enum(["contains", "regex"]).default("contains"),
  /** The least severity; empty in nodes of earlier versions, where `warningsOnly` decides. */
  severity: z.enum(["", ...severities]).default(""),
  warningsOnly: z.boolean().default(false),
  tellNew: z.boolean().default(true),
  tellChanged: z.boolean().default(true),
  tellClosed: z.boolean().default(true),
  /** Without memory, sends the notifications that are not acknowledged yet. */
  openAtFirst: z.boolean().default(false),
  /** Acknowledges what it has sent. */
  acknowledge: z.boolean().default(false),
  /** Messages per minute. */
  limit: count(1, 6000, 30),
  /** s between reads of the list without an event. */
  interval: count(1, 3600, 30),
});
export type NotificationInConfig = z.infer<typeof NotificationInConfig>;

export const leastSeverity = ({ severity, warningsOnly }: NotificationInConfig): Severity =>
  severity || (warningsOnly ? "warning" : "info");
