import type { Logger } from "pino";
import { type BackOff, backOffMs } from "../../async/index.ts";
import type { ChannelSettings } from "../../contract/channels.ts";
import { type Severity, severities } from "../../contract/resources.ts";
import { coded } from "../../messages/coded.ts";
import type { CodedText } from "../../messages/coded-text.ts";
import type { Language } from "../../messages/languages.ts";
import { serviceTexts, textOf } from "../../messages/service-texts.ts";
import type { NewOutboxRow, OutboxLog, OutboxRow, StoredNotification } from "../../store/index.ts";
import type { Format } from "../../units/format.ts";
import type { WebTargets } from "../web-targets.ts";
import { type HttpChannel, httpChannel } from "./channel-types.ts";
import { messageOf } from "./message-text.ts";
import type { Notice, NoticeListener } from "./notices.ts";
import { isQuiet } from "./quiet.ts";
import { type Outcome, type OutgoingMessage, sendHttp } from "./send-http.ts";

/** ms whose events are combined into one message. */
export const groupingMs = 30_000;
/** Age in ms at which a message is given up. */
export const giveUpMs = 86_400_000;
/** ms between two turns, and so between two messages of a channel. */
export const turnMs = 1_000;
/** ms for running deliveries when the service stops. */
const closingMs = 3_000;
const mailRetry: BackOff = { firstMs: 10_000, longestMs: 1_800_000 };

export interface OutboxContext {
  readonly rows: OutboxLog;
  readonly format: Format;
  /** The display time zone; undefined: the machine's. */
  readonly timeZone: () => string | undefined;
  /** The group of a miner and its parents, the innermost first. */
  groupsOf(minerId: number): readonly string[];
  readonly targets: WebTargets;
  /** Epoch ms. */
  /** Whether this service may send now. */
  readonly mayAct: () => boolean;
  readonly now: () => number;
  readonly log: Logger;
}

/** The language of messages to a channel. */
const languageOf = ({ language = "en" }: ChannelSettings): Language => language;

interface Channel {
  readonly settings: ChannelSettings;
  /** Null for mail. */
  readonly http: HttpChannel | null;
}

/** Sends notifications through channels: the rows of every message are stored before it is sent. */
export class Outbox implements NoticeListener {
  readonly #context: OutboxContext;
  #channels: ReadonlyMap<string, Channel> = new Map();
  /** By key of a channel. */
  readonly #sending = new Map<string, Promise<void>>();
  /** Keys of notifications that were sent to channels, until they are closed. */
  readonly #keys = new Set<string>();
  readonly #closing = new AbortController();
  #isClosed = false;

  constructor(context: OutboxContext) {
    this.#context = context;
  }

  /** Sets the channels. Messages for any other channel are given up at the next turn. */
  use(channels: readonly ChannelSettings[]): void {
    this.#channels = new Map(channels.map((settings) => [settings.key, { settings, http: httpChannel(settings) }]));
  }

  /** Settles the deliveries interrupted by the last stop. */
  async start(): Promise<void> {
    const { rows, now } = this.#context;
    for (const { key } of rows.rows()) if (key !== null) this.#keys.add(key);
    const sending = [...rows.rows()].filter(({ state }) => state === "sending");
    await rows.change(sending.map((row) => ({ ...row, ...afterStop(this.#channels.get(row.channel), now()) })));
  }

  raised(
    notification: StoredNotification,
    { channels: wanted, groups: concerned = [], sameAs }: Pick<Notice, "channels" | "groups" | "sameAs">,
  ): void {
    const { rows, now, groupsOf } = this.#context;
    const groups = notification.minerId === null ? concerned : groupsOf(notification.minerId);
    const before = new Set([notification.key, sameAs ?? null]);
    const notified = new Set<string>();
    if (notification.count > 1 || sameAs !== undefined)
      for (const { key, channel, state } of rows.rows())
        if (key !== null && before.has(key) && state !== "failed") notified.add(channel);
    const added = [...this.#channels.values()]
      .filter(({ settings }) => takes(settings, notification, groups, wanted) && !notified.has(settings.key))
      .map(
        ({ settings }): NewOutboxRow => ({
          channel: settings.key,
          key: notification.key,
          event: "alarm",
          severity: notification.severity,
          title: textOf(notification.coded.title ?? notification.title ?? "", languageOf(settings)),
          message: textOf(notification.coded.message ?? notification.message, languageOf(settings)),
          miner: notification.minerName,
          group: (notification.minerId === null ? undefined : groups[0]) ?? "",
          time: now(),
          alarmTime: null,
          due: this.#windowEnd(settings.key),
        }),
      );
    if (added.length === 0) return;
    this.#stored(rows.add(added));
    if (notification.key !== null) this.#keys.add(notification.key);
  }

  closed(key: string, message: string | CodedText | undefined): void {
    // Called with every good read of every miner.
    if (!this.#keys.delete(key)) return;
    const { rows, now } = this.#context;
    const changed: OutboxRow[] = [];
    const added: NewOutboxRow[] = [];
    for (const row of rows.rows()) {
      if (row.key !== key || row.event !== "alarm") continue;
      const isTold = row.severity !== "info" || message !== undefined;
      const settings = this.#channels.get(row.channel)?.settings;
      const text = textOf(message ?? coded("over"), settings === undefined ? "en" : languageOf(settings));
      const isUnsent = row.state === "waiting" && row.batch === null;
      changed.push({ ...row, key: null, over: isUnsent && isTold ? text : row.over });
      if (!isUnsent && isTold && row.state !== "failed") added.push(this.#recovery(row, text, now()));
    }
    if (changed.length > 0) this.#stored(rows.change(changed));
    if (added.length > 0) this.#stored(rows.add(added));
  }

  /** They are in memory; a message leaves only once it is stored. */
  #stored(writing: Promise<void>): void {
    writing.catch((error: unknown) => this.#context.log.error({ err: error }, "a message could not be stored"));
  }

  /** Sends due messages, at most one per channel. Resolves when all are answered. */
  async turn(): Promise<void> {
    // What another service may be sending waits here.
    if (this.#isClosed || !this.#context.mayAct()) return;
    const waiting = [...this.#context.rows.rows()].filter(({ state }) => state === "waiting");
    const byChannel = Map.groupBy(waiting, ({ channel }) => channel);
    await Promise.all([...byChannel].map(([key, rows]) => this.#turnOf(key, rows)));
  }

  /** Sends a test immediately, bypassing the outbox. Undefined: there is no such channel. */
  async test(key: string): Promise<Outcome | undefined> {
    const channel = this.#channels.get(key);
    const time = this.#context.now();
    return (
      channel &&
      this.#send(channel, {
        id: `rigbridge-test-${time}`,
        event: "test",
        level: "info",
        title: serviceTexts(languageOf(channel.settings)).channel.test,
        message: serviceTexts(languageOf(channel.settings)).channel.works({ key }),
        count: 1,
        miner: "",
        group: "",
        miners: [],
        time,
      })
    );
  }

  /** Resolves when running deliveries are answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#sending.values());
  }

  /** Waits a moment for running deliveries; the rest stays in the store. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const timer = setTimeout(() => this.#closing.abort(), closingMs);
    await this.settled();
    clearTimeout(timer);
  }

  /** When the next message of a channel is sent: its first event opens the window. */
  #windowEnd(channel: string): number {
    const now = this.#context.now();
    for (const row of this.#context.rows.rows())
      if (row.channel === channel && row.state === "waiting" && row.batch === null && row.due > now)
        // Counted from now at the latest, in case the clock was set back.
        return Math.min(row.due, now + groupingMs);
    return now + groupingMs;
  }

  #recovery(alarm: OutboxRow, message: string, time: number): NewOutboxRow {
    const { channel, severity, title, miner, group } = alarm;
    const due = this.#windowEnd(channel);
    return {
      channel,
      key: null,
      event: "recovery",
      severity,
      title,
      message,
      miner,
      group,
      time,
      alarmTime: alarm.time,
      due,
    };
  }

  async #turnOf(key: string, waiting: readonly OutboxRow[]): Promise<void> {
    const { rows, now, log } = this.#context;
    if (this.#sending.has(key)) return;
    const channel = this.#channels.get(key);
    if (channel === undefined) {
      await rows.change(waiting.map((row) => ({ ...row, ...channelGone, ended: now() })));
      return;
    }
    const batch = this.#nextBatch(channel, waiting);
    if (batch.length === 0) return;
    const sending = this.#deliver(channel, batch)
      .catch((error: unknown) => log.error({ err: error, channel: key }, "a message could not be sent"))
      .finally(() => this.#sending.delete(key));
    this.#sending.set(key, sending);
    await sending;
  }

  /** A message to retry, otherwise a new one with everything queued once the window of the first has ended. */
  #nextBatch({ settings }: Channel, waiting: readonly OutboxRow[]): readonly OutboxRow[] {
    const { now, timeZone } = this.#context;
    const isDue = ({ due }: OutboxRow): boolean => due <= now();
    const retried = waiting.find((row) => row.batch !== null && isDue(row));
    if (retried !== undefined) return waiting.filter(({ batch }) => batch === retried.batch);
    // A recovery waits for the alarm that it refers to.
    const open = waiting.filter((row) => row.batch !== null);
    const isEarly = (row: OutboxRow): boolean => open.some((alarm) => isRecoveryOf(row, alarm));
    const ready = waiting.filter(
      (row) => row.batch === null && !isEarly(row) && !isQuiet(settings.quiet, row.severity, now(), timeZone()),
    );
    return ready.some(isDue) ? ready.map((row) => ({ ...row, batch: ready[0]?.id ?? row.id })) : [];
  }

  async #deliver(channel: Channel, batch: readonly OutboxRow[]): Promise<void> {
    const { rows, format, log } = this.#context;
    const begun = batch.map((row): OutboxRow => ({ ...row, state: "sending", tries: row.tries + 1 }));
    await rows.change(begun);
    const outcome = await this.#send(channel, messageOf(begun, format, languageOf(channel.settings)));
    // An alarm that ended in the meantime has lost its key.
    const current = new Map([...rows.rows()].map((row) => [row.id, row]));
    const ended = begun.map((row): OutboxRow => {
      const { key = null } = current.get(row.id) ?? {};
      return { ...row, key, ...this.#after(channel, row, outcome) };
    });
    await rows.change([...ended, ...this.#orphans(channel, ended)]);
    const { key } = channel.settings;
    const [first] = ended;
    if (outcome.kind === "sent") log.info({ channel: key, about: batch.length }, "a message was sent");
    else if (first?.state === "failed") log.warn({ channel: key, reason: first.error }, "a message was not delivered");
    else log.info({ channel: key, reason: first?.error }, "a message will be sent again");
  }

  /** Recoveries of alarms that were not delivered. */
  #orphans({ settings }: Channel, ended: readonly OutboxRow[]): OutboxRow[] {
    const failed = ended.filter(({ state, event }) => state === "failed" && event === "alarm");
    if (failed.length === 0) return [];
    const isOrphan = (row: OutboxRow): boolean =>
      row.channel === settings.key && row.state === "waiting" && failed.some((alarm) => isRecoveryOf(row, alarm));
    const ending = { state: "failed", ended: this.#context.now(), error: "its alarm was not delivered" } as const;
    return [...this.#context.rows.rows()].filter(isOrphan).map((row) => ({ ...row, ...ending }));
  }

  #after(channel: Channel, row: OutboxRow, outcome: Outcome): Pick<OutboxRow, "state" | "due" | "ended" | "error"> {
    const { due } = row;
    const now = this.#context.now();
    if (outcome.kind === "sent") return { state: "sent", due, ended: now, error: null };
    const { error } = outcome;
    if (this.#closing.signal.aborted) return { due, ...afterStop(channel, now) };
    if (outcome.kind === "failed") return { state: "failed", due, ended: now, error };
    if (now - row.time >= giveUpMs)
      return { state: "failed", due, ended: now, error: `${error}; given up after 24 hours` };
    const wait = outcome.waitMs ?? backOffMs(row.tries, channel.http?.retry ?? mailRetry);
    return { state: "waiting", due: Math.min(now + wait, row.time + giveUpMs), ended: null, error };
  }

  async #send({ settings, http }: Channel, message: OutgoingMessage): Promise<Outcome> {
    const { now, targets } = this.#context;
    if (http !== null) return sendHttp(http, settings, message, { now: now(), signal: this.#closing.signal, targets });
    // Loaded only where mail is used.
    const { sendMail } = await import("./send-mail.ts");
    return settings.type === "mail" ? sendMail(settings, message) : { kind: "failed", error: "it has no address" };
  }
}

const channelGone = { state: "failed", error: "the channel is no longer configured" } as const;

const isRecoveryOf = (row: OutboxRow, alarm: OutboxRow): boolean =>
  row.event === "recovery" && row.alarmTime === alarm.time && row.miner === alarm.miner;

/** A message interrupted by a stop of the service is sent again only where a repeat does no harm. */
const afterStop = (channel: Channel | undefined, now: number) =>
  channel?.http?.repeatable
    ? ({ state: "waiting", due: now, ended: null, error: null } as const)
    : ({
        state: "unknown",
        ended: now,
        error: "the service stopped while it was being sent; it may have arrived",
      } as const);

const rank = (severity: Severity): number => severities.indexOf(severity);

/**
 * Whether a channel accepts it: by severity, unless the notice names the channel; never if its miner is outside the
 * channel's groups.
 */
function takes(
  { key, from, groups }: ChannelSettings,
  { minerId, severity }: StoredNotification,
  around: readonly string[],
  wanted: Notice["channels"],
): boolean {
  if (wanted === "none") return false;
  const isNamed = wanted === "all" || wanted?.includes(key) === true;
  if (wanted !== undefined && !isNamed) return false;
  if (!isNamed && rank(severity) < rank(from)) return false;
  if (groups === undefined) return true;
  if (minerId === null && around.length === 0) return isNamed;
  return around.some((group) => groups.includes(group));
}
