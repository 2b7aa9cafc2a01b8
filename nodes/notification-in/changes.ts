import type { Notification } from "rigbridge";

export type EventName = "new" | "changed" | "closed";

export interface Change {
  readonly event: EventName;
  /** As it is now; of a closed one, as it was last. */
  readonly notification: Notification;
}

/** All notifications that there were at the last look. */
export interface Seen {
  readonly notifications: readonly Notification[];
  /** The highest id ever seen; 0 before the first. */
  readonly lastId: number;
}

/**
 * What became of notifications since the last look, the oldest first. `heard`: what the service's events told before
 * this look, which may be gone again by now.
 */
export function changesSince(
  { notifications, lastId }: Seen,
  list: readonly Notification[],
  heard: readonly Notification[],
): Change[] {
  const before = byId(notifications);
  const now = byId(list);
  const brief = [...byId(heard).values()].filter(({ id }) => id > lastId && !now.has(id));
  const changes = [
    ...notifications.filter((each) => isGone(each, now)).map((notification) => change("closed", notification)),
    ...list.flatMap((notification): Change[] => {
      const known = before.get(notification.id);
      if (known === undefined || isOther(known, notification)) return [change("new", notification)];
      return isChanged(known, notification) ? [change("changed", notification)] : [];
    }),
    ...brief.flatMap((notification) => [change("new", notification), change("closed", notification)]),
  ];
  return changes.toSorted(
    ({ notification: a }, { notification: b }) => Date.parse(a.timeUtc) - Date.parse(b.timeUtc) || a.id - b.id,
  );
}

/** What was seen, with what this look found. */
export const seenWith = (
  before: Seen | null,
  list: readonly Notification[],
  heard: readonly Notification[] = [],
): Seen => ({
  notifications: list,
  lastId: [...list, ...heard].reduce((highest, { id }) => Math.max(highest, id), before?.lastId ?? 0),
});

const change = (event: EventName, notification: Notification): Change => ({ event, notification });

const byId = (list: readonly Notification[]): Map<number, Notification> => new Map(list.map((each) => [each.id, each]));

const isGone = (before: Notification, now: ReadonlyMap<number, Notification>): boolean => {
  const found = now.get(before.id);
  return found === undefined || isOther(before, found);
};

/** A server that lost its store counts from the beginning again. */
const isOther = (a: Notification, b: Notification): boolean => a.message !== b.message && a.time !== b.time;

/** Times are left out: a foreign server may write them in another way tomorrow. */
const isChanged = (a: Notification, b: Notification): boolean =>
  a.isAcknowledged !== b.isAcknowledged ||
  a.isWarning !== b.isWarning ||
  a.title !== b.title ||
  a.message !== b.message;
