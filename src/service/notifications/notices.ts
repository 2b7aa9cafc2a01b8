import type { Logger } from "pino";
import { type Severity, severities } from "../../contract/resources.ts";
import { coded } from "../../messages/coded.ts";
import type { CodedText } from "../../messages/coded-text.ts";
import { textOf } from "../../messages/service-texts.ts";
import type { NewNotification, NotificationLog, StoredNotification } from "../../store/index.ts";

export interface Notice {
  /**
   * The problem and its subject, such as "disconnected:1000000001": while it is open, the same key means the same
   * notification, whose count and last time are updated. Null for an event, which closes at once.
   */
  readonly key: string | null;
  readonly minerId: number | null;
  /** By its code, or as a user wrote it. */
  readonly title: string | CodedText | null;
  /** "System", "Discovery", "Jobs" or "Rules". */
  readonly source: string;
  readonly message: string | CodedText;
  readonly severity: Severity;
  /** The channels to send to; absent: all that accept it. */
  readonly channels?: readonly string[] | "all" | "none" | undefined;
  /** Names of the groups that a notification without a miner concerns; channels of these groups accept it. */
  readonly groups?: readonly string[];
  /**
   * Key of an equivalent notification: a channel that received that one, and not its end, does not receive this one.
   */
  readonly sameAs?: string | undefined;
}

/** Notifications: in the list, in the events, and through channels. Neither method ever throws. */
export interface Notices {
  raise(notice: Notice): void;
  /**
   * Closes a notification. Channels that received it are informed, with this message or their own; for an info only
   * with a message. Does nothing if it is not open.
   */
  close(key: string, message?: string | CodedText): void;
}

const english = (text: string | CodedText): string => textOf(text, "en");
const codeOf = (text: string | CodedText | null): CodedText | null => (typeof text === "string" ? null : text);

/** A notification's data about its miner. */
export interface NoticeMiner {
  readonly name: string;
  readonly uid: string | null;
  readonly groupId: number;
  readonly demo: boolean;
  /** Nothing is raised about it then. */
  readonly inRepair: boolean;
}

/** Receives notifications to send through channels. */
export interface NoticeListener {
  /** A notification is new or has become more severe. */
  raised(notification: StoredNotification, about: Pick<Notice, "channels" | "groups" | "sameAs">): void;
  closed(key: string, message: string | CodedText | undefined): void;
}

export interface NoticesContext {
  readonly log: Logger;
  readonly notifications: NotificationLog;
  minerOf(minerId: number): NoticeMiner | undefined;
  /** Whether an open notification of the miner's place covers this one, which is then not raised. */
  isCovered(key: string, minerId: number): boolean;
  /** A notification is new, has repeated or was closed. */
  changed(notification: StoredNotification): void;
  /** Notifications were acknowledged, or cleared from the list. */
  handled(what: "acknowledged" | "removed", notifications: readonly StoredNotification[]): void;
}

const rank = (severity: Severity): number => severities.indexOf(severity);

/** The notifications of this service. */
export class FarmNotices implements Notices {
  readonly #context: NoticesContext;
  /** Whether a maintenance window covers a miner now. */
  #isSilenced: (minerId: number) => boolean = () => false;
  readonly #listeners: NoticeListener[] = [];

  constructor(context: NoticesContext) {
    this.#context = context;
  }

  /** Notifications of miners for which this returns true are listed, but not sent to channels. */
  silence(isSilenced: (minerId: number) => boolean): void {
    this.#isSilenced = isSilenced;
  }

  watch(listener: NoticeListener): void {
    this.#listeners.push(listener);
  }

  raise({ channels, groups = [], sameAs, ...notice }: Notice): void {
    this.#guarded(() => {
      const { notifications, changed, minerOf, isCovered } = this.#context;
      const miner = notice.minerId === null ? undefined : minerOf(notice.minerId);
      if (miner?.inRepair === true) return;
      const about = sameAs ?? notice.key;
      if (about !== null && notice.minerId !== null && isCovered(about, notice.minerId)) return;
      const isDemo = miner?.demo === true;
      const named: NewNotification = {
        ...notice,
        title: notice.title === null ? null : english(notice.title),
        message: english(notice.message),
        coded: { title: codeOf(notice.title), message: codeOf(notice.message) },
        minerId: notice.minerId,
        uid: miner?.uid ?? null,
        minerName: miner?.name ?? "",
      };
      const before = notice.key === null ? undefined : notifications.open(notice.key);
      const raised = notifications.raise(named);
      if (raised === null) return;
      changed(raised);
      const isWorse = before === undefined || rank(raised.severity) > rank(before.severity);
      // Nothing is ever sent about a demo.
      const isSilent = isDemo || (notice.minerId !== null && this.#isSilenced(notice.minerId));
      if (!isWorse || isSilent) return;
      for (const listener of this.#listeners) listener.raised(raised, { channels, groups, sameAs });
    });
  }

  close(key: string, message?: string | CodedText): void {
    this.#guarded(() => {
      const closed = this.#context.notifications.close(key);
      if (closed !== undefined) this.#context.changed(closed);
      // Even if it was cleared from the list, because a channel received it.
      for (const listener of this.#listeners) listener.closed(key, message);
    });
  }

  /** Closes the open notifications of a miner without acknowledging them. */
  closeMiner(minerId: number, message: string | CodedText): void {
    for (const { key, closed, minerId: id } of this.#context.notifications.list())
      if (id === minerId && key !== null && closed === null) this.close(key, message);
  }

  /** In one transaction; unknown ids are ignored. */
  async acknowledge(ids: readonly number[] | "all"): Promise<void> {
    const { notifications, handled } = this.#context;
    handled("acknowledged", await notifications.acknowledge(ids));
  }

  /** Removes notifications from the list, in one transaction; unknown ids are ignored. */
  async clear(ids: readonly number[] | "all"): Promise<void> {
    const { notifications, handled } = this.#context;
    handled("removed", await notifications.clear(ids));
  }

  /** Like `setWarning` of the service. */
  setWarning(title: string | CodedText, message: string | CodedText | null): void {
    // By the English title, which never changes.
    const key = `system:${english(title)}`;
    if (message !== null) {
      this.raise({ key, minerId: null, title, source: "System", message, severity: "warning" });
      return;
    }
    const open = this.#context.notifications.open(key);
    this.close(key, coded("over"));
    if (open === undefined) return;
    this.acknowledge([open.id]).catch((error: unknown) =>
      this.#context.log.error({ err: error }, "a notification could not be acknowledged"),
    );
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#context.log.error({ err: error }, "a notification was lost");
    }
  }
}
