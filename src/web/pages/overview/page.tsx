import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { hasLeftSteps, leaveSteps } from "../../first-steps.ts";
import { counted, hashrate, number } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Knowing, type Known } from "../../parts/load.tsx";
import { OneByOne } from "../../parts/one-by-one.tsx";
import { Card, Page } from "../../parts/page.tsx";
import { beganAtStart, link } from "../../route.ts";
import { may, session } from "../../session.ts";
import { sumsOf } from "../../sums.ts";
import { Rooms } from "../family/rooms.tsx";
import { useRooms } from "../family/use-rooms.ts";
import { AlarmsCard } from "./alarms-card.tsx";
import { FarmTiles } from "./farm-tiles.tsx";
import { GroupsCard } from "./groups-card.tsx";
import { HistoryCard } from "./history-card.tsx";
import { SinceVisit } from "./since-visit.tsx";
import { StatusBar } from "./status-bar.tsx";
import { UpcomingCard } from "./upcoming-card.tsx";
import "./overview.css";

/** The farm at a glance: mining rigs, power and earnings, and what needs attention. */
export default function Overview() {
  const { byId, loaded } = rigs.value;
  const rooms = useRooms();
  useHomeFirst(rooms.list?.length ?? 0);
  // All at once: a late answer would push down what the user is reading.
  const isWaiting =
    !loaded || (byId.size > 0 && may("listRooms") && rooms.list === undefined && rooms.problem === null);
  if (isWaiting || byId.size === 0)
    return (
      <Page title={t.overview.title}>
        <Knowing value={isWaiting ? undefined : byId}>{(_, known) => <NoRigs known={known} />}</Knowing>
      </Page>
    );
  const sums = sumsOf(byId.values());
  const [main] = sums.hashrates;
  return (
    <Page
      title={t.overview.title}
      lead={t.overview.lead({
        mining: number(sums.mining),
        rigs: counted(sums.count, t.overview.rigs),
        rate: hashrate(main?.hashrate, main?.algorithm),
      })}
    >
      {session.value?.demo === true && may("addMiner") && !hasLeftSteps.value ? <StepsCard /> : null}
      <SinceVisit />
      <OneByOne>
        {rooms.list === undefined || rooms.list.length === 0 ? null : <Rooms rooms={rooms} />}
        <StatusBar sums={sums} />
        <FarmTiles sums={sums} />
        <div class="cards">
          <OneByOne>
            {may("getSummaryHistory") ? <HistoryCard sums={sums} /> : null}
            <AlarmsCard />
            <GroupsCard />
            <UpcomingCard />
          </OneByOne>
        </div>
      </OneByOne>
    </Page>
  );
}

/** Shown to first-time users. */
const StepsCard = () => (
  <Card title={t.start.title}>
    <p>{t.start.card}</p>
    <p class="row">
      <a class="button primary" href={link("start")}>
        {t.start.begin}
      </a>
      <button type="button" class="button" onClick={leaveSteps}>
        {t.start.hide}
      </button>
    </p>
  </Card>
);

let hasLanded = !beganAtStart;

/** Users who are not administrators start with their rooms, if they have any; the menu still leads to the overview. */
function useHomeFirst(rooms: number): void {
  const { route } = useLocation();
  useEffect(() => {
    if (hasLanded || rooms === 0) return;
    hasLanded = true;
    if (session.value?.user.privilege !== "administrator") route(link("family"), true);
  }, [rooms]);
}

const NoRigs = ({ known }: { known: Known }) => (
  <EmptyState
    known={known}
    icon="rigs"
    title={t.overview.noRigs}
    text={may("addMiner") ? t.overview.addFirst : t.overview.askForRigs}
  >
    {may("addMiner") ? (
      <a class="button primary" href={link("add")}>
        {t.shell.addRigs}
      </a>
    ) : null}
  </EmptyState>
);
