import { setTimeout as sleep } from "node:timers/promises";
import { Background, Mutex, pause } from "../../async/index.ts";
import type { FacilityDevice } from "../../contract/facility-settings.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { nextRead } from "../../fleet/schedule.ts";
import type { FacilityLink, OutletState } from "../../link/facility/facility-link.ts";
import {
  type FacilityValues,
  type JudgedPast,
  judge,
  noPast,
  unknownValues,
} from "../../link/facility/plausibility.ts";
import type { Plug } from "../../link/plugs/plug.ts";

/** ms that one read may take. */
const readTimeoutMs = 5_000;
/** ms for a device to report that it has switched, and before each look. */
const switchTimeoutMs = 10_000;
const confirmDelaysMs = [200, 500, 1_000, 2_000] as const;
/** Reads that may be missed before the last values count as unknown. */
const missesUntilUnknown = 3;
/** Readings that are kept for what adds up over time; turns of large farms are up to ten seconds apart. */
const recentReadings = 64;
/** ms after which an outlet is read again for its rig, and that this may take of the rig's own read. */
const outletFreshMs = 5_000;
const outletWaitMs = 2_000;

/** What a meter showed, and when, epoch ms. */
export interface MeterReading {
  readonly at: number;
  /** W. */
  readonly power: number;
  /** kWh of its counter; null: it has none, or it is not believed. */
  readonly energy: number | null;
}

/** The state of a device as last read. */
export interface DeviceState {
  /** null: unknown, not believed, or too old. */
  readonly values: FacilityValues;
  readonly on: boolean | null;
  readonly outlets: readonly OutletState[];
  /** Why values are not believed. */
  readonly implausible: readonly string[];
  /** Why the last read failed; null if it did not. */
  readonly trouble: RigbridgeError | null;
  /** Epoch ms of the last good read; null before the first. */
  readonly at: number | null;
}

const unread: DeviceState = {
  values: unknownValues,
  on: null,
  outlets: [],
  implausible: [],
  trouble: null,
  at: null,
};

export interface DeviceContext {
  /** Epoch ms. */
  readonly now: () => number;
  /** ms of the monotonic clock. */
  readonly monotonicNow: () => number;
}

/** One device: read when due, one exchange at a time, and switched with its reading as proof. */
export class Device {
  readonly settings: FacilityDevice;
  readonly #link: FacilityLink;
  readonly #context: DeviceContext;
  readonly #mutex = new Mutex();
  readonly #running = new Background();
  readonly #closing = new AbortController();
  /** 0 to 1, by its place in the list, so that devices are not all read at once. */
  readonly #phase: number;
  #dueAt = Number.NEGATIVE_INFINITY;
  /** When the last read ended, good or not. */
  #readAt = Number.NEGATIVE_INFINITY;
  /** A read that has not begun. */
  #nextRead: Promise<void> | null = null;
  #missed = 0;
  #past: JudgedPast = noPast;
  #state: DeviceState = unread;
  #recent: readonly MeterReading[] = [];

  constructor(settings: FacilityDevice, link: FacilityLink, phase: number, context: DeviceContext) {
    this.settings = settings;
    this.#link = link;
    this.#phase = phase;
    this.#context = context;
  }

  get state(): DeviceState {
    return this.#state;
  }

  /** Its last readings with a power, oldest first. */
  get recent(): readonly MeterReading[] {
    return this.#recent;
  }

  /** ms after which a silent meter has not measured what was between two readings. */
  get longestGapMs(): number {
    return (missesUntilUnknown + 0.5) * this.settings.interval * 1000;
  }

  /** Whether it is to be read now, by the same schedule as rigs. */
  get isDue(): boolean {
    return !this.#mutex.locked && this.#context.monotonicNow() >= this.#dueAt;
  }

  /** Reads it, and begins that after this call; callers that wait for their turn share one read. Never rejects. */
  poll(): Promise<void> {
    if (!this.#mutex.locked) return this.#running.add(this.#mutex.run(() => this.#read()));
    this.#nextRead ??= this.#running.add(
      this.#mutex.run(() => {
        this.#nextRead = null;
        return this.#read();
      }),
    );
    return this.#nextRead;
  }

  /** Resolves when nothing is under way. */
  settled(): Promise<void> {
    return this.#running.settled();
  }

  /**
   * Starts or stops a fan, and resolves once it reports that. Throws `rig.refused` if it reports the opposite for 10 s,
   * `rig.timeout` if it reports nothing, `rig.unreachable` if the signal was aborted before anything was sent, and the
   * errors of the link.
   */
  run(on: boolean, signal: AbortSignal): Promise<void> {
    return this.#switched(
      on,
      (within) => this.#link.run?.(on, within) ?? Promise.reject(this.#cannotSwitch()),
      () => this.#state.on,
      "it",
      signal,
    );
  }

  /** One outlet as a plug: its state is that of the last read, and a switch is confirmed like that of a fan. */
  outlet(n: number): Plug {
    const state = (): OutletState | undefined => this.#state.outlets.find((outlet) => outlet.n === n);
    return {
      read: async (signal) => {
        await this.#refresh(signal);
        const outlet = state();
        if (outlet === undefined || outlet.on === null) {
          const silent = `${this.settings.key} does not report whether outlet ${n} is on`;
          throw this.#state.trouble ?? new RigbridgeError("rig.garbled", silent);
        }
        return { on: outlet.on, power: outlet.power, energy: null };
      },
      switch: (on, signal) =>
        this.#switched(
          on,
          (within) => this.#link.switchOutlet?.(n, on, within) ?? Promise.reject(this.#cannotSwitch()),
          () => state()?.on ?? null,
          `outlet ${n}`,
          signal,
        ),
      // The device is closed with its settings.
      close: () => undefined,
    };
  }

  /** Final; cancels the present exchange. */
  close(): void {
    this.#closing.abort();
    this.#link.close();
  }

  #switched(
    on: boolean,
    write: (signal: AbortSignal) => Promise<void>,
    isOn: () => boolean | null,
    what: string,
    signal: AbortSignal,
  ): Promise<void> {
    const within = AbortSignal.any([signal, this.#closing.signal]);
    return this.#running.add(this.#writeAndConfirm(on, write, isOn, what, within));
  }

  /** Others may read and write between the write and the reads that confirm it, so that outlets do not wait for each other. */
  async #writeAndConfirm(
    on: boolean,
    write: (signal: AbortSignal) => Promise<void>,
    isOn: () => boolean | null,
    what: string,
    within: AbortSignal,
  ): Promise<void> {
    const { key } = this.settings;
    await this.#mutex.run(async () => {
      if (within.aborted)
        throw new RigbridgeError("rig.unreachable", `${key} was busy for too long, so the command was not sent`);
      await write(AbortSignal.any([within, AbortSignal.timeout(switchTimeoutMs)]));
    });
    const late = AbortSignal.any([within, AbortSignal.timeout(switchTimeoutMs)]);
    for (let look = 0; !late.aborted; look += 1) {
      await this.poll();
      if (this.#state.trouble === null && isOn() === on) return;
      const delay = confirmDelaysMs[Math.min(look, confirmDelaysMs.length - 1)];
      await sleep(delay, null, { signal: late }).catch(() => undefined);
    }
    const word = on ? "on" : "off";
    if (this.#state.trouble === null && isOn() === !on)
      throw new RigbridgeError(
        "rig.refused",
        `${key} accepted the command, but ${what} stayed ${on ? "off" : "on"} for ${switchTimeoutMs / 1000} s`,
      );
    throw new RigbridgeError("rig.timeout", `${key} did not confirm in time that ${what} is ${word}`);
  }

  /** A device that does not answer is then read by its schedule alone, and must not use up the reads of its rigs. */
  async #refresh(signal: AbortSignal): Promise<void> {
    const age = this.#context.monotonicNow() - this.#readAt;
    if (age < outletFreshMs || this.#missed >= missesUntilUnknown) return;
    const done = new AbortController();
    const waited = pause(outletWaitMs, AbortSignal.any([signal, done.signal]));
    await Promise.race([this.poll(), waited]);
    done.abort();
  }

  #cannotSwitch(): RigbridgeError {
    return new RigbridgeError("rig.refused", `${this.settings.key} cannot be switched`);
  }

  async #read(): Promise<void> {
    const { now, monotonicNow } = this.#context;
    const begun = monotonicNow();
    try {
      const limit = AbortSignal.any([AbortSignal.timeout(readTimeoutMs), this.#closing.signal]);
      const raw = await this.#link.read(limit);
      const at = now();
      const { values, implausible, past } = judge(raw, this.#link.ranges, this.#past, at);
      this.#past = past;
      this.#missed = 0;
      this.#state = { values, on: raw.on, outlets: raw.outlets, implausible, trouble: null, at };
      const { power, energy } = values;
      if (power !== null) this.#recent = [...this.#recent.slice(1 - recentReadings), { at, power, energy }];
    } catch (error) {
      this.#missed += 1;
      const trouble = error instanceof RigbridgeError ? error : new RigbridgeError("internal", String(error));
      const kept = this.#missed < missesUntilUnknown ? this.#state : { ...unread, at: this.#state.at };
      this.#state = { ...kept, trouble };
    }
    this.#readAt = monotonicNow();
    this.#dueAt = nextRead(begun, this.settings.interval * 1000, this.#phase, this.#missed);
  }
}
