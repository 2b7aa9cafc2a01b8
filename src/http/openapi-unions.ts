import { isRecord } from "../contract/record.ts";
import type { Json } from "./openapi-schema-walk.ts";

/** Finds a named schema. */
type Lookup = (reference: string) => unknown;

/**
 * A union for client generators: `oneOf` if no value fits two of its choices, because some of them do not support
 * `anyOf` of objects; and one text instead of several kinds of text.
 */
export function simpleUnion(schema: Json, lookup: Lookup): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const choices = anyOf.flatMap((choice) => flat(choice, lookup));
  const resolved = choices.map((choice) => alternatives(choice, lookup));
  if (resolved.flat().every(({ type }) => type === "string")) return { ...rest, type: "string", ...wordsIn(choices) };
  const areApart = resolved.every((one, index) =>
    resolved.slice(index + 1).every((other) => one.every((each) => other.every((its) => isApart(each, its)))),
  );
  return areApart ? { ...rest, oneOf: choices, ...discriminatorOf(choices, lookup) } : schema;
}

/** The property in which named objects state their type. */
function discriminatorOf(choices: readonly unknown[], lookup: Lookup): Json {
  const named = choices.filter((choice): choice is Json => isRecord(choice) && choice.type !== "null");
  const words = named.map(({ $ref }) => typeWordsOf(typeof $ref === "string" ? lookup($ref) : undefined));
  if (named.length < 2 || words.some((each) => each.length === 0)) return {};
  const mapping = named.flatMap(({ $ref }, index) => (words[index] ?? []).map((word) => [word, $ref]));
  return { discriminator: { propertyName: "type", mapping: Object.fromEntries(mapping) } };
}

function typeWordsOf(schema: unknown): unknown[] {
  const type = isRecord(schema) && isRecord(schema.properties) ? schema.properties.type : undefined;
  return isRecord(type) && Array.isArray(type.enum) ? type.enum : [];
}

/** The choices of a choice that is itself just a union, including a named union of objects. */
function flat(choice: unknown, lookup: Lookup): unknown[] {
  if (!isRecord(choice)) return [choice];
  if (typeof choice.$ref === "string") {
    const choices = flat(lookup(choice.$ref), lookup);
    const areObjects = alternatives(choice, lookup).every(({ type }) => type === "object");
    return choices.length > 1 && areObjects ? choices : [choice];
  }
  const { anyOf, oneOf = anyOf, description: _, ...rest } = choice;
  return Array.isArray(oneOf) && Object.keys(rest).length === 0
    ? oneOf.flatMap((each) => flat(each, lookup))
    : [choice];
}

/** The suggested words of a text, as examples. */
function wordsIn(choices: readonly unknown[]): Json {
  const words = choices.flatMap((choice) => (isRecord(choice) && Array.isArray(choice.enum) ? choice.enum : []));
  return words.length === 0 ? {} : { examples: words };
}

function alternatives(choice: unknown, lookup: Lookup): Json[] {
  if (!isRecord(choice)) return [{}];
  if (typeof choice.$ref === "string") return alternatives(lookup(choice.$ref), lookup);
  const union = choice.oneOf ?? choice.anyOf;
  return Array.isArray(union) ? union.flatMap((each) => alternatives(each, lookup)) : [choice];
}

/** Whether no value fits both. */
function isApart(one: Json, other: Json): boolean {
  const [types, others] = [typesIn(one), typesIn(other)];
  if (types.length === 0 || others.length === 0) return false;
  const shared = types.filter((type) => others.includes(type));
  if (shared.length === 0) return true;
  if (types.length > 1 || shared[0] !== "object") return false;
  const [missing, needed] = [lacksAKeyOf(one, other), lacksAKeyOf(other, one)];
  return (missing && needed) || (missing && isStrict(one)) || (needed && isStrict(other));
}

/** An integer is a number, too. */
const typesIn = ({ type }: Json): unknown[] =>
  [type].flat().flatMap((each) => (each === undefined ? [] : [each === "integer" ? "number" : each]));

const isStrict = ({ additionalProperties }: Json): boolean => additionalProperties === false;

/** Whether objects that fit `needy` have a key that is unknown to `other`. */
const lacksAKeyOf = (other: Json, needy: Json): boolean =>
  Array.isArray(needy.required) &&
  needy.required.some((key) => !isRecord(other.properties) || !Object.hasOwn(other.properties, String(key)));
