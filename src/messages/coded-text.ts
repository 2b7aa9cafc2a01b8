import { filled, type Values } from "./texts.ts";

/**
 * A text of the service by its code: the path below `service` in the files of messages, or a code of their `details`. A
 * value may be such a text itself.
 */
export interface CodedText {
  readonly code: string;
  readonly values: Readonly<Record<string, string | number | CodedText>>;
}

/** A text in English, and its code for clients that show it in another language. */
export interface Detail {
  readonly text: string;
  readonly coded: CodedText;
}

/** A text by its code in some language; undefined if that language lacks it, as for a newer service. */
export type Lookup = (text: CodedText) => string | undefined;

/** The values, with texts among them replaced by those of `lookup`; undefined if it lacks one. */
export function plainValues(values: CodedText["values"], lookup: Lookup): Values | undefined {
  const plain: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(values)) {
    const text = typeof value === "object" ? lookup(value) : value;
    if (text === undefined) return undefined;
    plain[name] = text;
  }
  return plain;
}

/** A detail by code in some language, with its values; undefined if the details lack it or a text among its values. */
export function detailFrom(texts: Readonly<Record<string, string>>, { code, values }: CodedText): string | undefined {
  const text = Object.hasOwn(texts, code) ? texts[code] : undefined;
  const plain = plainValues(values, (inner) => detailFrom(texts, inner));
  return text === undefined || plain === undefined ? undefined : filled(text, plain);
}
