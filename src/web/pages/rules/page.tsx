import { useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import { t } from "../../language.ts";
import { Icon } from "../../parts/icon.tsx";
import { Page } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { Maintenance } from "./maintenance.tsx";
import "./rules.css";
import { RuleList } from "./rule-list.tsx";
import { ScheduleList } from "./schedule-list.tsx";
import { TemplateList } from "./template-list.tsx";

const tabs = [
  { key: "rules", needs: "listRules" },
  { key: "schedules", needs: "listSchedules" },
  { key: "maintenance", needs: "listMaintenance" },
  { key: "templates", needs: "listManagedTemplates" },
] as const;

/** Automation: rules, schedules, maintenance windows, and the templates that they apply. */
export default function Rules() {
  const { query } = useRoute();
  const visible = tabs.filter(({ needs }) => may(needs));
  const chosen = visible.find(({ key }) => key === query.tab)?.key ?? "rules";
  const [addsWindow, setAddsWindow] = useState(false);
  return (
    <Page limited title={t.rules.title} actions={<NewButton tab={chosen} onWindow={() => setAddsWindow(true)} />}>
      <Tabs
        name={t.rules.title}
        tabs={visible.map(({ key }) => ({ key, label: t.rules.tabs[key] }))}
        chosen={chosen}
        hrefOf={(key) => link(key === "rules" ? "rules" : `rules?tab=${key}`)}
      />
      {chosen === "rules" ? <RuleList /> : null}
      {chosen === "schedules" ? <ScheduleList /> : null}
      {chosen === "maintenance" ? <Maintenance adds={addsWindow} onAdded={() => setAddsWindow(false)} /> : null}
      {chosen === "templates" ? <TemplateList /> : null}
    </Page>
  );
}

const news = {
  rules: { path: "rules/new", needs: "addRule", name: "newRule" },
  schedules: { path: "rules/schedules/new", needs: "addSchedule", name: "newSchedule" },
  templates: { path: "rules/templates/new", needs: "saveManagedTemplate", name: "newTemplate" },
} as const;

function NewButton({ tab, onWindow }: { tab: (typeof tabs)[number]["key"]; onWindow: () => void }) {
  if (tab === "maintenance")
    return may("addMaintenance") ? (
      <button type="button" class="button primary" onClick={onWindow}>
        <Icon name="plus" /> {t.rules.newWindow}
      </button>
    ) : null;
  const { needs, path, name } = news[tab];
  return may(needs) ? (
    <a class="button primary" href={link(path)}>
      <Icon name="plus" /> {t.rules[name]}
    </a>
  ) : null;
}
