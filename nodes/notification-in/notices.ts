import type { Notification } from "rigbridge";
import type { Work } from "../shared/define-node.ts";
import type { Asked } from "../shared/farm-connection.ts";
import { spoken } from "../shared/faults.ts";
import { choiceOf } from "../shared/miner-choice.ts";
import { acknowledge, isAway } from "./acknowledging.ts";
import { type Change, changesSince, seenWith } from "./changes.ts";
import { type Filter, minerFilter, textFilter } from "./filters.ts";
import { type Memory, recalled, remember } from "./memory.ts";
import { MessageSender } from "./messages.ts";
import type { NotificationInConfig } from "./rigbridge-notification-in.ts";

/** Events that are kept while the list cannot be read. */
const mostHeard = 1_000;

/** What becomes of notifications, found by looking at their list: each change is told once, also after a restart. */
export class Notices {
  readonly #work: Work<NotificationInConfig>;
  readonly #sender: MessageSender;
  readonly #fitsText: Filter;
  /** What events told since the last look. */
  #heard: readonly Notification[] = [];
  #memory: Memory | null = null;
  /** What went wrong last, so that it is said once. */
  #trouble: string | null = null;

  /** Throws a Fault that names the field. */
  constructor(work: Work<NotificationInConfig>) {
    this.#work = work;
    this.#fitsText = textFilter(work.config.textKind, work.config.text);
    const { config, node, say, status, clock } = work;
    this.#sender = new MessageSender({
      ...{ limit: config.limit, clock, say, status },
      send: (msg) => node.send(msg),
      warn: (text) => node.warn(text),
    });
  }

  heard(notification: Notification): void {
    this.#heard = [...this.#heard, notification].slice(-mostHeard);
  }

  /** Tells what has changed since the last look. Never rejects. */
  async look(): Promise<void> {
    const { connection, signal, status, say } = this.#work;
    if (connection.phase.kind !== "connected") return;
    try {
      await this.#look(connection.asked());
      if (this.#trouble !== null && !signal.aborted) status.done(say("status.connected"));
      this.#trouble = null;
    } catch (error) {
      this.#report(error);
    }
  }

  close(): void {
    this.#sender.close();
  }

  async #look(asked: Asked): Promise<void> {
    const { config, node, signal, value } = this.#work;
    const { service, caller, farm } = asked;
    // A mistake in the fields holds back what there is to tell, until it is mended.
    const isMeant = minerFilter(farm, await choiceOf(config, (field) => value(field, {})));
    const before = this.#memory ?? (await recalled(node, config.service));
    const heard = this.#heard;
    const { notificationList: list } = await service.listNotifications({}, caller);
    if (signal.aborted) return;
    const changes = before === null ? this.#atFirst(list) : changesSince(before, list, heard);
    const wanted = changes.filter((change) => this.#isWanted(change) && isMeant(change.notification));
    const delivered = this.#sender.send(wanted, farm);
    this.#heard = this.#heard.filter((each) => !heard.includes(each));
    const owed = config.acknowledge ? stillOwed(before?.owed ?? [], delivered, list) : [];
    const isNew = before === null || changes.length > 0 || owed.length !== before.owed.length;
    this.#memory = { service: config.service, ...seenWith(before, list, heard), owed };
    if (isNew) await remember(node, this.#memory);
    await this.#acknowledge(asked, this.#memory);
  }

  #atFirst(list: readonly Notification[]): Change[] {
    const open = this.#work.config.openAtFirst ? list.filter(({ isAcknowledged }) => !isAcknowledged) : [];
    return changesSince({ notifications: [], lastId: 0 }, open, []);
  }

  #isWanted({ event, notification }: Change): boolean {
    const { tellNew, tellChanged, tellClosed, warningsOnly } = this.#work.config;
    const isTold = { new: tellNew, changed: tellChanged, closed: tellClosed }[event];
    return isTold && (!warningsOnly || notification.isWarning) && this.#fitsText(notification);
  }

  /** What this node acknowledges is no change to tell. Throws why the service refuses. */
  async #acknowledge(asked: Asked, memory: Memory): Promise<void> {
    const { node, signal } = this.#work;
    if (memory.owed.length === 0) return;
    const { done, left, refusal } = await acknowledge(asked, memory.owed, signal);
    const notifications = memory.notifications.map((each) =>
      done.has(each.id) ? { ...each, isAcknowledged: true } : each,
    );
    this.#memory = { ...memory, notifications, owed: left };
    // Whoever came in its place has read the context already.
    if (!signal.aborted) await remember(node, this.#memory);
    if (refusal !== null) throw refusal;
  }

  /** To Catch nodes, once; that the service is away is said by the connection. */
  #report(error: unknown): void {
    const { node, signal, status, say, connection } = this.#work;
    const failure = spoken(error, say);
    if (signal.aborted || connection.phase.kind !== "connected" || isAway(failure)) return;
    if (failure.message === this.#trouble) return;
    this.#trouble = failure.message;
    status.failed(failure.message);
    node.error(failure, {});
  }
}

/** Those that were delivered, and that nobody has acknowledged or removed since. */
function stillOwed(before: readonly number[], delivered: readonly Change[], list: readonly Notification[]): number[] {
  const ids = new Set([...before, ...delivered.map(({ notification }) => notification.id)]);
  return list.filter(({ id, isAcknowledged }) => ids.has(id) && !isAcknowledged).map(({ id }) => id);
}
