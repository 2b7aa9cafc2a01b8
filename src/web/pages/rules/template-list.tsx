import type { ManagedTemplate } from "../../../contract/templates.ts";
import { call } from "../../api.ts";
import { counted } from "../../format.ts";
import { t } from "../../language.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Loading, useLoaded, useReloadOn } from "../../parts/load.tsx";
import { AtSites, once } from "../../parts/site-copies.tsx";
import { link } from "../../route.ts";
import { Centres, Owner } from "./owned.tsx";
import { templateSentence } from "./sentence/index.ts";
import { namesOf } from "./words.ts";

/** The managed templates. */
export function TemplateList() {
  const list = useLoaded((signal) => call("listManagedTemplates", {}, { signal }), []);
  useReloadOn(["site"], list.reload);
  return (
    <Loading from={list}>
      {({ managedTemplateList }, known) =>
        managedTemplateList.length === 0 ? (
          <EmptyState known={known} icon="columns" title={t.rules.noTemplates} text={t.rules.noTemplatesText} />
        ) : (
          <>
            <Centres of={managedTemplateList.map(ownerOf)} onReleased={list.reload} />
            <ul class="rule-list">
              {once(managedTemplateList).map(({ id, name, do: steps, centre, sites }) => (
                <li key={id} class="rule">
                  <div class="rule-main">
                    <p class="rule-head">
                      <a href={link(`rules/templates/${id}`)}>
                        <bdi>{name}</bdi>
                      </a>
                      <span class="tag">
                        {steps === undefined || steps === null
                          ? t.rules.onlyName
                          : counted(steps.length, t.rules.steps)}
                      </span>
                    </p>
                    {steps === undefined || steps === null ? null : (
                      <p class="rule-summary">{templateSentence({ do: steps }, namesOf([]))}</p>
                    )}
                    <p class="rule-facts">
                      <AtSites sites={sites} />
                      <Owner {...ownerOf({ id, centre })} />
                    </p>
                  </div>
                </li>
              ))}
            </ul>
          </>
        )
      }
    </Loading>
  );
}

/** Who alone can change a template, where that is a centre. */
export const ownerOf = ({ id, centre }: Pick<ManagedTemplate, "id" | "centre">) =>
  ({ id, centre, owner: centre === undefined ? "store" : "centre" }) as const;
