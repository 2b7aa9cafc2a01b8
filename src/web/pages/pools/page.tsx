import { t } from "../../language.ts";
import { Page } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { usePageQuery } from "../../query.ts";
import { may } from "../../session.ts";
import { Coins } from "./coins.tsx";
import { PoolGroups } from "./groups.tsx";
import { PoolDefinitions } from "./pools.tsx";
import "./pools.css";

/** Pool definitions, pool groups and coins. */
export default function PoolsPage() {
  const query = usePageQuery();
  const tabs = [
    { key: "", label: t.pools.pools },
    ...(may("listPoolGroups") ? [{ key: "groups", label: t.pools.groups }] : []),
    ...(may("getMarket") ? [{ key: "coins", label: t.pools.coins }] : []),
  ];
  const chosen = tabs.find(({ key }) => key === query.get("tab"))?.key ?? "";
  return (
    <Page limited title={t.pools.title}>
      <Tabs name={t.pools.sections} tabs={tabs} chosen={chosen} hrefOf={(tab) => query.hrefWith({ tab, search: "" })} />
      {chosen === "" ? <PoolDefinitions /> : null}
      {chosen === "groups" ? <PoolGroups /> : null}
      {chosen === "coins" ? <Coins /> : null}
    </Page>
  );
}
