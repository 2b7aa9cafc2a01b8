import { didYouMean } from "../../contract/nearest.ts";
import { invalid, invalidAll, type Mistake } from "../../contract/problems.ts";
import type { MetaData } from "../../contract/resources.ts";
import type { Caller, MiningService } from "../../contract/service.ts";
import type { RunStep } from "../../contract/steps.ts";
import { type ManagedTemplate, noTemplateProgram, type TemplateProgram } from "../../contract/templates.ts";
import type { Store, Stored, StoredTemplate } from "../../store/index.ts";
import { done, enabled, findOwn, given, refuseInUse } from "../crud.ts";
import type { PoolBook } from "../money/pool-book.ts";
import { type AccessBook, needsAll } from "../users/access.ts";
import { checkOwner } from "./rights.ts";

type TemplateOperations = Pick<MiningService, "listManagedTemplates" | "saveManagedTemplate" | "deleteManagedTemplate">;

/** Managed templates: named lists of steps. One that was made over the API belongs to its maker. */
export function templateOperations(
  { templates, rules }: Store,
  accessBook: AccessBook,
  book: PoolBook,
  /** Mistakes in the managed-miner settings of a template. */
  programMistakes: (fields: TemplateProgram) => Mistake[],
  metaData: () => MetaData,
): TemplateOperations {
  /** Its steps name pools, which others need not see. */
  const presentTemplate = (template: Stored<StoredTemplate>, caller: Caller): ManagedTemplate => {
    const { id, name, makerId } = template;
    const isOwn = accessBook.of(caller).all || (makerId !== null && makerId === caller.userId);
    return { id, name, ...(isOwn ? { do: template.do, ...programIn(template) } : {}) };
  };
  return {
    listManagedTemplates: async (_input, caller) => ({
      managedTemplateList: enabled(templates).map((template) => presentTemplate(template, caller)),
      metaData: metaData(),
    }),
    saveManagedTemplate: async ({ id, name, do: steps, ...body }, caller) => {
      const existing = id === 0 ? undefined : findOwn(templates, id, "managed template");
      if (existing !== undefined) checkOwner(existing, caller, accessBook, "managed template", id);
      const access = accessBook.of(caller);
      const program = { ...programIn(existing ?? noTemplateProgram), ...given(body) };
      const mistakes = [
        ...(steps ?? []).flatMap((step, index) => poolMistake(step, `do[${index}]`, book.addList(access))),
        ...programMistakes(program),
      ];
      if (mistakes.length > 0) throw invalidAll(mistakes);
      // As for managed miners themselves.
      if (Object.values(program).some((field) => field !== null)) needsAll(access);
      if (enabled(templates).some((other) => other.id !== id && other.name === name))
        throw invalid("name", "is the name of another managed template");
      const fields = { name, ...given({ do: steps }), ...program };
      const saved =
        existing === undefined
          ? await templates.add({ do: null, ...fields, makerId: caller.userId ?? null })
          : await templates.change(id, fields);
      return presentTemplate(saved, caller);
    },
    deleteManagedTemplate: async ({ id }, caller) => {
      const template = findOwn(templates, id, "managed template");
      checkOwner(template, caller, accessBook, "managed template", id);
      refuseInUse(
        `Managed template ${template.name}`,
        enabled(rules).flatMap(({ name, do: steps }) =>
          steps?.some((step) => "template" in step && step.template === template.name) ? [`rule ${name}`] : [],
        ),
      );
      await templates.remove(id);
      return done(`Managed template ${template.name} removed`);
    },
  };
}

const programIn = ({
  softwareType,
  algorithm,
  dualAlgorithm,
  commandLineParams,
}: TemplateProgram): TemplateProgram => ({
  softwareType,
  algorithm,
  dualAlgorithm,
  commandLineParams,
});

/** A pool or pool group that its maker does not see is not there. */
function poolMistake(step: RunStep, path: string, listed: ReturnType<PoolBook["addList"]>): Mistake[] {
  const [what, type, given] =
    "pool" in step
      ? (["pool", "single", step.pool] as const)
      : "poolGroup" in step
        ? (["pool group", "group", step.poolGroup] as const)
        : [];
  if (given === undefined) return [];
  const names = listed.filter((entry) => entry.type === type).map(({ name }) => name);
  return names.includes(given) ? [] : [{ path, message: `there is no ${what} "${given}"${didYouMean(given, names)}` }];
}
