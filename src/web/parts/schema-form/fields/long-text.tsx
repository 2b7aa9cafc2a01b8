import { type ControlProps, textOf } from "./control.ts";

/** A text of several lines. */
export function LongTextInput({ attributes, value, onValue }: ControlProps) {
  return (
    <textarea
      {...attributes}
      rows={3}
      dir="auto"
      value={textOf(value)}
      onInput={({ currentTarget }) => onValue(currentTarget.value)}
    />
  );
}
