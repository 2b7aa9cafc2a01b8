import { Worker } from "node:worker_threads";
import { type BackOff, backOffMs } from "../../async/index.ts";
import { sendDeadline } from "../../async/send-deadline.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { WorkerHealth } from "../../contract/service.ts";
import type { PoolLogin } from "../../link/driver.ts";
import type { ReadSettings } from "../declared.ts";
import {
  type Clocks,
  type FromThread,
  receivedError,
  sentError,
  type ThreadSettings,
  type ToThread,
} from "./messages.ts";
import type { RemoteRig, ThreadOfRig } from "./remote-rig.ts";

/** Receives the messages of a thread. */
export interface ThreadListener {
  reads(message: Extract<FromThread, { t: "reads" }>, rigs: ReadonlyMap<number, RemoteRig>): void;
  remember(rig: RemoteRig, remembered: Extract<FromThread, { t: "remember" }>["remembered"]): Promise<void>;
  loginsOf(rig: RemoteRig): readonly PoolLogin[];
  /** The thread ended unexpectedly; `ends`: its consecutive ends, and when a new thread takes over its rigs. */
  ended(error: Error, ends: ThreadEnds): void;
  /** The thread has since run for long enough. */
  recovered(): void;
}

export interface ThreadEnds {
  /** Counted from 1. */
  readonly worker: number;
  readonly rigs: number;
  readonly times: number;
  readonly restartMs: number;
}

export interface PollerThreadOptions {
  /** Counted from 1. */
  readonly worker: number;
  readonly settings: Omit<ThreadSettings, "clocks">;
  readonly listener: ThreadListener;
  /** The clocks of the main thread, if they differ from the machine's. */
  clocks(): Clocks | null;
  /** The module that the thread runs. */
  readonly file: URL;
  /** Limit of its heap in MB. */
  readonly heapMb: number;
}

/** Beats that may be missed; the first one is sent only once the modules are loaded. */
const missedBeats = { first: 60, later: 10 };
const beatMs = 1_000;
/** ms after which a running thread counts as recovered. */
const recoveredMs = 300_000;
const restarts: BackOff = { firstMs: 1_000, longestMs: 60_000 };
/** Rigs passed to a new thread per turn, so that other work is not delayed. */
const putAtOnce = 500;
/** ms for a thread to send its last reads. */
const closeMs = 2_000;

/** The module of a thread, from the sources or built. */
export const threadFile = new URL(import.meta.url.endsWith(".ts") ? "./thread.ts" : "./thread.js", import.meta.url);

interface OpenCall {
  resolve(value: string): void;
  reject(error: Error): void;
}

/** One worker thread with its rigs. If it ends or hangs, a new one takes over with their last known state. */
export class PollerThread implements ThreadOfRig {
  readonly #options: PollerThreadOptions;
  readonly #listener: ThreadListener;
  readonly #rigs = new Map<number, RemoteRig>();
  /** Rigs that the present thread does not have yet. */
  readonly #unput = new Set<RemoteRig>();
  #putting: NodeJS.Immediate | null = null;
  #worker: Worker | null = null;
  #generation = 0;
  readonly #calls = new Map<number, OpenCall>();
  #called = 0;
  #watched = false;
  /** Reads per second of its rigs. */
  #rate = 0;
  #beatsMissed = 0;
  #hasBeaten = false;
  #startedAt = 0;
  /** Consecutive ends. */
  #ends = 0;
  #fault: Error | null = null;
  #restart: NodeJS.Timeout | null = null;
  readonly #watching: NodeJS.Timeout;
  #isClosed = false;
  #closed: (() => void) | null = null;
  #health: WorkerHealth = { heap: 0, lagP99: 0, lagMax: 0 };

  constructor(options: PollerThreadOptions) {
    this.#options = options;
    this.#listener = options.listener;
    this.#start();
    this.#watching = setInterval(() => this.#watch(), beatMs);
  }

  get generation(): number {
    return this.#generation;
  }

  get rate(): number {
    return this.#rate;
  }

  get health(): WorkerHealth {
    return this.#health;
  }

  loginsOf(rig: RemoteRig): readonly PoolLogin[] {
    return this.#listener.loginsOf(rig);
  }

  add(rig: RemoteRig): void {
    this.#rigs.set(rig.number, rig);
    this.#rate += 1000 / rig.declared.interval;
    this.#unput.add(rig);
    this.#putSoon();
  }

  remove(rig: RemoteRig): void {
    if (!this.#rigs.delete(rig.number)) return;
    this.#rate -= 1000 / rig.declared.interval;
    rig.remove();
    this.#unput.delete(rig);
  }

  adjust(rig: RemoteRig, settings: ReadSettings): void {
    this.#rate += 1000 / settings.interval - 1000 / rig.declared.interval;
    rig.adjust(settings);
  }

  watchKeys(watched: boolean): void {
    this.#watched = watched;
    this.#send({ t: "watchKeys", watched });
  }

  /** Messages to an ended thread are dropped: the next one receives the whole state. */
  post(rig: RemoteRig, message: ToThread): void {
    if (this.#worker === null) return;
    if (this.#unput.delete(rig)) this.#send({ t: "put", rigs: [rig.toPut()] });
    this.#send(message);
  }

  call: ThreadOfRig["call"] = (rig, call, signal) => {
    if (this.#worker === null || this.#isClosed) return Promise.reject(ended());
    this.#called += 1;
    const n = this.#called;
    const abort = (): void => {
      const { reason } = signal ?? {};
      this.#send({ t: "abort", n, reason: reason instanceof Error ? reason.name : "AbortError" });
    };
    const answer = new Promise<string>((resolve, reject) => this.#calls.set(n, { resolve, reject }));
    this.post(rig, { ...call, n, rig: rig.number, sendBefore: sendDeadline()?.shared ?? null });
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort);
    return answer.finally(() => signal?.removeEventListener("abort", abort));
  };

  /** In order with the messages. */
  sendClocks(): void {
    const clocks = this.#options.clocks();
    if (clocks !== null) this.#worker?.postMessage({ t: "clocks", clocks } satisfies ToThread);
  }

  /** Ends the thread like a fault in it would. */
  async kill(): Promise<void> {
    await this.#worker?.terminate();
  }

  /** Resolves when the thread has sent its last reads and has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watching);
    if (this.#restart !== null) clearTimeout(this.#restart);
    if (this.#putting !== null) clearImmediate(this.#putting);
    const worker = this.#worker;
    if (worker !== null) {
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, closeMs);
        this.#closed = () => {
          clearTimeout(late);
          resolve();
        };
        this.#send({ t: "close" });
      });
      await worker.terminate();
    }
    this.#failCalls();
    for (const rig of this.#rigs.values()) rig.remove();
    this.#rigs.clear();
  }

  #start(): void {
    this.#generation += 1;
    this.#beatsMissed = 0;
    this.#hasBeaten = false;
    this.#startedAt = performance.now();
    this.#fault = null;
    const worker = this.#open();
    if (worker === null) return;
    this.#worker = worker;
    worker.on("message", (message: FromThread) => this.#take(message));
    worker.on("error", (error) => {
      this.#fault = error instanceof Error ? error : new Error(String(error));
    });
    worker.once("exit", (code) => this.#ended(this.#fault ?? new Error(`it ended with code ${code}`)));
    if (this.#watched) this.#send({ t: "watchKeys", watched: true });
    for (const rig of this.#rigs.values()) this.#unput.add(rig);
    this.#putSoon();
  }

  /** Null if the machine has no room for another thread: counts as an ended one. */
  #open(): Worker | null {
    const { file, settings, heapMb, clocks } = this.#options;
    try {
      return new Worker(file, {
        name: "rigbridge poller",
        workerData: { ...settings, clocks: clocks() } satisfies ThreadSettings,
        resourceLimits: { maxOldGenerationSizeMb: heapMb },
      });
    } catch (error) {
      setImmediate(() => this.#ended(error instanceof Error ? error : new Error(String(error))));
      return null;
    }
  }

  #putSoon(): void {
    if (this.#putting !== null || this.#unput.size === 0 || this.#worker === null) return;
    this.#putting = setImmediate(() => {
      this.#putting = null;
      if (this.#worker === null) return;
      const rigs: RemoteRig[] = [];
      for (const rig of this.#unput) {
        if (rigs.length >= putAtOnce) break;
        rigs.push(rig);
        this.#unput.delete(rig);
      }
      if (rigs.length > 0) this.#send({ t: "put", rigs: rigs.map((rig) => rig.toPut()) });
      this.#putSoon();
    });
  }

  #send(message: ToThread): void {
    this.sendClocks();
    this.#worker?.postMessage(message);
  }

  #take(message: FromThread): void {
    switch (message.t) {
      case "reads":
        this.#listener.reads(message, this.#rigs);
        this.#send({ t: "credit" });
        return;
      case "taken":
        this.#rigs.get(message.rig)?.taken();
        return;
      case "done": {
        const call = this.#calls.get(message.n);
        this.#calls.delete(message.n);
        if (message.error === null) call?.resolve(message.value);
        else call?.reject(receivedError(message.error));
        return;
      }
      case "remember":
        void this.#remember(message);
        return;
      case "beat":
        this.#beatsMissed = 0;
        this.#hasBeaten = true;
        this.#health = message.health;
        return;
      case "closed":
        this.#closed?.();
        return;
    }
  }

  async #remember({ n, rig, remembered }: Extract<FromThread, { t: "remember" }>): Promise<void> {
    const { generation } = this;
    const known = this.#rigs.get(rig);
    let error: Error | null = known === undefined ? ended() : null;
    try {
      if (known !== undefined) await this.#listener.remember(known, remembered);
    } catch (thrown) {
      error = thrown instanceof Error ? thrown : new Error(String(thrown));
    }
    if (this.#generation === generation)
      this.#send({ t: "remembered", n, error: error === null ? null : sentError(error) });
  }

  /** Counts beats instead of time: a hanging main thread receives none. */
  #watch(): void {
    if (this.#worker === null) return;
    this.#beatsMissed += 1;
    if (this.#beatsMissed > (this.#hasBeaten ? missedBeats.later : missedBeats.first)) {
      this.#fault = new Error(`it did not respond for ${this.#beatsMissed - 1} s`);
      this.#beatsMissed = 0;
      void this.#worker.terminate();
    }
    if (this.#ends === 0 || performance.now() - this.#startedAt < recoveredMs) return;
    this.#ends = 0;
    this.#listener.recovered();
  }

  #ended(error: Error): void {
    this.#worker = null;
    this.#failCalls();
    if (this.#isClosed) {
      this.#closed?.();
      return;
    }
    this.#ends += 1;
    const restartMs = this.#ends === 1 ? 0 : backOffMs(this.#ends - 1, restarts);
    this.#listener.ended(error, { worker: this.#options.worker, rigs: this.#rigs.size, times: this.#ends, restartMs });
    if (restartMs === 0) this.#start();
    else this.#restart = setTimeout(() => this.#start(), restartMs);
  }

  #failCalls(): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.reject(ended());
  }
}

const ended = (): RigbridgeError => new RigbridgeError("rig.unreachable", "The connection to the rig has ended");
