import type english from "./en.json";
import type { Names } from "./names.ts";
import type { Forms, Values } from "./texts.ts";

/** The texts of a language, as in en.json without hints and details, which are loaded when shown. Those with {names} are functions of the inserted values. */
export type Messages = Callable<Omit<typeof english, "hints" | "details">, "">;

type Callable<Text, Path extends string> = Text extends string
  ? Path extends keyof Names
    ? (values: Readonly<Record<Names[Path], Values[string]>>) => string
    : string
  : Text extends { readonly other: string }
    ? Forms
    : { readonly [Key in keyof Text & string]: Callable<Text[Key], Path extends "" ? Key : `${Path}.${Key}`> };
