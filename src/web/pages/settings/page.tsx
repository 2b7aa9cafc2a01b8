import { t } from "../../language.ts";
import { Page } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { usePageQuery } from "../../query.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { About } from "./about.tsx";
import { Channels } from "./channels.tsx";
import { Display } from "./display.tsx";
import { Groups } from "./groups.tsx";
import { Sections } from "./sections.tsx";
import { Users } from "./users.tsx";
import "./settings.css";

const tabs = [
  { key: "users", needs: "listUsers", content: Users },
  { key: "groups", needs: "listGroups", content: Groups },
  { key: "notifications", needs: "addChannel", content: Channels },
  { key: "service", needs: "listSettings", content: Sections },
  { key: "display", needs: null, content: Display },
  { key: "about", needs: null, content: About },
] as const;

/** Users, groups, notification channels, this browser, and the service itself. */
export default function Settings() {
  const query = usePageQuery();
  const visible = tabs.filter(({ needs }) => needs === null || may(needs));
  const chosen = visible.find(({ key }) => key === query.get("tab")) ?? visible[0];
  if (chosen === undefined) return null;
  const Content = chosen.content;
  return (
    <Page limited title={t.settings.title}>
      <Tabs
        name={t.settings.title}
        tabs={visible.map(({ key }) => ({ key, label: t.settings.tabs[key] }))}
        chosen={chosen.key}
        hrefOf={(key) => link(`settings?tab=${key}`)}
      />
      <Content />
    </Page>
  );
}
