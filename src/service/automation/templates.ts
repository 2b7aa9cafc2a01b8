import { invalid, invalidAll, type Mistake, notFound } from "../../contract/problems.ts";
import type { MetaData } from "../../contract/resources.ts";
import type { Caller, MiningService } from "../../contract/service.ts";
import { type ManagedTemplate, noTemplateProgram, type TemplateProgram } from "../../contract/templates.ts";
import type { Store, Stored, StoredTemplate } from "../../store/index.ts";
import { done, enabled, find, findOwn, given, refuseInUse } from "../crud.ts";
import { type AccessBook, needsAll } from "../users/access.ts";
import { checkOwner, nameSpace } from "./rights.ts";
import type { StepTargets } from "./step-targets.ts";
import type { UsableLists } from "./usable-lists.ts";

type TemplateOperations = Pick<MiningService, "listManagedTemplates" | "saveManagedTemplate" | "deleteManagedTemplate">;

/** Managed templates: named lists of steps. A template made over the API belongs to its creator. */
export function templateOperations(
  { templates }: Store,
  accessBook: AccessBook,
  { usable, targets }: { readonly usable: UsableLists; readonly targets: StepTargets },
  /** Mistakes in the managed-miner settings of a template. */
  programMistakes: (fields: TemplateProgram) => Mistake[],
  metaData: () => MetaData,
): TemplateOperations {
  /** The steps name pools, which other users may not be allowed to see. */
  const presentTemplate = (template: Stored<StoredTemplate>, caller: Caller): ManagedTemplate => {
    const { id, name, makerId } = template;
    const isOwn = accessBook.of(caller).all || (makerId !== null && makerId === caller.userId);
    const { definition } = targets.present({ do: template.do }, template);
    return { id, name, ...(isOwn ? { ...definition, ...programIn(template) } : {}) };
  };
  /** Throws `not.found` if the caller cannot see the template, `user.forbidden` if it belongs to another user. */
  const ownTemplate = (id: number, caller: Caller): Stored<StoredTemplate> => {
    const template = find(templates, id, "managed template");
    if (!usable.template(template, accessBook.of(caller))) throw notFound("managed template", id);
    findOwn(templates, id, "managed template");
    checkOwner(template, caller, accessBook, "managed template", id);
    return template;
  };
  return {
    listManagedTemplates: async (_input, caller) => ({
      managedTemplateList: usable.templates(accessBook.of(caller)).map((template) => presentTemplate(template, caller)),
      metaData: metaData(),
    }),
    saveManagedTemplate: async ({ id, name, do: steps, ...body }, caller) => {
      const existing = id === 0 ? undefined : ownTemplate(id, caller);
      const access = accessBook.of(caller);
      const program = { ...programIn(existing ?? noTemplateProgram), ...given(body) };
      const makerId = existing === undefined ? (caller.userId ?? null) : existing.makerId;
      const before = existing && targets.present({ do: existing.do }, existing);
      const written = steps === undefined ? before?.definition.do : steps;
      const made = { owner: "store", makerId } as const;
      const { links, mistakes: unclear } = targets.resolve({ do: written ?? [] }, made, before?.links);
      const mistakes = [...(steps == null ? [] : unclear), ...programMistakes(program)];
      if (mistakes.length > 0) throw invalidAll(mistakes);
      // The same right as for managed miners.
      if (Object.values(program).some((field) => field !== null)) needsAll(access);
      const space = nameSpace(makerId, accessBook);
      const isTaken = enabled(templates).some(
        (other) => other.id !== id && other.name === name && nameSpace(other.makerId, accessBook) === space,
      );
      if (isTaken && existing?.name !== name) throw invalid("name", "is the name of another managed template");
      const fields = { name, ...given({ do: written }), links, ...program };
      const saved =
        existing === undefined
          ? await templates.add({ do: null, ...fields, makerId })
          : await templates.change(id, fields);
      return presentTemplate(saved, caller);
    },
    deleteManagedTemplate: async ({ id }, caller) => {
      const template = ownTemplate(id, caller);
      refuseInUse(
        `Managed template ${template.name}`,
        targets.usersOf("template", id).map(({ what, name }) => `${what} ${name}`),
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
