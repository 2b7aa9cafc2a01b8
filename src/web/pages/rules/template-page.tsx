import { useMemo, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { isHere } from "../../../contract/site-numbers.ts";
import type { ManagedTemplate } from "../../../contract/templates.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded, useReloadOn, Waiting } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card, Page } from "../../parts/page.tsx";
import { Editor } from "../../parts/schema-form/editor.tsx";
import { isObject } from "../../parts/schema-form/schema.ts";
import { SiteChoice } from "../../parts/site-choice.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { SiteCopies } from "./copies.tsx";
import { type Definition, forPeople, patchOf } from "./definition.ts";
import { Owner, readOnlyText } from "./owned.tsx";
import { useEditorData } from "./rule-editor.tsx";
import "./rules.css";
import { templateSentence } from "./sentence/index.ts";
import { ownerOf } from "./template-list.tsx";
import { namesIn } from "./words.ts";

const firstTemplate: Definition = { name: "", do: [{ set: "power_target", value: null }] };

/** One managed template, or a new one. */
export default function TemplatePage() {
  const { params } = useRoute();
  const { route } = useLocation();
  const id = params.id ?? "";
  const [asks, setAsks] = useState(false);
  // Loaded again for each id, because a template that was just added is missing from the previous list.
  const list = useLoaded(async (signal) => ({ of: id, ...(await call("listManagedTemplates", {}, { signal })) }), [id]);
  useReloadOn(["site"], list.reload);
  return (
    <Loading from={list}>
      {({ of, managedTemplateList }, known) => {
        const template = managedTemplateList.find((each) => String(each.id) === id);
        if (template === undefined && id !== "new" && of !== id) return <Waiting />;
        if (template === undefined && id !== "new")
          return (
            <EmptyState known={known} icon="search" title={t.rules.gone} text={t.rules.goneText} heading="h1">
              <a class="button" href={link("rules?tab=templates")}>
                {t.rules.back}
              </a>
            </EmptyState>
          );
        return (
          <Page
            limited
            title={template?.name ?? t.rules.newTemplate}
            lead={template === undefined ? null : <Owner {...ownerOf(template)} />}
            actions={
              template !== undefined && template.centre === undefined && may("deleteManagedTemplate") ? (
                <button type="button" class="button" onClick={() => setAsks(true)}>
                  <Icon name="trash" /> {t.rules.remove}
                </button>
              ) : null
            }
          >
            {template === undefined ? null : (
              <SiteCopies of={template} all={managedTemplateList} path="rules/templates" />
            )}
            <Card>
              <TemplateEditor
                key={id}
                template={template}
                onSaved={(savedId) => {
                  say(template === undefined ? t.rules.added : t.rules.saved);
                  if (template === undefined) route(link(`rules/templates/${savedId}`));
                  list.reload();
                }}
              />
            </Card>
            {asks && template !== undefined ? (
              <Confirm
                title={t.rules.removeTemplate({ name: template.name })}
                text={t.rules.removeTemplateText}
                verb={t.rules.remove}
                dangerous
                onConfirm={async () => {
                  await call("deleteManagedTemplate", { id: template.id });
                  say(t.rules.removed);
                  route(link("rules?tab=templates"));
                }}
                onClose={() => setAsks(false)}
              />
            ) : null}
          </Page>
        );
      }}
    </Loading>
  );
}

const sitesOf = ({ runsAt }: Definition): string[] => (Array.isArray(runsAt) ? runsAt.map(String) : []);

function TemplateEditor({
  template,
  onSaved,
}: {
  template: ManagedTemplate | undefined;
  onSaved: (id: number) => void;
}) {
  const data = useEditorData();
  const owner = template === undefined ? ({ owner: "store" } as const) : ownerOf(template);
  const readOnly = readOnlyText(owner, may("saveManagedTemplate"));
  const whole = data.value?.schemas.template;
  const schema = useMemo(() => (whole === undefined ? {} : forPeople(whole, ["id"])), [whole]);
  const written = JSON.stringify(template ?? null);
  const saved = useMemo((): Definition => {
    if (template === undefined) return firstTemplate;
    const { id: _, centre: __, sites: ___, ...definition } = template;
    return Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== null && value !== ""));
  }, [written]);
  return (
    <Loading from={data}>
      {({ words }) => (
        <Editor
          schema={schema}
          saved={saved}
          words={words}
          readOnly={readOnly}
          isNew={template === undefined}
          verb={t.rules.save}
          sentence={(value) => templateSentence(value, namesIn(words))}
          below={(value, onValue) =>
            isHere(template?.id ?? 0) && isObject(value) ? (
              <SiteChoice
                chosen={sitesOf(value)}
                disabled={readOnly !== null}
                onChoose={(names) => onValue({ ...value, runsAt: names.length === 0 ? undefined : names })}
              />
            ) : null
          }
          onSave={async (settings) => {
            const patch = patchOf(template === undefined ? {} : saved, settings);
            // Absent fields stay unchanged; the service checks the rest.
            const body = {
              ...patch,
              ...("runsAt" in patch ? { runsAt: sitesOf(settings) } : {}),
              name: settings.name,
              id: template?.id,
            };
            const reply = await call("saveManagedTemplate", body as Parameters<typeof call<"saveManagedTemplate">>[1]);
            onSaved(reply.id);
          }}
        />
      )}
    </Loading>
  );
}
