import type { Rig } from "../link/driver.ts";
import type { Plug } from "../link/plugs/plug.ts";
import type { Declared } from "./declared.ts";
import type { ReadManner } from "./fleet-rig.ts";
import type { Remembered, RigState } from "./state.ts";

/** A rig, wherever it is polled. */
export interface PolledRig {
  readonly id: number;
  readonly declared: Declared;
  readonly state: RigState;
  readonly busy: boolean;
  /** Runs work while nothing else uses the rig, in the order of the calls. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Aborts the present read, if it yields: a command reads the rig itself, and need not wait for two reads. */
  makeWay(): void;
  /** The open link, for a command. Only within `exclusively`, after a good read. */
  rig(): Rig;
  /** Its plug; null without one. Only within `exclusively`. */
  readonly plug: Plug | null;
  /** The next read confirms that it is still the known rig, before a command is sent. */
  doubt(): void;
  /** It accepted a restart, after which it may be silent for so many seconds. */
  restarts(seconds: number): void;
  /** It has restarted. */
  restarted(): void;
}

/** Polls rigs and holds their state: `Fleet` in this thread, `WorkerPoller` in worker threads. */
export interface Poller {
  readonly size: number;
  get(id: number): PolledRig | undefined;
  all(): Iterable<PolledRig>;
  /** Adds a rig, or replaces it after its declaration has changed. */
  put(declared: Declared, remembered?: Remembered): PolledRig;
  remove(id: number): void;
  /** Reads a rig at another interval (ms) from now on, beside what is under way with it. */
  pace(id: number, interval: number): void;
  /** Reads a rig once its present exchange is done. */
  poll(rig: PolledRig): Promise<void>;
  /** Reads a rig and notifies the listener; never rejects. Only within `exclusively`. */
  read(rig: PolledRig, manner?: ReadManner): Promise<void>;
  /** Whether the listener's `read` is given the keys that have changed. */
  watchKeys(watched: boolean): void;
  /** Resolves when each rig has been read since it was put, and no exchange with one is under way. */
  settled(): Promise<void>;
  /** Stops polling; resolves when the listener has had the last reads. */
  close(): Promise<void>;
}

/** Called once after each read. What it throws drops the reading of that one rig. */
export interface FleetListener {
  /**
   * `changed` is false when only time has passed since the state `before`. `keys`: as `changedKeys`, of a watched
   * poller.
   */
  read(rig: PolledRig, changed: boolean, before: RigState, keys: number): void;
  /** The third read in a row was missed, not because of a restart. `isKnown`: it was off in an earlier run already. */
  disconnected(rig: PolledRig, isKnown: boolean): void;
  /** Another rig answers, or one that is another miner already; not reported again for what an earlier run reported. */
  refused(rig: PolledRig, message: string): void;
  /** The program failed on the reading, which is dropped. Never throws. */
  failed(rig: PolledRig, error: unknown): void;
}
