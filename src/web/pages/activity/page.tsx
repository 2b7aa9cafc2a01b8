import { t } from "../../language.ts";
import { Page } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { usePageQuery } from "../../query.ts";
import { may } from "../../session.ts";
import "./activity.css";
import { Audit } from "./audit.tsx";
import { BulkActions } from "./bulk.tsx";

/** What was sent to rigs, by whom and why, and what came back. */
export default function ActivityPage() {
  const query = usePageQuery();
  const tabs = [
    { key: "", label: t.activity.commands },
    ...(may("listBulkActions") ? [{ key: "bulk", label: t.activity.bulk }] : []),
  ];
  const chosen = tabs.find(({ key }) => key === query.get("tab"))?.key ?? "";
  const none = { miner: "", actor: "", since: "", job: "" };
  return (
    <Page title={t.activity.title}>
      <Tabs name={t.activity.sections} tabs={tabs} chosen={chosen} hrefOf={(tab) => query.hrefWith({ ...none, tab })} />
      {chosen === "" ? <Audit /> : <BulkActions />}
    </Page>
  );
}
