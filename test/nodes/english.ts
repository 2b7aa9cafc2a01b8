import { readFileSync } from "node:fs";

// depends on: nodes/service/locales/**

const catalogue: unknown = JSON.parse(
  readFileSync(new URL("../../nodes/service/locales/en-US/rigbridge-service.json", import.meta.url), "utf8"),
);

/** A text of the shared catalogue, as Node-RED puts it together; the key where there is none. */
export function english(key: string, words: Readonly<Record<string, unknown>> = {}): string {
  const path = key.replace(/^.*:/, "").split(".");
  const text = path.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), catalogue);
  return typeof text === "string" ? text.replace(/__(\w+?)__/g, (_, name) => String(words[name])) : key;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
