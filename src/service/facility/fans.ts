import type { Logger } from "pino";
import { pause } from "../../async/pause.ts";
import { sendingBefore } from "../../async/send-deadline.ts";
import { canRun } from "../../contract/facility-settings.ts";
import { detailIn, RigbridgeError } from "../../contract/problems.ts";
import { briefOf, type RigState } from "../../fleet/state.ts";
import { detail } from "../../messages/detail.ts";
import type { Store } from "../../store/index.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { Device } from "./device.ts";
import { type CooledRig, type FanMemory, fanTurn, noFanMemory } from "./fan-law.ts";

/** A rig that starts may take that long to say that it runs; until then its fan does not stop. */
const slowestStartMs = 300_000;

const retryAfterMs = 60_000;

/** ms between two looks at the rigs of a fan while its own state stays the same. */
const lookMs = 10_000;

export interface FansContext {
  readonly devices: () => readonly Device[];
  readonly rigsOf: (device: Device) => readonly Entry[];
  /** Whether a miner is one of these rigs, as of now. */
  readonly covers: (device: Device, minerId: number) => boolean;
  readonly store: Pick<Store, "lease">;
  readonly log: Logger;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Fans that run while their rigs do: before the first one starts, and for a time after the last one has stopped. */
export class Fans {
  readonly #context: FansContext;
  readonly #closing = new AbortController();
  readonly #memories = new WeakMap<Device, FanMemory>();
  /** The state of a fan when a turn last looked at its rigs, and when that was, epoch ms. */
  readonly #looks = new WeakMap<Device, { readonly at: number; readonly state: Device["state"] }>();
  /** Fans that a turn is switching now. */
  readonly #switching = new Set<Device>();
  /** When a turn may try again a fan that it could not switch, epoch ms. */
  readonly #retryAt = new WeakMap<Device, number>();
  /** A start that waits for a fan; further rigs share it. */
  readonly #starting = new Map<Device, Promise<void>>();

  constructor(context: FansContext) {
    this.#context = context;
  }

  /**
   * Resolves once the fans of a miner run, and have run for their `startDelay` if they were off. Throws `not.possible`
   * with the name of the fan that does not start or does not answer.
   */
  async beforeStart(minerId: number): Promise<void> {
    await Promise.all(this.#fansOf(minerId).map((fan) => this.#started(fan)));
  }

  /** Whether a miner has fans. */
  cool(minerId: number): boolean {
    return this.#fansOf(minerId).length > 0;
  }

  /** One turn over all fans; never rejects. */
  async turn(): Promise<void> {
    const { lease } = this.#context.store;
    if (lease !== null && !lease.mayAct()) return;
    await sendingBefore(lease?.deadline ?? null, () => Promise.all(this.#fans().map((fan) => this.#turn(fan))));
  }

  close(): void {
    this.#closing.abort();
  }

  #fans(): readonly Device[] {
    return this.#context.devices().filter(({ settings }) => settings.kind === "fan" && canRun(settings));
  }

  #fansOf(minerId: number): readonly Device[] {
    return this.#fans().filter((fan) => this.#context.covers(fan, minerId));
  }

  #started(fan: Device): Promise<void> {
    const running = this.#starting.get(fan) ?? this.#start(fan).finally(() => this.#starting.delete(fan));
    this.#starting.set(fan, running);
    return running;
  }

  async #start(fan: Device): Promise<void> {
    const { name, key, startDelay } = fan.settings;
    const { signal } = this.#closing;
    // As it is now: since the last read, it may have stopped.
    await fan.poll();
    const { on, trouble } = fan.state;
    try {
      if (trouble !== null) throw trouble;
      if (on !== true) {
        await fan.run(true, signal);
        this.#context.log.info({ device: key }, "a fan was started");
        await pause(startDelay * 1000, signal);
      }
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      throw new RigbridgeError("not.possible", detail("facility.noFan", { fan: name ?? key, why: detailIn(error) }));
    }
    if (signal.aborted) throw new RigbridgeError("not.possible", detail("service.stopping"));
    this.#memories.set(fan, { ...this.#memoryOf(fan), keepOnUntil: this.#context.now() + slowestStartMs });
  }

  #memoryOf(fan: Device): FanMemory {
    return this.#memories.get(fan) ?? noFanMemory;
  }

  async #turn(fan: Device): Promise<void> {
    const { now, log, rigsOf } = this.#context;
    const { key, offDelay } = fan.settings;
    const look = this.#looks.get(fan);
    if (look?.state === fan.state && Math.abs(now() - look.at) < lookMs) return;
    this.#looks.set(fan, { at: now(), state: fan.state });
    const rigs = rigsOf(fan).map(({ rig }) => cooled(rig.state));
    const offDelayMs = offDelay === undefined ? null : offDelay * 1000;
    const { wanted, memory: next } = fanTurn(rigs, fan.state.on, offDelayMs, this.#memoryOf(fan), now());
    this.#memories.set(fan, next);
    if (wanted === null || this.#starting.has(fan) || this.#switching.has(fan)) return;
    if (now() < (this.#retryAt.get(fan) ?? 0)) return;
    this.#switching.add(fan);
    try {
      await fan.run(wanted, this.#closing.signal);
      if (wanted) log.info({ device: key }, "a fan was started");
      else log.info({ device: key }, "a fan was stopped");
    } catch (error) {
      this.#retryAt.set(fan, now() + retryAfterMs);
      log.warn({ device: key, err: error }, "a fan could not be switched");
    } finally {
      this.#switching.delete(fan);
    }
  }
}

/** A rig is stopped only if its last read says so. */
function cooled(state: RigState): CooledRig {
  const mining = state.missed > 0 ? null : (briefOf(state)?.readings.mining ?? null);
  return mining === null ? "unknown" : mining ? "running" : "stopped";
}
