import type { FormKind, OnlyWith, Reference } from "../../../contract/form-kind.ts";
import { hintText } from "../../../messages/hint-text.ts";
import { hints } from "../../hints.ts";

/** The parts of a JSON schema that a form needs, as zod writes them. */
export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** The input for a text with its own notation: src/contract/form-kind.ts. */
  readonly "x-kind"?: FormKind;
  /** What its values name. */
  readonly "x-names"?: Reference;
  /** Beside which values of another key it is offered. */
  readonly "x-only-with"?: OnlyWith;
}

/** Whether an optional key makes sense beside the values of the others. */
export const isOffered = ({ "x-only-with": beside }: Schema, others: Values): boolean =>
  beside === undefined || beside.values.includes(String(others[beside.key]));

/** Its description as a hint below a field, unless it only repeats the label. */
export function hintOf({ description = "" }: Schema, label: string): string {
  const text = hintText(description);
  if (text.toLowerCase().replace(/^(?:the|its) /, "") === label.toLowerCase()) return "";
  return hints[text] ?? text;
}

/** A JSON value. */
export type Json = unknown;
export type Values = Readonly<Record<string, Json>>;

/** The kind of input for a value. */
export type Shape =
  | { readonly kind: "text"; readonly long: boolean; readonly options: readonly string[]; readonly secret: boolean }
  | { readonly kind: "time" }
  | { readonly kind: "number"; readonly whole: boolean; readonly min: number | null; readonly max: number | null }
  | { readonly kind: "flag" }
  /** Seconds, or a text like "2m". */
  | { readonly kind: "duration" }
  /** A share like "80%"; with `number`, also a number. */
  | { readonly kind: "share"; readonly number: boolean }
  | { readonly kind: "choice"; readonly options: readonly string[] }
  | { readonly kind: "choices"; readonly options: readonly string[] }
  | { readonly kind: "words" }
  /** Days of the week, like ["mon-fri"]. */
  | { readonly kind: "days" }
  /** What exists under this name or id; `names`: a list of them. */
  | { readonly kind: "name"; readonly of: Reference }
  | { readonly kind: "names"; readonly of: Reference }
  /** A text, a number, true or false. */
  | { readonly kind: "scalar" }
  | { readonly kind: "constant"; readonly value: Json }
  | { readonly kind: "list"; readonly items: Schema; readonly least: number; readonly most: number }
  | {
      readonly kind: "object";
      readonly properties: Readonly<Record<string, Schema>>;
      readonly required: readonly string[];
    }
  | { readonly kind: "record"; readonly values: Schema }
  /** One of several, each an object identified by its own key, a constant or a simple value. */
  | { readonly kind: "union"; readonly options: readonly Schema[] };

/** A schema with its references resolved at the top. `root` holds the definitions. */
export function resolved(schema: Schema, root: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...own } = schema;
  const target = $ref === "#" ? root : root.$defs?.[$ref.split("/").at(-1) ?? ""];
  return { ...(target === undefined ? {} : resolved(target, root)), ...own };
}

const resolvedAll = (properties: Readonly<Record<string, Schema>>, root: Schema): Record<string, Schema> =>
  Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, resolved(each, root)]));

const texts = (values: readonly unknown[] | undefined): string[] =>
  (values ?? []).filter((each) => typeof each === "string");

/** The longest text for which one line is enough. */
const longestLine = 255;

export function shapeOf(given: Schema, root: Schema): Shape {
  const schema = resolved(given, root);
  if (schema["x-kind"] === "duration") return { kind: "duration" };
  if (schema["x-kind"] === "share")
    return { kind: "share", number: (schema.anyOf ?? []).some((each) => resolved(each, root).type === "number") };
  if (schema["x-kind"] === "days") return { kind: "days" };
  if (schema["x-names"] !== undefined) return { kind: "name", of: schema["x-names"] };
  if (schema.anyOf !== undefined) return unionShape(alternatives(schema, root), root);
  if (schema.const !== undefined) return { kind: "constant", value: schema.const };
  if (schema.enum !== undefined) return { kind: "choice", options: texts(schema.enum) };
  if (schema.type === "boolean") return { kind: "flag" };
  if (schema.type === "number" || schema.type === "integer")
    return {
      kind: "number",
      whole: schema.type === "integer",
      min: bound(schema.minimum),
      max: bound(schema.maximum),
    };
  if (schema.type === "array") return listShape(schema, root);
  if (schema.type === "object" || schema.properties !== undefined)
    return typeof schema.additionalProperties === "object" && schema.properties === undefined
      ? { kind: "record", values: schema.additionalProperties }
      : { kind: "object", properties: resolvedAll(schema.properties ?? {}, root), required: schema.required ?? [] };
  if (schema.format === "date-time") return { kind: "time" };
  return {
    kind: "text",
    long: schema["x-kind"] !== "line" && (schema.maxLength ?? 0) > longestLine,
    options: [],
    secret: schema.format === "password",
  };
}

/** The bounds of JavaScript's integers, which a schema adds unintentionally. */
const bound = (value: number | undefined): number | null =>
  value === undefined || Math.abs(value) >= Number.MAX_SAFE_INTEGER ? null : value;

/** The members of a union and of its nested unions; members with a kind of their own stay in one piece. */
function alternatives(schema: Schema, root: Schema): Schema[] {
  return (schema.anyOf ?? []).flatMap((each) => {
    const option = resolved(each, root);
    return option.anyOf !== undefined && shapeOf(option, root).kind === "union" ? alternatives(option, root) : [option];
  });
}

function unionShape(all: readonly Schema[], root: Schema): Shape {
  const options = all.filter(({ type }) => type !== "null");
  const [only] = options;
  if (only !== undefined && options.length === 1) return shapeOf(only, root);
  const list = options.find(({ type }) => type === "array");
  // One item or a list of them: use the list.
  if (list !== undefined && options.length === 2) return listShape(list, root);
  const words = options.flatMap((each) => texts(each.enum));
  if (words.length > 0 && options.every(({ type }) => type === "string"))
    return options.every((each) => each.enum !== undefined)
      ? { kind: "choice", options: words }
      : { kind: "text", long: false, options: words, secret: false };
  const scalars = ["string", "number", "boolean"];
  if (options.every(({ type, enum: values }) => values === undefined && scalars.includes(type ?? "")))
    return { kind: "scalar" };
  return { kind: "union", options };
}

function listShape(schema: Schema, root: Schema): Shape {
  const items = schema.items ?? {};
  const inner = shapeOf(items, root);
  if (inner.kind === "choice") return { kind: "choices", options: inner.options };
  if (inner.kind === "name") return { kind: "names", of: inner.of };
  if (inner.kind === "text" && !inner.long) return { kind: "words" };
  return { kind: "list", items, least: schema.minItems ?? 0, most: schema.maxItems ?? Number.POSITIVE_INFINITY };
}

export const isObject = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Keys that exclude each other, such as `all` and `any`; one is given. */
export type ExactlyOne = readonly (readonly string[])[];

/** The groups of mutually exclusive keys in an object; a group with several of them present is shown key by key. */
export function groupsIn(
  properties: Readonly<Record<string, Schema>>,
  exactlyOne: ExactlyOne,
  value: Readonly<Record<string, Json>> = {},
): ExactlyOne {
  const taken = new Set<string>();
  return exactlyOne.filter((keys) => {
    const fits = keys.every((key) => Object.hasOwn(properties, key) && !taken.has(key));
    if (!fits || keys.filter((key) => key in value).length > 1) return false;
    for (const key of keys) taken.add(key);
    return true;
  });
}

/** The name of a union's member: its required key, or the kind of its value. */
export function nameOf(option: Schema, root: Schema): string {
  const shape = shapeOf(option, root);
  if (shape.kind === "constant") return String(shape.value);
  if (shape.kind !== "object") return shape.kind;
  return shape.required[0] ?? Object.keys(shape.properties)[0] ?? "object";
}

/** The union member that a value matches; undefined if none. */
export const optionOf = (value: Json, options: readonly Schema[], root: Schema): Schema | undefined =>
  options.find((option) => fits(value, option, root));

function fits(value: Json, option: Schema, root: Schema): boolean {
  const shape = shapeOf(option, root);
  if (shape.kind === "constant") return value === shape.value;
  if (shape.kind === "object") {
    if (!isObject(value)) return false;
    const keys = Object.keys(value);
    return keys.every((key) => Object.hasOwn(shape.properties, key)) && shape.required.every((key) => key in value);
  }
  if (shape.kind === "flag") return typeof value === "boolean";
  if (shape.kind === "number") return typeof value === "number";
  if (["list", "words", "names", "days", "choices"].includes(shape.kind)) return Array.isArray(value);
  return typeof value === "string";
}

/** An initial value with only required parts. Null stands for an empty part. */
export function emptyOf(schema: Schema, root: Schema, exactlyOne: ExactlyOne): Json {
  const shape = shapeOf(schema, root);
  switch (shape.kind) {
    case "constant":
      return shape.value;
    case "flag":
      return true;
    case "choice":
      return shape.options[0] ?? null;
    case "choices":
      return shape.options.slice(0, 1);
    case "words":
    case "names":
    case "days":
      return [];
    case "name":
      return "";
    case "list":
      return shape.least > 0 ? [emptyOf(shape.items, root, exactlyOne)] : [];
    case "record":
      return {};
    case "union":
      return shape.options[0] === undefined ? null : emptyOf(shape.options[0], root, exactlyOne);
    case "object": {
      const firsts = groupsIn(shape.properties, exactlyOne).flatMap((keys) => {
        const isSet = keys.some((key) => shape.required.includes(key));
        return isSet ? [] : keys.slice(0, 1);
      });
      return Object.fromEntries(
        [...shape.required, ...firsts].map((key) => [key, emptyOf(shape.properties[key] ?? {}, root, exactlyOne)]),
      );
    }
    case "text":
      return shape.options[0] ?? "";
    default:
      return null;
  }
}

const units: Readonly<Record<string, number>> = { d: 86_400, h: 3600, m: 60, s: 1 };
export const durationUnits = ["s", "m", "h", "d"] as const;

/** A duration as number and unit; null if it is not a duration. */
export function durationParts(value: Json): { readonly amount: number; readonly unit: string } | null {
  if (typeof value === "number") {
    const unit =
      Object.keys(units).find((each) => value >= (units[each] ?? 1) && value % (units[each] ?? 1) === 0) ?? "s";
    return { amount: value / (units[unit] ?? 1), unit };
  }
  const [, amount, unit = ""] = typeof value === "string" ? (/^(\d+(?:\.\d+)?)\s?([smhd])$/.exec(value) ?? []) : [];
  return amount === undefined ? null : { amount: Number(amount), unit };
}

/** The value in readable form: durations in seconds become texts like "2m". */
export function readable(value: Json, schema: Schema, root: Schema): Json {
  const shape = shapeOf(schema, root);
  if (shape.kind === "duration") {
    const parts = durationParts(value);
    return parts === null ? value : `${parts.amount}${parts.unit}`;
  }
  if (shape.kind === "list" && Array.isArray(value)) return value.map((each) => readable(each, shape.items, root));
  if (shape.kind === "union") {
    const option = optionOf(value, shape.options, root);
    return option === undefined ? value : readable(value, option, root);
  }
  if (shape.kind === "object" && isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, readable(each, shape.properties[key] ?? {}, root)]),
    );
  return value;
}

/** The schema of the first part of a value that is this text, such as that of "$pool" in a ready-made rule. */
export function schemaOfText(value: Json, text: string, schema: Schema, root: Schema): Schema | undefined {
  if (value === text) return schema;
  const shape = shapeOf(schema, root);
  if (shape.kind === "union") {
    const option = optionOf(value, shape.options, root);
    return option === undefined ? undefined : schemaOfText(value, text, option, root);
  }
  const inner: readonly (readonly [Json, Schema | undefined])[] =
    shape.kind === "list" && Array.isArray(value)
      ? value.map((each: Json) => [each, shape.items] as const)
      : shape.kind === "object" && isObject(value)
        ? Object.entries(value).map(([key, each]) => [each, shape.properties[key]] as const)
        : [];
  for (const [each, of] of inner) {
    const found = of === undefined ? undefined : schemaOfText(each, text, of, root);
    if (found !== undefined) return found;
  }
  return undefined;
}

export type Path = readonly (string | number)[];

/** With a dot before every key and index: `when.all.0.above`. */
export const pathText = (path: Path): string => path.join(".");

/** Like `pathText`, for a mistake's path, which may have its indexes in brackets. */
export const dotted = (path: string): string => path.replace(/\[(\d+)\]/g, ".$1");

/** A copy with another value at this place; undefined removes the key. */
export function changedAt(value: Json, [step, ...rest]: Path, next: Json): Json {
  if (step === undefined) return next;
  if (typeof step === "number") {
    const list = Array.isArray(value) ? value : [];
    return list.map((each: Json, index) => (index === step ? changedAt(each, rest, next) : each));
  }
  const before = isObject(value) ? value : {};
  const inner = rest.length === 0 ? next : changedAt(before[step], rest, next);
  if (inner === undefined) return Object.fromEntries(Object.entries(before).filter(([key]) => key !== step));
  return { ...before, [step]: inner };
}
