import type { Notification } from "../../../contract/resources.ts";
import { t } from "../../language.ts";
import { urgentAlarms } from "../../live.ts";
import { None } from "../../parts/empty-state.tsx";
import { Knowing } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";
import { Age, SeverityMark } from "../../parts/status.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { headOf, type RuleNames, sizeOf, useRuleNames } from "../alarms/group-text.ts";
import { type Group, grouped, queryOf } from "../alarms/list.ts";

const most = 6;

/** The most important open notifications, grouped. */
export function AlarmsCard() {
  if (!may("listNotifications")) return null;
  return (
    <Card
      title={t.overview.openAlarms}
      actions={
        <a class="button small" href={link("alarms")}>
          {t.overview.allAlarms}
        </a>
      }
    >
      <Knowing value={urgentAlarms.value}>
        {(urgent, known) =>
          urgent.length === 0 ? <None known={known}>{t.overview.noAlarms}</None> : <Lines urgent={urgent} />
        }
      </Knowing>
    </Card>
  );
}

function Lines({ urgent }: { urgent: readonly Notification[] }) {
  const ruleNames = useRuleNames(urgent);
  return (
    <ul class="lines">
      {grouped(urgent)
        .slice(0, most)
        .map((group) => (
          <Line key={group.key} group={group} ruleNames={ruleNames} />
        ))}
    </ul>
  );
}

function Line({ group: { severity, notifications }, ruleNames }: { group: Group; ruleNames: RuleNames }) {
  const [first, second] = notifications;
  if (first === undefined) return null;
  const { minerId, minerName, source, title, message, lastUtc } = first;
  const isMany = second !== undefined;
  const filters = { state: "unseen", severity, source, rig: null, text: "" } as const;
  return (
    <li>
      <span class="line-main">
        <SeverityMark severity={severity} />
        {isMany ? (
          <a href={link(`alarms${queryOf(filters)}`)}>{sizeOf(notifications)}</a>
        ) : minerId === null ? null : (
          <a href={link(`rigs/${minerId}`)}>
            <bdi>{minerName}</bdi>
          </a>
        )}
        <Age time={lastUtc} />
      </span>
      <span dir="auto" class="line-text">
        {isMany ? headOf(first, ruleNames) : title === null ? message : `${title}: ${message}`}
      </span>
    </li>
  );
}
