import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Mistake } from "../api.ts";

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** The mistake in it, from the service or the form. */
  readonly problem?: string | undefined;
  /** A button beside the label. */
  readonly action?: ComponentChildren;
  /** Renders the control with these attributes. */
  readonly children: (control: ControlAttributes) => ComponentChildren;
}

export interface ControlAttributes {
  readonly id: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string;
}

/** A labelled control with its hint and its problem. */
export function Field({ label, hint, problem, action, children }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <span class="field-head">
        <label for={id}>{label}</label>
        {action}
      </span>
      {children({ id, "aria-invalid": problem !== undefined, "aria-describedby": `${id}-hint ${id}-problem` })}
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
      <p id={`${id}-problem`} class="field-problem" role={problem === undefined ? undefined : "alert"}>
        {problem}
      </p>
    </div>
  );
}

/** Whether a mistake is in the field of a path, or in a part of it. */
export const isMistakeOf =
  (field: string) =>
  ({ path }: Mistake): boolean =>
    path === field || path.startsWith(`${field}.`);

/** The mistake of a field among those that the service reports. */
export const mistakeOf = (mistakes: readonly Mistake[], field: string): string | undefined =>
  mistakes.find(isMistakeOf(field))?.message;
