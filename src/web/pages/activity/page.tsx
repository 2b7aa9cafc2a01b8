import { t } from "../../language.ts";
import { Page } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { usePageQuery } from "../../query.ts";
import { may } from "../../session.ts";
import "./activity.css";
import { BulkActions } from "./bulk.tsx";
import { Feed } from "./feed.tsx";
import { filterNames } from "./filters.ts";

/** Every action, with its caller, cause and result. */
export default function ActivityPage() {
  const query = usePageQuery();
  const tabs = [
    { key: "", label: t.activity.everything },
    ...(may("listBulkActions") ? [{ key: "bulk", label: t.activity.bulk }] : []),
  ];
  const chosen = tabs.find(({ key }) => key === query.get("tab"))?.key ?? "";
  const none = { ...Object.fromEntries(filterNames.map((name) => [name, ""])), job: "" };
  return (
    <Page title={t.activity.title}>
      <Tabs name={t.activity.sections} tabs={tabs} chosen={chosen} hrefOf={(tab) => query.hrefWith({ ...none, tab })} />
      {chosen === "" ? <Feed /> : <BulkActions />}
    </Page>
  );
}
