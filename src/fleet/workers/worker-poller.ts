import { RigbridgeError } from "../../contract/problems.ts";
import type { WorkerHealth } from "../../contract/service.ts";
import type { PoolLogin } from "../../link/driver.ts";
import { changedKeys } from "../changed-keys.ts";
import type { Declared, ReadSettings } from "../declared.ts";
import { Fleet, type FleetOptions } from "../fleet.ts";
import { FleetRig, type ReadManner } from "../fleet-rig.ts";
import type { FleetListener, PolledRig, Poller } from "../poller.ts";
import { NextRead, settledRigs } from "../settled.ts";
import { type Remembered, type RigState, unknownRig } from "../state.ts";
import { type Clocks, type FromThread, type Happening, receivedError } from "./messages.ts";
import { type UnpackedRead, unpack } from "./packet.ts";
import { PollerThread, type ThreadListener, threadFile } from "./poller-thread.ts";
import { RemoteRig } from "./remote-rig.ts";
import { readShape, type Shape } from "./remote-state.ts";

export interface WorkerPollerOptions extends FleetOptions {
  readonly workers: number;
  /** The logins of configured pools that a miner may use; the same list until it changes. */
  poolLogins(minerId: number): readonly PoolLogin[];
  readonly ended: ThreadListener["ended"];
  readonly recovered: ThreadListener["recovered"];
  /** The module that each thread runs; by default `threadFile`. */
  readonly file?: URL;
  /** Limit of its heap in MB; by default 2,048, which is enough for 50,000 rigs. */
  readonly heapMb?: number;
}

/**
 * Each rig's pool passwords are refreshed every ten turns, so that no turn is long; a command refreshes them itself.
 */
const loginTurns = 10;
const loginTurnMs = 1_000;
/** ms between two settings of the clocks of threads. */
const clockMs = 20;

/**
 * Polls rigs in worker threads. Rigs behind MQTT plugs or PDUs, managed miners, and rigs that are not read, stay in this
 * thread.
 */
export class WorkerPoller implements Poller {
  readonly #options: WorkerPollerOptions;
  readonly #local: Fleet;
  readonly #threads: readonly PollerThread[];
  readonly #rigs = new Map<number, PolledRig>();
  readonly #threadOf = new Map<RemoteRig, PollerThread>();
  readonly #timers: NodeJS.Timeout[];
  readonly #listener: FleetListener;
  readonly #nextRead = new NextRead();
  #lastNumber = 0;
  #watchesKeys = false;
  #loginTurn = 0;

  constructor(options: WorkerPollerOptions) {
    const { now, monotonicNow, timeout, workers, file = threadFile, heapMb = 2_048 } = options;
    this.#options = options;
    this.#listener = options.listener;
    this.#local = new Fleet(options);
    const hasOwnClocks = now !== Date.now || monotonicNow !== undefined;
    const clocks = (): Clocks | null =>
      hasOwnClocks ? { now: now(), monotonicNow: monotonicNow?.() ?? performance.now() } : null;
    const settings = { timeout, timeOrigin: performance.timeOrigin };
    const listener: ThreadListener = {
      reads: (message, rigs) => this.#reads(message, rigs),
      remember: (rig, remembered) => options.remember(rig.id, remembered),
      loginsOf: (rig) => options.poolLogins(rig.id),
      ended: (error, ends) => options.ended(error, ends),
      recovered: () => options.recovered(),
    };
    this.#threads = Array.from(
      { length: workers },
      (_, index) => new PollerThread({ worker: index + 1, settings, listener, clocks, file, heapMb }),
    );
    const sendClocks = (): void => {
      for (const thread of this.#threads) thread.sendClocks();
    };
    this.#timers = [
      setInterval(() => this.#turnLogins(), loginTurnMs),
      ...(hasOwnClocks ? [setInterval(sendClocks, clockMs)] : []),
    ];
  }

  get size(): number {
    return this.#rigs.size;
  }

  get(id: number): PolledRig | undefined {
    return this.#rigs.get(id);
  }

  all(): IterableIterator<PolledRig> {
    return this.#rigs.values();
  }

  put(declared: Declared, remembered: Remembered = unknownRig, last: RigState | null = null): PolledRig {
    this.remove(declared.id);
    const rig =
      declared.disabled ||
      declared.supply?.type === "mqtt" ||
      declared.supply?.type === "outlet" ||
      declared.program !== undefined ||
      declared.hostId !== undefined
        ? this.#local.put(declared, remembered, last)
        : this.#remote(declared, remembered, last);
    this.#rigs.set(rig.id, rig);
    return rig;
  }

  remove(id: number): void {
    const rig = this.#rigs.get(id);
    if (rig === undefined) return;
    this.#rigs.delete(id);
    if (rig instanceof RemoteRig) {
      this.#threadOf.get(rig)?.remove(rig);
      this.#threadOf.delete(rig);
    } else this.#local.remove(id);
  }

  adjust(id: number, settings: ReadSettings): void {
    const rig = this.#rigs.get(id);
    if (rig instanceof RemoteRig) this.#threadOf.get(rig)?.adjust(rig, settings);
    else this.#local.adjust(id, settings);
  }

  async poll(rig: PolledRig): Promise<void> {
    await rig.exclusively(() => this.read(rig));
  }

  async read(rig: PolledRig, manner: ReadManner = {}): Promise<void> {
    if (rig instanceof FleetRig) return this.#local.read(rig, manner);
    if (!(rig instanceof RemoteRig)) throw new RigbridgeError("internal", "A rig of another poller");
    const before = rig.state;
    if (await rig.read(manner)) this.#notify(rig, before, { changed: true, keys: 0, hasKeys: false });
  }

  watchKeys(watched: boolean): void {
    this.#watchesKeys = watched;
    this.#local.watchKeys(watched);
    for (const thread of this.#threads) thread.watchKeys(watched);
  }

  async settled(): Promise<void> {
    await this.#local.settled();
    await settledRigs(() => this.#threadOf.keys(), this.#nextRead);
  }

  /** Pool passwords have changed. */
  refreshLogins(): void {
    for (let turn = 0; turn < loginTurns; turn += 1) this.#turnLogins();
  }

  /** The health of each thread. */
  health(): readonly WorkerHealth[] {
    return this.#threads.map(({ health }) => health);
  }

  /** Ends a worker like a fault in it would; they are counted from 1. */
  async kill(worker: number): Promise<void> {
    await this.#threads[worker - 1]?.kill();
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    const closing = this.#local.close();
    await Promise.all(this.#threads.map((thread) => thread.close()));
    await closing;
    this.#rigs.clear();
    this.#threadOf.clear();
    this.#nextRead.ended();
  }

  /** In the least loaded thread. */
  #remote(declared: Declared, remembered: Remembered, last: RigState | null): RemoteRig {
    const [first, ...others] = this.#threads;
    if (first === undefined) throw new RigbridgeError("internal", "A poller without threads");
    const thread = others.reduce((least, each) => (each.rate < least.rate ? each : least), first);
    this.#lastNumber += 1;
    const rig = new RemoteRig(this.#lastNumber, declared, remembered, thread, this.#options.now);
    if (last !== null) rig.resume(last);
    this.#threadOf.set(rig, thread);
    thread.add(rig);
    return rig;
  }

  #reads(
    { packet, count, shapes, happenings }: Extract<FromThread, { t: "reads" }>,
    rigs: ReadonlyMap<number, RemoteRig>,
  ): void {
    let shapesTaken = 0;
    for (const read of unpack(packet, count)) {
      let shape: Shape | null = null;
      const texts = read.hasShape ? shapes[shapesTaken] : undefined;
      if (texts !== undefined) {
        shape = readShape(texts);
        shapesTaken += 1;
      }
      const rig = rigs.get(read.rig);
      if (rig !== undefined) this.#read(rig, read, shape);
    }
    for (const happening of happenings) {
      const rig = rigs.get(happening.rig);
      if (rig !== undefined) this.#happened(rig, happening);
    }
  }

  #read(rig: RemoteRig, read: UnpackedRead, shape: Shape | null): void {
    const before = rig.state;
    rig.update(read, shape);
    this.#notify(rig, before, { changed: read.changed, keys: read.keys, hasKeys: read.keys !== 0 });
  }

  #notify(
    rig: RemoteRig,
    before: RigState,
    { changed, keys, hasKeys }: { changed: boolean; keys: number; hasKeys: boolean },
  ): void {
    if (this.#rigs.get(rig.id) !== rig) return;
    try {
      const isMissing = changed && this.#watchesKeys && !hasKeys;
      this.#listener.read(rig, changed, before, isMissing ? changedKeys(before, rig.state, false) : keys);
    } catch (error) {
      rig.drop(before);
      this.#listener.failed(rig, error);
    }
    this.#nextRead.ended();
  }

  #happened(rig: RemoteRig, happening: Happening): void {
    if (this.#rigs.get(rig.id) !== rig) return;
    if (happening.t === "disconnected") this.#listener.disconnected(rig, happening.isKnown);
    else if (happening.t === "refused") this.#listener.refused(rig, happening.message);
    else this.#listener.failed(rig, receivedError(happening.error));
  }

  #turnLogins(): void {
    this.#loginTurn = (this.#loginTurn + 1) % loginTurns;
    // Only WhatsMiners need them, and an unidentified rig may be one.
    for (const rig of this.#threadOf.keys())
      if (rig.number % loginTurns === this.#loginTurn && (rig.state.driver ?? "whatsminer") === "whatsminer")
        rig.refreshLogins();
  }
}
