import type { MetaData } from "../../contract/resources.ts";
import type { MiningService } from "../../contract/service.ts";
import type { Store } from "../../store/index.ts";
import { done, enabled, findOwn } from "../crud.ts";

type TemplateOperations = Pick<MiningService, "listManagedTemplates" | "saveManagedTemplate" | "deleteManagedTemplate">;

/** Managed templates by name; they cannot be applied yet. */
export function templateOperations({ templates }: Store, metaData: () => MetaData): TemplateOperations {
  return {
    listManagedTemplates: async () => ({
      managedTemplateList: enabled(templates).map(({ id, name }) => ({ id, name })),
      metaData: metaData(),
    }),
    saveManagedTemplate: async ({ id, name }) => {
      if (id !== 0) findOwn(templates, id, "managed template");
      const saved =
        id === 0 ? await templates.add({ name, do: null, makerId: null }) : await templates.change(id, { name });
      return { id: saved.id, name: saved.name };
    },
    deleteManagedTemplate: async ({ id }) => {
      const template = findOwn(templates, id, "managed template");
      await templates.remove(id);
      return done(`Managed template ${template.name} removed`);
    },
  };
}
