import { useState } from "preact/hooks";
import type { Notification } from "../../../contract/resources.ts";
import { counted, dateTime, number } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { say } from "../../parts/messages.tsx";
import { Age, SeverityMark } from "../../parts/status.tsx";
import { useButton } from "../../parts/use-form.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { headOf, type RuleNames, sizeOf } from "./group-text.ts";
import { handle } from "./handle.ts";
import { type Group, spanOf } from "./list.ts";

/** Maximum rendered members of a group. */
const mostMembers = 200;

/** One notification, or an expandable group. */
export function GroupEntry({ group, ruleNames }: { group: Group; ruleNames: RuleNames }) {
  const { notifications } = group;
  const [first] = notifications;
  if (first === undefined) return null;
  if (notifications.length === 1)
    return (
      <li class={`alarm ${toneOf(first)}`}>
        <Entry notification={first} ruleNames={ruleNames} />
      </li>
    );
  const { first: began, count } = spanOf(notifications);
  return (
    <li class={`alarm ${toneOf(first)}`}>
      <div class="alarm-main">
        <p class="alarm-head">
          <SeverityMark severity={group.severity} />
          <strong dir="auto">{headOf(first, ruleNames)}</strong>
          <span class="tag">{sizeOf(notifications)}</span>
        </p>
        <p class="alarm-facts">
          <Times first={began} last={first.lastUtc} count={count} closed={first.closedUtc} />
          <Source notification={first} ruleNames={ruleNames} />
        </p>
      </div>
      <Actions notifications={notifications} />
      <details class="alarm-members">
        <summary>{t.alarms.showAll({ count: number(notifications.length) })}</summary>
        <ul class="alarms">
          {notifications.slice(0, mostMembers).map((each) => (
            <li key={each.id} class="alarm">
              <Entry notification={each} ruleNames={ruleNames} />
            </li>
          ))}
        </ul>
        {notifications.length > mostMembers ? (
          <p class="hint">{t.alarms.andMore({ count: number(notifications.length - mostMembers) })}</p>
        ) : null}
      </details>
    </li>
  );
}

const toneOf = ({ closedUtc, severity, isAcknowledged }: Notification): string =>
  closedUtc !== null ? "closed" : isAcknowledged ? "seen" : severity;

function Entry({ notification, ruleNames }: { notification: Notification; ruleNames: RuleNames }) {
  const { minerId, minerName, title, message, severity, timeUtc, lastUtc, count, closedUtc, isAcknowledged } =
    notification;
  const isHere = minerId !== null && rigs.value.byId.has(minerId);
  return (
    <>
      <div class="alarm-main">
        <p class="alarm-head">
          <SeverityMark severity={severity} />
          {minerName === "" ? null : isHere ? (
            <a href={link(`rigs/${minerId}`)}>
              <bdi>{minerName}</bdi>
            </a>
          ) : (
            <bdi>{minerName}</bdi>
          )}
          {title === null ? null : <strong dir="auto">{title}</strong>}
          {isAcknowledged && closedUtc === null ? <span class="tag">{t.alarms.acknowledged}</span> : null}
        </p>
        <Message text={message} />
        <p class="alarm-facts">
          <Times first={timeUtc} last={lastUtc} count={count} closed={closedUtc} />
          <Source notification={notification} ruleNames={ruleNames} />
        </p>
      </div>
      <Actions notifications={[notification]} />
    </>
  );
}

/** Characters of a message before it is expanded. */
const shortMessage = 280;

function Message({ text }: { text: string }) {
  if (text.length <= shortMessage)
    return (
      <p dir="auto" class="alarm-text">
        {text}
      </p>
    );
  return (
    <details class="alarm-long">
      <summary>
        <span dir="auto" class="alarm-text">
          {text.slice(0, shortMessage)}…
        </span>
      </summary>
      <p dir="auto" class="alarm-text">
        {text}
      </p>
    </details>
  );
}

function Times({ first, last, count, closed }: { first: string; last: string; count: number; closed: string | null }) {
  return (
    <>
      <span>
        {t.alarms.since} <Age time={first} />
      </span>
      {count > 1 ? (
        <span>
          {counted(count, t.alarms.times)}, {t.alarms.last} <Age time={last} />
        </span>
      ) : null}
      {closed === null || closed === first ? null : (
        <span>
          {t.alarms.over} <time dateTime={closed}>{dateTime(closed)}</time>
        </span>
      )}
    </>
  );
}

/** Its origin, with links. */
function Source({ notification, ruleNames }: { notification: Notification; ruleNames: RuleNames }) {
  const { source, ruleId } = notification;
  const name = ruleNames?.get(ruleId ?? 0);
  return (
    <span>
      {name === undefined ? (
        <bdi>{source}</bdi>
      ) : (
        <>
          {t.alarms.rule}{" "}
          <a href={link(`rules/${ruleId}`)}>
            <bdi>{name}</bdi>
          </a>
        </>
      )}
    </span>
  );
}

/** Asks before clearing these notifications. */
export function ConfirmClear({
  notifications,
  onClose,
}: {
  notifications: readonly Notification[];
  onClose: () => void;
}) {
  // Fixed when the question is asked: others may arrive in the meantime.
  const [asked] = useState(notifications);
  return (
    <Confirm
      title={t.alarms.clearThese({ count: number(asked.length) })}
      text={counted(asked.length, t.alarms.clearSomeText)}
      verb={t.alarms.clearThese({ count: number(asked.length) })}
      dangerous
      onConfirm={async () => {
        await handle("clear", asked);
        say(counted(asked.length, t.alarms.didClear));
      }}
      onClose={onClose}
    />
  );
}

/** Acknowledges or removes these notifications. */
function Actions({ notifications }: { notifications: readonly Notification[] }) {
  const { busy, send } = useButton();
  const [asks, setAsks] = useState(false);
  if (!may("notificationAction")) return null;
  const unseen = notifications.filter(({ isAcknowledged }) => !isAcknowledged);
  const isMany = notifications.length > 1;
  const act = (action: "ack" | "clear", some: readonly Notification[]) =>
    send(async () => {
      await handle(action, some);
      say(counted(some.length, action === "ack" ? t.alarms.didAcknowledge : t.alarms.didClear));
    });
  return (
    <div class="alarm-actions">
      {unseen.length === 0 ? null : (
        <button type="button" class="button small" disabled={busy} onClick={() => act("ack", unseen)}>
          <Icon name="check" />{" "}
          {isMany ? t.alarms.acknowledgeThese({ count: number(unseen.length) }) : t.alarms.acknowledge}
        </button>
      )}
      <button
        type="button"
        class="button small quiet"
        disabled={busy}
        title={t.alarms.clearHint}
        onClick={() => (isMany ? setAsks(true) : act("clear", notifications))}
      >
        <Icon name="trash" /> {isMany ? t.alarms.clearThese({ count: number(notifications.length) }) : t.alarms.clear}
      </button>
      {asks ? <ConfirmClear notifications={notifications} onClose={() => setAsks(false)} /> : null}
    </div>
  );
}
