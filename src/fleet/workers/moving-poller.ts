import { RigbridgeError } from "../../contract/problems.ts";
import type { WorkerHealth } from "../../contract/service.ts";
import type { Declared, ReadSettings } from "../declared.ts";
import type { ReadManner } from "../fleet-rig.ts";
import type { FleetListener, PolledRig, Poller } from "../poller.ts";
import type { Remembered } from "../state.ts";
import { MovingRig } from "./moving-rig.ts";
import { WorkerPoller } from "./worker-poller.ts";

export interface MovingPollerOptions {
  readonly listener: FleetListener;
  /** Opens a poller with so many worker threads; 0: one in this thread. */
  readonly open: (workers: number, listener: FleetListener) => Poller;
  readonly workers: number;
}

/** Polls rigs with a number of worker threads that can change: a new poller takes over each rig when nothing uses it. */
export class MovingPoller implements Poller {
  readonly #options: MovingPollerOptions;
  readonly #listener: FleetListener;
  readonly #rigs = new Map<number, MovingRig>();
  #workers: number;
  #poller: Poller;
  /** Pollers whose rigs are moving, and when they have closed. */
  readonly #former = new Map<Poller, Promise<void>>();
  #watchesKeys = false;
  #isClosed = false;

  constructor(options: MovingPollerOptions) {
    this.#options = options;
    const { listener } = options;
    this.#listener = {
      read: (inner, ...change) => this.#of(inner, (rig) => listener.read(rig, ...change)),
      disconnected: (inner, isKnown) => this.#of(inner, (rig) => listener.disconnected(rig, isKnown)),
      refused: (inner, message) => this.#of(inner, (rig) => listener.refused(rig, message)),
      failed: (inner, error) => this.#of(inner, (rig) => listener.failed(rig, error)),
    };
    this.#workers = options.workers;
    this.#poller = options.open(options.workers, this.#listener);
  }

  /** Reads the rigs that do not have to wait for their move. */
  get present(): Poller {
    return this.#poller;
  }

  get size(): number {
    return this.#rigs.size;
  }

  get(id: number): PolledRig | undefined {
    return this.#rigs.get(id);
  }

  all(): Iterable<PolledRig> {
    return this.#rigs.values();
  }

  put(declared: Declared, remembered?: Remembered): PolledRig {
    this.remove(declared.id);
    const rig = new MovingRig(this.#poller.put(declared, remembered), this.#poller);
    this.#rigs.set(rig.id, rig);
    return rig;
  }

  remove(id: number): void {
    const rig = this.#rigs.get(id);
    this.#rigs.delete(id);
    rig?.poller.remove(id);
  }

  adjust(id: number, settings: ReadSettings): void {
    this.#rigs.get(id)?.poller.adjust(id, settings);
  }

  async poll(rig: PolledRig): Promise<void> {
    await rig.exclusively(() => this.read(rig));
  }

  async read(rig: PolledRig, manner?: ReadManner): Promise<void> {
    if (!(rig instanceof MovingRig)) throw new RigbridgeError("internal", "A rig of another poller");
    await rig.poller.read(rig.inner, manner);
  }

  watchKeys(watched: boolean): void {
    this.#watchesKeys = watched;
    for (const poller of [this.#poller, ...this.#former.keys()]) poller.watchKeys(watched);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#former.values());
    await this.#poller.settled();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const poller of this.#former.keys()) await poller.close();
    await this.#poller.close();
    await Promise.all(this.#former.values());
    this.#rigs.clear();
  }

  /**
   * Reads the rigs with so many worker threads; running reads and commands end where they began. False if there are so
   * many already.
   */
  use(workers: number): boolean {
    if (workers === this.#workers) return false;
    const former = this.#poller;
    this.#workers = workers;
    this.#poller = this.#options.open(workers, this.#listener);
    this.#poller.watchKeys(this.#watchesKeys);
    this.#former.set(former, this.#moveFrom(former));
    return true;
  }

  /** Pool passwords have changed. */
  refreshLogins(): void {
    for (const poller of [this.#poller, ...this.#former.keys()])
      if (poller instanceof WorkerPoller) poller.refreshLogins();
  }

  /** The health of each worker thread. */
  health(): readonly WorkerHealth[] {
    return this.#poller instanceof WorkerPoller ? this.#poller.health() : [];
  }

  async #moveFrom(former: Poller): Promise<void> {
    const moving = [...this.#rigs.values()].filter(({ poller }) => poller === former);
    await Promise.allSettled(
      moving.map((rig) =>
        rig.inner.exclusively(async () => {
          if (this.#rigs.get(rig.id) === rig && !this.#isClosed) rig.moveTo(this.#poller);
        }),
      ),
    );
    // A rig whose reading cannot be passed on stays.
    if (former.size > 0) return;
    await former.close();
    this.#former.delete(former);
  }

  /** Reads of a poller that the rig has left do not count. */
  #of(inner: PolledRig, call: (rig: PolledRig) => void): void {
    const rig = this.#rigs.get(inner.id);
    if (rig?.inner === inner) call(rig);
  }
}
