import { type Notification, RigbridgeError, severities } from "rigbridge";
import type { Work } from "../shared/define-node.ts";
import type { ConnectedService } from "../shared/farm-connection.ts";
import { Fault, forNodeRed, toRigbridgeError } from "../shared/faults.ts";
import { choiceOf } from "../shared/miner-choice.ts";
import { afterHandling, type Change, changesSince, type Handled, seenWith, updated } from "./changes.ts";
import { type Filter, minerFilter, textFilter } from "./filters.ts";
import type { Memory, MemoryFile } from "./memory-file.ts";
import { MessageSender } from "./messages.ts";
import { leastSeverity, type NotificationInConfig } from "./settings.ts";

/** Received events that are kept while the list cannot be read. */
const maxReceived = 1_000;

/** Finds changes of notifications by polling their list, and sends each once, even across restarts. */
export class NotificationReporter {
  readonly #work: Work<NotificationInConfig>;
  readonly #sender: MessageSender;
  readonly #matchesText: Filter;
  /** From events since the last poll. */
  #received: readonly Notification[] = [];
  #handled: readonly Handled[] = [];
  readonly #file: MemoryFile;
  #memory: Memory | null = null;
  /** The last error, which is reported once. */
  #error: string | null = null;

  /** Throws a Fault that names the field. */
  constructor(work: Work<NotificationInConfig>, file: MemoryFile) {
    this.#work = work;
    this.#file = file;
    this.#matchesText = textFilter(work.config.textKind, work.config.text);
    const { config, node, translate, status, clock } = work;
    this.#sender = new MessageSender({
      limit: config.limit,
      clock,
      translate,
      status,
      send: (msg) => node.send(msg),
      warn: (text) => node.warn(text),
    });
  }

  receive(notification: Notification): void {
    this.#received = [...this.#received, notification].slice(-maxReceived);
  }

  /** Notifications were acknowledged, or cleared from the list. */
  handled(what: Handled["what"], ids: readonly number[]): void {
    this.#handled = [...this.#handled, { what, ids: new Set(ids) }].slice(-maxReceived);
  }

  /** Sends the changes since the last poll, or only the new ones. Never rejects. */
  async poll(isWhole: boolean): Promise<void> {
    const { connection, signal, status, translate } = this.#work;
    if (connection.phase.kind !== "connected") return;
    try {
      await this.#sendChanges(connection.connected(), isWhole);
      if (this.#error !== null && !signal.aborted) status.done(translate("status.connected"));
      this.#error = null;
    } catch (error) {
      this.#report(error);
    }
  }

  close(): void {
    this.#sender.close();
  }

  async #sendChanges(connected: ConnectedService, isWhole: boolean): Promise<void> {
    const { config, signal, value } = this.#work;
    const { farm } = connected;
    // While a field is wrong, nothing is sent; it is sent once the field is corrected.
    const matchesMiner = minerFilter(farm, await choiceOf(config, (field) => value(field, {})));
    const before = this.#memory ?? (await this.#file.read(config.service));
    const [received, handled] = [this.#received, this.#handled];
    const list = await read(connected, isWhole ? null : before, received, handled);
    if (signal.aborted) return;
    const changes = before === null ? this.#firstChanges(list) : changesSince(before, list, received);
    const wanted = changes.filter((change) => this.#isWanted(change) && matchesMiner(change.notification));
    const sent = this.#sender.send(wanted, farm);
    this.#received = this.#received.filter((each) => !received.includes(each));
    this.#handled = this.#handled.filter((each) => !handled.includes(each));
    const owed = config.acknowledge ? stillOwed(before?.owed ?? [], sent, list) : [];
    const isNew = before === null || changes.length > 0 || owed.length !== before.owed.length;
    this.#memory = { service: config.service, ...seenWith(before, list, received), owed };
    if (isNew) await this.#file.write(this.#memory);
    await this.#acknowledge(connected, this.#memory);
  }

  #firstChanges(list: readonly Notification[]): Change[] {
    const isOpen = ({ isAcknowledged, closedUtc, timeUtc }: Notification): boolean =>
      !isAcknowledged && (closedUtc === null || closedUtc === timeUtc);
    const open = this.#work.config.openAtFirst ? list.filter(isOpen) : [];
    return changesSince({ notifications: [], lastId: 0 }, open, []);
  }

  #isWanted({ event, notification }: Change): boolean {
    const { tellNew, tellChanged, tellClosed } = this.#work.config;
    const isReported = { new: tellNew, changed: tellChanged, closed: tellClosed }[event];
    const isSevere = severities.indexOf(notification.severity) >= severities.indexOf(leastSeverity(this.#work.config));
    return isReported && isSevere && this.#matchesText(notification);
  }

  /** Acknowledgements of this node are not sent as changes. Throws if the service refuses one. */
  async #acknowledge(connected: ConnectedService, memory: Memory): Promise<void> {
    const { signal } = this.#work;
    if (memory.owed.length === 0) return;
    const { done, left, refusal } = await acknowledge(connected, memory.owed, signal);
    const notifications = memory.notifications.map((each) =>
      done.has(each.id) ? { ...each, isAcknowledged: true } : each,
    );
    this.#memory = { ...memory, notifications, owed: left };
    // After a deploy the next node has already read the file.
    if (!signal.aborted) await this.#file.write(this.#memory);
    if (refusal !== null) throw refusal;
  }

  /** To Catch nodes, once. The connection itself reports that the service is away. */
  #report(error: unknown): void {
    const { node, signal, status, translate, connection } = this.#work;
    const failure = toRigbridgeError(error, translate);
    if (signal.aborted || connection.phase.kind !== "connected" || isAway(failure)) return;
    if (failure.message === this.#error) return;
    this.#error = failure.message;
    status.failed(failure.message);
    node.error(forNodeRed(failure), {});
  }
}

/**
 * The whole list; from a Rigbridge, after `before`, that list with the new entries, so that little is read after each
 * event.
 */
async function read(
  { service, caller, farm }: ConnectedService,
  before: Memory | null,
  received: readonly Notification[],
  handled: readonly Handled[],
): Promise<Notification[]> {
  // A server that lists commands has all extensions.
  const since = farm.features.has("listCommands") ? before?.lastId : undefined;
  const { notificationList: list } = await service.listNotifications(since === undefined ? {} : { since }, caller);
  if (since === undefined || before === null) return list;
  // An earlier Rigbridge does not know `since`.
  return [...list.filter(({ id }) => id > since), ...afterHandling(updated(before.notifications, received), handled)];
}

/** The notifications that were sent, are still in the list, and are not acknowledged. */
function stillOwed(before: readonly number[], sent: readonly Change[], list: readonly Notification[]): number[] {
  const ids = new Set([...before, ...sent.map(({ notification }) => notification.id)]);
  return list.filter(({ id, isAcknowledged }) => ids.has(id) && !isAcknowledged).map(({ id }) => id);
}

interface Acknowledged {
  readonly done: ReadonlySet<number>;
  /** To be retried, since the service went away. */
  readonly left: readonly number[];
  /** Why the service refused; then nothing is retried. */
  readonly refusal: Fault | null;
}

/** Acknowledges one notification after another, and ignores removed ones. */
async function acknowledge(
  { service, caller, farm }: ConnectedService,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<Acknowledged> {
  const done = new Set<number>();
  if (ids.length > 0 && !farm.features.has("notificationAction"))
    return { done, left: [], refusal: refused("service.unsupported", "=hindrance.unsupported") };
  for (const [index, id] of ids.entries()) {
    if (signal.aborted) return { done, left: ids.slice(index), refusal: null };
    try {
      await service.notificationAction({ id, action: "ack" }, caller);
      done.add(id);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      if (isAway(error)) return { done, left: ids.slice(index), refusal: null };
      if (error.code !== "not.found") return { done, left: [], refusal: refused(error.code, error.message, error) };
    }
  }
  return { done, left: [], refusal: null };
}

const isAway = ({ code }: RigbridgeError): boolean => code === "service.unreachable" || code === "service.not-ready";

const refused = (code: RigbridgeError["code"], why: string, cause?: RigbridgeError): Fault =>
  new Fault(code, "cannot-acknowledge", { why }, { cause });
