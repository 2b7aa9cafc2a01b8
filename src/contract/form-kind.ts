import { z } from "zod";
import { isSecret } from "./secrets.ts";

/** A text with a notation of its own, for which a form has a field of its own: "2m", or "80%". */
export type FormKind = "duration" | "share";

const kinds = z.registry<{ readonly kind: FormKind }>();

/** Says how forms ask for the values of a schema; they need not know its pattern. */
export const asked = <T extends z.ZodType>(kind: FormKind, schema: T): T => {
  const own = schema.clone(undefined, { parent: true });
  kinds.add(own, { kind });
  return own;
};

/** Adds to a JSON schema what forms need to know beside its types: `x-kind`, and `format: password` of a secret. */
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
