import { call } from "../../api.ts";
import { counted } from "../../format.ts";
import { t } from "../../language.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { link } from "../../route.ts";
import { templateSentence } from "./sentence/index.ts";
import { namesOf } from "./words.ts";

/** The managed templates. */
export function TemplateList() {
  const list = useLoaded((signal) => call("listManagedTemplates", {}, { signal }), []);
  return (
    <Loading from={list}>
      {({ managedTemplateList }, known) =>
        managedTemplateList.length === 0 ? (
          <EmptyState known={known} icon="columns" title={t.rules.noTemplates} text={t.rules.noTemplatesText} />
        ) : (
          <ul class="rule-list">
            {managedTemplateList.map(({ id, name, do: steps }) => (
              <li key={id} class="rule">
                <div class="rule-main">
                  <p class="rule-head">
                    <a href={link(`rules/templates/${id}`)}>
                      <bdi>{name}</bdi>
                    </a>
                    <span class="tag">
                      {steps === undefined || steps === null ? t.rules.onlyName : counted(steps.length, t.rules.steps)}
                    </span>
                  </p>
                  {steps === undefined || steps === null ? null : (
                    <p class="rule-summary">{templateSentence({ do: steps }, namesOf([]))}</p>
                  )}
                </div>
              </li>
            ))}
          </ul>
        )
      }
    </Loading>
  );
}
