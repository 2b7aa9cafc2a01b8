import { type CodedText, type Detail, plainValues } from "./coded-text.ts";
import { details } from "./details.ts";
import { filled } from "./texts.ts";

export type DetailCode = keyof typeof details;

type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type NamesOf<Code extends DetailCode> = NamesIn<(typeof details)[Code]>;
type ValuesOf<Code extends DetailCode> = [NamesOf<Code>] extends [never]
  ? []
  : [values: Readonly<Record<NamesOf<Code>, string | number | Detail>>];

/**
 * A detail with its values. A code without an English text does not compile. Codes are nested three deep at most;
 * deeper ones are English.
 */
export function detail<Code extends DetailCode>(code: Code, ...[values]: ValuesOf<Code>): Detail {
  const plain: Record<string, string | number> = {};
  const own: Record<string, CodedText["values"][string]> = {};
  for (const [name, value] of Object.entries<string | number | Detail>(values ?? {})) {
    plain[name] = typeof value === "object" ? value.text : value;
    own[name] = typeof value === "object" ? limited(value.coded, 1) : value;
  }
  return { text: filled(details[code], plain), coded: { code, values: own } };
}

function limited({ code, values }: CodedText, depth: number): CodedText {
  const flat = plainValues(values, englishOf) ?? {};
  if (depth === 0) return { code, values: flat };
  const inner = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === "object" ? limited(value, depth - 1) : value,
  ]);
  return { code, values: Object.fromEntries(inner) };
}

const isDetailCode = (code: string): code is DetailCode => Object.hasOwn(details, code);

/** The English text of a code; undefined for one that is not a detail. */
export function englishOf({ code, values }: CodedText): string | undefined {
  const plain = plainValues(values, englishOf);
  return isDetailCode(code) && plain !== undefined ? filled(details[code], plain) : undefined;
}

let byText: ReadonlyMap<string, DetailCode> | undefined;

/** Details with the value that schemas put at the end of their messages. */
const withValue = (["input.requiredFor", "input.noMeaning"] as const).map((code) => ({
  code,
  start: details[code].replace("{what}", ""),
}));

/** The code of an English text of a schema; undefined if it has none. */
export function codeOf(text: string): CodedText | undefined {
  byText ??= new Map(
    Object.keys(details)
      .filter(isDetailCode)
      .map((code) => [details[code], code]),
  );
  const code = byText.get(text);
  if (code !== undefined) return { code, values: {} };
  const open = withValue.find(({ start }) => text.startsWith(start));
  return open === undefined ? undefined : { code: open.code, values: { what: text.slice(open.start.length) } };
}
