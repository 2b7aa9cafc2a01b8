import { isRecord } from "../../contract/record.ts";
import type { Miner } from "../../contract/resources.ts";
import { filled } from "../../contract/texts.ts";

/** What the names of a text stand for. */
export interface TextValues {
  /** Null where no miner is concerned. */
  readonly miner: Pick<Miner, "uid" | "name" | "tags" | "location" | "identity" | "readings"> | null;
  /** The name of the miner's group; null in no group. */
  readonly group: string | null;
  readonly rule: { readonly key: string; readonly name: string };
}

/** For a value that is not known. */
const dash = "–";

/** Fills in the names of a text. */
export function render(text: string, { miner, group, rule }: TextValues): string {
  const values = {
    miner: miner && { ...fieldsOf(miner), group },
    reading: miner?.readings ?? null,
    rule,
  };
  const escaped = escapeFor(text);
  return filled(text, (name) => escaped(textOf(at(values, name.split(".")))));
}

/** In JSON, such as the body of a web hook, a value cannot end the text that it is in. */
export const escapeFor = (text: string): ((value: string) => string) =>
  isJson(text) ? (value) => JSON.stringify(value).slice(1, -1) : (value) => value;

const fieldsOf = ({ uid, name, tags, location, identity }: NonNullable<TextValues["miner"]>) => ({
  ...{ uid, name, tags },
  model: identity?.model ?? null,
  location: Object.values(location)
    .filter((place) => place !== null)
    .join(" / "),
});

function at(values: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return values;
  return isRecord(values) && Object.hasOwn(values, name) ? at(values[name], rest) : null;
}

function textOf(value: unknown): string {
  if (typeof value === "number") return String(Number(value.toPrecision(6)));
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.length === 0 ? dash : value.join(", ");
  return typeof value === "string" && value !== "" ? value : dash;
}

const isJson = (text: string): boolean => /^\s*(\{(?!\{)|\[)/.test(text);
