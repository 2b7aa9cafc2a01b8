import type { Notification } from "rigbridge";

export type EventName = "new" | "changed" | "closed";

export interface Change {
  readonly event: EventName;
  /** The current state; for a removed one, the last state. */
  readonly notification: Notification;
}

/** The notifications at the last poll. */
export interface Seen {
  readonly notifications: readonly Notification[];
  /** The highest id ever seen; 0 before the first. */
  readonly lastId: number;
}

/**
 * The changes since the last poll, oldest first. `received`: notifications from the service's events before this poll,
 * which may already be gone from the list.
 */
export function changesSince(
  { notifications, lastId }: Seen,
  list: readonly Notification[],
  received: readonly Notification[],
): Change[] {
  const before = byId(notifications);
  const now = byId(list);
  const brief = [...byId(received).values()].filter(({ id }) => id > lastId && !now.has(id));
  const gone = notifications.filter((each) => isOpen(each) && isGone(each, now));
  const changes = [
    ...gone.map((notification) => change("closed", notification)),
    ...list.flatMap((notification): Change[] => {
      const known = before.get(notification.id);
      if (known === undefined || isOther(known, notification)) return arrival(notification, isOpen(notification));
      if (isOpen(known) && !isOpen(notification)) return [change("closed", notification)];
      return isChanged(known, notification) ? [change("changed", notification)] : [];
    }),
    ...brief.flatMap((notification) => arrival(notification, false)),
  ];
  return changes.toSorted(
    ({ notification: a }, { notification: b }) => Date.parse(a.timeUtc) - Date.parse(b.timeUtc) || a.id - b.id,
  );
}

/** The state after this poll. */
export const seenWith = (
  before: Seen | null,
  list: readonly Notification[],
  received: readonly Notification[] = [],
): Seen => ({
  notifications: list,
  lastId: [...list, ...received].reduce((highest, { id }) => Math.max(highest, id), before?.lastId ?? 0),
});

const change = (event: EventName, notification: Notification): Change => ({ event, notification });

/** A closed notification also sends a closing, unless it closed at once, like a best share. */
const arrival = (notification: Notification, staysOpen: boolean): Change[] =>
  staysOpen || notification.closedUtc === notification.timeUtc
    ? [change("new", notification)]
    : [change("new", notification), change("closed", notification)];

const isOpen = ({ closedUtc }: Notification): boolean => closedUtc === null;

/** Notifications as they were last read or received. */
export function updated(
  notifications: readonly Notification[],
  received: readonly Notification[],
): readonly Notification[] {
  const latest = byId(received);
  return notifications.map((each) => latest.get(each.id) ?? each);
}

/** Notifications that were acknowledged or cleared together, by id. */
export interface Handled {
  readonly what: "acknowledged" | "removed";
  readonly ids: ReadonlySet<number>;
}

/** Notifications without cleared ones, with the new acknowledgements. */
export const afterHandling = (
  notifications: readonly Notification[],
  handled: readonly Handled[],
): readonly Notification[] =>
  handled.reduce(
    (list, { what, ids }) =>
      what === "removed"
        ? list.filter(({ id }) => !ids.has(id))
        : list.map((each) => (ids.has(each.id) ? { ...each, isAcknowledged: true } : each)),
    notifications,
  );

const byId = (list: readonly Notification[]): Map<number, Notification> => new Map(list.map((each) => [each.id, each]));

const isGone = (before: Notification, now: ReadonlyMap<number, Notification>): boolean => {
  const found = now.get(before.id);
  return found === undefined || isOther(before, found);
};

/** A server that lost its store reuses ids. */
const isOther = (a: Notification, b: Notification): boolean => a.message !== b.message && a.time !== b.time;

/** Times do not count, since a foreign server may change their format; nor does the number of repeats. */
const isChanged = (a: Notification, b: Notification): boolean =>
  a.isAcknowledged !== b.isAcknowledged || a.severity !== b.severity || a.title !== b.title || a.message !== b.message;
