import type { SectionState } from "../../../contract/settings.ts";
import { isObject, type Json, type Schema, type Values } from "../../parts/schema-form/schema.ts";

/** Initial and saved values of a section's form. A form needs an object; a list becomes its only field. */
export interface SectionForm {
  readonly schema: Schema;
  readonly saved: Values;
  /** The section in the form of the API. */
  sent(value: Values): Json;
}

/** Initial values of unset sections; unchanged, they are not sent. */
const starts: Readonly<Record<string, Values>> = {
  mqtt: { url: "mqtt://", username: "", password: "" },
  electricity: { price: 0 },
};

type Listed = Pick<SectionState, "key" | "value" | "effective">;

export function sectionForm({ key, value, effective }: Listed, whole: Schema): SectionForm {
  const secrets = new Set([...secretKeys(value), ...secretKeys(effective)]);
  const shown = withoutMarks(effective);
  const first = { ...(value === null ? starts[key] : {}), ...(isObject(shown) ? shown : {}) };
  if (isObject(shown) || shown === null)
    return {
      schema: whole,
      saved: first,
      sent: (next) => withMarks(withoutDefaults(next, value, first), secrets),
    };
  const { $defs = {}, ...list } = whole;
  return {
    schema: { type: "object", properties: { [key]: list }, required: [], $defs },
    saved: { [key]: shown },
    sent: (next) => withMarks(next[key] ?? [], secrets),
  };
}

/** Defaults that were not written stay defaults. */
function withoutDefaults(next: Values, written: Json, before: Values): Values {
  const known = isObject(written) ? written : {};
  return Object.fromEntries(
    Object.entries(next).filter(
      ([name, each]) => Object.hasOwn(known, name) || JSON.stringify(each) !== JSON.stringify(before[name]),
    ),
  );
}

const isMark = (value: Json): boolean => isObject(value) && value.set === true;

/** The names of fields with a stored secret. */
function secretKeys(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(secretKeys);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => (isMark(each) ? [name] : secretKeys(each)));
}

/** Stored secrets become empty fields, as in other forms. */
function withoutMarks(value: Json): Json {
  if (isMark(value)) return "";
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutMarks(each)]));
}

/** A secret that was not entered again is marked for the service to keep. */
function withMarks(value: Json, secrets: ReadonlySet<string>): Json {
  if (Array.isArray(value)) return value.map((each) => withMarks(each, secrets));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      each === "" && secrets.has(name) ? { set: true } : withMarks(each, secrets),
    ]),
  );
}
