import { findingsIn, isRecord, type Mistake, RigbridgeError, sentence, unknownKeySentence } from "rigbridge";
import { connectService } from "rigbridge/client";
import { z } from "zod";
import { platformName } from "../names.ts";
import { insideConfig } from "./inside.ts";
import { type JsonObject, listOf, recordOf } from "./json.ts";
import { insideOnly, Settings } from "./schema.ts";

/** Whether a service or a rig is configured. */
export function isConfigured(written: unknown): boolean {
  const { service, rigs } = withoutBlanks(written);
  return service !== undefined || listOf(rigs).length > 0;
}

/** The name of the block, even if the rest has mistakes; its data folder is named after it. */
export function nameOf(written: unknown): string {
  const { name } = withoutBlanks(written);
  return typeof name === "string" ? name : platformName;
}

/**
 * The settings from a block of `config.json`; empty values left by the form count as absent. Throws `config.invalid`
 * with every mistake, each at its path like `rigs[1].address`.
 */
export async function readSettings(written: unknown): Promise<Settings> {
  const given = withoutBlanks(written);
  const { data, error } = Settings.safeParse(given, { error: sentence });
  const shape = findingsIn(error?.issues ?? [], unknownKey).map(({ path, message }) => ({
    path: text(path),
    message,
  }));
  const mistakes = [...shape, ...crossChecks(given), ...(await valueChecks(given))];
  if (data !== undefined && mistakes.length === 0) return data;
  throw new RigbridgeError("config.invalid", "The configuration of Rigbridge has mistakes, so nothing is started", {
    errors: mistakes.filter(({ path }, index) => mistakes.findIndex(covers(path)) === index),
  });
}

/** One mistake per path is enough, and inside a value of the wrong kind none is reported. */
const covers =
  (path: string) =>
  (other: Mistake): boolean =>
    other.path === path || path.startsWith(`${other.path}.`);

/** Keys that belong to Homebridge. */
const homebridgeKeys = ["platform", "_bridge"];

const withoutBlanks = (written: unknown): JsonObject => {
  const entries = Object.entries(recordOf(stripped(written)));
  return Object.fromEntries(entries.filter(([key]) => !homebridgeKeys.includes(key)));
};

/** What a checkbox adds to a rig stays although it is empty, so that its missing fields are reported. */
const added = ["heating", "supply"];

/** A form gives "", null and empty objects for fields that were not filled in. */
function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return strippedList(value);
  if (typeof value !== "object" || value === null) return value === "" || value === null ? undefined : value;
  const entries = Object.entries(value)
    .map(([key, each]) => [key, stripped(each) ?? (added.includes(key) && isRecord(each) ? {} : undefined)] as const)
    .filter(([, each]) => each !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** An empty object before others keeps its place, so that the paths of the others stay correct. */
function strippedList(list: readonly unknown[]): unknown[] {
  const values = list.map(stripped);
  const last = values.findLastIndex((each) => each !== undefined);
  return values
    .map((each, index) => each ?? (typeof list[index] === "object" && index < last ? {} : undefined))
    .filter((each) => each !== undefined);
}

const unknownKey = (path: readonly PropertyKey[], key: string) => ({
  path: [...path, key],
  message: unknownKeySentence(key, keysAt(path)),
});

/** The keys that the object at a path may have. */
function keysAt(path: readonly PropertyKey[]): string[] {
  let schema: unknown = Settings;
  for (const step of path) {
    const inside = bare(schema);
    if (inside instanceof z.ZodArray) schema = inside.element;
    else if (inside instanceof z.ZodObject) schema = inside.shape[String(step)];
  }
  const found = bare(schema);
  return found instanceof z.ZodObject ? Object.keys(found.shape) : [];
}

/** The schema inside optional and default ones. */
function bare(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return bare(schema.unwrap());
  return schema;
}

const text = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((before, step) => {
    if (typeof step === "number") return `${before}[${step}]`;
    return before === "" ? String(step) : `${before}.${String(step)}`;
  }, "");

/** Rigs of an existing service have the miner's name; others have an address. */
function crossChecks({ service, rigs }: JsonObject): Mistake[] {
  return listOf(rigs).flatMap((given, index): Mistake[] => {
    const rig = recordOf(given);
    const at = `rigs[${index}]`;
    if (service === undefined) return insideChecks(rig, at);
    const foreign = insideOnly
      .filter((key) => rig[key] !== undefined)
      .map((key) => ({
        path: `${at}.${key}`,
        message: "is only for rigs that the plugin reads itself; set it in the service instead",
      }));
    const first = listOf(rigs).findIndex((other) => recordOf(other).miner === rig.miner);
    if (rig.miner !== undefined && first < index)
      return [...foreign, { path: `${at}.miner`, message: `is already used by rigs[${first}]` }];
    if (rig.miner !== undefined) return foreign;
    return [
      ...foreign,
      { path: `${at}.miner`, message: "is missing; enter the name or uid of the miner in the service" },
    ];
  });
}

function insideChecks(rig: JsonObject, at: string): Mistake[] {
  const mistakes: Mistake[] = [];
  if (rig.address === undefined) mistakes.push({ path: `${at}.address`, message: "is missing" });
  if (rig.miner !== undefined)
    mistakes.push({
      path: `${at}.miner`,
      message: "is only for an existing service; enter the address of the rig instead",
    });
  if (rig.as === "heater" && rig.heating === undefined)
    mistakes.push({ path: `${at}.heating`, message: "is missing; a heater needs a room with a temperature sensor" });
  return mistakes;
}

/** The checks of addresses, plugs, rooms and URLs, by the code that uses them. */
async function valueChecks(given: JsonObject): Promise<Mistake[]> {
  if (given.service !== undefined) return serviceChecks(recordOf(given.service));
  if (listOf(given.rigs).length === 0) return [];
  const { checkedConfig } = await import("rigbridge/service");
  const { config, pathOf } = insideConfig(given);
  return mistakesOf(() => checkedConfig(config)).map(({ path, message }) => ({
    path: pathOf(path),
    message: message.replaceAll(/\b(?:miners|heating)\[\d+\]/g, pathOf),
  }));
}

function serviceChecks({ url, key, locale }: JsonObject): Mistake[] {
  if (typeof url !== "string") return [];
  const texts = { key: typeof key === "string" ? key : undefined, ...(typeof locale === "string" ? { locale } : {}) };
  const mistakes = mistakesOf(() => void connectService({ url, ...texts }).close());
  return mistakes.map(({ path, message }) => ({ path: `service.${path}`, message }));
}

function mistakesOf(check: () => unknown): readonly Mistake[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    return error.errors.length > 0 ? error.errors : [{ path: "url", message: error.message }];
  }
}
