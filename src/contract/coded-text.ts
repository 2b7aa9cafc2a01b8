import { z } from "zod";
import type { CodedText as Coded } from "../messages/coded-text.ts";

const withValues = <Value extends z.ZodType>(value: Value) =>
  z.object({
    code: z.string().describe("of the text in the catalogue of messages"),
    values: z.record(z.string(), value).describe("inserted values, by name; a text by code is inserted as its text"),
  });

const plain = [z.string(), z.number()] as const;
// As deep as texts are nested, because an outside service may send any depth.
const third = withValues(z.union([...plain, withValues(z.union(plain))]));
const second = withValues(z.union([...plain, third]));

/** A text by code, for clients that show it in another language. Four levels deep at most. */
export const CodedText: z.ZodType<CodedText> = withValues(z.union([...plain, second]));
/** Its own interface, because declarations would name that of `src/index.ts`. */
export interface CodedText extends Coded {}
