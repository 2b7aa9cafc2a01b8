import { mistakesAt, useForm } from "../context.ts";
import { hintOf, pathText } from "../schema.ts";
import type { LeafProps } from "./control.ts";

/** A switch. */
export function Flag({ label, schema, value, path, action }: Omit<LeafProps, "name" | "shape" | "parent">) {
  const { mistakes, set } = useForm();
  return (
    <div class="field" data-path={pathText(path)}>
      <span class="field-head">
        <label class="switch">
          <input
            type="checkbox"
            checked={value === true}
            onChange={({ currentTarget }) => set(path, currentTarget.checked)}
          />
          {label}
        </label>
        {action}
      </span>
      <p class="hint" dir="auto">
        {hintOf(schema, label)}
      </p>
      <p class="field-problem">{mistakesAt(mistakes, pathText(path), true)}</p>
    </div>
  );
}
