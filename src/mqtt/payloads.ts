import { invalid, RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import type { JsonObject } from "../farm/values.ts";
import { parseJson } from "../http/json.ts";

/** Bytes that a command may have, and levels of its JSON. */
const largest = 65_536;
const deepest = 16;

/** The text of a payload. Throws `body.too-large`, and `input.invalid` where it is no UTF-8. */
export function textOf(payload: Buffer): string {
  if (payload.length > largest)
    throw new RigbridgeError("body.too-large", `The payload has ${payload.length} bytes; at most ${largest} are read`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(payload).trim();
  } catch {
    throw invalid("payload", "must be UTF-8");
  }
}

/** A payload that has to be a JSON object. Throws `input.invalid`. */
export function objectIn(text: string): JsonObject {
  const value = parseJson(text, deepest, "payload");
  if (isRecord(value)) return value;
  throw invalid("payload", "must be a JSON object");
}

/** A payload that is plain text, a JSON scalar, or an object. */
export function looseIn(text: string): unknown {
  return /^[{["]/.test(text) ? parseJson(text, deepest, "payload") : text;
}
