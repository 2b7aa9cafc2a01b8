import { useState } from "preact/hooks";

interface TypedInputProps {
  readonly type: "number" | "datetime-local";
  readonly value: string;
  readonly onCommit: (text: string) => void;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number | "any";
  readonly id?: string;
  readonly "aria-invalid"?: boolean;
  readonly "aria-describedby"?: string | undefined;
}

/**
 * An input that reports its text when typing ends. Rendering in the meantime, such as after an event, keeps the text.
 */
export function TypedInput({ value, onCommit, ...attributes }: TypedInputProps) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <input
      {...attributes}
      value={typed ?? value}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onChange={({ currentTarget }) => {
        setTyped(null);
        onCommit(currentTarget.value);
      }}
    />
  );
}
