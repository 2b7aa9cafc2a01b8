import type { Messages } from "../contract/messages.ts";
import { type Declared, FleetRig, type ReadManner, type RigContext } from "./fleet-rig.ts";
import { Lane } from "./lane.ts";
import { DueQueue, missesUntilDisconnected, nextRead } from "./schedule.ts";
import { type Remembered, type RigState, sameButTime, statusOf, unknownRig } from "./state.ts";

/** What the fleet tells of itself; called once after each read. What it throws drops the reading of that one rig. */
export interface FleetListener {
  /** `changed` is false when nothing but time has passed since the state `before`. */
  read(rig: FleetRig, changed: boolean, before: RigState): void;
  /** The third read in a row was missed, and not for a restart. */
  disconnected(rig: FleetRig): void;
  /** The rig answers but is not taken for what it should be: another one, or one known elsewhere. */
  refused(rig: FleetRig, message: string): void;
  /** The program failed over what was read, which is dropped. Never throws. */
  failed(rig: FleetRig, error: unknown): void;
}

/** Who polls a rig. One process owns all; several workers will share them through the same question. */
export interface Ownership {
  mine(minerId: number): boolean;
}

const alwaysMine: Ownership = { mine: () => true };

export interface FleetOptions {
  readonly listener: FleetListener;
  /** ms that one read may take. */
  readonly timeout: number;
  readonly remember: RigContext["remember"];
  /** Epoch ms. */
  readonly now: () => number;
  /** Milliseconds of a clock that never jumps; `performance.now` unless given. */
  readonly monotonicNow?: (() => number) | undefined;
  readonly ownership?: Ownership;
  /** Absent = plugs that speak by messages are not read. */
  readonly messages?: Messages | null;
}

/**
 * Rigs read at once that answered last time: rate × latency, 4,000 a second at 100 ms. Who has not answered after a
 * second is waited for beside them: many rigs that fall silent at once would else keep the others waiting.
 */
const live = { places: 512, slack: { patience: 1_000, beside: 1_024 } };
/**
 * Rigs read at once that were never read. Such a read asks many things, and with more of them that answer at once the
 * API would have to wait; who is silent among them nobody knows yet, so they are waited for beside even sooner.
 */
const fresh = { places: 96, slack: { patience: 200, beside: 1_024 } };
/** Those that failed last time: 6,000 silent ones are asked within the longest back-off. */
const slowPlaces = 512;
/** ms for which a rig that is refused once more is not told of again: two that share an address answer in turn. */
const refusalHolds = 3_600_000;
/** First reads a second after the start, so that a small fleet is there at once and a large one does not burst. */
const firstReadsPerSecond = 1_000;

/** What is true now of every rig: polls them, one exchange at a time each, spread evenly over their intervals. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #ownership: Ownership;
  readonly #monotonicNow: () => number;
  readonly #rigs = new Map<number, FleetRig>();
  readonly #due = new DueQueue<FleetRig>();
  readonly #fresh = new Lane(fresh.places, fresh.slack);
  readonly #live = new Lane(live.places, live.slack);
  readonly #slow = new Lane(slowPlaces);
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  /** When it was told last that a rig is refused, by the monotonic clock. */
  readonly #refusals = new Map<number, number>();
  /** When the last of the first reads is due. */
  #firstRead = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#ownership = options.ownership ?? alwaysMine;
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

  /** Takes a rig into the fleet, or takes it anew after its declaration has changed. */
  put(declared: Declared, remembered: Remembered = unknownRig): FleetRig {
    this.remove(declared.id);
    const rig = new FleetRig(declared, remembered, {
      now: this.#options.now,
      monotonicNow: this.#monotonicNow,
      timeout: this.#options.timeout,
      closing: this.#closing.signal,
      messages: this.#options.messages ?? null,
      remember: this.#options.remember,
    });
    this.#rigs.set(rig.id, rig);
    if (!declared.disabled) {
      this.#firstRead = Math.max(this.#monotonicNow(), this.#firstRead + 1000 / firstReadsPerSecond);
      this.#schedule(rig, this.#firstRead);
    }
    return rig;
  }

  remove(id: number): void {
    this.#rigs.get(id)?.close();
    this.#rigs.delete(id);
    this.#refusals.delete(id);
  }

  /** Reads a rig now, after what is under way with it. */
  async poll(rig: FleetRig): Promise<void> {
    await rig.exclusively(() => this.read(rig));
  }

  /** Reads a rig and tells the listener; never rejects, whatever the rig says. Only within `exclusively`. */
  async read(rig: FleetRig, manner?: ReadManner): Promise<void> {
    const before = rig.state;
    try {
      await rig.read(manner);
      this.#notify(rig, before);
    } catch (error) {
      this.#drop(rig, before, error);
    }
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
    this.#fresh.clear();
    this.#live.clear();
    this.#slow.clear();
    for (const rig of this.#rigs.values()) rig.close();
    this.#rigs.clear();
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
    listener.read(rig, isChange(before, state), before);
    if (state.trouble === null) return;
    const refused = state.trouble.code === "rig.other" || state.trouble.code === "in.use";
    if (refused && state.trouble.code !== before.trouble?.code) this.#notifyRefusal(rig, state.trouble.message);
    if (!refused && isSilent(state) && !isSilent(before)) listener.disconnected(rig);
  }

  #notifyRefusal(rig: FleetRig, message: string): void {
    const now = this.#monotonicNow();
    const notifiedAt = this.#refusals.get(rig.id);
    if (notifiedAt !== undefined && now - notifiedAt < refusalHolds) return;
    this.#refusals.set(rig.id, now);
    this.#options.listener.refused(rig, message);
  }

  #schedule(rig: FleetRig, at: number): void {
    if (this.#closing.signal.aborted) return;
    this.#due.add(at, rig);
    if (at < this.#timerAt) this.#wake(at);
  }

  #wake(at: number): void {
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(this.#startDue, Math.max(1, at - this.#monotonicNow()));
  }

  readonly #startDue = (): void => {
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.#monotonicNow();
    for (let rig = this.#due.take(now); rig !== undefined; rig = this.#due.take(now)) this.#start(rig);
    if (this.#due.size > 0) this.#wake(this.#due.nextAt);
  };

  #start(rig: FleetRig): void {
    if (this.#rigs.get(rig.id) !== rig) return;
    // While a command waits for the rig's answer nobody reads it, and time goes on all the same.
    if (rig.busy || rig.state.restarting) this.#age(rig);
    if (rig.busy) this.#scheduleNext(rig);
    else this.#laneOf(rig.state).enter(() => this.#turn(rig));
  }

  #laneOf({ at, missed }: RigState): Lane {
    if (missed > 0) return this.#slow;
    return at === null ? this.#fresh : this.#live;
  }

  /** One turn of the schedule. A rig that is busy with a command is read by that. */
  async #turn(rig: FleetRig): Promise<void> {
    if (this.#rigs.get(rig.id) !== rig) return;
    if (!rig.busy && this.#ownership.mine(rig.id)) await rig.exclusively(() => this.read(rig, { yields: true }));
    this.#scheduleNext(rig);
  }

  #scheduleNext(rig: FleetRig): void {
    if (this.#rigs.get(rig.id) !== rig) return;
    const { restarting, missed } = rig.state;
    // What restarts is expected back, and asked as often as ever.
    const next = nextRead(this.#monotonicNow(), rig.declared.interval, rig.phase, restarting ? 0 : missed);
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
