import { z } from "zod";

/** What a centre defines for its sites. A site keeps it, acts by it without the centre, and does not change it. */
export const definitionKinds = ["rule", "schedule", "maintenance"] as const;
export type DefinitionKind = (typeof definitionKinds)[number];

const text = z.string();

export const RefusedDefinition = z.object({
  kind: z.enum(definitionKinds),
  name: text.describe("key of the rule or schedule, name of the window"),
  message: text.describe("why it is not taken; what was there before it stays"),
});
export type RefusedDefinition = z.infer<typeof RefusedDefinition>;

/** Each is checked on its own, so that one which this version cannot read does not hold up the others. */
const definitions = (what: string) =>
  z
    .array(z.record(z.string().max(100), z.unknown()))
    .max(1000)
    .default([])
    .describe(what);

export const OwnedBody = z.strictObject({
  version: z.string().min(1).max(100).describe("a name of this set, which GET /api/owned answers with"),
  rules: definitions("rules, as in POST /api/rules"),
  schedules: definitions("schedules, as in POST /api/schedules"),
  maintenance: definitions("maintenance windows, as in POST /api/maintenance"),
});

export const ReleaseBody = z.strictObject({
  centre: z.string().min(1).max(200).describe("the user of the centre, as in GET /api/owned"),
  keep: z.boolean().describe("true: its definitions stay, as those of this service; false: they are removed"),
});

export const OwnedSet = z.object({
  centre: text.describe("name of the user whose key the centre has"),
  mine: z.boolean().describe("the caller is this centre"),
  version: text.describe("name of the set, as its centre gave it"),
  time: z.iso.datetime().describe("when it last changed here"),
  actor: text.describe("who changed it"),
  rules: z.int(),
  schedules: z.int(),
  maintenance: z.int(),
  refused: z.array(RefusedDefinition).describe("definitions of the set that are not taken, with the reason"),
});
export interface OwnedSet extends z.infer<typeof OwnedSet> {}
