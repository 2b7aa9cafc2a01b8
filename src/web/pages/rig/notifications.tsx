import type { Notification } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { counted } from "../../format.ts";
import { t } from "../../language.ts";
import { None } from "../../parts/empty-state.tsx";
import { Knowing } from "../../parts/load.tsx";
import { useNotifications } from "../../parts/notifications.ts";
import { Card } from "../../parts/page.tsx";
import { Age, SeverityMark } from "../../parts/status.tsx";
import { useButton } from "../../parts/use-form.ts";
import { may } from "../../session.ts";

const mostShown = 50;

/** Notifications about one rig: open ones first, then newest first. */
export function Notifications({ minerId }: { minerId: number }) {
  const isOpen = ({ closedUtc }: Notification) => closedUtc === null;
  const list = useNotifications()?.filter((each) => each.minerId === minerId);
  const sorted = list && [...list.filter(isOpen), ...list.filter((each) => !isOpen(each))].slice(0, mostShown);
  return (
    <Card title={t.rig.notifications}>
      <Knowing value={sorted}>
        {(shown, known) =>
          shown.length === 0 ? (
            <None known={known}>{t.rig.noNotifications}</None>
          ) : (
            <ul class="rig-notifications">
              {shown.map((each) => (
                <Entry key={each.id} notification={each} />
              ))}
            </ul>
          )
        }
      </Knowing>
    </Card>
  );
}

function Entry({ notification }: { notification: Notification }) {
  const { busy, send } = useButton();
  const { id, title, message, severity, count, lastUtc, closedUtc, isAcknowledged } = notification;
  const acknowledge = () => send(() => call("notificationAction", { id, action: "ack" }));
  return (
    <li class={closedUtc === null ? "" : "closed"}>
      <div>
        {closedUtc === null ? <SeverityMark severity={severity} /> : <span class="status off">{t.rig.over}</span>}{" "}
        <strong dir="auto">{title ?? message}</strong>
        {title === null ? null : <p dir="auto">{message}</p>}
        <small>
          <Age time={lastUtc} />
          {count > 1 ? ` · ${counted(count, t.rig.times)}` : ""}
        </small>
      </div>
      {closedUtc === null && !isAcknowledged && may("notificationAction") ? (
        <button type="button" class="button small" disabled={busy} onClick={acknowledge}>
          {t.rig.acknowledge}
        </button>
      ) : null}
    </li>
  );
}
