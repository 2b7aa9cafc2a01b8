import type { ScheduleInfo } from "../../../contract/rules.ts";
import { isHere } from "../../../contract/site-numbers.ts";
import { call } from "../../api.ts";
import { clockTime, dateTime, weekdayTime } from "../../format.ts";
import { t } from "../../language.ts";
import { AtSite } from "../../parts/at-site.tsx";
import { EmptyState, None } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded, useReloadOn } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";
import { AtSites, once } from "../../parts/site-copies.tsx";
import { Mark } from "../../parts/status.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { Centres, Owner } from "./owned.tsx";
import { EnabledSwitch, LastRun } from "./parts.tsx";
import { scheduleSentence } from "./sentence/index.ts";
import { labelOf, namesOf } from "./words.ts";

/** All schedules, and their next starts. */
export function ScheduleList() {
  const list = useLoaded((signal) => call("listSchedules", {}, { signal }), []);
  useReloadOn(["rule", "site"], list.reload);
  return (
    <Loading from={list}>
      {(schedules, known) =>
        schedules.length === 0 ? (
          <EmptyState known={known} icon="clock" title={t.rules.noSchedules} text={t.rules.noSchedulesText} />
        ) : (
          <>
            <Centres of={schedules} onReleased={list.reload} />
            <ul class="rule-list">
              {once(schedules).map((schedule) => (
                <ScheduleEntry key={schedule.id} schedule={schedule} onChanged={list.reload} />
              ))}
            </ul>
            {may("upcomingSchedules") ? <Upcoming keys={schedules.map(({ nextStart }) => nextStart).join()} /> : null}
          </>
        )
      }
    </Loading>
  );
}

function ScheduleEntry({ schedule, onChanged }: { schedule: ScheduleInfo; onChanged: () => void }) {
  const { id, name, enabled, owner, definition } = schedule;
  return (
    <li class={enabled ? "rule" : "rule off"}>
      <div class="rule-main">
        <p class="rule-head">
          <a href={link(`rules/schedules/${id}`)}>
            <bdi>{name}</bdi>
          </a>
          <span class="tag">{labelOf(["weekly", "cron", "price"].find((kind) => kind in definition) ?? "weekly")}</span>
        </p>
        <p class="rule-summary">{scheduleSentence(definition, namesOf([]))}</p>
        <p class="rule-facts">
          <ScheduleState schedule={schedule} />
          <LastRun run={schedule.lastRun} />
          <AtSites sites={schedule.sites} />
          <Owner {...schedule} />
          <AtSite id={id} />
        </p>
      </div>
      <div class="rule-actions">
        <EnabledSwitch
          name={name}
          enabled={enabled}
          mayChange={owner === "store" && isHere(id) && may("changeSchedule")}
          change={(next) => call("changeSchedule", { id: String(id), enabled: next })}
          onChanged={onChanged}
        />
      </div>
    </li>
  );
}

/** Whether it is active, and when it next begins or ends. */
export function ScheduleState({ schedule }: { schedule: ScheduleInfo }) {
  const { enabled, problem, active, nextStart, nextEnd } = schedule;
  if (!enabled) return <span>{t.rules.isOff}</span>;
  if (problem !== null)
    return (
      <span class="status bad">
        <Icon name="warning" /> <span dir="auto">{problem}</span>
      </span>
    );
  return (
    <>
      {active ? <Mark tone="good">{t.rules.active}</Mark> : null}
      {active && nextEnd !== null ? (
        <span>
          {t.rules.nextEnd}: <time dateTime={nextEnd}>{dateTime(nextEnd)}</time>
        </span>
      ) : null}
      <span>
        {t.rules.next}: {nextStart === null ? t.rules.unknown : <time dateTime={nextStart}>{dateTime(nextStart)}</time>}
      </span>
    </>
  );
}

const mostUpcoming = 30;

function Upcoming({ keys }: { keys: string }) {
  const upcoming = useLoaded((signal) => call("upcomingSchedules", {}, { signal }), [keys]);
  return (
    <Card title={t.rules.upcoming}>
      <Loading from={upcoming}>
        {(all, known) =>
          all.length === 0 ? (
            <None known={known}>{t.rules.nothingUpcoming}</None>
          ) : (
            <ol class="upcoming">
              {all.slice(0, mostUpcoming).map(({ scheduleId, name, start, end }) => (
                <li key={`${start} ${scheduleId}`}>
                  <span>
                    <time dateTime={start}>{weekdayTime(start)}</time>
                    {end === null ? null : <time dateTime={end}> – {clockTime(end)}</time>}
                  </span>
                  <a href={link(`rules/schedules/${scheduleId}`)}>
                    <bdi>{name}</bdi>
                  </a>
                </li>
              ))}
            </ol>
          )
        }
      </Loading>
    </Card>
  );
}
