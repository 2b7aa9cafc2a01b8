import { monitorEventLoopDelay } from "node:perf_hooks";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { SendDeadline, sendingBefore } from "../../async/send-deadline.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { absentPoolAction } from "../../link/controls.ts";
import type { PoolLogin, Reading } from "../../link/driver.ts";
import { passwordIn } from "../../link/pool-login.ts";
import { same } from "../../link/same.ts";
import { Fleet } from "../fleet.ts";
import type { FleetRig } from "../fleet-rig.ts";
import type { Remembered, RigState } from "../state.ts";
import {
  type Call,
  type Clocks,
  type FromThread,
  firstCredit,
  type Happening,
  type PutRig,
  receivedError,
  type SentError,
  sentError,
  type ThreadSettings,
  type ToThread,
} from "./messages.ts";
import { type PackedRead, pack } from "./packet.ts";
import { bodyOf, readingOf, type Shape, type ShapeTexts, shapeOf, writeShape } from "./remote-state.ts";

/** The code of a worker thread: a fleet that sends its reads to the main thread in batches. */

interface Entry {
  readonly number: number;
  readonly rig: FleetRig;
  logins: readonly PoolLogin[];
  /** The shape that the main thread has, or will get next. */
  shape: Shape | null;
  reading: Reading | null;
  /** Ends the turn of the main thread. */
  give: () => void;
}

interface Pending extends Omit<PackedRead, "hasShape"> {
  readonly shape: ShapeTexts | null;
}

/** ms for which reads wait for one another. */
const batchMs = 20;
const beatMs = 1_000;

class PollingThread {
  readonly #port: MessagePort;
  #clocks: Clocks | null;
  readonly #fleet: Fleet;
  readonly #entries = new Map<number, Entry>();
  readonly #byRig = new Map<number, Entry>();
  /** Reads not sent to the main thread yet: only the newest of each rig, however slow the main thread is. */
  readonly #pending = new Map<Entry, Pending>();
  #happenings: Happening[] = [];
  #flushing = false;
  #credit = firstCredit;
  readonly #remembering = new Map<number, (error: SentError | null) => void>();
  #asked = 0;
  /** Running exchanges of calls. */
  readonly #calls = new Map<number, AbortController>();
  readonly #lag = monitorEventLoopDelay({ resolution: 20 });

  constructor(port: MessagePort, { timeout, timeOrigin, clocks }: ThreadSettings) {
    this.#port = port;
    this.#clocks = clocks;
    const ahead = performance.timeOrigin - timeOrigin;
    this.#fleet = new Fleet({
      timeout,
      now: () => this.#clocks?.now ?? Date.now(),
      monotonicNow: () => this.#clocks?.monotonicNow ?? performance.now() + ahead,
      remember: (id, remembered) => this.#remember(id, remembered),
      listener: {
        read: ({ id, state }, changed, _before, keys) => this.#take(id, state, changed, keys),
        disconnected: ({ id }, isKnown) => this.#happened(id, (rig) => ({ rig, t: "disconnected", isKnown })),
        refused: ({ id }, message) => this.#happened(id, (rig) => ({ rig, t: "refused", message })),
        failed: ({ id, state }, error) => {
          this.#takeDropped(id, state);
          this.#happened(id, (rig) => ({ rig, t: "failed", error: sentError(error) }));
        },
      },
    });
    port.on("message", (message: ToThread) => this.#obey(message));
    this.#lag.enable();
    setInterval(() => this.#beat(), beatMs);
    this.#beat();
  }

  #obey(message: ToThread): void {
    switch (message.t) {
      case "put":
        for (const each of message.rigs) this.#put(each);
        return;
      case "credit":
        this.#credit += 1;
        if (this.#pending.size > 0) this.#flushSoon();
        return;
      case "abort":
        this.#calls.get(message.n)?.abort(new DOMException("", message.reason));
        return;
      case "remembered":
        this.#remembering.get(message.n)?.(message.error);
        this.#remembering.delete(message.n);
        return;
      case "clocks":
        this.#clocks = message.clocks;
        return;
      case "watchKeys":
        this.#fleet.watchKeys(message.watched);
        return;
      case "close":
        void this.#close();
        return;
      case "read":
      case "set":
      case "pool":
        void this.#answer(message);
        return;
      case "take":
        this.#hold(this.#entries.get(message.rig), message.rig);
        return;
    }
    const entry = this.#entries.get(message.rig);
    if (entry === undefined) return;
    const { rig } = entry;
    switch (message.t) {
      case "give":
        entry.give();
        return;
      case "remove":
        this.#entries.delete(message.rig);
        this.#pending.delete(entry);
        if (this.#byRig.get(rig.id) === entry) this.#byRig.delete(rig.id);
        this.#fleet.remove(rig.id);
        entry.give();
        return;
      case "logins":
        entry.logins = message.logins;
        return;
      case "adjust":
        this.#fleet.adjust(rig.id, message.settings);
        return;
      case "restarts":
        rig.restarts(message.seconds);
        return;
      case "drop":
        entry.reading = null;
        rig.drop(rig.state);
        return;
      case "doubt":
      case "makeWay":
      case "restarted":
        rig[message.t]();
        return;
    }
  }

  #put({ rig: number, declared, remembered, last, body, uptime, held, restarts, logins }: PutRig): void {
    const reading = last === null || body === null ? null : readingOf(body, last.controls, uptime);
    const credentials = {
      ...declared.credentials,
      poolPassword: (url: string, worker: string) => passwordIn(entry.logins, url, worker),
    };
    const rig = this.#fleet.put({ ...declared, credentials }, remembered, last && { ...last, reading });
    const entry: Entry = { number, rig, logins, shape: null, reading, give: () => undefined };
    this.#entries.set(number, entry);
    this.#byRig.set(rig.id, entry);
    if (restarts > 0) rig.restarts(restarts);
    if (held) this.#hold(entry, number);
  }

  /** The turn of the main thread. A removed rig needs no waiting. */
  #hold(entry: Entry | undefined, rig: number): void {
    if (entry === undefined) {
      this.#post({ t: "taken", rig });
      return;
    }
    void entry.rig.exclusively(
      () =>
        new Promise<void>((resolve) => {
          entry.give = resolve;
          this.#post({ t: "taken", rig });
        }),
    );
  }

  async #answer(call: Call): Promise<void> {
    const limit = new AbortController();
    this.#calls.set(call.n, limit);
    let error: SentError | null = null;
    let value = "";
    try {
      const entry = this.#entries.get(call.rig);
      if (entry === undefined) throw removed();
      const deadline = call.sendBefore === null ? null : new SendDeadline(call.sendBefore);
      value = await sendingBefore(deadline, () => this.#carryOut(call, entry, limit.signal));
    } catch (thrown) {
      error = sentError(thrown);
    }
    this.#calls.delete(call.n);
    this.#flush();
    this.#post({ t: "done", n: call.n, value, error });
  }

  async #carryOut(call: Call, { number, rig }: Entry, signal: AbortSignal): Promise<string> {
    if (call.t === "read") {
      await this.#fleet.read(rig, call.manner);
      if (!this.#entries.has(number)) throw removed();
      return "";
    }
    const link = rig.rig();
    if (call.t === "set") return link.set(call.key, call.value, signal);
    const act = link.pools[call.action];
    if (act === undefined) throw absentPoolAction(call.action);
    return Reflect.apply(act, link.pools, [call.pool, signal]);
  }

  #remember(id: number, remembered: Partial<Remembered>): Promise<void> {
    const entry = this.#byRig.get(id);
    if (entry === undefined) return Promise.reject(removed());
    this.#asked += 1;
    const n = this.#asked;
    return new Promise((resolve, reject) => {
      this.#remembering.set(n, (error) => (error === null ? resolve() : reject(receivedError(error))));
      this.#post({ t: "remember", n, rig: entry.number, remembered });
    });
  }

  /** Throws if the reading cannot be processed: the fleet then drops it. */
  #take(id: number, state: RigState, changed: boolean, keys: number): void {
    const entry = this.#byRig.get(id);
    if (entry === undefined) return;
    const before = this.#pending.get(entry);
    const shape = shapeOf(state);
    const shapeText = entry.shape !== null && same(shape, entry.shape) ? (before?.shape ?? null) : writeShape(shape);
    const isNew = changed && state.reading !== null && state.reading !== entry.reading;
    const body = isNew ? bodyOf(state.reading) : (before?.body ?? null);
    entry.shape = shape;
    entry.reading = state.reading;
    this.#pending.set(entry, {
      rig: entry.number,
      changed: changed || before?.changed === true,
      keys: keys | (before?.keys ?? 0),
      shape: shapeText,
      state,
      body: state.reading === null ? null : body,
    });
    this.#flushSoon();
  }

  /** The program may fail on its identity too. */
  #takeDropped(id: number, state: RigState): void {
    try {
      this.#take(id, state, true, 0);
    } catch {
      this.#take(id, { ...state, identity: null, reading: null }, true, 0);
    }
  }

  #happened(id: number, happening: (rig: number) => Happening): void {
    const entry = this.#byRig.get(id);
    if (entry !== undefined) this.#happenings.push(happening(entry.number));
  }

  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setTimeout(() => {
      this.#flushing = false;
      // Otherwise the next credit does.
      if (this.#credit > 0) this.#flush();
    }, batchMs);
  }

  #flush(): void {
    if (this.#pending.size === 0 && this.#happenings.length === 0) return;
    this.#credit -= 1;
    const reads = Array.from(this.#pending.values(), (each) => ({ ...each, hasShape: each.shape !== null }));
    const shapes = reads.flatMap(({ shape }) => (shape === null ? [] : [shape]));
    const happenings = this.#happenings;
    this.#pending.clear();
    this.#happenings = [];
    const packet = pack(reads);
    this.#port.postMessage({ t: "reads", packet, count: reads.length, shapes, happenings } satisfies FromThread, [
      packet,
    ]);
  }

  #beat(): void {
    const seconds = (nanoseconds: number): number =>
      this.#lag.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - 0.02);
    const health = {
      heap: process.memoryUsage().heapUsed,
      lagP99: seconds(this.#lag.percentile(99)),
      lagMax: seconds(this.#lag.max),
    };
    this.#lag.reset();
    this.#post({ t: "beat", health });
  }

  /** The remaining reads are still sent to the main thread. */
  async #close(): Promise<void> {
    await this.#fleet.close();
    this.#flush();
    this.#post({ t: "closed" });
  }

  #post(message: FromThread): void {
    this.#port.postMessage(message);
  }
}

const removed = (): RigbridgeError => new RigbridgeError("rig.unreachable", "The miner was changed or removed");

if (parentPort !== null) new PollingThread(parentPort, workerData);
