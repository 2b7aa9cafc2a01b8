import { type CodedText, type Lookup, plainValues } from "./coded-text.ts";
import type english from "./en.json";
import type { Names } from "./names.ts";

type Paths<Text, Path extends string> = Text extends string
  ? Path
  : { [Key in keyof Text & string]: Paths<Text[Key], Path extends "" ? Key : `${Path}.${Key}`> }[keyof Text & string];

/** Codes of the texts that the service says. */
export type TextCode = Paths<Pick<(typeof english)["service"], "notices" | "channel" | "over">, "">;
type NamesOf<Code extends TextCode> = `service.${Code}` extends keyof Names ? Names[`service.${Code}`] : never;
type ValuesOf<Code extends TextCode> = [NamesOf<Code>] extends [never]
  ? []
  : [values: Readonly<Record<NamesOf<Code>, CodedText["values"][string]>>];

/** A code with the values that its text needs. A code without an English text does not compile. */
export const coded = <Code extends TextCode>(code: Code, ...[values]: ValuesOf<Code>): CodedText => ({
  code,
  values: values ?? {},
});

/** The text in the language of these messages, with the texts among its values from `inner`. */
export function textIn(service: unknown, { code, values }: CodedText, inner: Lookup): string | undefined {
  const found = code.split(".").reduce<unknown>((texts, key) => (isTexts(texts) ? texts[key] : undefined), service);
  const plain = plainValues(values, inner);
  if (plain === undefined) return undefined;
  const text: unknown = typeof found === "function" ? Reflect.apply(found, undefined, [plain]) : found;
  return typeof text === "string" ? text : undefined;
}

const isTexts = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
