import type { Logger } from "pino";
import type { Program } from "../../contract/agent.ts";
import { notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Choice, Switching, SwitchingState } from "../../contract/switching.ts";
import type { RigState } from "../../fleet/state.ts";
import { modelOf } from "../../link/programs/gpu-figures.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, Stored, StoredManagedMiner } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { isDemo } from "../miners/declared-miner.ts";
import type { Coins } from "../money/coins.ts";
import { type PricesFor, worthOf } from "../money/earnings.ts";
import { BenchmarkMeter } from "./benchmark-meter.ts";
import type { Benchmarks } from "./benchmarks.ts";
import type { ManagedMiners } from "./managed-miners.ts";
import { poolsOf } from "./program-of.ts";
import { decide } from "./switching-law.ts";
import { type PricedOption, pricedOptions } from "./switching-options.ts";

export interface SwitcherOptions {
  readonly store: Store;
  readonly managed: ManagedMiners;
  readonly benchmarks: Benchmarks;
  readonly coins: Coins;
  readonly prices: PricesFor;
  stateOf(minerId: number): RigState | undefined;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly log: Logger;
}

/** ms between two turns. */
export const switchingTurnMs = 15_000;
/** ms for measuring a choice; if that fails, it is left out for a day. */
const measureWithinMs = 1_200_000;
const leftOutMs = 86_400_000;

/** A managed miner that is being measured or switched. */
interface Turn {
  readonly miner: Stored<StoredManagedMiner>;
  readonly switching: Switching;
  readonly options: readonly PricedOption[];
  /** Index of the choice that it mines; -1 for none. */
  readonly present: number;
}

/** State of a managed miner. */
interface Known {
  readonly meter: BenchmarkMeter;
  /** Of the last measured read, epoch ms. */
  readAt: number | null;
  /** Models of its cards, as last read; null before. */
  models: readonly string[] | null;
  /** The choice that it mines only for a measurement, and since when by the monotonic clock. */
  measuring: { readonly choice: string; since: number } | null;
  /** Choices that could not be measured, and when. */
  readonly unmeasurable: Map<string, number>;
  why: string | null;
}

/** Measures cards while they mine, and switches managed miners to the best of their choices. */
export class Switcher {
  readonly #options: SwitcherOptions;
  readonly #known = new Map<number, Known>();
  #turning = false;

  constructor(options: SwitcherOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async turn(): Promise<void> {
    if (this.#turning) return;
    this.#turning = true;
    const { store, log } = this.#options;
    const miners = enabled(store.managedMiners);
    const ids = new Set(miners.map(({ id }) => id));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    for (const miner of miners)
      await this.#turnOf(miner).catch((error: unknown) =>
        log.error({ err: error, miner: miner.id }, "profit switching failed"),
      );
    this.#turning = false;
  }

  /** Throws `nothing.to.do` for a managed miner without choices. */
  stateOf(minerId: number): SwitchingState {
    const miner = this.#options.store.managedMiners.get(minerId);
    if (miner === undefined || miner.disabled) throw notFound("managed miner", minerId);
    if (miner.switching === null) throw new RigbridgeError("nothing.to.do", detail("host.noChoices", { id: minerId }));
    const { options, present, switching } = this.#situation(miner, miner.switching);
    const known = this.#known.get(minerId);
    return {
      choice: present < 0 ? null : present,
      since: miner.switchedAt === null ? null : new Date(miner.switchedAt).toISOString(),
      why: miner.running ? (known?.why ?? "no choice has been made yet") : "it is stopped",
      measuring: known?.measuring != null,
      options: options.map(({ hashrate, power, revenue, knownCost: cost }, index) => ({
        algorithm: switching.choices[index]?.algorithm ?? "",
        hashrate,
        power,
        revenue,
        cost,
        profit: revenue === null || cost === null ? null : revenue - cost,
      })),
    };
  }

  async #turnOf(miner: Stored<StoredManagedMiner>): Promise<void> {
    const program = this.#options.managed.programOf(miner);
    if ("message" in program) return;
    const known = this.#knownOf(miner.id);
    await this.#measure(miner, program, known);
    const { switching, running } = miner;
    const status = this.#options.managed.stateOf(miner)?.status;
    if (switching === null || !running || status === undefined || known.models === null) return;
    const turn = this.#situation(miner, switching);
    const next = this.#nextToMeasure(turn, status, known);
    if (next === "measuring") return;
    if (next !== null) {
      known.measuring = { choice: keyOf(next), since: this.#options.monotonicNow() };
      known.why = "this choice is being measured";
      await this.#use(turn, next, known.why);
      return;
    }
    // A choice that could not be measured is not worth keeping.
    const isMeasured = turn.options[turn.present]?.hashrate != null;
    const { key, why } = decide({
      mode: switching.mode,
      options: turn.options,
      hysteresis: switching.hysteresis / 100,
      present: isMeasured ? String(turn.present) : null,
      since: miner.switchedAt ?? 0,
      now: this.#options.now(),
      minimumStayMs: switching.minimumStay * 1000,
    });
    known.why = why;
    const chosen = key === null ? undefined : switching.choices[Number(key)];
    if (chosen !== undefined) await this.#use(turn, chosen, why);
  }

  /** The choice to mine for a measurement; "measuring": one is running; null: all that can be are measured. */
  #nextToMeasure({ miner, switching, options }: Turn, status: string, known: Known): Choice | "measuring" | null {
    const { now, monotonicNow, log } = this.#options;
    const isKnown = (choice: Choice) => options[switching.choices.indexOf(choice)]?.hashrate !== null;
    const running = known.measuring;
    const measured = switching.choices.find((choice) => keyOf(choice) === running?.choice);
    if (running !== null && measured !== undefined && !isKnown(measured)) {
      // Time in which its host is busy with other work or downloads the software does not count.
      if (status === "idle" || status === "downloading" || status === "confirming") running.since = monotonicNow();
      if (monotonicNow() - running.since < measureWithinMs) return "measuring";
      log.warn({ miner: miner.id, algorithm: measured.algorithm }, "an algorithm could not be measured");
      known.unmeasurable.set(running.choice, now());
    }
    known.measuring = null;
    const isLeftOut = (choice: Choice) => {
      const at = known.unmeasurable.get(keyOf(choice));
      return at !== undefined && Math.abs(now() - at) < leftOutMs;
    };
    return switching.choices.find((choice) => !isKnown(choice) && !isLeftOut(choice) && this.#canMine(choice)) ?? null;
  }

  async #use({ miner, present, switching }: Turn, choice: Choice, why: string): Promise<void> {
    const { store, managed, now, log } = this.#options;
    if (switching.choices[present] === choice || !this.#canMine(choice)) return;
    const { algorithm, poolId, isPoolGroup, softwareType } = choice;
    const software = softwareType === "" ? {} : { softwareType };
    const change = { algorithm, poolId, isPoolGroup, addedPools: [], ...software, switchedAt: now() };
    managed.put(await store.managedMiners.change(miner.id, change));
    log.info({ miner: miner.id, algorithm, why }, "a managed miner is switched");
  }

  /** Whether its pool is still there. */
  #canMine = ({ poolId, isPoolGroup }: Choice): boolean =>
    poolsOf({ poolId, isPoolGroup, addedPools: [] }, this.#options.store).length > 0;

  #situation(miner: Stored<StoredManagedMiner>, switching: Switching): Turn {
    const { benchmarks, coins, prices, store } = this.#options;
    const models = this.#known.get(miner.id)?.models ?? [];
    const now = prices(miner.id);
    const facts = switching.choices.map((choice, index) => {
      const [pool] = poolsOf({ ...choice, addedPools: [] }, store);
      const coin = pool === undefined ? undefined : coins.coin(pool.coinShortName);
      const pays = coin !== undefined && coins.isSameAlgorithm(coin.algorithm, choice.algorithm);
      return {
        key: String(index),
        expected: benchmarks.expected(models, choice.softwareType || miner.softwareType, this.#idOf(choice.algorithm)),
        worth: pays ? worthOf(coin, now).money : null,
      };
    });
    const present = switching.choices.findIndex(
      ({ algorithm, poolId, isPoolGroup, softwareType }) =>
        coins.isSameAlgorithm(algorithm, miner.algorithm) &&
        poolId === miner.poolId &&
        isPoolGroup === miner.isPoolGroup &&
        (softwareType === "" || softwareType === miner.softwareType),
    );
    return { miner, switching, present, options: pricedOptions(facts, now.electricity) };
  }

  /** Whether all its cards mine a single algorithm: dual mining cannot be measured. */
  async #measure({ id }: Stored<StoredManagedMiner>, program: Program, known: Known): Promise<void> {
    const state = this.#options.stateOf(id);
    if (state?.reading == null || state.missed > 0 || state.at === null || state.at === known.readAt) return;
    known.readAt = state.at;
    const { readings, devices } = state.reading;
    const gpus = this.#options.managed.programs(id).gpus;
    const named = devices.map((device) => ({ ...device, name: modelOf(device, gpus) }));
    if (named.length > 0) known.models = namesOf(named);
    const { coins, benchmarks, monotonicNow } = this.#options;
    const isOther = readings.algorithm !== null && !coins.isSameAlgorithm(readings.algorithm, program.algorithm);
    const mines = readings.mining !== false && !isOther && program.dualAlgorithm === null;
    const subject = [program.software, program.algorithm, program.parameters, program.gpuSettings];
    const found = known.meter.take({
      subject: JSON.stringify(subject),
      uptime: mines ? readings.uptime : null,
      devices: named,
      at: monotonicNow(),
    });
    // Virtual cards say nothing about real ones.
    if (found !== null && !isDemo(id)) await benchmarks.add(found, program.software, this.#idOf(program.algorithm));
  }

  #knownOf(minerId: number): Known {
    const found = this.#known.get(minerId);
    if (found !== undefined) return found;
    const known: Known = {
      meter: new BenchmarkMeter(),
      unmeasurable: new Map(),
      readAt: null,
      models: null,
      measuring: null,
      why: null,
    };
    this.#known.set(minerId, known);
    return known;
  }

  #idOf = (algorithm: string): string => this.#options.coins.algorithm(algorithm)?.id ?? algorithm;
}

const keyOf = ({ algorithm, poolId, isPoolGroup, softwareType }: Choice): string =>
  JSON.stringify([algorithm, poolId, isPoolGroup, softwareType]);

/** The cards that mine; a card that is switched off adds nothing. */
const namesOf = (devices: readonly { readonly name: string; readonly status: string }[]): string[] =>
  devices.filter(({ status }) => status !== "disabled").map(({ name }) => name);
