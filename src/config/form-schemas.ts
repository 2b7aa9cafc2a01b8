import { z } from "zod";
import { ChannelSettings } from "../contract/channels.ts";
import { addFormKeywords } from "../contract/form-kind.ts";
import { ManagedMinerBody } from "../contract/inputs.ts";
import { numberReadings } from "../contract/rule-conditions.ts";
import { RuleSettings, ScheduleSettings } from "../contract/rules.ts";
import { settingsSections } from "../contract/settings.ts";
import { TemplateBody } from "../contract/templates.ts";
import { Config } from "./schema.ts";

const jsonSchemaOf = (schema: z.ZodType) =>
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "ref", override: addFormKeywords });

/** JSON schemas of rules, schedules, templates, channels and managed miners, for the forms that edit them. */
export const formSchemas = () => ({
  rule: jsonSchemaOf(RuleSettings),
  schedule: jsonSchemaOf(ScheduleSettings),
  // Its sites are chosen below the form.
  template: jsonSchemaOf(TemplateBody.omit({ runsAt: true })),
  readingUnits: numberReadings,
  // By type, which is chosen first.
  channels: Object.fromEntries(
    ChannelSettings.options.map(({ shape: { type, ...others } }) => [type.value, jsonSchemaOf(z.strictObject(others))]),
  ),
  managedMiner: jsonSchemaOf(ManagedMinerBody.pick({ gpuSettings: true, switching: true, idle: true })),
});

/** JSON schemas of the configuration sections that are saved in the dashboard. */
export const sectionSchemas = () => ({
  sections: Object.fromEntries(settingsSections.map((section) => [section, jsonSchemaOf(Config.shape[section])])),
});

/** Every description in these schemas, once. */
export function descriptionsIn(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(value)) for (const each of value) descriptionsIn(each, found);
  else if (typeof value === "object" && value !== null)
    for (const [key, each] of Object.entries(value)) {
      if (key === "description" && typeof each === "string") found.add(each);
      else descriptionsIn(each, found);
    }
  return found;
}
