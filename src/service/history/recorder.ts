import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import { Mutex } from "../../async/index.ts";
import type { PolledRig } from "../../fleet/poller.ts";
import { briefOf } from "../../fleet/state.ts";
import { type Sample, type Store, type TakeSample, takeSample } from "../../store/index.ts";
import type { Sections } from "../settings/live-settings.ts";
import { GroupEnergy } from "./group-energy.ts";

/** ms between two writes: a power cut loses at most this much of the history. */
const writeIntervalMs = 5_000;
/** ms of a turn in which finished hours are packed, and as many for old days: enough for 100,000 rigs. */
const stepsMs = 1_000;

/** Stores samples of the rigs for the history, and their energy, so that it survives a restart. */
export class Recorder {
  readonly #store: Store;
  readonly #settings: Sections<"history">;
  readonly #now: () => number;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  readonly #energy = new Map<number, number>();
  readonly #groupEnergy: GroupEnergy;
  readonly #turns = new Mutex();
  #samples: Sample[] = [];
  #failing = false;
  #isClosing = false;

  constructor(store: Store, settings: Sections<"history">, now: () => number, log: Logger) {
    this.#store = store;
    this.#settings = settings;
    this.#now = now;
    this.#log = log;
    for (const { minerId, energy } of store.memory.all()) if (energy !== null) this.#energy.set(minerId, energy);
    this.#groupEnergy = new GroupEnergy(store);
    this.#timer = setInterval(() => void this.#turn(), writeIntervalMs);
  }

  /** Call it before the first reading. */
  start(): Promise<void> {
    return this.#inTurn(() => this.#groupEnergy.save());
  }

  /** Records the reading of a rig. */
  add({ id, state }: PolledRig): void {
    const { at, missed, energy } = state;
    const brief = briefOf(state);
    if (brief === null || at === null || missed > 0) return;
    const { hashrate, power, temperature } = brief.readings;
    this.#samples.push({ minerId: id, time: at, hashrate, power, temperature, energy });
  }

  /** The samples of a rig in any order, including unsaved ones. */
  async each(minerId: number, from: number, to: number, take: TakeSample): Promise<void> {
    const unsaved = this.#samples;
    await this.#store.samples.each(minerId, from, to, take);
    for (const sample of unsaved)
      if (sample.minerId === minerId && sample.time >= from && sample.time < to) takeSample(sample, take);
  }

  /** The approximate number of those samples. */
  count(minerId: number, from: number, to: number): Promise<number> {
    return this.#store.samples.count(minerId, from, to);
  }

  /** Last stored Wh. */
  energyOf(minerId: number): number | null {
    return this.#energy.get(minerId) ?? null;
  }

  /** Last stored Wh of a group; null while unknown. */
  energyOfGroup(groupId: number): number | null {
    return this.#groupEnergy.of(groupId);
  }

  forget(minerId: number): void {
    this.#energy.delete(minerId);
    this.#samples = this.#samples.filter((sample) => sample.minerId !== minerId);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    await this.#inTurn(() => this.#write());
  }

  #turn(): Promise<void> {
    const { samples } = this.#store;
    return this.#inTurn(async () => {
      await this.#write();
      await this.#inSteps(() => samples.pack(this.#now()));
      await this.#inSteps(() => samples.prune(this.#now(), this.#settings.history));
    });
  }

  /** Until there is nothing more to do, or the time is up; other work goes on between the steps. */
  async #inSteps(step: () => Promise<boolean>): Promise<void> {
    const until = performance.now() + stepsMs;
    while (!this.#isClosing && performance.now() < until && (await step())) await nextTurn();
  }

  /** If a write fails, the store keeps the values for the next one, and as many samples as it can. */
  async #write(): Promise<void> {
    const samples = this.#samples;
    this.#samples = [];
    const latest = new Map<number, number>();
    for (const { minerId, energy } of samples) if (energy !== null) latest.set(minerId, energy);
    const batch = [...latest].map(([minerId, energy]) => ({ minerId, energy }));
    try {
      if (samples.length > 0) await this.#store.samples.append(samples);
    } finally {
      // Samples that are refused must not keep back what else waits to be written.
      if (batch.length > 0) await this.#store.memory.saveEnergy(batch);
      for (const { minerId, energy } of batch) {
        this.#groupEnergy.add(minerId, energy - (this.#energy.get(minerId) ?? 0));
        this.#energy.set(minerId, energy);
      }
      await this.#groupEnergy.save();
      await this.#store.flush();
    }
  }

  /** One write at a time. A failure is logged once; reads and commands continue. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    return this.#turns.run(async () => {
      try {
        await work();
        if (this.#failing) this.#log.info("history is written again");
        this.#failing = false;
      } catch (error) {
        if (!this.#failing) this.#log.error({ err: error }, "history cannot be written");
        this.#failing = true;
      }
    });
  }
}
