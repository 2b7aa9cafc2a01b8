import { t } from "../../language.ts";
import { openAlarms } from "../../live.ts";
import { Card } from "../../parts/page.tsx";
import { Age, SeverityMark } from "../../parts/status.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";

const most = 6;
const order = { critical: 0, warning: 1, info: 2 };

/** The open notifications that matter most. */
export function AlarmsCard() {
  if (!may("listNotifications")) return null;
  const open = openAlarms.value.toSorted(
    (one, other) => order[one.severity] - order[other.severity] || other.id - one.id,
  );
  return (
    <Card
      title={t.overview.openAlarms}
      actions={
        <a class="button small" href={link("alarms")}>
          {t.overview.allAlarms}
        </a>
      }
    >
      {open.length === 0 ? <p class="hint">{t.overview.noAlarms}</p> : null}
      <ul class="lines">
        {open.slice(0, most).map(({ id, minerId, minerName, title, message, severity, lastUtc }) => (
          <li key={id}>
            <span class="line-main">
              <SeverityMark severity={severity} />
              {minerId === null ? null : (
                <a href={link(`rigs/${minerId}`)}>
                  <bdi>{minerName}</bdi>
                </a>
              )}
              <Age time={lastUtc} />
            </span>
            <span dir="auto" class="line-text">
              {title === null ? message : `${title}: ${message}`}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
