import { z } from "zod";
import type { Detail } from "../messages/coded-text.ts";
import { CodedText } from "./coded-text.ts";
import { Flag, parameter } from "./inputs.ts";

/**
 * Sections of the configuration that can be saved over the API: keys of the configuration file. Lists with their own
 * resources, such as groups, pools and rules, are not included.
 */
export const settingsSections = [
  ...(["display", "electricity", "rates", "market", "heating", "follow", "mqtt", "poll", "power", "scan"] as const),
  ...(["logins", "defaults", "sites", "centre"] as const),
  ...(["history", "automation", "gpuSettings", "agent", "software", "http", "facility", "signals"] as const),
] as const;
export type SettingsSection = (typeof settingsSections)[number];

export const isSettingsSection = (key: string): key is SettingsSection =>
  settingsSections.some((section) => section === key);

export const SectionName = z.enum(settingsSections);

const anyJson = z.unknown();

/** A section as GET /api/settings lists it. Secrets are `{"set": true}`. */
export const SectionState = z.object({
  key: SectionName,
  owner: z
    .enum(["file", "store", "default"])
    .describe("file: the configuration file has this key; store: it was saved over the API; default: neither"),
  line: z.int().nullable().describe("line in the configuration file; null if it is not there"),
  value: anyJson.describe("as it was written, without secrets; null if it was not"),
  effective: anyJson.describe("with defaults, without secrets; null = off"),
  restart: z
    .boolean()
    .describe("whether the last change of it waits for a restart of the service, which then uses `effective`"),
  revision: z.int().describe("counts the times that it was saved; a save that names an older one is refused"),
  undoable: z.boolean().describe("whether POST /api/settings/{section}/undo brings back what was before the last save"),
  problem: z.string().nullable().describe("why what was saved has no effect; null if it has"),
});
export type SectionState = z.infer<typeof SectionState>;

export const SettingsList = z.object({ sections: z.array(SectionState) });
export type SettingsList = z.infer<typeof SettingsList>;

export const SaveSettingsBody = z.object({
  value: anyJson.describe(
    "the whole section, as in the configuration file. A secret that is left out, or sent as it was listed, stays; null removes it",
  ),
  revision: z.int().min(0).optional().describe("that of the section as the change began; absent = any"),
});

export const DryRunQuery = z.object({
  dryRun: parameter(Flag, "true answers what would change, and changes nothing", true).optional(),
});

export const SettingsChange = z.object({
  section: SectionState.describe("as it is after the change"),
  changes: z.array(z.string()).describe("what differs from before, such as `poll.interval: 10 → 5`, without secrets"),
  effects: z.array(z.string()).describe("what the change does, in sentences"),
  codedEffects: z.array(CodedText).optional().describe("the same by code; absent in older services"),
  saved: z.boolean().describe("false if dryRun was asked for, or nothing differs"),
});
export type SettingsChange = z.infer<typeof SettingsChange>;

export const TestSettingsBody = z.object({
  value: anyJson.optional().describe("the section as it would be saved, as in PUT; absent = as it is in effect"),
});

/** The answer of one broker, source, topic or network. */
export const SettingsFinding = z.object({
  ok: z.boolean().nullable().describe("null: it cannot be known by asking"),
  message: z.string(),
  url: z.string().optional().describe("an address at which this service can be opened; only of http"),
  coded: CodedText.optional().describe("the message by code; absent if it has none"),
});
export type SettingsFinding = z.infer<typeof SettingsFinding>;

/** The result of a trial; by code if the text has one. */
export const finding = (ok: boolean | null, what: string | Detail): SettingsFinding =>
  typeof what === "string" ? { ok, message: what } : { ok, message: what.text, coded: what.coded };

export const SettingsTest = z.object({
  section: SectionName,
  findings: z.array(SettingsFinding).describe("one for each thing that was tried; nothing was saved"),
});
export type SettingsTest = z.infer<typeof SettingsTest>;

export const BrokerList = z.object({
  brokers: z.array(
    z.object({
      name: z.string().describe("as it announces itself"),
      url: z.string().describe("mqtt://192.168.1.2:1883"),
      kind: z
        .enum(["mqtt", "home-assistant"])
        .describe("home-assistant: a Home Assistant, at whose address its own broker usually is"),
    }),
  ),
});
export type BrokerList = z.infer<typeof BrokerList>;

export const TopicList = z.object({
  topics: z
    .array(
      z.object({
        topic: z.string(),
        numbers: z
          .array(
            z.object({
              path: z.string().nullable().describe("path in the JSON; null: the message is the number"),
              value: z.number().describe("in the unit of the device"),
            }),
          )
          .describe("in its last message"),
      }),
    )
    .describe("at most 200, by name; empty without a broker, or with the one inside Rigbridge"),
});
export type TopicList = z.infer<typeof TopicList>;

export const SettingsReload = z.object({
  changed: z.array(z.string()).describe("keys of the configuration file whose values differ"),
  message: z.string(),
});
export type SettingsReload = z.infer<typeof SettingsReload>;
