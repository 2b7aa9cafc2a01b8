import { Mutex } from "../../async/index.ts";
import { noMessages } from "../../contract/messages.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { PoolAction, PoolControls, PoolLogin, PoolReading, Rig } from "../../link/driver.ts";
import { openPlug } from "../../link/plugs/open-plug.ts";
import type { Plug } from "../../link/plugs/plug.ts";
import { type Declared, type ReadSettings, withReadSettings } from "../declared.ts";
import type { ReadManner } from "../fleet-rig.ts";
import type { PolledRig } from "../poller.ts";
import {
  afterMiss,
  afterRefusal,
  beforeFirstRead,
  type Remembered,
  type RigState,
  unusable,
  withReason,
} from "../state.ts";
import type { Call, PutRig, ToThread } from "./messages.ts";
import type { UnpackedRead } from "./packet.ts";
import { bodyOf, figuresOfOne, RemoteState, type Shape, shapeOf, writeFigures } from "./remote-state.ts";

type AnyCall = Call extends infer C ? (C extends Call ? Omit<C, "n" | "rig" | "sendBefore"> : never) : never;

/** The connection of a rig to its worker thread. */
export interface ThreadOfRig {
  /** Increases when the thread is replaced: an exchange prepared for the previous thread is not sent to the next. */
  readonly generation: number;
  post(rig: RemoteRig, message: ToThread): void;
  /** Throws the error of the rig or its driver, or `rig.unreachable` if the thread has ended. */
  call(rig: RemoteRig, call: AnyCall, signal?: AbortSignal): Promise<string>;
  loginsOf(rig: RemoteRig): readonly PoolLogin[];
}

/** Interval in ms from which a rig keeps a copy of its part of a batch. */
const keptMs = 60_000;

/** A rig that is polled in a worker thread: its last received state, and the connection to the thread. */
export class RemoteRig implements PolledRig {
  readonly number: number;
  #declared: Declared;
  readonly #remembered: Remembered;
  readonly #thread: ThreadOfRig;
  readonly #mutex = new Mutex();
  readonly #now: () => number;
  #state: RigState;
  /** As last received; null before the first read. */
  #shape: Shape | null = null;
  #body: Uint8Array | null = null;
  #logins: readonly PoolLogin[] = [];
  #plug: Plug | null = null;
  /** Its turn is taken or requested. */
  #held = false;
  #taken: () => void = () => undefined;
  #isRemoved = false;
  /** By `performance.now`. */
  #restartsUntil = Number.NEGATIVE_INFINITY;

  constructor(number: number, declared: Declared, remembered: Remembered, thread: ThreadOfRig, now: () => number) {
    this.number = number;
    this.#declared = declared;
    this.#remembered = remembered;
    this.#thread = thread;
    this.#now = now;
    this.#state = withReason(beforeFirstRead(remembered), declared.disabled, now());
  }

  /** Continues from its state if another poller has read it until now. */
  resume(last: RigState): void {
    const figures = new Float64Array(figuresOfOne);
    writeFigures(last, figures, 0);
    this.#shape = shapeOf(last);
    this.#body = last.reading === null ? null : Buffer.from(bodyOf(last.reading));
    this.#state = new RemoteState(this.#shape, this.#body, figures, 0);
  }

  get id(): number {
    return this.#declared.id;
  }

  get declared(): Declared {
    return this.#declared;
  }

  /** Reads differ from now on. */
  adjust(settings: ReadSettings): void {
    this.#declared = withReadSettings(this.#declared, settings);
    this.#post({ t: "adjust", rig: this.number, settings });
  }

  get state(): RigState {
    return this.#state;
  }

  get busy(): boolean {
    return this.#mutex.locked;
  }

  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      await this.#take();
      try {
        return await work();
      } finally {
        this.#held = false;
        this.#post({ t: "give", rig: this.number });
      }
    });
  }

  /** Its own plug, over HTTP: rigs whose plugs use MQTT are read in the main thread. */
  get plug(): Plug | null {
    const { supply, disabled } = this.declared;
    if (supply && !disabled) this.#plug ??= openPlug(supply, { messages: noMessages, now: this.#now });
    return this.#plug;
  }

  makeWay(): void {
    this.#post({ t: "makeWay", rig: this.number });
  }

  doubt(): void {
    this.#post({ t: "doubt", rig: this.number });
  }

  restarts(seconds: number): void {
    this.#restartsUntil = performance.now() + seconds * 1000;
    this.#post({ t: "restarts", rig: this.number, seconds });
  }

  restarted(): void {
    this.#restartsUntil = Number.NEGATIVE_INFINITY;
    this.#post({ t: "restarted", rig: this.number });
  }

  /** Commands go to the thread that has read the rig for them: another thread does not know which rig answers. */
  rig(): Rig {
    const { generation } = this.#thread;
    const call = (what: AnyCall, signal: AbortSignal): Promise<string> =>
      this.#thread.generation === generation
        ? this.#thread.call(this, what, signal)
        : Promise.reject(new RigbridgeError("rig.unreachable", "The connection to the rig has ended"));
    const on =
      (action: PoolAction) =>
      (pool: PoolReading | PoolLogin, signal: AbortSignal): Promise<string> =>
        call({ t: "pool", action, pool }, signal);
    const pools: Required<PoolControls> = {
      add: on("add"),
      use: on("use"),
      switch: on("switch"),
      enable: on("enable"),
      disable: on("disable"),
      remove: on("remove"),
      prioritize: on("prioritize"),
    };
    return {
      read: () => Promise.reject(new RigbridgeError("internal", "A rig in a worker thread is read by its poller")),
      set: (key, value, signal) => call({ t: "set", key, value }, signal),
      pools,
      close: () => undefined,
    };
  }

  /**
   * Never rejects: if the thread ended in the meantime, the read has failed. Returns whether the state has changed
   * otherwise.
   */
  async read(manner: ReadManner): Promise<boolean> {
    try {
      await this.#thread.call(this, { t: "read", manner });
      return false;
    } catch (error) {
      const { code, message } = error instanceof RigbridgeError ? error : { code: "internal", message: String(error) };
      const { reading } = this.#state;
      const missed = afterMiss(
        { ...plain(this.#state), reading },
        { code, message, quoted: message },
        manner.silence === true,
      );
      this.#state = withReason(missed, this.declared.disabled, this.#now());
      return true;
    }
  }

  /** Applies a read from its thread. */
  update({ hasReading, body, figures, offset }: UnpackedRead, newShape: Shape | null): void {
    this.#shape = newShape ?? this.#shape;
    if (!hasReading) this.#body = null;
    // A view would keep the whole batch until the next read.
    else if (body !== null) this.#body = this.declared.interval > keptMs ? body.slice() : body;
    if (this.#shape !== null) this.#state = new RemoteState(this.#shape, this.#body, figures, offset);
  }

  /** The program failed on the last reading, so it is dropped. `before` is the state before it; the identity is kept. */
  drop(before: RigState): void {
    const { uid, driver, identity } = this.#state;
    const dropped = afterRefusal({ ...plain(before), reading: null, uid, driver, identity }, unusable);
    this.#state = withReason(dropped, this.declared.disabled, this.#now());
    this.#body = null;
    this.#post({ t: "drop", rig: this.number });
  }

  /** The thread has reserved the rig for `exclusively`. */
  taken(): void {
    this.#taken();
  }

  /** The rig has left the poller: its waiting work continues, and fails. */
  remove(): void {
    this.#post({ t: "remove", rig: this.number });
    this.#isRemoved = true;
    this.#taken();
  }

  /** For a thread that does not have it yet. */
  toPut(): PutRig {
    const { credentials, ...declared } = this.declared;
    const { poolPassword: _, ...login } = credentials;
    const state = this.#state;
    const left = (this.#restartsUntil - performance.now()) / 1000;
    this.#logins = this.#thread.loginsOf(this);
    return {
      rig: this.number,
      declared: { ...declared, credentials: login },
      remembered: this.#remembered,
      last: this.#shape === null ? null : plain(state),
      body: state.brief === null ? null : this.#body,
      uptime: state.brief?.readings.uptime ?? null,
      held: this.#held,
      restarts: Math.max(0, left),
      logins: this.#logins,
    };
  }

  /** Pool passwords may have changed. */
  refreshLogins(): void {
    const logins = this.#thread.loginsOf(this);
    if (logins === this.#logins) return;
    this.#logins = logins;
    this.#post({ t: "logins", rig: this.number, logins });
  }

  #take(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isRemoved) return resolve();
      this.refreshLogins();
      this.#taken = resolve;
      this.#post({ t: "take", rig: this.number });
      this.#held = true;
    });
  }

  #post(message: ToThread): void {
    if (!this.#isRemoved) this.#thread.post(this, message);
  }
}

/** Without the reading. */
function plain(state: RigState): Omit<RigState, "reading" | "brief"> {
  const { uid, driver, identity, software, controls, layout, startedAt, energy, reason, records } = state;
  const { at, missed, trouble, restarting, hashingSince } = state;
  return {
    uid,
    driver,
    identity,
    software,
    controls,
    layout,
    startedAt,
    energy,
    reason,
    records,
    at,
    missed,
    trouble,
    restarting,
    hashingSince,
  };
}
