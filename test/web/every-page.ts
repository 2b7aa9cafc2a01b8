import { type PageEntry, pages } from "../../src/web/pages/index.ts";
import type { Dashboard } from "./dashboard.ts";

/** A page of the dashboard, and an address of it. */
export interface PageAddress extends Pick<PageEntry, "path" | "needs" | "menu"> {
  readonly at: string;
}

const caller = { actor: "test" };

/** The report of a curtailment, of a plan that was tried without sending anything. */
async function drilled(service: Dashboard["service"]): Promise<number> {
  const [last] = await service.listCurtailments({ limit: 1 }, caller);
  if (last !== undefined) return last.id;
  const pace = { ramp: { parallel: 1, deadline: 300 }, restore: { parallel: 1, wait: 0 } };
  const plan = { key: "example", target: { all: true }, order: "efficiency", level: "off", safety: false } as const;
  const { key } = await service.addCurtailmentPlan({ ...plan, ...pace }, caller);
  return (await service.drillCurtailmentPlan({ key, dry: true, lasts: 600 }, caller)).id;
}

/** What stands for `:id` of such a page: the first there is. */
const examples: Readonly<Record<string, (service: Dashboard["service"]) => Promise<string | number | undefined>>> = {
  "rigs/:id": async () => 1_000_000_001,
  "places/:id": async (service) => (await service.listPlaces({}, caller))[0]?.id,
  "rules/:id": async (service) => (await service.listRules({}, caller)).rules[0]?.id,
  "rules/schedules/:id": async (service) => (await service.listSchedules({}, caller))[0]?.id,
  "rules/templates/:id": async (service) => (await service.listManagedTemplates({}, caller)).managedTemplateList[0]?.id,
  "hosts/miners/:id": async () => "new",
  "curtailment/:id": drilled,
  "settings/service/:id": async () => "poll",
  "settings/channels/:id": async (service) => (await service.listChannels({}, caller))[0]?.key,
};

/** Every page of the table, so that a new page is tested with the others. Fails if it has an id and no example here. */
export async function everyPage(service: Dashboard["service"]): Promise<PageAddress[]> {
  return Promise.all(
    pages.map(async ({ path, needs, menu }) => {
      const id = path.includes(":") ? await examples[path]?.(service) : "";
      if (id === undefined) throw new Error(`an example of the page ${path} is missing in test/web/every-page.ts`);
      return { path, needs, ...(menu && { menu }), at: path.replace(":id", String(id)) };
    }),
  );
}
