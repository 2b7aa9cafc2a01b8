import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Reference } from "../../../contract/form-kind.ts";
import type { Mistake } from "../../api.ts";
import { dotted, type ExactlyOne, type Json, type Path, type Schema } from "./schema.ts";

/** Something that a value names. */
export interface Choice {
  readonly value: string | number;
  readonly name: string;
}

/** Everything that a value may name. */
export interface Directory {
  /** May be many. */
  choices(): readonly Choice[];
  /** The name of what a value stands for; undefined if there is no such thing. */
  nameOf(value: string): string | undefined;
  /** Whether a value may also be one that is not here yet, such as a tag. */
  readonly isOpen?: boolean;
}

/** Texts and suggestions of a form besides its schema. */
export interface FormWords {
  readonly exactlyOne: ExactlyOne;
  /** The name of a key. */
  label(key: string): string;
  /** The label of the choice among such keys. */
  choice(keys: readonly string[]): string;
  /** The word for an option of the choice of a key. */
  option(key: string, value: string): string;
  /** The word for a member of a union, among all its members. */
  member(name: string, all: readonly string[]): string;
  /** Suggested values; other texts are allowed. */
  suggestions(key: string, parent: Json): readonly string[];
  /** The unit of a number. */
  unit(key: string, parent: Json): string | null;
  /** What a value may name; null if it is not known here. */
  directory(of: Reference, parent: Json): Directory | null;
}

export interface FormState {
  readonly root: Schema;
  readonly words: FormWords;
  readonly mistakes: readonly Mistake[];
  readonly readOnly: boolean;
  /** Whether nothing is stored yet. */
  readonly isNew: boolean;
  /** Sets the value at a path; undefined removes it. */
  set(path: Path, value: Json): void;
}

export const FormContext = createContext<FormState | null>(null);

export function useForm(): FormState {
  const state = useContext(FormContext);
  if (state === null) throw new TypeError("outside of a form");
  return state;
}

/** The service's mistakes at this path; `withInner` includes those below it, for a place without fields of its own. */
export function mistakesAt(mistakes: readonly Mistake[], path: string, withInner: boolean): string | undefined {
  const found = mistakes.filter((each) => {
    const place = dotted(each.path);
    return place === path || (withInner && place.startsWith(`${path}.`));
  });
  return found.length === 0 ? undefined : found.map(({ message }) => message).join("; ");
}
