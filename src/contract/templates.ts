import { z } from "zod";
import { BodyId, Line } from "./inputs.ts";
import { MetaData } from "./resources.ts";
import { TemplateSteps } from "./steps.ts";

/** Managed templates (2.16 of the API document): named lists of steps that are applied to miners. */
export const TemplateBody = z.object({
  id: BodyId,
  name: Line(200).min(1),
  do: TemplateSteps.nullish().describe("the steps; null: only a name; absent: as before"),
});

export const ManagedTemplate = z.object({
  id: z.int(),
  name: z.string(),
  do: TemplateSteps.nullable().optional().describe("null: it has only a name (Rigbridge extension)"),
});
export type ManagedTemplate = z.infer<typeof ManagedTemplate>;

export const ManagedTemplateList = z.object({ managedTemplateList: z.array(ManagedTemplate), metaData: MetaData });
