import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { SectionState, SettingsChange, SettingsSection, TopicList } from "../../../contract/settings.ts";
import { call, Problem } from "../../api.ts";
import { ownWords } from "../../details.ts";
import { withHints } from "../../hints.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Loading, useLoaded, Waiting } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card, Page } from "../../parts/page.tsx";
import { Editor } from "../../parts/schema-form/editor.tsx";
import { isObject, type Json, type Schema } from "../../parts/schema-form/schema.ts";
import { useButton } from "../../parts/use-form.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { SectionNow, useLinesNow } from "./section-now.tsx";
import { useSectionTest } from "./section-test.tsx";
import { sectionForm } from "./section-value.ts";
import { atFields, sectionWords } from "./section-words.ts";
import "./settings.css";

/** One section of the service's settings. */
export default function SectionPage() {
  const { params } = useRoute();
  const loaded = useLoaded(async (signal) => {
    const [{ sections: schemas }, { sections }, groups, plans, names] = await Promise.all([
      withHints(import("virtual:sections")),
      call("listSettings", {}, { signal }),
      may("listGroups") ? call("listGroups", {}, { signal }) : [],
      params.id === "signals" && may("listCurtailmentPlans") ? call("listCurtailmentPlans", {}, { signal }) : [],
      [...rigs.value.byId.values()].map(({ name }) => name),
    ]);
    const known = {
      groups: groups.map(({ name }) => name),
      miners: names,
      plans: plans.map((each) => each.key),
    };
    return { schemas, sections, known };
  }, []);
  return (
    <Loading from={loaded}>
      {({ schemas, sections, known: names }, known) => {
        const section = sections.find(({ key }) => key === params.id);
        if (section === undefined)
          return (
            <EmptyState known={known} icon="search" title={t.settings.sectionGone} heading="h1">
              <a class="button" href={link("settings?tab=service")}>
                {t.settings.tabs.service}
              </a>
            </EmptyState>
          );
        return (
          <Page limited title={t.settings.sectionNames[section.key]} lead={t.settings.sectionTexts[section.key]}>
            <Section key={section.key} loaded={section} whole={schemas[section.key]} known={names} />
          </Page>
        );
      }}
    </Loading>
  );
}

interface SectionEditorProps {
  readonly loaded: SectionState;
  readonly whole: Schema;
  readonly known: Omit<Parameters<typeof sectionWords>[1], "topics">;
}

/** Its form appears with its present state above it, which would move it away under somebody's finger. */
function Section(props: SectionEditorProps) {
  const lines = useLinesNow(props.loaded.key);
  if (lines === undefined) return <Waiting />;
  return (
    <Card>
      <SectionNow lines={lines} />
      <SectionEditor {...props} />
    </Card>
  );
}

function SectionEditor({ loaded, whole, known }: SectionEditorProps) {
  // From the answer to each change, so that what is typed right after it belongs to the new revision.
  const [section, setSection] = useState(loaded);
  const { key, owner, line, revision, undoable, restart, problem } = section;
  const topics = useTopics(key);
  const words = useMemo(() => sectionWords(key, { ...known, topics }), [key, known, topics]);
  const test = useSectionTest(key);
  const form = useMemo(() => sectionForm(section, whole), [section, whole]);
  const [did, setDid] = useState<SettingsChange | null>(null);
  /** Undoing twice brings back what was undone. */
  const [isUndone, setIsUndone] = useState(false);
  const after = (change: SettingsChange, isUndo = false) => {
    const words = isUndo ? t.settings.undone : t.settings.saved;
    say(change.section.restart ? t.settings.savedForRestart : words);
    setIsUndone(isUndo);
    setDid(change);
    setSection(change.section);
  };
  const { busy, send } = useButton();
  const undo = () => send(async () => after(await call("undoSettings", { section: key }), !isUndone));
  const reset = () => send(async () => after(await call("resetSettings", { section: key })));
  const [isOutdated, setIsOutdated] = useState(false);
  const [turn, setTurn] = useState(0);
  const decided = () => {
    setIsOutdated(false);
    setTurn(turn + 1);
  };
  const keepMine = (value: Json) =>
    send(async () => {
      after(await call("saveSettings", { section: key, value }));
      decided();
    });
  const takeTheirs = () =>
    send(async () => {
      const { sections } = await call("listSettings", {});
      setSection(sections.find((each) => each.key === key) ?? section);
      setDid(null);
      decided();
    });
  const isOfFile = owner === "file";
  const [draft, setDraft] = useState<string | null>(null);
  const why = may("saveSettings") ? null : isOfFile ? t.settings.sectionOfFile({ line: line ?? 0 }) : t.settings.mayNot;
  return (
    <>
      {restart ? <p class="banner">{t.settings.waitsForRestart}</p> : null}
      {problem === null ? null : (
        <p class="banner bad" dir="auto">
          {problem}
        </p>
      )}
      {did === null || did.effects.length === 0 ? null : (
        <ul class="effects" dir="auto">
          {did.effects.map((each, at) => (
            <li key={each}>{ownWords(each, did.codedEffects?.[at])}</li>
          ))}
        </ul>
      )}
      {isOfFile && why === null ? (
        <p class="banner">
          {t.settings.sectionOfFile({ line: line ?? 0 })} {t.settings.draftText}
        </p>
      ) : null}
      {why === null && (undoable || owner === "store") ? (
        <p class="row section-actions">
          {undoable ? (
            <button type="button" class="button small" disabled={busy} onClick={() => void undo()}>
              {isUndone ? t.settings.redoSection : t.settings.undoSection}
            </button>
          ) : null}
          {owner === "store" ? (
            <button type="button" class="button small" disabled={busy} onClick={() => void reset()}>
              {t.settings.resetSection}
            </button>
          ) : null}
        </p>
      ) : null}
      <Editor
        key={turn}
        schema={form.schema}
        saved={form.saved}
        words={words}
        readOnly={why}
        isNew={false}
        verb={isOfFile ? t.settings.asYaml : t.shell.save}
        beside={(value) => {
          const sent = isObject(value) ? form.sent(value) : undefined;
          return isOfFile ? null : (
            <>
              {test?.button(sent)}
              {isOutdated ? (
                <>
                  <button type="button" class="button" disabled={busy} onClick={() => void keepMine(sent)}>
                    {t.settings.keepMine}
                  </button>
                  <button type="button" class="button" disabled={busy} onClick={() => void takeTheirs()}>
                    {t.settings.takeTheirs}
                  </button>
                </>
              ) : null}
            </>
          );
        }}
        onSave={async (value) => {
          if (isOfFile) return setDraft(await yamlOf(key, form.sent(value)));
          setIsOutdated(false);
          const input = { section: key, value: form.sent(value), revision };
          const change = await call("saveSettings", input).catch((error: unknown) => {
            if (error instanceof Problem && error.code === "settings.changed") setIsOutdated(true);
            return atFields(key)(error);
          });
          after(change);
        }}
      />
      {draft === null ? null : <Draft key={draft} text={draft} />}
      {(why === null && !isOfFile) || test === null ? null : <p class="row">{test.button(undefined)}</p>}
      {test?.result}
    </>
  );
}

/** Sections with values that can come from a topic. */
const withTopics: ReadonlySet<SettingsSection> = new Set(["heating", "follow", "electricity"]);

/** What the broker's topics contain; empty until it has answered. */
function useTopics(section: SettingsSection): TopicList["topics"] {
  const { value } = useLoaded(
    async (signal) =>
      withTopics.has(section) && may("findTopics") ? (await call("findTopics", {}, { signal })).topics : noTopics,
    [section],
  );
  return value ?? noTopics;
}

const noTopics: TopicList["topics"] = [];

/** A section in the format of the configuration file. */
const yamlOf = async (section: string, value: unknown): Promise<string> =>
  (await import("yaml")).stringify({ [section]: value }, { lineWidth: 100 });

/** The file's text for the values in the form; nothing is written to the file. */
function Draft({ text }: { text: string }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => field.current?.select(), []);
  return (
    <label class="field">
      <span>YAML</span>
      <textarea ref={field} class="mono" dir="ltr" readOnly rows={Math.min(30, text.split("\n").length)} value={text} />
      <small class="hint">{t.settings.yamlHint}</small>
    </label>
  );
}
