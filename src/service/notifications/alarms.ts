import type { NotificationLog, StoredNotification } from "../../store/index.ts";

/** The open notifications of each miner, recounted when the list changes. */
export class Alarms {
  readonly #notifications: Pick<NotificationLog, "list">;
  #counted: readonly StoredNotification[] | null = null;
  #counts: ReadonlyMap<number, number> = new Map();

  constructor(notifications: Pick<NotificationLog, "list">) {
    this.#notifications = notifications;
  }

  of(minerId: number): number {
    return this.counts().get(minerId) ?? 0;
  }

  /** The counts of all miners with any; the map never changes. */
  counts(): ReadonlyMap<number, number> {
    const list = this.#notifications.list();
    if (list === this.#counted) return this.#counts;
    const counts = new Map<number, number>();
    for (const { minerId, closed } of list)
      if (minerId !== null && closed === null) counts.set(minerId, (counts.get(minerId) ?? 0) + 1);
    this.#counted = list;
    this.#counts = counts;
    return counts;
  }
}
