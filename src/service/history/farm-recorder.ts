import { setImmediate as turn } from "node:timers/promises";
import type { Logger } from "pino";
import { briefOf } from "../../fleet/state.ts";
import { type FarmMoment, farmSpans, type Store } from "../../store/index.ts";
import { isDemo } from "../miners/declared-miner.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import { lineOf } from "../nested-groups.ts";
import { placesOf } from "../places/place-book.ts";
import type { Sections } from "../settings/live-settings.ts";
import { FarmSums } from "./group-sums.ts";
import { seriesAround } from "./place-series.ts";

export interface FarmRecorderOptions {
  readonly registry: MinerRegistry;
  readonly store: Store;
  /** The store of demo miners, whose history ends with the process. */
  readonly demoStore: Store;
  readonly settings: Sections<"history">;
  readonly rates: { readonly currency: string };
  /** Epoch ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** ms between two checks of the clock. */
export const farmTurnMs = 15_000;

const sampleMs = farmSpans.raw * 1000;
/** Miners that are summed at once: some 2 ms, for which nothing else is answered. */
const summedAtOnce = 250;
/** ms after the start without records while some miners are unread: they would count as stopped. */
const startupMs = 300_000;

/**
 * Records the sums of the farm, and of each group and place, once a minute, so that no request has to add up histories. Rigs in repair
 * are left out.
 */
export class FarmRecorder {
  readonly #options: FarmRecorderOptions;
  readonly #startedAt: number;
  #recordedAt = Number.NEGATIVE_INFINITY;
  #failing = false;

  constructor(options: FarmRecorderOptions) {
    this.#options = options;
    this.#startedAt = options.now();
  }

  /** Records once per minute. Never rejects. */
  async turn(): Promise<void> {
    const { registry, store, demoStore, settings, now, log } = this.#options;
    const time = Math.floor(now() / sampleMs) * sampleMs;
    if (time === this.#recordedAt) return;
    const entries = [...registry.all()];
    if (now() < this.#startedAt + startupMs && entries.some(isUnread)) return;
    this.#recordedAt = time;
    try {
      const working = entries.filter(({ facts }) => facts.repair === null);
      const [demos, own] = [working.filter(isOfDemo), working.filter((entry) => !isOfDemo(entry))];
      for (const [into, some] of [[store, own] as const, [demoStore, demos] as const]) {
        if (some.length > 0) await into.farmSamples.append(await this.#moment(some, time));
        await into.farmSamples.prune(now(), settings.history);
      }
      if (this.#failing) log.info("the farm's history is written again");
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.error({ err: error }, "the farm's history cannot be written");
      this.#failing = true;
    }
  }

  async #moment(entries: readonly Entry[], time: number): Promise<FarmMoment> {
    const { registry, store, rates } = this.#options;
    const lines = new Map<number, readonly number[]>();
    const placeLines = new Map<number, readonly number[]>();
    const places = placesOf(store);
    const sums = new FarmSums();
    for (const [index, { facts, rig }] of entries.entries()) {
      if (index > 0 && index % summedAtOnce === 0) await turn();
      const line = lines.get(facts.groupId) ?? lineOf(facts.groupId, store.groups);
      lines.set(facts.groupId, line);
      const around = placeLines.get(facts.placeId ?? 0) ?? seriesAround(facts.placeId, places);
      placeLines.set(facts.placeId ?? 0, around);
      const series = around.length === 0 ? line : [...line, ...around];
      const figures = registry.display.jsonCache.current(facts.id)?.figures;
      const power = briefOf(rig.state)?.readings.power ?? null;
      if (figures === undefined) sums.add(series, power, undefined);
      else {
        const { running, earnings, dual } = figures;
        sums.add(series, power, { running, earnings, works: dual ?? [figures] });
      }
    }
    return sums.at(time, rates.currency);
  }
}

const isOfDemo = ({ facts }: Entry): boolean => isDemo(facts.id);

const isUnread = ({ rig: { state, declared } }: Entry): boolean =>
  state.at === null && state.missed === 0 && state.trouble === null && !declared.disabled;
