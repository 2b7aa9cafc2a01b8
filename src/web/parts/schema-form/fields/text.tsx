import { useId } from "preact/hooks";
import { type ControlProps, textOf } from "./control.ts";

/** A text, with suggestions below it. */
export function TextInput({
  attributes,
  value,
  onValue,
  suggestions = [],
}: ControlProps & { suggestions?: readonly string[] }) {
  const list = useId();
  return (
    <>
      <input
        {...attributes}
        autocomplete="off"
        spellcheck={false}
        dir="auto"
        list={suggestions.length === 0 ? undefined : list}
        value={textOf(value)}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      {suggestions.length === 0 ? null : (
        <datalist id={list}>
          {suggestions.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  );
}
