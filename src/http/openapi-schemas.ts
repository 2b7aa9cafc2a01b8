import { z } from "zod";
import { ChannelBody, ChannelPatch, ChannelState } from "../contract/channels.ts";
import { CodedText } from "../contract/coded-text.ts";
import * as curtailment from "../contract/curtailment.ts";
import * as events from "../contract/events.ts";
import * as imports from "../contract/imports.ts";
import * as inputs from "../contract/inputs.ts";
import { type Operation, operationNames, operations } from "../contract/operations.ts";
import { OwnedBody, OwnedSet, RefusedDefinition, ReleaseBody } from "../contract/owned.ts";
import { ChangePlaceBody, LocatePlaceBody, Place, PlaceBody, PlaceHashrate } from "../contract/place-operations.ts";
import { HttpPlug, HttpPlugSettings, MqttPlugSettings } from "../contract/plug-settings.ts";
import { problems } from "../contract/problems.ts";
import * as readings from "../contract/readings.ts";
import { isRecord } from "../contract/record.ts";
import * as resources from "../contract/resources.ts";
import * as rows from "../contract/rows.ts";
import { Condition, conditionKinds, DeviceState, Inner, StatusWord, Weekly } from "../contract/rule-conditions.ts";
import * as rules from "../contract/rules.ts";
import { isSecret } from "../contract/secrets.ts";
import * as session from "../contract/session.ts";
import {
  BrokerList,
  SaveSettingsBody,
  SectionState,
  SettingsChange,
  SettingsFinding,
  SettingsList,
  SettingsReload,
  SettingsTest,
  TestSettingsBody,
  TopicList,
} from "../contract/settings.ts";
import { Sighting, SightingBody } from "../contract/sightings.ts";
import { Step, stepKinds } from "../contract/steps.ts";
import * as templates from "../contract/templates.ts";
import { type Json, mapSchema, mapValues } from "./openapi-schema-walk.ts";
import { simpleUnion } from "./openapi-unions.ts";

type Names = z.core.$ZodRegistry<{ id: string }>;
type Override = z.core.RegistryToJSONSchemaParams["override"];

const uri = (name: string): string => `#/components/schemas/${name}`;

/** Every resource, reply and body of the contract as JSON Schema, by its exported name. */
export function contractSchemas(): Json {
  const schemas: Record<string, Json> = {
    ...generated(replies, "output", (context) => {
      // Clients must accept fields that later versions add.
      delete context.jsonSchema.additionalProperties;
      withoutNoise(context);
    }),
    ...generated(bodies, "input", withoutNoise),
  };
  const lookup = (reference: string) => schemas[reference.slice(uri("").length)];
  return mapValues(schemas, (each) =>
    isRecord(each) ? mapSchema(each, (schema) => simpleUnion(schema, lookup)) : each,
  );
}

/** A reference to the schema of a reply or body. */
export function reference(schema: z.ZodType): Json {
  return { $ref: uri(replies.get(schema)?.id ?? bodies.get(schema)?.id ?? "") };
}

/** Path and query parameters, with codecs shown as the type that they decode to. */
export function parameterSchemas(schema: z.ZodType): { properties: Json; required: readonly string[] } {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, {
    io: "input",
    override: (context) => {
      const { zodSchema, jsonSchema } = context;
      if (zodSchema instanceof z.ZodCodec) {
        for (const key of ["pattern", "maxLength", "enum"] as const) delete jsonSchema[key];
        Object.assign(jsonSchema, withoutMeta(z.toJSONSchema(zodSchema.def.out)));
      }
      // zod omits the examples of transformed schemas, since they could be examples of the result.
      const { examples } = z.globalRegistry.get(zodSchema) ?? {};
      if (examples !== undefined) Object.assign(jsonSchema, { examples });
      withoutNoise(context);
    },
  });
  return {
    properties: mapValues(properties, (each) =>
      isRecord(each) ? mapSchema(each, (schema) => simpleUnion(forGenerators(schema), () => undefined)) : each,
    ),
    required,
  };
}

const withoutNoise: NonNullable<Override> = ({ zodSchema, jsonSchema }) => {
  // Forms mask the input of such fields.
  if (isSecret(zodSchema)) jsonSchema.format = "password";
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (isInner(zodSchema)) oneOfItsKeys(jsonSchema);
  // The pattern repeats the calendar as a regular expression.
  if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
};

/** A schema without what client generators do not support; zod merges unions of types after `override` has seen them. */
function forGenerators({ const: constant, default: preset, prefixItems, type, ...schema }: Json): Json {
  return {
    ...schema,
    ...withoutTwins(schema),
    ...typesOf(type),
    ...(typeof constant === "string" ? { enum: [constant] } : {}),
    // Go has no literal for an empty object.
    ...(preset === undefined || (isRecord(preset) && Object.keys(preset).length === 0) ? {} : { default: preset }),
    ...(Array.isArray(prefixItems) ? { items: anyOfThem(prefixItems) } : {}),
  };
}

/** Without a format, numbers have 32 bits in Go, Java, C# and Rust, too few for ids, times and hash rates. */
const widthOf = (types: readonly unknown[]): Json =>
  types.includes("integer") ? { format: "int64" } : types.includes("number") ? { format: "double" } : {};

/**
 * Removes a second property name that differs by case alone (`groupID` beside `groupId`): in Rust both are the same.
 */
function withoutTwins({ properties, required }: Json): Json {
  if (!isRecord(properties)) return {};
  const names = Object.keys(properties);
  // No field of Java can be called `true`.
  if (names.includes("true"))
    return { properties: undefined, required: undefined, additionalProperties: properties.true };
  const twins = names.filter((name, index) =>
    names.slice(0, index).some((other) => other.toLowerCase() === name.toLowerCase()),
  );
  if (twins.length === 0) return {};
  return {
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !twins.includes(name))),
    // Strict clients would refuse the second name as unknown.
    additionalProperties: true,
    ...(Array.isArray(required) ? { required: required.filter((name) => !twins.includes(name)) } : {}),
  };
}

/** A type, or null, stays; several types are a union. */
function typesOf(type: unknown): Json {
  const types = [type].flat().filter((each) => each !== undefined);
  if (types.filter((each) => each !== "null").length > 1) return { anyOf: types.map(typesOf) };
  return type === undefined ? {} : { type, ...widthOf(types) };
}

/** A tuple becomes an array of any of its types. */
function anyOfThem(items: readonly unknown[]): Json {
  const types = new Set(
    items
      .flatMap((item) => (isRecord(item) ? (Array.isArray(item.anyOf) ? item.anyOf : [item]) : []))
      .flatMap((kind) => kind.type ?? []),
  );
  if (types.has("number")) types.delete("integer");
  return typesOf([...types]);
}

const isInner = (schema: z.core.$ZodType): boolean => schema === Inner;

/** An object with exactly one of its keys. */
function oneOfItsKeys(schema: z.core.JSONSchema.BaseSchema): void {
  schema.oneOf = Object.entries(schema.properties ?? {}).map(([key, each]) => ({
    type: "object",
    properties: { [key]: each },
    required: [key],
    additionalProperties: false,
  }));
  for (const key of ["type", "properties", "additionalProperties"] as const) delete schema[key];
}

const generated = (names: Names, io: "input" | "output", override: NonNullable<Override>): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(z.toJSONSchema(names, { uri, io, override }).schemas).map(([name, schema]) => [
      name,
      mapSchema(withoutMeta(schema), forGenerators),
    ]),
  );

const withoutMeta = (schema: object): Json =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema" && key !== "$id"));

/** RigReadings is left out: Readings contains all of it. */
const { TemplateBody, ...templateReplies } = templates;
const { RuleInfo, RuleList, ReadyMadeRule, ScheduleInfo, Upcoming, MaintenanceWindow, RuleRun, RuleRuns, TryReply } =
  rules;
const ruleReplies = {
  RuleInfo,
  RuleList,
  ReadyMadeRule,
  ScheduleInfo,
  Upcoming,
  MaintenanceWindow,
  RuleRun,
  RuleRuns,
  TryReply,
};
const { RuleSettings, RulePatch, ScheduleSettings, SchedulePatch, MaintenanceSettings } = rules;
const { Curtailment, CurtailmentPlan, CurtailmentPreview, CurtailmentReport, CurtailedRig, CurtailmentSample } =
  curtailment;
const curtailmentReplies = {
  Curtailment,
  CurtailmentPlan,
  CurtailmentPreview,
  CurtailmentReport,
  CurtailedRig,
  CurtailmentSample,
};
const { CurtailmentTarget, CurtailmentRamp, CurtailmentRestore } = curtailment;
const { CurtailmentBody, ChangeCurtailmentBody, CurtailmentPreviewBody, CurtailmentDrillBody } = curtailment;
const { CurtailmentPlanBody, ChangeCurtailmentPlanBody } = curtailment;
/** What replies have inside is named after its place by some generators: CurtailmentTarget is the target of a Curtailment. */
const curtailmentBodies = {
  CurtailmentTargetBody: CurtailmentTarget,
  CurtailmentRampBody: CurtailmentRamp,
  CurtailmentRestoreBody: CurtailmentRestore,
  CurtailmentBody,
  ChangeCurtailmentBody,
  CurtailmentPreviewBody,
  CurtailmentDrillBody,
  CurtailmentPlanBody,
  ChangeCurtailmentPlanBody,
};
const replies = named({
  ...readings,
  RigReadings: undefined,
  ...resources,
  CodedText,
  ...templateReplies,
  ...ruleReplies,
  ...rows,
  ChannelState,
  SectionState,
  SettingsList,
  SettingsChange,
  SettingsReload,
  BrokerList,
  Place,
  PlaceHashrate,
  ...curtailmentReplies,
  Sighting,
  ImportMistake: imports.ImportMistake,
  ImportRow: imports.ImportRow,
  ImportPreview: imports.ImportPreview,
  ImportResult: imports.ImportResult,
  ExportedMiner: imports.ExportedMiner,
  MinerExport: imports.MinerExport,
  PlacedMiner: imports.PlacedMiner,
  PlacedMiners: imports.PlacedMiners,
  TopicList,
  SettingsFinding,
  SettingsTest,
  TestSettingsBody,
  OwnedSet,
  RefusedDefinition,
  // Replies include defaults, so their schemas differ from those of bodies.
  HttpPlug,
  MqttPlug: MqttPlugSettings,
  Session: session.Session,
  ...events,
});
const bodies = named({
  ...Object.fromEntries(Object.entries(inputs).filter(([name]) => name.endsWith("Body"))),
  ...curtailmentBodies,
  PlaceBody,
  ChangePlaceBody,
  LocatePlaceBody,
  SightingBody,
  ImportBody: imports.ImportBody,
  TemplateBody,
  ChannelBody,
  ChannelPatch,
  SaveSettingsBody,
  OwnedBody,
  ReleaseBody,
  RuleSettings,
  RulePatch,
  ScheduleSettings,
  SchedulePatch,
  MaintenanceSettings,
  SessionBody: session.SessionBody,
  Step,
  Condition,
  Scope: rules.Scope,
  Weekly,
  StatusWord,
  DeviceState,
  ReasonCode: readings.ReasonCode,
  HttpPlugSettings,
  MqttPlugSettings,
  ...suffixed(stepKinds, "Step"),
  ...suffixed(conditionKinds, "Condition"),
});
for (const name of operationNames) {
  const { reply }: Operation = operations[name];
  if (!replies.has(reply)) replies.add(reply, { id: `${name.charAt(0).toUpperCase()}${name.slice(1)}Reply` });
}

/** Schemas by names like `PoolGroupStep`. */
function suffixed(kinds: Readonly<Record<string, z.ZodType>>, suffix: string): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(kinds).map(([key, schema]) => [`${key.charAt(0).toUpperCase()}${key.slice(1)}${suffix}`, schema]),
  );
}

function named(exported: Readonly<Record<string, unknown>>): Names {
  const names: Names = z.registry();
  for (const [id, schema] of Object.entries(exported)) if (schema instanceof z.ZodType) names.add(schema, { id });
  return names;
}

export const problemResponse = (words: string): Json => ({
  description: words,
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
});

const coded: Json = { $ref: "#/components/schemas/CodedText" };

export const problemSchema: Json = {
  type: "object",
  description: "RFC 9457",
  properties: {
    type: { type: "string", description: "`urn:rigbridge:problem:` followed by the code" },
    title: { type: "string" },
    status: { type: "integer", format: "int32" },
    detail: { type: "string", description: "what failed, on which thing, why, and what to do" },
    code: { type: "string", enum: Object.keys(problems), description: "a stable code" },
    coded: { ...coded, description: "the detail by code, for clients in another language; absent if it has none" },
    errors: {
      type: "array",
      description: "every mistake in the input",
      items: {
        type: "object",
        properties: {
          path: { type: "string" },
          message: { type: "string" },
          coded: { ...coded, description: "the message by code; absent if it has none" },
        },
        required: ["path", "message"],
      },
    },
  },
  required: ["type", "title", "status", "detail", "code"],
};
