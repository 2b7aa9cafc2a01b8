import { z } from "zod";
import { isSecret } from "./secrets.ts";

/** A text with its own notation and form field: "2m", or "80%". */
export type FormKind = "duration" | "share";

const kinds = z.registry<{ readonly kind: FormKind }>();

/** Tells forms which field a schema needs, so that they need not know its pattern. */
export const asked = <T extends z.ZodType>(kind: FormKind, schema: T): T => {
  const own = schema.clone(undefined, { parent: true });
  kinds.add(own, { kind });
  return own;
};

/** Adds keywords for forms to a JSON schema: `x-kind`, and `format: password` for a secret. */
export function addFormKeywords({
  zodSchema,
  jsonSchema,
}: {
  readonly zodSchema: z.core.$ZodType;
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}): void {
  if (isSecret(zodSchema)) jsonSchema.format = "password";
  const marked = kinds.get(zodSchema);
  if (marked !== undefined) jsonSchema["x-kind"] = marked.kind;
}
