import { call } from "../../api.ts";
import { weekdayTime } from "../../format.ts";
import { t } from "../../language.ts";
import { useLoaded } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";

const most = 5;

/** The next actions of schedules. */
export function UpcomingCard() {
  const upcoming = useLoaded(
    (signal) => (may("upcomingSchedules") ? call("upcomingSchedules", {}, { signal }) : Promise.resolve(null)),
    [],
  );
  const next = upcoming.value?.slice(0, most) ?? [];
  if (next.length === 0) return null;
  return (
    <Card title={t.overview.upcoming}>
      <ul class="lines">
        {next.map(({ start, key, name }) => (
          <li key={`${start} ${key}`}>
            <span class="line-main">
              <time dateTime={start}>{weekdayTime(start)}</time>
              <a href={link("rules?tab=schedules")}>
                <bdi>{name}</bdi>
              </a>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
