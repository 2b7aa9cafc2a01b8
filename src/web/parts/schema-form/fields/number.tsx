import { useState } from "preact/hooks";
import { type ControlProps, textOf } from "./control.ts";

/** The number in a text, null if it is empty; other text is kept for the service to refuse. */
export const numberIn = (text: string): number | string | null => {
  const plain = text.trim().replace(",", ".");
  if (plain === "") return null;
  return Number.isFinite(Number(plain)) ? Number(plain) : text;
};

/** Keeps partial input, such as "1.", as long as it means the same value. */
export function NumberInput({ attributes, value, onValue, label }: ControlProps & { label?: string }) {
  const [typed, setTyped] = useState(textOf(value));
  return (
    <input
      {...attributes}
      inputMode="decimal"
      autocomplete="off"
      dir="ltr"
      aria-label={label}
      value={numberIn(typed) === value ? typed : textOf(value)}
      onInput={({ currentTarget }) => {
        setTyped(currentTarget.value);
        onValue(numberIn(currentTarget.value));
      }}
    />
  );
}
