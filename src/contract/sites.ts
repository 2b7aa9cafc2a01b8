import { z } from "zod";
import { RefusedDefinition } from "./owned.ts";
import { secret } from "./secrets.ts";

export const siteStates = ["connecting", "connected", "unreachable", "refused"] as const;

/** Another service whose rigs this one shows. */
export const Site = z.object({
  id: z
    .int()
    .describe("number of the site; the numbers of its rigs, groups and all else are id × 10^10 + number there"),
  name: z.string(),
  url: z.string().nullable().describe("its first address, without credentials; null: it connects to here by itself"),
  admitted: z
    .boolean()
    .nullable()
    .describe("whether there is a token with which it connects; null if it does not connect by itself"),
  state: z
    .enum(siteStates)
    .describe(
      "connecting: it has not answered yet; unreachable: it no longer answers, and its rigs are shown as they were; refused: its key is wrong, or it cannot be a site",
    ),
  since: z.iso.datetime().describe("when it came into this state"),
  problem: z.string().nullable().describe("why it cannot be reached, or what is odd about it; null if nothing is"),
  version: z.string().nullable().describe("version of Rigbridge there; null = unknown, or another product"),
  miners: z.int().nullable().describe("number of its miners; null = unknown"),
  clock: z
    .number()
    .nullable()
    .describe("seconds by which its clock is ahead of the one here; null if that is unknown or less than two"),
  definitions: z
    .object({
      pushed: z.int().describe("rules, schedules and maintenance windows of this service that it acts by"),
      pending: z.int().describe("those that it has not confirmed yet"),
      refused: z.array(RefusedDefinition).describe("those that it does not take, with the reason"),
    })
    .optional()
    .describe("what was pushed to it; absent if nothing is"),
  lacks: z.array(z.string()).describe("operationIds that it does not offer"),
});
export interface Site extends z.infer<typeof Site> {}

/** The token with which a site connects to its centre. */
export const SiteToken = z.object({
  id: z.int().describe("number of the site"),
  token: secret(z.string()).describe("for the section centre of the site's configuration; shown only in this reply"),
});
export type SiteToken = z.infer<typeof SiteToken>;
