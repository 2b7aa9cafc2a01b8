import { z } from "zod";
import { naming } from "./form-kind.ts";
import { BodyId, GetsIt, Line } from "./inputs.ts";
import { sharing } from "./owned.ts";
import { MetaData } from "./resources.ts";
import { secret } from "./secrets.ts";
import { TemplateSteps } from "./steps.ts";

/** Settings of a managed miner in a template; null leaves a setting as it is. */
const Program = z.object({
  softwareType: naming("software", Line(100).min(1))
    .nullable()
    .describe("mining software, an id of GET /api/miningsoftware"),
  algorithm: naming("algorithm", Line(100).min(1)).nullable().describe("algorithm, an id of GET /api/algorithms"),
  dualAlgorithm: naming("algorithm", Line(100)).nullable().describe("second algorithm; empty for none"),
  commandLineParams: secret(Line(4000).nullable()).describe("parameters of the mining software; empty for none"),
});
export type TemplateProgram = z.infer<typeof Program>;
export const templateProgramFields = Program.partial().shape;

export const noTemplateProgram: TemplateProgram = {
  softwareType: null,
  algorithm: null,
  dualAlgorithm: null,
  commandLineParams: null,
};

/** Managed templates (2.16 of the API document): named lists of steps that are applied to miners. */
export const TemplateBody = z.object({
  id: BodyId,
  name: Line(200).min(1),
  do: TemplateSteps.nullish().describe("the steps; null: only a name; absent: as before"),
  ...templateProgramFields,
  runsAt: GetsIt,
});

export const ManagedTemplate = z.object({
  id: z.int(),
  name: z.string(),
  do: TemplateSteps.nullable().optional().describe("null: it has only a name (Rigbridge extension)"),
  ...templateProgramFields,
  ...sharing,
});
export type ManagedTemplate = z.infer<typeof ManagedTemplate>;

export const ManagedTemplateList = z.object({ managedTemplateList: z.array(ManagedTemplate), metaData: MetaData });
