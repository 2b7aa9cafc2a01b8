import { useEffect, useMemo, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type { Notification } from "../../../contract/resources.ts";
import { alarmCountText } from "../../alarm-count.ts";
import { call } from "../../api.ts";
import { byName, counted, number } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Knowing, type Known, Waiting } from "../../parts/load.tsx";
import { say, sayProblem } from "../../parts/messages.tsx";
import { useNotifications } from "../../parts/notifications.ts";
import { Page } from "../../parts/page.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import "./alarms.css";
import { FilterBar } from "./filter-bar.tsx";
import { useRuleNames } from "./group-text.ts";
import { handle } from "./handle.ts";
import { type Filters, filtered, filtersIn, grouped, queryOf } from "./list.ts";
import { ConfirmClear, GroupEntry } from "./notification.tsx";

/** Groups rendered at first, and added on demand. */
const shownAtOnce = 60;

/** Present and past problems, and what to do about them. */
export default function Alarms() {
  const all = useNotifications();
  if (all !== undefined)
    return <Knowing value={all}>{(list, known) => <AlarmList all={list} known={known} />}</Knowing>;
  return (
    <Page title={t.alarms.title}>
      <Waiting />
    </Page>
  );
}

function AlarmList({ all, known }: { all: readonly Notification[]; known: Known }) {
  const { query } = useRoute();
  const { route } = useLocation();
  const filters = filtersIn(query);
  const address = queryOf(filters);
  const [limit, setLimit] = useState(shownAtOnce);
  const [asks, setAsks] = useState(false);
  useEffect(() => setLimit(shownAtOnce), [address]);

  const found = useMemo(() => filtered(all, filters), [all, address]);
  const groups = useMemo(() => grouped(found), [found]);
  const open = useMemo(() => all.filter(({ closedUtc }) => closedUtc === null), [all]);
  const unseen = useMemo(() => found.filter(({ isAcknowledged }) => !isAcknowledged), [found]);
  const sources = useMemo(() => [...new Set(all.map(({ source }) => source))].sort(byName), [all]);
  const ruleNames = useRuleNames(all);
  const change = (next: Partial<Filters>) => route(link(`alarms${queryOf({ ...filters, ...next })}`), true);
  const mayChange = may("allNotificationsAction");

  const isFiltered = queryOf({ ...filters, state: "open" }) !== "" || !["open", "all"].includes(filters.state);
  const acknowledge = async () => {
    try {
      if (isFiltered) await handle("ack", unseen);
      else await call("allNotificationsAction", { action: "ack_all" });
      say(isFiltered ? counted(unseen.length, t.alarms.didAcknowledge) : t.alarms.allAcknowledged);
    } catch (error) {
      sayProblem(error);
    }
  };

  return (
    <Page
      title={t.alarms.title}
      lead={open.length === 0 ? t.alarms.noneOpen : alarmCountText(open)}
      actions={
        mayChange && all.length > 0 ? (
          <>
            <button type="button" class="button" disabled={unseen.length === 0} onClick={acknowledge}>
              <Icon name="check" />{" "}
              {isFiltered ? t.alarms.acknowledgeThese({ count: number(unseen.length) }) : t.alarms.acknowledgeAll}
            </button>
            <button
              type="button"
              class="button"
              disabled={isFiltered && found.length === 0}
              onClick={() => setAsks(true)}
            >
              <Icon name="trash" />{" "}
              {isFiltered ? t.alarms.clearThese({ count: number(found.length) }) : t.alarms.clearAll}
            </button>
          </>
        ) : null
      }
    >
      <FilterBar filters={filters} sources={sources} onChange={change} />
      <p class="visually-hidden" role="status">
        {counted(found.length, t.alarms.found)}
      </p>
      {groups.length === 0 ? (
        <Nothing filters={filters} known={known} onReset={() => route(link("alarms"), true)} />
      ) : (
        <ul class="alarms">
          {groups.slice(0, limit).map((group) => (
            <GroupEntry key={group.key} group={group} ruleNames={ruleNames} />
          ))}
        </ul>
      )}
      {groups.length > limit ? (
        <button type="button" class="button" onClick={() => setLimit(limit + shownAtOnce)}>
          {t.alarms.more({ count: number(groups.length - limit) })}
        </button>
      ) : null}
      {asks && isFiltered ? <ConfirmClear notifications={found} onClose={() => setAsks(false)} /> : null}
      {asks && !isFiltered ? (
        <Confirm
          title={t.alarms.clearAll}
          text={counted(all.length, t.alarms.clearAllText)}
          verb={t.alarms.clearAll}
          dangerous
          onConfirm={async () => {
            await call("allNotificationsAction", { action: "clear_all" });
            say(t.alarms.allCleared);
          }}
          onClose={() => setAsks(false)}
        />
      ) : null}
    </Page>
  );
}

function Nothing({ filters, known, onReset }: { filters: Filters; known: Known; onReset: () => void }) {
  const isFiltered = queryOf({ ...filters, state: "open" }) !== "";
  if (!isFiltered && filters.state === "open")
    return (
      <EmptyState
        known={known}
        icon="check"
        title={t.alarms.noneOpen}
        {...(rigs.value.loaded ? { text: rigs.value.byId.size === 0 ? t.alarms.noRigs : t.alarms.allFine } : {})}
      />
    );
  return (
    <EmptyState known={known} icon="search" title={t.alarms.nothingFound}>
      {isFiltered ? (
        <button type="button" class="button" onClick={onReset}>
          {t.alarms.reset}
        </button>
      ) : null}
    </EmptyState>
  );
}
