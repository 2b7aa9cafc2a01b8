import type { Room } from "../../../contract/resources.ts";
import { energy, money } from "../../format.ts";
import { t } from "../../language.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Knowing, type Known } from "../../parts/load.tsx";
import { Page } from "../../parts/page.tsx";
import { link } from "../../route.ts";
import { may, session } from "../../session.ts";
import { Rooms } from "./rooms.tsx";
import { useRooms } from "./use-rooms.ts";

/** The page for everyone at home: each room with one slider, the sun, and today's cost. */
export default function Family() {
  const rooms = useRooms();
  const { list } = rooms;
  return (
    <Page title={t.family.title} lead={list === undefined ? null : todayOf(list)}>
      {list?.length === 0 || (list === undefined && rooms.problem === null) ? (
        <Knowing value={list}>{(_, known) => <NoRooms known={known} />}</Knowing>
      ) : (
        <Rooms rooms={rooms} />
      )}
    </Page>
  );
}

const NoRooms = ({ known }: { known: Known }) => (
  <EmptyState
    known={known}
    icon="family"
    title={t.family.none}
    text={session.value?.user.privilege === "administrator" ? t.family.howTo : t.family.ask}
  >
    {may("addGroup") ? (
      <a class="button" href={link("settings?tab=groups")}>
        {t.settings.tabs.groups}
      </a>
    ) : (
      <a class="button" href={link("rigs")}>
        {t.menu.rigs}
      </a>
    )}
  </EmptyState>
);

/** A rig in a room that also follows the sun would count twice: surpluses are left out if there are rooms. */
function todayOf(list: readonly Room[]): string | null {
  const rooms = list.filter(({ kind }) => kind !== "surplus");
  const counted = (rooms.length === 0 ? list : rooms).map(({ today }) => today);
  const sum = (values: readonly (number | null)[]) => {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
  };
  const currency = counted[0]?.currency;
  const [used, cost, revenue] = [
    sum(counted.map((each) => each.energy)),
    sum(counted.map((each) => each.cost)),
    sum(counted.map((each) => each.revenue)),
  ];
  const parts = [
    used === null ? [] : t.family.todayEnergy({ amount: energy(used) }),
    cost === null ? [] : t.family.todayCost({ amount: money(cost, currency) }),
    revenue === null ? [] : t.family.todayEarned({ amount: money(revenue, currency) }),
  ].flat();
  return parts.length === 0 ? null : `${t.family.today}: ${parts.join(" · ")}`;
}
