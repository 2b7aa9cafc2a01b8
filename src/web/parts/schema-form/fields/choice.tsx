import { useForm } from "../context.ts";
import type { ControlProps } from "./control.ts";

/** One of the options; a value outside them is shown too. */
export function ChoiceInput({
  attributes,
  value,
  onValue,
  name,
  options,
}: ControlProps & { name: string; options: readonly string[] }) {
  const { words } = useForm();
  return (
    <select {...attributes} value={String(value ?? "")} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
      {options.includes(String(value)) ? null : <option value={String(value ?? "")}>{String(value ?? "–")}</option>}
      {options.map((option) => (
        <option key={option} value={option}>
          {words.option(name, option)}
        </option>
      ))}
    </select>
  );
}
