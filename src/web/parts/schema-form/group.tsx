import type { ComponentChildren } from "preact";
import { mistakesAt, useForm } from "./context.ts";
import { type Path, pathText } from "./schema.ts";

/** Related parts, with their own heading and mistakes. */
export function Group({
  label,
  hint,
  path,
  action,
  children,
}: {
  label: string;
  hint: string;
  path: Path;
  action: ComponentChildren;
  children: ComponentChildren;
}) {
  const { mistakes } = useForm();
  const problem = mistakesAt(mistakes, pathText(path), false);
  return (
    <fieldset class="form-group" data-path={pathText(path)}>
      <legend>
        <span>{label}</span> {action}
      </legend>
      <p class="hint" dir="auto">
        {hint}
      </p>
      <p class="field-problem" role={problem === undefined ? undefined : "alert"}>
        {problem}
      </p>
      {children}
    </fieldset>
  );
}
