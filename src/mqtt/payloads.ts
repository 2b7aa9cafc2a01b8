import { invalid, RigbridgeError } from "../contract/problems.ts";
import { isObject, type JsonObject } from "../farm/values.ts";
import { parseJson } from "../http/json.ts";

/** Bytes of a command, and levels of its JSON. */
const largest = 65_536;
const deepest = 16;

/** The text of a payload. Throws `body.too-large`, and `input.invalid` if it is not UTF-8. */
export function textOf(payload: Buffer): string {
  if (payload.length > largest)
    throw new RigbridgeError("body.too-large", `The payload has ${payload.length} bytes; the limit is ${largest}`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(payload).trim();
  } catch {
    throw invalid("payload", "must be UTF-8");
  }
}

/** A payload that must be a JSON object. Throws `input.invalid`. */
export function objectIn(text: string): JsonObject {
  const value = parseJson(text, deepest, "payload");
  if (isObject(value)) return value;
  throw invalid("payload", "must be a JSON object");
}

/** A payload that is plain text, a JSON scalar, or an object. */
export function looseIn(text: string): unknown {
  return /^[{["]/.test(text) ? parseJson(text, deepest, "payload") : text;
}
