import type { FormState } from "./use-form.ts";

/** What was wrong beside the fields of a form. A component at its end, so that fields in components before it have asked. */
export const FormProblem = ({ of: { wrongElsewhere } }: { of: Pick<FormState, "wrongElsewhere"> }) => (
  <p class="field-problem" role="alert">
    {wrongElsewhere()}
  </p>
);
