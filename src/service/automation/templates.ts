import { siteFindings } from "../../config/rule-checks.ts";
import { invalid, invalidAll, type Mistake, notFound } from "../../contract/problems.ts";
import type { MetaData } from "../../contract/resources.ts";
import { runsHere } from "../../contract/runs-at.ts";
import type { Caller, MiningService } from "../../contract/service.ts";
import { type ManagedTemplate, noTemplateProgram, type TemplateProgram } from "../../contract/templates.ts";
import type { Store, Stored, StoredTemplate } from "../../store/index.ts";
import { done, enabled, find, findOwn, given, refuseInUse, refuseOfCentre } from "../crud.ts";
import { sitesOf } from "../money/pool-book.ts";
import { type AccessBook, needsAll } from "../users/access.ts";
import { checkOwner, nameSpace } from "./rights.ts";
import type { StepTargets } from "./step-targets.ts";
import type { UsableLists } from "./usable-lists.ts";

type TemplateOperations = Pick<MiningService, "listManagedTemplates" | "saveManagedTemplate" | "deleteManagedTemplate">;

interface TemplateOptions {
  readonly store: Store;
  readonly accessBook: AccessBook;
  readonly usable: UsableLists;
  readonly targets: StepTargets;
  /** Mistakes in the managed-miner settings of a template. */
  readonly programMistakes: (fields: TemplateProgram) => Mistake[];
  /** The names of the other sites. */
  readonly siteNames: () => ReadonlySet<string>;
  readonly metaData: () => MetaData;
}

/** Managed templates: named lists of steps. A template made over the API belongs to its creator. */
export function templateOperations(options: TemplateOptions): TemplateOperations {
  const { accessBook, usable, targets, programMistakes, siteNames, metaData } = options;
  const { templates } = options.store;
  /** The steps name pools, which other users may not be allowed to see. */
  const presentTemplate = (template: Stored<StoredTemplate>, caller: Caller): ManagedTemplate => {
    const { id, name, makerId, runsAt, centre } = template;
    const isOwn = accessBook.of(caller).all || (makerId !== null && makerId === caller.userId);
    const { definition } = targets.present({ do: template.do }, template);
    return {
      id,
      name,
      ...given({ centre }),
      ...(isOwn ? { ...definition, ...shownProgram(template), ...given({ runsAt }) } : {}),
    };
  };
  /** Throws `not.found` if the caller cannot see the template, `user.forbidden` if it belongs to another user. */
  const ownTemplate = (id: number, caller: Caller): Stored<StoredTemplate> => {
    const template = find(templates, id, "managed template");
    if (!usable.template(template, accessBook.of(caller))) throw notFound("managed template", id);
    findOwn(templates, id, "managed template");
    checkOwner(template, caller, accessBook, "managed template", id);
    refuseOfCentre(template, "managed template", id);
    return template;
  };
  return {
    listManagedTemplates: async (_input, caller) => ({
      managedTemplateList: usable.templates(accessBook.of(caller)).map((template) => presentTemplate(template, caller)),
      metaData: metaData(),
    }),
    saveManagedTemplate: async ({ id, name, do: steps, runsAt: givenSites, ...body }, caller) => {
      const existing = id === 0 ? undefined : ownTemplate(id, caller);
      const access = accessBook.of(caller);
      const program = { ...programIn(existing ?? noTemplateProgram), ...given(body) };
      const makerId = existing === undefined ? (caller.userId ?? null) : existing.makerId;
      const before = existing && targets.present({ do: existing.do }, existing);
      const written = steps === undefined ? before?.definition.do : steps;
      const made = { owner: "store", makerId } as const;
      const { links, mistakes: unclear } = targets.resolve({ do: written ?? [] }, made, before?.links);
      const runsAt = sitesOf({ runsAt: givenSites }, existing);
      const ofSites = siteFindings({ runsAt: givenSites }, [], { sites: siteNames(), isLimited: !access.all });
      const mistakes = [
        // What its names mean elsewhere is for the sites to say.
        ...(steps == null || !runsHere(runsAt) ? [] : unclear),
        ...programMistakes(program),
        ...ofSites.map((each) => ({ ...each, path: "runsAt" })),
      ];
      if (mistakes.length > 0) throw invalidAll(mistakes);
      // The same right as for managed miners.
      if (Object.values(program).some((field) => field !== null)) needsAll(access);
      const space = nameSpace(makerId, accessBook);
      const isTaken = enabled(templates).some(
        (other) => other.id !== id && other.name === name && nameSpace(other.makerId, accessBook) === space,
      );
      if (isTaken && existing?.name !== name) throw invalid("name", "is the name of another managed template");
      const fields = { name, ...given({ do: written }), links, ...program, runsAt };
      const saved =
        existing === undefined
          ? await templates.add({ do: null, ...fields, makerId })
          : await templates.change(id, fields);
      return presentTemplate(saved, caller);
    },
    deleteManagedTemplate: async ({ id }, caller) => {
      const template = ownTemplate(id, caller);
      refuseUsedTemplate(template, targets);
      await templates.remove(id);
      return done(`Managed template ${template.name} removed`);
    },
  };
}

/** Throws `in.use` if something here uses the template. */
export function refuseUsedTemplate({ id, name }: Pick<Stored<StoredTemplate>, "id" | "name">, targets: StepTargets) {
  refuseInUse(
    `Managed template ${name}`,
    targets.usersOf("template", id).map((user) => `${user.what} ${user.name}`),
  );
}

/** The parameters of what a centre has defined are secrets of the centre. */
function shownProgram(template: StoredTemplate): TemplateProgram {
  const program = programIn(template);
  const isHidden = template.centre !== undefined && program.commandLineParams !== null;
  return isHidden ? { ...program, commandLineParams: "" } : program;
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
