import { useEffect, useMemo, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type { Notification } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { byName, counted, number } from "../../format.ts";
import { t } from "../../language.ts";
import { notifications, rigs } from "../../live.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useLoaded } from "../../parts/load.tsx";
import { say, sayProblem } from "../../parts/messages.tsx";
import { Page } from "../../parts/page.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import "./alarms.css";
import { FilterBar } from "./filter-bar.tsx";
import { handle } from "./handle.ts";
import { type Filters, filtered, filtersIn, grouped, queryOf } from "./list.ts";
import { ConfirmClear, GroupEntry } from "./notification.tsx";

/** Groups that are rendered at first, and more on demand. */
const shownAtOnce = 60;

/** What is wrong now, what was, and what to do about it. */
export default function Alarms() {
  const { query } = useRoute();
  const { route } = useLocation();
  const filters = filtersIn(query);
  const address = queryOf(filters);
  const [limit, setLimit] = useState(shownAtOnce);
  const [asks, setAsks] = useState(false);
  useEffect(() => setLimit(shownAtOnce), [address]);

  const all = notifications.value;
  const found = useMemo(() => filtered(all, filters), [all, address]);
  const groups = useMemo(() => grouped(found), [found]);
  const open = useMemo(() => all.filter(({ closedUtc }) => closedUtc === null), [all]);
  const unseen = useMemo(() => found.filter(({ isAcknowledged }) => !isAcknowledged), [found]);
  const sources = useMemo(() => [...new Set(all.map(({ source }) => source))].sort(byName), [all]);
  const hasRules = may("listRules") && all.some(({ ruleId }) => ruleId !== null && ruleId !== undefined);
  const rules = useLoaded(
    async (signal) =>
      new Map(hasRules ? (await call("listRules", {}, { signal })).rules.map(({ id, name }) => [id, name]) : []),
    [hasRules],
  );
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
      lead={leadOf(open)}
      actions={
        mayChange && all.length > 0 ? (
          <>
            <button type="button" class="button" disabled={unseen.length === 0} onClick={acknowledge}>
              <Icon name="check" />{" "}
              {isFiltered ? t.alarms.acknowledgeThese(number(unseen.length)) : t.alarms.acknowledgeAll}
            </button>
            <button
              type="button"
              class="button"
              disabled={isFiltered && found.length === 0}
              onClick={() => setAsks(true)}
            >
              <Icon name="trash" /> {isFiltered ? t.alarms.clearThese(number(found.length)) : t.alarms.clearAll}
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
        <Nothing filters={filters} onReset={() => route(link("alarms"), true)} />
      ) : (
        <ul class="alarms">
          {groups.slice(0, limit).map((group) => (
            <GroupEntry key={group.key} group={group} ruleNames={rules.value} />
          ))}
        </ul>
      )}
      {groups.length > limit ? (
        <button type="button" class="button" onClick={() => setLimit(limit + shownAtOnce)}>
          {t.alarms.more(number(groups.length - limit))}
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

/** How many are open, as the header counts them, and how many of these nobody has acknowledged. */
function leadOf(open: readonly Notification[]): string {
  if (open.length === 0) return t.alarms.noneOpen;
  const warnings = open.filter(({ isWarning }) => isWarning);
  const unseen = warnings.filter(({ isAcknowledged }) => !isAcknowledged).length;
  const alarms = counted(warnings.length, t.shell.alarms);
  return unseen === warnings.length ? alarms : `${alarms} · ${counted(unseen, t.alarms.unacknowledged)}`;
}

function Nothing({ filters, onReset }: { filters: Filters; onReset: () => void }) {
  const isFiltered = queryOf({ ...filters, state: "open" }) !== "";
  if (!isFiltered && filters.state === "open")
    return (
      <EmptyState
        icon="check"
        title={t.alarms.noneOpen}
        text={rigs.value.byId.size === 0 ? t.alarms.noRigs : t.alarms.allFine}
      />
    );
  return (
    <EmptyState icon="search" title={t.alarms.nothingFound}>
      {isFiltered ? (
        <button type="button" class="button" onClick={onReset}>
          {t.alarms.reset}
        </button>
      ) : null}
    </EmptyState>
  );
}
