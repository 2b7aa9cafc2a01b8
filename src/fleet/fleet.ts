import { type EventLoopUtilization, performance as thread } from "node:perf_hooks";
import { Semaphore } from "../async/index.ts";
import { type Messages, noMessages } from "../contract/messages.ts";
import { FirmwareBook } from "../link/firmware.ts";
import type { HostPrograms, ProgramHosts } from "../link/programs/host-program.ts";
import { changedKeys } from "./changed-keys.ts";
import type { Declared, ReadSettings, RigContext } from "./declared.ts";
import { FleetRig, type ReadManner } from "./fleet-rig.ts";
import type { FleetListener, Poller } from "./poller.ts";
import { batchMs, DueQueue, missesUntilDisconnected, nextRead } from "./schedule.ts";
import { NextRead, settledRigs } from "./settled.ts";
import { isUnread, type Remembered, type RigState, sameButTime, statusOf, unknownRig } from "./state.ts";

export interface FleetOptions {
  readonly listener: FleetListener;
  /** ms that one read may take. */
  readonly timeout: number;
  readonly remember: RigContext["remember"];
  /** Epoch ms. */
  readonly now: () => number;
  /** ms of the monotonic clock; `performance.now` by default. */
  readonly monotonicNow?: (() => number) | undefined;
  /** Absent: MQTT plugs are not read. */
  readonly messages?: Messages;
  /** Absent: no rig is powered by a PDU. */
  readonly outlets?: RigContext["outlets"];
  /** Absent: there are no managed miners. */
  readonly programs?: HostPrograms | null;
  /** Absent: no declared program is on a host with an agent. */
  readonly hosts?: ProgramHosts | null;
}

/**
 * Concurrent reads of rigs that answered last time: rate × latency, 4,000 a second at 100 ms. A rig that has not
 * answered after a second no longer counts: many rigs that fall silent together would delay the others. While this
 * thread is constantly busy, rigs waiting for their first read take precedence, so that all are shown soon.
 */
const live = { places: 512, slack: { afterMs: 1_000, beside: 1_024 }, placesWhileBusy: 16 };
/**
 * Concurrent first reads. They take many requests, and more of them would slow down the API. It is not known yet which
 * rigs are silent, so a slow one stops counting even sooner.
 */
const fresh = { places: 96, slack: { afterMs: 200, beside: 1_024 } };
/** Concurrent reads of rigs that failed last time: 6,000 silent ones are read within the longest back-off. */
const slowPlaces = 512;
/** A refusal by the same rig is reported once in this time: two rigs that share an address answer alternately. */
const refusalRepeatMs = 3_600_000;
/**
 * A rig that has not answered since the start of the service is read at least this often until it counts as offline.
 */
const unreadIntervalMs = 10_000;
/** The share of its time that a busy thread works, and ms over which that is measured. */
const busy = { share: 0.9, overMs: 500 };
/** Rate of first reads: a small fleet is read at once, a large one causes no burst. */
const firstReadsPerSecond = 2_000;

/** The present state of every rig: polls them, one exchange at a time each, spread evenly over their intervals. */
export class Fleet implements Poller {
  readonly #options: FleetOptions;
  readonly #monotonicNow: () => number;
  readonly #rigs = new Map<number, FleetRig>();
  readonly #due = new DueQueue<FleetRig>();
  readonly #fresh = new Semaphore(fresh.places, fresh.slack);
  readonly #live = new Semaphore(live.places, live.slack);
  readonly #slow = new Semaphore(slowPlaces);
  readonly #firmware = new FirmwareBook();
  readonly #closing = new AbortController();
  readonly #nextRead = new NextRead();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  /** Reads per second of all enabled rigs. */
  #rate = 0;
  /** When the next batch of reads may begin. */
  #batchAt = Number.NEGATIVE_INFINITY;
  /** When the refusal of a rig was last reported, by the monotonic clock. */
  readonly #refusals = new Map<number, number>();
  /** The load of this thread at the last check. */
  #utilization: EventLoopUtilization = thread.eventLoopUtilization();
  #utilizationAt = Number.NEGATIVE_INFINITY;
  /** When the last of the first reads is due. */
  #firstRead = 0;
  #watchesKeys = false;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#monotonicNow = options.monotonicNow ?? (() => performance.now());
  }

  get(id: number): FleetRig | undefined {
    return this.#rigs.get(id);
  }

  all(): IterableIterator<FleetRig> {
    return this.#rigs.values();
  }

  get size(): number {
    return this.#rigs.size;
  }

  /**
   * Adds a rig to the fleet, or replaces it after its declaration has changed. `last`: its state if another poller has
   * read it until now; its next read is then due as before.
   */
  put(declared: Declared, remembered: Remembered = unknownRig, last: RigState | null = null): FleetRig {
    this.remove(declared.id);
    const rig = new FleetRig(declared, remembered, {
      now: this.#options.now,
      monotonicNow: this.#monotonicNow,
      timeout: this.#options.timeout,
      closing: this.#closing.signal,
      firmware: this.#firmware,
      messages: this.#options.messages ?? noMessages,
      outlets: this.#options.outlets,
      programs: this.#options.programs ?? null,
      hosts: this.#options.hosts ?? null,
      remember: this.#options.remember,
    });
    if (last !== null) rig.resume(last);
    this.#rigs.set(rig.id, rig);
    if (!declared.disabled && last !== null && last.at !== null) {
      this.#rate += 1000 / declared.interval;
      this.#scheduleNext(rig);
    } else if (!declared.disabled) {
      this.#rate += 1000 / declared.interval;
      this.#firstRead = Math.max(this.#monotonicNow(), this.#firstRead + 1000 / firstReadsPerSecond);
      this.#schedule(rig, this.#firstRead);
    }
    return rig;
  }

  remove(id: number): void {
    const rig = this.#rigs.get(id);
    if (rig === undefined) return;
    if (!rig.declared.disabled) this.#rate -= 1000 / rig.declared.interval;
    rig.close();
    this.#rigs.delete(id);
    this.#refusals.delete(id);
  }

  adjust(id: number, settings: ReadSettings): void {
    const rig = this.#rigs.get(id);
    if (rig === undefined) return;
    const { interval, disabled } = rig.declared;
    if (!disabled) this.#rate += 1000 / settings.interval - 1000 / interval;
    rig.adjust(settings);
    // A rig that is being read is rescheduled at the end of its turn.
    if (settings.interval !== interval && rig.dueAt !== Number.POSITIVE_INFINITY) this.#scheduleNext(rig);
  }

  /** Reads a rig once its present exchange is done. */
  async poll(rig: FleetRig): Promise<void> {
    await rig.exclusively(() => this.read(rig));
  }

  /** Reads a rig and notifies the listener; never rejects. Only within `exclusively`. */
  async read(rig: FleetRig, manner?: ReadManner): Promise<void> {
    const before = rig.state;
    try {
      await rig.read(manner);
      this.#notify(rig, before);
    } catch (error) {
      this.#drop(rig, before, error);
    }
    this.#nextRead.ended();
  }

  settled(): Promise<void> {
    return settledRigs(() => this.#rigs.values(), this.#nextRead);
  }

  watchKeys(watched: boolean): void {
    this.#watchesKeys = watched;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    this.#fresh.clear();
    this.#live.clear();
    this.#slow.clear();
    for (const rig of this.#rigs.values()) rig.close();
    this.#rigs.clear();
    this.#nextRead.ended();
  }

  #age(rig: FleetRig): void {
    const before = rig.state;
    rig.age();
    try {
      this.#notify(rig, before);
    } catch (error) {
      this.#drop(rig, before, error);
    }
  }

  #drop(rig: FleetRig, before: RigState, error: unknown): void {
    if (this.#rigs.get(rig.id) !== rig) return;
    rig.drop(before);
    this.#options.listener.failed(rig, error);
  }

  #notify(rig: FleetRig, before: RigState): void {
    const { listener } = this.#options;
    const { state } = rig;
    if (this.#rigs.get(rig.id) !== rig || state === before) return;
    const changed = isChange(before, state);
    const keys = changed && this.#watchesKeys ? changedKeys(before, state, rig.declared.disabled) : 0;
    listener.read(rig, changed, before, keys);
    if (state.trouble === null) return;
    const refused = state.trouble.code === "rig.other" || state.trouble.code === "in.use";
    // Before the first good read, the reason is the stored one of an earlier run.
    const stored = before.at === null ? before.reason : null;
    if (refused && state.trouble.code !== before.trouble?.code && state.reason?.text !== stored?.text)
      this.#notifyRefusal(rig, state.trouble.message);
    if (!refused && isSilent(state) && !isSilent(before))
      listener.disconnected(rig, state.reason?.code === stored?.code);
  }

  #notifyRefusal(rig: FleetRig, message: string): void {
    const now = this.#monotonicNow();
    const notifiedAt = this.#refusals.get(rig.id);
    if (notifiedAt !== undefined && now - notifiedAt < refusalRepeatMs) return;
    this.#refusals.set(rig.id, now);
    this.#options.listener.refused(rig, message);
  }

  #schedule(rig: FleetRig, at: number): void {
    if (this.#closing.signal.aborted) return;
    rig.dueAt = at;
    this.#due.add(at, rig);
    this.#wake(at);
  }

  #wake(due: number): void {
    const at = Math.max(due, this.#batchAt);
    if (at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(this.#startDue, Math.max(1, at - this.#monotonicNow()));
  }

  readonly #startDue = (): void => {
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.#monotonicNow();
    this.#batchAt = now + batchMs(this.#rate);
    this.#letFirstReadsPass(now);
    for (let rig = this.#due.take(now); rig !== undefined; rig = this.#due.take(now)) this.#start(rig, now);
    if (this.#due.size > 0) this.#wake(this.#due.nextAt);
  };

  #letFirstReadsPass(now: number): void {
    if (now - this.#utilizationAt < busy.overMs) return;
    const before = this.#utilization;
    this.#utilizationAt = now;
    this.#utilization = thread.eventLoopUtilization();
    const { utilization } = thread.eventLoopUtilization(this.#utilization, before);
    const isBusy = utilization >= busy.share && this.#fresh.waiting > 0;
    this.#live.resize(isBusy ? live.placesWhileBusy : live.places);
  }

  #start(rig: FleetRig, now: number): void {
    // It was rescheduled since, or is already due.
    if (this.#rigs.get(rig.id) !== rig || rig.dueAt > now) return;
    rig.dueAt = Number.POSITIVE_INFINITY;
    // While a command waits for the rig's answer it is not read, and its state ages.
    if (rig.busy || rig.state.restarting) this.#age(rig);
    if (rig.busy) this.#scheduleNext(rig);
    else this.#laneOf(rig.state).enter(() => this.#turn(rig));
  }

  #laneOf({ at, missed }: RigState): Semaphore {
    if (missed > 0) return this.#slow;
    return at === null ? this.#fresh : this.#live;
  }

  /** One turn of the schedule. A rig that is busy with a command is read by the command. */
  async #turn(rig: FleetRig): Promise<void> {
    if (this.#rigs.get(rig.id) !== rig) return;
    if (!rig.busy) await rig.exclusively(() => this.read(rig, { yields: true }));
    this.#scheduleNext(rig);
  }

  #scheduleNext(rig: FleetRig): void {
    if (this.#rigs.get(rig.id) !== rig) return;
    const { restarting, missed } = rig.state;
    const { interval } = rig.declared;
    // A restarting rig is expected back, and read at its usual interval. Front ends wait for a rig that is not known
    // yet.
    const next = nextRead(
      this.#monotonicNow(),
      missed > 0 && isUnread(rig.state) ? Math.min(interval, unreadIntervalMs) : interval,
      rig.phase,
      restarting ? 0 : missed,
    );
    this.#schedule(rig, rig.busy || restarting ? Math.min(next, rig.agesAt) : next);
  }
}

/** Whether it has missed so many reads that it cannot be reached. */
const isSilent = ({ missed, restarting }: RigState): boolean => missed >= missesUntilDisconnected && !restarting;

/** Whether a read changed more than the time. */
function isChange(before: RigState, now: RigState): boolean {
  if (before.uid !== now.uid || (before.missed === 0) !== (now.missed === 0)) return true;
  if (before.reason?.text !== now.reason?.text) return true;
  if (before.trouble?.message !== now.trouble?.message || statusOf(before, false) !== statusOf(now, false)) return true;
  if (before.reading === null || now.reading === null) return before.reading !== now.reading;
  return !sameButTime(before.reading, now.reading);
}
