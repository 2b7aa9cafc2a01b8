import type { Rig } from "../link/driver.ts";
import type { Plug } from "../link/plugs/plug.ts";
import type { Declared, ReadSettings } from "./declared.ts";
import type { ReadManner } from "./fleet-rig.ts";
import type { Remembered, RigState } from "./state.ts";

/** A rig, polled in any thread. */
export interface PolledRig {
  readonly id: number;
  readonly declared: Declared;
  readonly state: RigState;
  readonly busy: boolean;
  /** Runs work while nothing else uses the rig, in the order of the calls. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Aborts the present read, if it yields: a command reads the rig itself, and must not wait for two reads. */
  makeWay(): void;
  /** The open link, for a command. Only within `exclusively`, after a good read. */
  rig(): Rig;
  /** Its plug; null without one. Only within `exclusively`. */
  readonly plug: Plug | null;
  /** The next read confirms that it is still the known rig, before a command is sent. */
  doubt(): void;
  /** The rig accepted a restart, after which it may be silent for this many seconds. */
  restarts(seconds: number): void;
  /** The rig has restarted. */
  restarted(): void;
}

/** Polls rigs and holds their state: `Fleet` in this thread, `WorkerPoller` in worker threads. */
export interface Poller {
  readonly size: number;
  get(id: number): PolledRig | undefined;
  all(): Iterable<PolledRig>;
  /**
   * Adds a rig, or replaces it after its declaration has changed. `last`: its state if another poller has read it until
   * now; its next read is then due as before.
   */
  put(declared: Declared, remembered?: Remembered, last?: RigState | null): PolledRig;
  remove(id: number): void;
  /** Reads a rig in another way from now on, without affecting running exchanges. */
  adjust(id: number, settings: ReadSettings): void;
  /** Reads a rig once its present exchange is done. */
  poll(rig: PolledRig): Promise<void>;
  /** Reads a rig and notifies the listener; never rejects. Only within `exclusively`. */
  read(rig: PolledRig, manner?: ReadManner): Promise<void>;
  /** Whether the listener's `read` receives the changed keys. */
  watchKeys(watched: boolean): void;
  /** Resolves when each rig has been read since it was put, and no exchange is running. */
  settled(): Promise<void>;
  /** Stops polling; resolves once the listener has received the last reads. */
  close(): Promise<void>;
}

/** Called once after each read. An exception drops the reading of that rig. */
export interface FleetListener {
  /**
   * `changed` is false if only time has passed since the state `before`. `keys`: as in `changedKeys`, of a watched
   * poller.
   */
  read(rig: PolledRig, changed: boolean, before: RigState, keys: number): void;
  /**
   * The third consecutive read was missed, not because of a restart. `isKnown`: it was already offline in an earlier
   * run.
   */
  disconnected(rig: PolledRig, isKnown: boolean): void;
  /** Another rig answers, or one that already is another miner; not reported again if an earlier run reported it. */
  refused(rig: PolledRig, message: string): void;
  /** Processing the reading failed, so it is dropped. Never throws. */
  failed(rig: PolledRig, error: unknown): void;
}
