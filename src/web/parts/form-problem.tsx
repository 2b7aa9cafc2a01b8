import type { FormState } from "./use-form.ts";

/**
 * Mistakes that belong to no field of a form. A component at its end, so that the fields before it have claimed theirs.
 */
export const FormProblem = ({ of: { wrongElsewhere } }: { of: Pick<FormState, "wrongElsewhere"> }) => (
  <p class="field-problem" role="alert">
    {wrongElsewhere()}
  </p>
);
