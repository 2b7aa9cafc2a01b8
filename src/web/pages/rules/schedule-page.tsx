import { useMemo, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type { ScheduleInfo } from "../../../contract/rules.ts";
import { isHere } from "../../../contract/site-numbers.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { AtSite, atSiteText } from "../../parts/at-site.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded, useReloadOn, Waiting } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card, Page } from "../../parts/page.tsx";
import { Editor } from "../../parts/schema-form/editor.tsx";
import { isObject, readable } from "../../parts/schema-form/schema.ts";
import { Tabs } from "../../parts/tabs.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { SiteCopies } from "./copies.tsx";
import { type Definition, forPeople, patchOf } from "./definition.ts";
import { Owner, readOnlyText } from "./owned.tsx";
import { EnabledSwitch, LastRun } from "./parts.tsx";
import { ofSites } from "./references.ts";
import { useEditorData } from "./rule-editor.tsx";
import { Runs } from "./runs.tsx";
import "./rules.css";
import { ScheduleState } from "./schedule-list.tsx";
import { scheduleSentence } from "./sentence/index.ts";
import { namesIn } from "./words.ts";

const firstSchedule: Definition = {
  key: "",
  weekly: { days: ["mon-fri"], from: "22:00", to: "06:00" },
  do: [{ action: "start" }],
  onEnd: [{ action: "stop" }],
};

/** One schedule: its runs and settings; or a new one. */
export default function SchedulePage() {
  const { params } = useRoute();
  const id = params.id ?? "";
  // Loaded again for each id, because a schedule that was just added is missing from the previous list.
  const list = useLoaded(async (signal) => ({ of: id, schedules: await call("listSchedules", {}, { signal }) }), [id]);
  useReloadOn(["rule", "site"], list.reload);
  return (
    <Loading from={list}>
      {({ of, schedules }, known) => {
        if (id === "new") return <NewSchedule />;
        const schedule = schedules.find((each) => String(each.id) === id || each.key === id);
        if (schedule === undefined && of !== id) return <Waiting />;
        return schedule === undefined ? (
          <EmptyState known={known} icon="search" title={t.rules.gone} text={t.rules.goneText} heading="h1">
            <a class="button" href={link("rules?tab=schedules")}>
              {t.rules.back}
            </a>
          </EmptyState>
        ) : (
          <Schedule key={schedule.id} schedule={schedule} schedules={schedules} onChanged={list.reload} />
        );
      }}
    </Loading>
  );
}

function NewSchedule() {
  const { route } = useLocation();
  return (
    <Page limited title={t.rules.newSchedule}>
      <Card>
        <ScheduleEditor
          schedule={null}
          readOnly={null}
          onSave={async (settings) => {
            const added = await call("addSchedule", settings as Parameters<typeof call<"addSchedule">>[1]);
            say(t.rules.added);
            route(link(`rules/schedules/${added.id}`));
          }}
        />
      </Card>
    </Page>
  );
}

const parts = ["runs", "settings"] as const;

function Schedule({
  schedule,
  schedules,
  onChanged,
}: {
  schedule: ScheduleInfo;
  schedules: readonly ScheduleInfo[];
  onChanged: () => void;
}) {
  const { query } = useRoute();
  const { route } = useLocation();
  const [asks, setAsks] = useState(false);
  const id = String(schedule.id);
  const part = parts.find((each) => each === query.part) ?? "runs";
  const isOwn = schedule.owner === "store" && isHere(schedule.id);
  const readOnly = atSiteText(schedule.id) ?? readOnlyText(schedule, may("changeSchedule"));
  const address = `rules/schedules/${id}`;
  return (
    <Page
      limited
      title={schedule.name}
      lead={
        <span class="rule-facts">
          <ScheduleState schedule={schedule} />
          <LastRun run={schedule.lastRun} />
          <Owner {...schedule} />
          <AtSite id={schedule.id} />
        </span>
      }
      actions={
        <>
          <EnabledSwitch
            name={schedule.name}
            enabled={schedule.enabled}
            mayChange={readOnly === null}
            change={(enabled) => call("changeSchedule", { id, enabled })}
            onChanged={onChanged}
          />
          {isOwn && may("deleteSchedule") ? (
            <button type="button" class="button" onClick={() => setAsks(true)}>
              <Icon name="trash" /> {t.rules.remove}
            </button>
          ) : null}
        </>
      }
    >
      <SiteCopies of={schedule} all={schedules} path="rules/schedules" />
      <Tabs
        name={schedule.name}
        tabs={parts.map((key) => ({ key, label: t.rules.parts[key] }))}
        chosen={part}
        hrefOf={(key) => link(key === "runs" ? address : `${address}?part=${key}`)}
      />
      {part === "runs" ? (
        <ScheduleRuns id={id} />
      ) : (
        <Card>
          <ScheduleEditor
            schedule={schedule}
            readOnly={readOnly}
            onSave={async (patch) => {
              await call("changeSchedule", { ...patch, id });
              say(t.rules.saved);
              onChanged();
            }}
          />
        </Card>
      )}
      {asks ? (
        <Confirm
          title={t.rules.removeSchedule({ name: schedule.name })}
          text={t.rules.removeScheduleText}
          verb={t.rules.remove}
          dangerous
          onConfirm={async () => {
            await call("deleteSchedule", { id });
            say(t.rules.removed);
            route(link("rules?tab=schedules"));
          }}
          onClose={() => setAsks(false)}
        />
      ) : null}
    </Page>
  );
}

function ScheduleRuns({ id }: { id: string }) {
  const runs = useLoaded((signal) => call("listScheduleRuns", { id }, { signal }), [id]);
  useReloadOn(["rule"], runs.reload);
  return <Loading from={runs}>{(reply, known) => <Runs runs={reply.runs} known={known} />}</Loading>;
}

function ScheduleEditor({
  schedule,
  readOnly,
  onSave,
}: {
  schedule: ScheduleInfo | null;
  readOnly: string | null;
  onSave: (settings: Definition) => Promise<void>;
}) {
  const data = useEditorData();
  const written = JSON.stringify(schedule?.definition ?? null);
  const whole = data.value?.schemas.schedule;
  const hidden = ofSites();
  const schema = useMemo(() => (whole === undefined ? {} : forPeople(whole, hidden)), [whole, hidden.join()]);
  const saved = useMemo((): Definition => {
    if (schedule === null || whole === undefined) return firstSchedule;
    const definition = readable(schedule.definition, whole, whole);
    return isObject(definition) ? definition : {};
  }, [written, whole]);
  return (
    <Loading from={data}>
      {({ words }) => (
        <Editor
          schema={schema}
          saved={saved}
          words={words}
          readOnly={readOnly}
          isNew={schedule === null}
          verb={t.rules.save}
          sentence={(value) => scheduleSentence(value, namesIn(words))}
          onSave={(settings) => onSave(schedule === null ? settings : patchOf(saved, settings))}
        />
      )}
    </Loading>
  );
}
