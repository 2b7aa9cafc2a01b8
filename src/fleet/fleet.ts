import { type Declared, FleetRig, type RigContext } from "./fleet-rig.ts";
import { Lane } from "./lane.ts";
import { alwaysMine, type Ownership } from "./ownership.ts";
import { DueQueue, missesUntilDisconnected, nextRead } from "./schedule.ts";
import { type Remembered, type RigState, sameButTime, statusOf, unknownRig } from "./state.ts";

/** What the fleet tells of itself; called once after each read. */
export interface FleetListener {
  /** `changed` is false when nothing but time has passed. */
  read(rig: FleetRig, changed: boolean): void;
  /** The third read in a row was missed. */
  disconnected(rig: FleetRig): void;
  /** The rig answers but is not taken for what it should be: another one, or one known elsewhere. */
  refused(rig: FleetRig, message: string): void;
}

export interface FleetOptions {
  readonly listener: FleetListener;
  /** ms that one read may take. */
  readonly timeout: number;
  readonly remember: RigContext["remember"];
  /** Epoch ms. */
  readonly now: () => number;
  readonly ownership?: Ownership;
}

/** Sockets at once for rigs that answer: rate × latency, 4,000 a second at 100 ms. */
const livePlaces = 512;
/** Sockets at once for rigs that failed last time: in a common queue they would starve the others. */
const slowPlaces = 256;
/** First reads a second after the start, so that a small fleet is there at once and a large one does not burst. */
const firstReadsPerSecond = 1_000;

/** What is true now of every rig: polls them, one exchange at a time each, spread evenly over their intervals. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #ownership: Ownership;
  readonly #rigs = new Map<number, FleetRig>();
  readonly #due = new DueQueue<FleetRig>();
  readonly #live = new Lane(livePlaces);
  readonly #slow = new Lane(slowPlaces);
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  /** When the last of the first reads is due. */
  #firstRead = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#ownership = options.ownership ?? alwaysMine;
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
      timeout: this.#options.timeout,
      closing: this.#closing.signal,
      remember: this.#options.remember,
    });
    this.#rigs.set(rig.id, rig);
    if (!declared.disabled) {
      this.#firstRead = Math.max(performance.now(), this.#firstRead + 1000 / firstReadsPerSecond);
      this.#schedule(rig, this.#firstRead);
    }
    return rig;
  }

  remove(id: number): void {
    this.#rigs.get(id)?.close();
    this.#rigs.delete(id);
  }

  /** Reads a rig now, after what is under way with it. */
  async poll(rig: FleetRig): Promise<void> {
    await rig.exclusively(() => this.read(rig));
  }

  /** Reads a rig and tells the listener. Only within `exclusively`. */
  async read(rig: FleetRig): Promise<void> {
    const before = rig.state;
    await rig.read();
    if (this.#rigs.get(rig.id) === rig) this.#tell(rig, before);
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
    this.#live.clear();
    this.#slow.clear();
    for (const rig of this.#rigs.values()) rig.close();
    this.#rigs.clear();
  }

  #tell(rig: FleetRig, before: RigState): void {
    const { listener } = this.#options;
    const { state } = rig;
    listener.read(rig, isChange(before, state));
    if (state.trouble === null) return;
    const refused = state.trouble.code === "rig.other" || state.trouble.code === "in.use";
    if (refused && state.trouble.code !== before.trouble?.code) listener.refused(rig, state.trouble.message);
    if (!refused && state.missed === missesUntilDisconnected) listener.disconnected(rig);
  }

  #schedule(rig: FleetRig, at: number): void {
    if (this.#closing.signal.aborted) return;
    this.#due.add(at, rig);
    if (at < this.#timerAt) this.#wake(at);
  }

  #wake(at: number): void {
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(this.#startDue, Math.max(1, at - performance.now()));
  }

  readonly #startDue = (): void => {
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    for (let rig = this.#due.take(now); rig !== undefined; rig = this.#due.take(now)) this.#start(rig);
    if (this.#due.size > 0) this.#wake(this.#due.nextAt);
  };

  #start(rig: FleetRig): void {
    if (this.#rigs.get(rig.id) !== rig) return;
    const lane = rig.state.missed === 0 ? this.#live : this.#slow;
    lane.enter(() => this.#turn(rig));
  }

  /** One turn of the schedule. A rig that is busy with a command is read by that. */
  async #turn(rig: FleetRig): Promise<void> {
    if (this.#rigs.get(rig.id) !== rig) return;
    if (!rig.busy && this.#ownership.mine(rig.id)) await this.poll(rig);
    if (this.#rigs.get(rig.id) !== rig) return;
    this.#schedule(rig, nextRead(performance.now(), rig.declared.interval, rig.phase, rig.state.missed));
  }
}

/** Whether a read changed more than the time. */
function isChange(before: RigState, now: RigState): boolean {
  if (before.uid !== now.uid || (before.missed === 0) !== (now.missed === 0)) return true;
  if (before.trouble?.message !== now.trouble?.message || statusOf(before, false) !== statusOf(now, false)) return true;
  if (before.reading === null || now.reading === null) return before.reading !== now.reading;
  return !sameButTime(before.reading, now.reading);
}
