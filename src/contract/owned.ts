import { z } from "zod";
import { secret } from "./secrets.ts";

/** What a centre defines for its sites. A site keeps it, acts by it without the centre, and does not change it. */
export const definitionKinds = ["rule", "schedule", "maintenance", "pool", "poolGroup", "template"] as const;
export type DefinitionKind = (typeof definitionKinds)[number];

const text = z.string();

export const pushStates = ["pushed", "pending", "refused"] as const;

/** A definition at a site that it was pushed to. */
export const SiteCopy = z.object({
  name: text.describe("name of the site"),
  state: z
    .enum(pushStates)
    .describe(
      "pushed: the site has it as it is now; pending: the site has not confirmed it yet, and has what it got before; refused: the site does not take it",
    ),
  time: z.iso.datetime().nullable().describe("when the site took the last change; null = unknown"),
  problem: text.nullable().describe("why it is not there, in the words of the site; null if nothing is wrong"),
});
export interface SiteCopy extends z.infer<typeof SiteCopy> {}

export const RefusedDefinition = z.object({
  kind: z.enum(definitionKinds),
  name: text.describe("key of the rule or schedule, name of anything else"),
  message: text.describe("why it is not taken; what was there before it stays"),
});
export type RefusedDefinition = z.infer<typeof RefusedDefinition>;

/** Each is checked on its own, so that one which this version cannot read does not hold up the others. */
const definitions = (what: string, value: z.ZodType = z.unknown()) =>
  z
    .array(z.record(z.string().max(100), value))
    .max(1000)
    .describe(what);

export const OwnedBody = z.strictObject({
  version: z.string().min(1).max(100).describe("a name of this set, which GET /api/owned answers with"),
  rules: definitions("rules, as in POST /api/rules").default([]),
  schedules: definitions("schedules, as in POST /api/schedules").default([]),
  maintenance: definitions("maintenance windows, as in POST /api/maintenance").default([]),
  pools: definitions(
    "pools, as in POST /api/pools, without ids and each with a description",
    // The password of each.
    secret(z.unknown()),
  ).optional(),
  poolGroups: definitions("pool groups, as in POST /api/poolgroups, with the names of their pools").optional(),
  templates: definitions(
    "managed templates, as in POST /api/managedtemplates, without ids",
    // The parameters of mining software.
    secret(z.unknown()),
  ).optional(),
});

export const ReleaseBody = z.strictObject({
  centre: z.string().min(1).max(200).describe("the user of the centre, as in GET /api/owned"),
  keep: z.boolean().describe("true: its definitions stay, as those of this service; false: they are removed"),
});

export const OwnedSet = z.object({
  centre: text.describe("name of the user whose key the centre has"),
  mine: z.boolean().describe("the caller is this centre"),
  version: text.describe("name of the set, as its centre gave it; empty for other callers"),
  time: z.iso.datetime().describe("when it last changed here"),
  actor: text.describe("who changed it"),
  rules: z.int(),
  schedules: z.int(),
  maintenance: z.int(),
  pools: z.int().optional().describe("absent from releases that take none, as poolGroups is"),
  poolGroups: z.int().optional(),
  templates: z.int().optional().describe("absent from releases that take none"),
  refused: z
    .array(RefusedDefinition)
    .describe(
      "definitions of the set that are not taken, and pools, pool groups and templates that are still used though it has them no longer, with the reason",
    ),
});
export interface OwnedSet extends z.infer<typeof OwnedSet> {}

/** What a pool, pool group or template says about sites and centres, at the service that shows it. */
export const sharing = {
  runsAt: z.array(text).optional().describe("names of the other sites that get it; absent without any"),
  centre: text
    .optional()
    .describe("the user of the centre that owns it, where alone it is changed; absent if none does"),
  sites: z
    .array(SiteCopy)
    .optional()
    .describe("the sites of its runsAt, at the service that shows them; absent without any"),
};
