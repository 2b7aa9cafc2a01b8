import { mistakesAt, useForm } from "../context.ts";
import { hintOf, pathText, type Shape } from "../schema.ts";
import type { LeafProps } from "./control.ts";

/** Any number of the options. */
export function Choices({
  name,
  label,
  schema,
  shape,
  value,
  path,
  action,
}: Omit<LeafProps, "shape" | "parent"> & { shape: Extract<Shape, { kind: "choices" }> }) {
  const { words, mistakes, set } = useForm();
  // A single option may stand without a list.
  const chosen = Array.isArray(value)
    ? value.map(String)
    : value === undefined || value === null
      ? []
      : [String(value)];
  const change = (option: string, isOn: boolean) =>
    set(
      path,
      shape.options.filter((each) => (each === option ? isOn : chosen.includes(each))),
    );
  return (
    <fieldset class="field form-choices" data-path={pathText(path)}>
      <legend>
        <span>{label}</span> {action}
      </legend>
      <div class="row">
        {shape.options.map((option) => (
          <label key={option} class="switch">
            <input
              type="checkbox"
              checked={chosen.includes(option)}
              onChange={({ currentTarget }) => change(option, currentTarget.checked)}
            />
            {words.option(name, option)}
          </label>
        ))}
      </div>
      <p class="hint" dir="auto">
        {hintOf(schema, label)}
      </p>
      <p class="field-problem">{mistakesAt(mistakes, pathText(path), true)}</p>
    </fieldset>
  );
}
