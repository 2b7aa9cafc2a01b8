import { useRoute } from "preact-iso";
import type { Group, MinerDetail } from "../../../contract/resources.ts";
import { isNumberText } from "../../../contract/site-numbers.ts";
import { call } from "../../api.ts";
import { type Commands, useCommands } from "../../commands.ts";
import { t } from "../../language.ts";
import { openAlarms, rigs } from "../../live.ts";
import { CommandList } from "../../parts/command-list.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { type Known, Loading, useLoaded } from "../../parts/load.tsx";
import { OneByOne } from "../../parts/one-by-one.tsx";
import { Card, Page, usePageTitle } from "../../parts/page.tsx";
import { Age, Stale, Status } from "../../parts/status.tsx";
import { type Tab, Tabs } from "../../parts/tabs.tsx";
import { usePageQuery } from "../../query.ts";
import { may } from "../../session.ts";
import { NotFound } from "../not-found.tsx";
import { AwayRig } from "./away-rig.tsx";
import { Devices, hasDevices } from "./devices.tsx";
import { HistorySection } from "./history.tsx";
import { Notifications } from "./notifications.tsx";
import { Overview } from "./overview.tsx";
import { Pools } from "./pools.tsx";
import "./rig.css";
import { ReadNow } from "./read-now.tsx";
import { BeginRepair, RepairCard } from "./repair.tsx";
import { isManaged, Settings } from "./settings.tsx";
import { Software } from "./software.tsx";
import { listAddress, Steps } from "./steps.tsx";
import { Story } from "./story.tsx";
import { useRig } from "./use-rig.ts";

export default function RigPage() {
  const id = useRoute().params.id ?? "";
  const groups = useLoaded(async (signal) => (may("listGroups") ? call("listGroups", {}, { signal }) : []), []);
  if (!isNumberText(id)) return <NotFound />;
  const known = groups.value ?? (groups.problem === null ? null : none);
  return (
    <>
      <Steps id={Number(id)} groups={known ?? none} />
      <Rig key={id} id={Number(id)} groups={known} />
    </>
  );
}
const none: readonly Group[] = [];

function Rig({ id, groups }: { id: number; groups: readonly Group[] | null }) {
  const rig = useRig(id);
  const row = rigs.value.byId.get(id);
  const since = row?.siteUnreachable;
  const commands = useCommands(rig.value && since === undefined ? { miner: id } : null);
  return (
    <Loading from={rig}>
      {(miner, known) =>
        miner === null ? (
          <Gone known={known} />
        ) : row !== undefined && since !== undefined ? (
          <AwayRig row={row} since={since} miner={miner} groups={groups} />
        ) : (
          <RigView miner={miner} groups={groups} commands={commands} known={known} reload={rig.reload} />
        )
      }
    </Loading>
  );
}

function Gone({ known }: { known: Known }) {
  usePageTitle(t.rig.gone);
  const { query } = useRoute();
  return (
    <EmptyState known={known} icon="rigs" title={t.rig.gone} text={t.rig.goneText} heading="h1">
      <a class="button primary" href={listAddress(query)}>
        {t.menu.rigs}
      </a>
    </EmptyState>
  );
}

interface RigViewProps {
  readonly miner: MinerDetail;
  /** Null until loaded. */
  readonly groups: readonly Group[] | null;
  readonly commands: Commands;
  readonly known: Known;
  readonly reload: () => void;
}

function RigView({ miner, groups, commands, known, reload }: RigViewProps) {
  const query = usePageQuery();
  const alarms = openAlarms.value?.filter(({ minerId }) => minerId === miner.id).length ?? 0;
  const tabs = sectionsOf(miner, alarms);
  const chosen = tabs.find(({ key }) => key === query.get("tab"))?.key ?? "";
  const list = commands.value ?? [];
  return (
    <Page
      title={miner.name}
      lead={
        <>
          <Status status={miner.statusInfo.statusDisplay} reason={miner.readings.reason?.code ?? null} />
          {miner.repair == null ? null : ` · ${t.repair.title}`}
          {miner.readings.reason === null ? null : (
            <>
              {" · "}
              <Age time={miner.readings.reason.since} />
            </>
          )}
          {miner.readings.stale ? (
            <>
              {" · "}
              {t.rig.lastRead} {miner.readings.at === null ? t.rig.never : <Stale readAt={miner.readings.at} />}
            </>
          ) : null}
        </>
      }
      actions={
        <>
          {miner.repair == null ? <BeginRepair id={miner.id} reload={reload} /> : null}
          <ReadNow id={miner.id} reload={reload} />
        </>
      }
    >
      <OneByOne>
        {miner.repair == null ? null : <RepairCard id={miner.id} repair={miner.repair} reload={reload} />}
        <Tabs
          name={t.rig.sections}
          tabs={tabs}
          chosen={chosen}
          hrefOf={(key) => query.hrefWith({ tab: key, period: "", from: "", to: "" })}
        />
        {chosen === "" ? (
          <Overview miner={miner} groups={groups} known={known} reload={reload} commands={list} />
        ) : null}
        {chosen === "devices" ? <Devices miner={miner} /> : null}
        {chosen === "pools" ? <Pools miner={miner} reload={reload} known={known} /> : null}
        {chosen === "history" ? <HistorySection miner={miner} /> : null}
        {chosen === "activity" ? <Activity miner={miner} commands={commands} /> : null}
        {chosen === "software" ? <Software miner={miner} /> : null}
        {chosen === "settings" ? <Settings miner={miner} reload={reload} /> : null}
      </OneByOne>
    </Page>
  );
}

/** Only sections with content for this user. */
const sectionsOf = (miner: MinerDetail, alarms: number): Tab[] => [
  { key: "", label: t.rig.overview },
  ...(hasDevices(miner) ? [{ key: "devices", label: t.rig.hardware }] : []),
  { key: "pools", label: t.rig.pools },
  ...(may("getHistory") ? [{ key: "history", label: t.rig.history }] : []),
  ...(may("listCommands") || may("listNotifications")
    ? [{ key: "activity", label: t.rig.activity, count: alarms }]
    : []),
  ...(isManaged(miner) && may("listManagedMiners") ? [{ key: "software", label: t.rig.software }] : []),
  ...(may("changeMiner") && !isManaged(miner) ? [{ key: "settings", label: t.rig.settings }] : []),
];

/** Commands to the rig, and its notifications. */
function Activity({ miner, commands }: { miner: MinerDetail; commands: Commands }) {
  return (
    <>
      {may("listCommands") ? (
        <Loading from={commands}>{(list, sure) => <Story miner={miner} commands={list} known={sure} />}</Loading>
      ) : null}
      {may("listNotifications") ? <Notifications minerId={miner.id} /> : null}
      {may("listCommands") ? (
        <Card title={t.commands.title}>
          <Loading from={commands}>{(list, sure) => <CommandList commands={list} known={sure} ofOneRig />}</Loading>
        </Card>
      ) : null}
    </>
  );
}
