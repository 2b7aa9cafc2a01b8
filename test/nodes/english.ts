import { readFileSync } from "node:fs";

// depends on: nodes/service/locales/**

const catalogue: unknown = JSON.parse(
  readFileSync(new URL("../../nodes/service/locales/en-US/rigbridge-service.json", import.meta.url), "utf8"),
);

/** A text of the shared catalogue with its placeholders filled, as Node-RED does it; the key if there is none. */
export function english(key: string, placeholders: Readonly<Record<string, unknown>> = {}): string {
  const text = at(key.replace(/^.*:/, ""));
  return typeof text === "string" ? text.replace(/__(\w+?)__/g, (_, name) => String(placeholders[name])) : key;
}

/** The keys of a group of the catalogue, sorted. */
export const labelled = (group: string): string[] => Object.keys(Object(at(group))).toSorted();

const at = (path: string): unknown =>
  path.split(".").reduce<unknown>((texts, name) => (isObject(texts) ? texts[name] : undefined), catalogue);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
