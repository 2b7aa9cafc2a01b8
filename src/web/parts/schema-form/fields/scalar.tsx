import { useState } from "preact/hooks";
import type { Json } from "../schema.ts";
import { type ControlProps, textOf } from "./control.ts";
import { numberIn } from "./number.tsx";
import { TextInput } from "./text.tsx";

/** A text, number, true or false, depending on its notation; a text that looks like another type is quoted. */
const scalarIn = (text: string): Json => {
  const plain = text.trim();
  if (plain === "true" || plain === "false") return plain === "true";
  if (/^".*"$/.test(plain)) return plain.slice(1, -1);
  return numberIn(text) ?? "";
};
const scalarText = (value: Json): string =>
  typeof value === "string" && value !== "" && scalarIn(value) !== value ? `"${value}"` : textOf(value);

/** A value whose type follows from its notation. */
export function ScalarInput({
  attributes,
  value,
  onValue,
  suggestions,
}: ControlProps & { suggestions: readonly string[] }) {
  const [typed, setTyped] = useState(scalarText(value));
  return (
    <TextInput
      attributes={attributes}
      value={scalarIn(typed) === (value ?? "") ? typed : scalarText(value)}
      suggestions={suggestions}
      onValue={(text) => {
        setTyped(String(text));
        onValue(scalarIn(String(text)));
      }}
    />
  );
}
