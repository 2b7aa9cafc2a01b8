import { findingsIn, type Mistake, RigbridgeError, sentence, unknownKeySentence } from "rigbridge";
import { connectService } from "rigbridge/client";
import { z } from "zod";
import { platformName } from "../names.ts";
import { insideConfig } from "./inside.ts";
import { type JsonObject, listOf, recordOf } from "./json.ts";
import { ofRigsInside, Settings } from "./schema.ts";

/** Whether anything is to be done at all: a service or a rig is named. */
export function isConfigured(written: unknown): boolean {
  const { service, rigs } = withoutBlanks(written);
  return service !== undefined || listOf(rigs).length > 0;
}

/** What it is called, also where the rest has mistakes; what it keeps is kept under this name. */
export function nameOf(written: unknown): string {
  const { name } = withoutBlanks(written);
  return typeof name === "string" ? name : platformName;
}

/**
 * The settings from what stands in `config.json`; what the form left empty counts as not said. Throws `config.invalid`
 * with every mistake, each at its path like `rigs[1].address`.
 */
export async function readSettings(written: unknown): Promise<Settings> {
  const given = withoutBlanks(written);
  const { data, error } = Settings.safeParse(given, { error: sentence });
  const ofShape = findingsIn(error?.issues ?? [], unknownKey).map(({ path, message }) => ({
    path: text(path),
    message,
  }));
  const mistakes = [...ofShape, ...fitting(given), ...(await deeper(given))];
  if (data !== undefined && mistakes.length === 0) return data;
  throw new RigbridgeError("config.invalid", "The configuration of Rigbridge has mistakes; nothing is started", {
    errors: mistakes.filter(({ path }, index) => mistakes.findIndex(saysAll(path)) === index),
  });
}

/** One mistake at a place is enough, and of what is of the wrong kind nothing inside is asked. */
const saysAll =
  (path: string) =>
  (other: Mistake): boolean =>
    other.path === path || path.startsWith(`${other.path}.`);

/** What is Homebridge's own. */
const own = ["platform", "_bridge"];

const withoutBlanks = (written: unknown): JsonObject => {
  const entries = Object.entries(recordOf(stripped(written)));
  return Object.fromEntries(entries.filter(([key]) => !own.includes(key)));
};

/** A form gives "" and null, and objects without anything, for what was not filled in. */
function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return strippedList(value);
  if (typeof value !== "object" || value === null) return value === "" || value === null ? undefined : value;
  const entries = Object.entries(value)
    .map(([key, each]) => [key, stripped(each)] as const)
    .filter(([, each]) => each !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** An object without anything keeps its place before others, so that they are called by theirs. */
function strippedList(list: readonly unknown[]): unknown[] {
  const said = list.map(stripped);
  const last = said.findLastIndex((each) => each !== undefined);
  return said
    .map((each, index) => each ?? (typeof list[index] === "object" && index < last ? {} : undefined))
    .filter((each) => each !== undefined);
}

const unknownKey = (path: readonly PropertyKey[], key: string) => ({
  path: [...path, key],
  message: unknownKeySentence(key, keysAt(path)),
});

/** The keys that may stand in the object at a path. */
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

/** Without what makes it optional. */
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

/** What does not go together: rigs of a service elsewhere are named, others have an address. */
function fitting({ service, rigs }: JsonObject): Mistake[] {
  return listOf(rigs).flatMap((given, index): Mistake[] => {
    const rig = recordOf(given);
    const at = `rigs[${index}]`;
    if (service === undefined) return fittingInside(rig, at);
    const foreign = ofRigsInside
      .filter((key) => rig[key] !== undefined)
      .map((key) => ({
        path: `${at}.${key}`,
        message: "is for rigs that the plugin reads itself; the service has its own",
      }));
    const first = listOf(rigs).findIndex((other) => recordOf(other).miner === rig.miner);
    if (rig.miner !== undefined && first < index)
      return [...foreign, { path: `${at}.miner`, message: `is that of rigs[${first}] too` }];
    if (rig.miner !== undefined) return foreign;
    return [...foreign, { path: `${at}.miner`, message: "is missing; it is the name or uid that the miner has there" }];
  });
}

function fittingInside(rig: JsonObject, at: string): Mistake[] {
  const mistakes: Mistake[] = [];
  if (rig.address === undefined) mistakes.push({ path: `${at}.address`, message: "is missing" });
  if (rig.miner !== undefined)
    mistakes.push({
      path: `${at}.miner`,
      message: "is for a service elsewhere; a rig that the plugin reads has an address",
    });
  if (rig.as === "heater" && rig.heating === undefined)
    mistakes.push({ path: `${at}.heating`, message: "is missing; a heater needs a room with a temperature" });
  return mistakes;
}

/** What only who uses them knows of addresses, plugs, rooms and web addresses. */
async function deeper(given: JsonObject): Promise<Mistake[]> {
  if (given.service !== undefined) return ofService(recordOf(given.service));
  if (listOf(given.rigs).length === 0) return [];
  const { checkedConfig } = await import("rigbridge/service");
  const { config, pathOf } = insideConfig(given);
  return mistakesOf(() => checkedConfig(config)).map(({ path, message }) => ({
    path: pathOf(path),
    message: message.replaceAll(/\b(?:miners|heating)\[\d+\]/g, pathOf),
  }));
}

function ofService({ url, key, locale }: JsonObject): Mistake[] {
  if (typeof url !== "string") return [];
  const texts = { key: typeof key === "string" ? key : undefined, ...(typeof locale === "string" ? { locale } : {}) };
  const made = mistakesOf(() => void connectService({ url, ...texts }).close());
  return made.map(({ path, message }) => ({ path: `service.${path}`, message }));
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
