import { backOffMs, jittered, pause } from "../async/index.ts";
import { isAway, RigbridgeError } from "../contract/problems.ts";
import type { Summary } from "../contract/resources.ts";
import type { Caller, Input } from "../contract/service.ts";
import { differences, type Listed, sameButTime } from "./changes.ts";
import { acknowledgedIn, type LastLists } from "./last-lists.ts";
import type { Server } from "./server.ts";
import { answerMs, openEvents } from "./sse.ts";
import { StreamHealth } from "./stream-health.ts";
import type { EventWith, Form, WatchContext } from "./watch-forms.ts";

/** Errors that only a person can resolve. */
const permanent: ReadonlySet<string> = new Set([
  "key.missing",
  "key.wrong",
  "user.forbidden",
  "address.forbidden",
  "host.unknown",
  "input.invalid",
  "service.unsupported",
]);
const isPermanent = ({ code }: RigbridgeError, { userId }: Caller): boolean =>
  permanent.has(code) || (code === "not.found" && userId !== undefined);

/** Missed polls after which each miner is unreachable; slightly less, because a timer may fire early. */
const pollsUntilLost = 1.9;

/**
 * The events of a server until aborted: its own, or those from comparing polls. The stream continues while the server
 * cannot be reached: `reach` is called within two poll intervals, and after three missed polls each miner is reported
 * once as unreachable. Throws errors that only a person can resolve, for example `key.wrong`.
 */
export async function* watchServer<T extends Listed>(
  context: WatchContext,
  form: Form<T>,
  { after, types }: Input<"watchEvents">,
  caller: Caller,
  signal: AbortSignal,
): AsyncGenerator<EventWith<T>> {
  const watch = new Watch(context, form, caller, signal, after);
  const wanted = types && new Set<string>([...types, "reset"]);
  while (!signal.aborted) {
    try {
      for await (const event of watch.run()) {
        // Of several that arrived together, the watcher may end it at any.
        if (signal.aborted) return;
        if (wanted?.has(event.type) !== false) yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof RigbridgeError) || isPermanent(error, caller)) throw error;
      for (const event of watch.missed(error)) if (wanted?.has(event.type) !== false) yield event;
    }
    await watch.pause();
  }
}

/** Before a first poll, for a reader without other lists. */
const nothingYet = { notifications: new Map<number, boolean>(), summary: null } as const;

/** The number of an event, or of the event in a list's version. */
const eventIn = (after: number | string | undefined): number | undefined =>
  typeof after === "string" ? Number(after.split(".")[1]) : after;

class Watch<T extends Listed> {
  readonly #context: WatchContext;
  readonly #form: Form<T>;
  readonly #caller: Caller;
  readonly #signal: AbortSignal;
  /** The last event of the server that was passed on. */
  #last: number | string | undefined;
  /** Counts events that the server did not number. */
  #count: number;
  #kind: Server["kind"] | undefined;
  /** Where the last stream was; another service numbers its events differently. */
  #wire: Server["wire"] | undefined;
  /** The miners as the watcher has them; undefined if those are the last lists. */
  #miners: Map<number, T> | undefined;
  /** By id, whether it is acknowledged. */
  #notifications: ReadonlyMap<number, boolean> | undefined;
  #summary: LastLists["summary"];
  /** The list that `#miners` began with. */
  #base: ReadonlyMap<number, T> | undefined;
  /** ms since when the server has been unreachable, the attempts since then, and whether the watcher was informed. */
  #lostAt: number | undefined;
  #tries = 0;
  #isAway = false;
  /** The stream was open when it failed. */
  #isInterrupted = false;
  /** Whether `reach` was called because the server is lost. */
  #isReportedLost = false;
  /** An event was missed that the server will not send again. */
  #hasMissed = false;
  /** ms */
  #resetAt = Number.NEGATIVE_INFINITY;
  readonly #stream: StreamHealth;

  constructor(
    context: WatchContext,
    form: Form<T>,
    caller: Caller,
    signal: AbortSignal,
    after: number | string | undefined,
  ) {
    this.#context = context;
    this.#form = form;
    this.#stream = new StreamHealth(context);
    this.#caller = caller;
    this.#signal = signal;
    // The server does not know a list of this client.
    this.#last = form.isNamed ? undefined : after;
    this.#count = eventIn(after) ?? 0;
  }

  /** One stream of the server's own events until it ends, or one poll of a server whose events do not arrive. */
  async *run(): AsyncGenerator<EventWith<T>> {
    this.#isInterrupted = false;
    const { kind, wire } = await this.#untilAborted(this.#context.session.serverFor("watchEvents"));
    const isOther = this.#kind !== undefined && (this.#kind !== kind || this.#wire !== wire);
    this.#kind = kind;
    this.#wire = wire;
    if (isOther) yield this.#reset();
    if (kind === "foreign" || this.#stream.isPolled) yield* this.#poll();
    else yield* this.#eventsOrPoll();
  }

  /** Polls instead if the events fail repeatedly and the server answers otherwise. */
  async *#eventsOrPoll(): AsyncGenerator<EventWith<T>> {
    let failure: RigbridgeError | null = null;
    this.#stream.tries();
    try {
      yield* this.#events();
    } catch (error) {
      if (!(error instanceof RigbridgeError) || isPermanent(error, this.#caller)) throw error;
      failure = error;
      this.#stream.failed();
    }
    if (this.#signal.aborted) return;
    if (this.#stream.isBlocked) {
      yield* this.#poll();
      this.#stream.fallBack(failure?.message ?? "The stream of events is cut again and again");
    } else if (failure !== null) throw failure;
  }

  /** The server could not be reached, or broke off. */
  *missed(error: RigbridgeError): Generator<EventWith<T>> {
    const { pollSeconds } = this.#context;
    this.#lostAt ??= performance.now();
    this.#tries += 1;
    this.#hasMissed ||= error.code === "service.garbled";
    // An interrupted stream usually returns with the next attempt.
    if (!this.#isInterrupted) this.#reportLost(error);
    if (this.#isAway || performance.now() - this.#lostAt < pollsUntilLost * pollSeconds * 1000) return;
    this.#isAway = true;
    const known = this.#currentMiners();
    for (const miner of [...known.values()]) {
      const gone = this.#form.outOfReach(miner, error.message);
      known.set(miner.id, gone);
      yield { id: this.#next(), type: "miner", data: gone };
    }
  }

  /** Waits until the next poll or attempt; attempts back off exponentially, up to one poll, with jitter. */
  async pause(): Promise<void> {
    const { pollSeconds, changes } = this.#context;
    const pollMs = pollSeconds * 1000;
    const isTry = this.#kind !== "foreign" && !this.#stream.isPolled;
    const tried = jittered(backOffMs(this.#tries + 1, { firstMs: pollMs / 15, longestMs: pollMs }));
    const changed = new AbortController();
    const wake = () => changed.abort();
    if (!isTry) changes.addEventListener("change", wake, { once: true });
    const signal = AbortSignal.any([this.#signal, changed.signal]);
    await pause(isTry ? tried : pollMs, signal);
    changes.removeEventListener("change", wake);
  }

  async *#events(): AsyncGenerator<EventWith<T>> {
    const done = new AbortController();
    const signal = AbortSignal.any([this.#signal, done.signal]);
    try {
      const isResumed = this.#last !== undefined;
      const { session } = this.#context;
      const check = () => this.#checkAnswers();
      const heard = () => this.#stream.heard();
      const { query, event } = this.#form;
      const options = { after: this.#last, query, event, silenceMs: this.#stream.silenceMs, check, heard };
      const events = await this.#checked(openEvents(session, options, this.#caller, signal));
      this.#isInterrupted = true;
      this.#stream.opened();
      // Rigs reported as unreachable are corrected only by reading the lists again.
      if (this.#reconnect() || this.#hasMissed) yield this.#reset();
      else if (!isResumed) yield* this.#catchUp();
      this.#reportReached();
      for await (const event of events) {
        if (event === "unreadable") yield* this.#resetNowAndThen();
        else yield this.#remember(event);
      }
    } finally {
      done.abort();
    }
  }

  #remember(event: EventWith<T>): EventWith<T> {
    this.#last = event.id;
    if (!this.#context.remembers) return event;
    if (event.type === "miner") this.#currentMiners().set(event.data.id, event.data);
    if (event.type === "miner-removed") this.#currentMiners().delete(event.data.id);
    return event;
  }

  /** At most one reset per poll interval: a newer server may send many events that cannot be read. */
  *#resetNowAndThen(): Generator<EventWith<T>> {
    if (performance.now() - this.#resetAt < this.#context.pollSeconds * 1000) return;
    this.#resetAt = performance.now();
    const last = this.#last;
    yield this.#reset();
    this.#last = last;
  }

  /** The changes between the watcher's list and the start of the events. */
  async *#catchUp(): AsyncGenerator<EventWith<T>> {
    const before = this.#miners ?? this.#form.last();
    if (before === undefined) return;
    yield* this.#changesOf(before, await this.#checked(this.#untilAborted(this.#form.list())));
  }

  async *#poll(): AsyncGenerator<EventWith<T>> {
    const { calls, lastLists } = this.#context;
    // The events of an earlier watch are not kept.
    if (this.#last !== undefined) yield this.#reset();
    const [list, { notificationList }, summary] = await this.#untilAborted(
      Promise.all([this.#form.list(), calls.listNotifications({}, this.#caller), this.#summaryInTime()]),
    );
    this.#reconnect();
    // Another reader of the same caller may have received its last lists, so this one receives everything again.
    const before = this.#form.isNamed ? nothingYet : lastLists();
    const notifications = this.#notifications ?? before.notifications;
    const shown = this.#summary ?? before.summary;
    const now = acknowledgedIn(notificationList);
    this.#notifications = now;
    this.#summary = summary;
    yield* this.#changesOf(this.#miners ?? this.#form.last(), list);
    for (const each of notificationList)
      if (notifications?.has(each.id) === false) yield { id: this.#next(), type: "notification", data: each };
    const known = [...(notifications?.keys() ?? [])];
    const acknowledged = known.filter((id) => notifications?.get(id) === false && now.get(id) === true);
    if (acknowledged.length > 0)
      yield { id: this.#next(), type: "notification-acknowledged", data: { ids: acknowledged } };
    const gone = known.filter((id) => !now.has(id));
    if (gone.length > 0) yield { id: this.#next(), type: "notification-removed", data: { ids: gone } };
    if (shown !== undefined && !sameButTime(shown, summary)) yield { id: this.#next(), type: "summary", data: summary };
    this.#reportReached();
  }

  *#changesOf(before: ReadonlyMap<number, T> | undefined, after: Map<number, T>): Generator<EventWith<T>> {
    this.#miners = after;
    this.#base = this.#form.last();
    if (before === undefined) return;
    const { changed, removed } = differences(before, after);
    for (const { id, uid } of removed) yield { id: this.#next(), type: "miner-removed", data: { id, uid } };
    for (const miner of changed) yield { id: this.#next(), type: "miner", data: miner };
  }

  /** The watcher's view: the list that it received last, and the events since. */
  #currentMiners(): Map<number, T> {
    const miners = this.#form.last();
    if (this.#miners === undefined || miners !== this.#base) {
      this.#base = miners;
      this.#miners = new Map(miners);
    }
    return this.#miners;
  }

  /** Awaits long work; a server that does not answer in the meantime is reported. */
  async #checked<T>(promise: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#checkAnswers().catch(() => undefined), this.#stream.silenceMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Rejects, after reporting it, if the server no longer answers. */
  async #checkAnswers(): Promise<void> {
    try {
      await this.#summaryInTime();
    } catch (error) {
      if (!(error instanceof RigbridgeError) || !isAway(error)) return;
      this.#reportLost(error);
      throw error;
    }
  }

  /** A summary is small: a server that needs longer hangs. */
  async #summaryInTime(): Promise<Summary> {
    const { session, calls, pollSeconds } = this.#context;
    const ms = answerMs(pollSeconds * 1000);
    const late = Promise.withResolvers<never>();
    const message = `The service at ${session.wire.origin} cannot be reached: it did not answer in time (within ${ms / 1000} s)`;
    const timer = setTimeout(() => late.reject(new RigbridgeError("service.unreachable", message)), ms);
    try {
      return await this.#untilAborted(Promise.race([calls.getSummary({}, this.#caller), late.promise]));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Awaits `promise`, and rejects at once when the watch ends. */
  async #untilAborted<T>(promise: Promise<T>): Promise<T> {
    const over = Promise.withResolvers<never>();
    const end = () => over.reject(new RigbridgeError("service.unreachable", "The watch is over"));
    this.#signal.addEventListener("abort", end);
    try {
      return await Promise.race([promise, over.promise]);
    } finally {
      this.#signal.removeEventListener("abort", end);
    }
  }

  /** The server answers again; returns whether it was reported as lost. */
  #reconnect(): boolean {
    const wasAway = this.#isAway;
    this.#lostAt = undefined;
    this.#isAway = false;
    this.#tries = 0;
    return wasAway;
  }

  #reportLost(error: RigbridgeError): void {
    if (this.#isReportedLost || this.#signal.aborted) return;
    this.#isReportedLost = true;
    this.#context.reach?.(error);
  }

  /** Called once the watcher is up to date again. */
  #reportReached(): void {
    if (!this.#isReportedLost) return;
    this.#isReportedLost = false;
    this.#context.reach?.(null);
  }

  /** Discards all state. */
  #reset(): EventWith<T> {
    this.#last = undefined;
    this.#miners = undefined;
    this.#notifications = undefined;
    this.#summary = undefined;
    this.#hasMissed = false;
    return { id: this.#next(), type: "reset", data: {} };
  }

  /** The id of an event that the server did not send: that of its last one, to resume from, otherwise a counter. */
  #next(): number {
    const last = eventIn(this.#last);
    if (last !== undefined) return last;
    this.#count += 1;
    return this.#count;
  }
}
