import type { Logger } from "pino";
import type { Config } from "../config/schema.ts";
import { briefOf, type RigState } from "../fleet/state.ts";
import type { PoolReading } from "../link/driver.ts";
import type { MoneySums, Store } from "../store/index.ts";
import { isDemo, type MinerRegistry } from "./miners/miner-registry.ts";
import type { Prices, PricesFor } from "./money/earnings.ts";
import type { BestInput } from "./money/economics.ts";
import { addedSums, Ledger } from "./money/ledger.ts";
import type { LocalClock } from "./money/local-time.ts";
import type { PoolBook } from "./money/pool-book.ts";
import type { Rates } from "./money/rates.ts";
import type { Tariff } from "./money/tariff.ts";
import { Tariffs } from "./money/tariffs.ts";
import type { PowerTargets } from "./power/power-targets.ts";

/** Exchange rates, tariffs, and the prices that follow from them now. */
export function pricing(config: Config, store: Store, rates: Rates, now: () => number) {
  const tariffs = new Tariffs(config, store, (currency) => rates.of(currency));
  const pricesWith = (tariff: Tariff | undefined): Prices => ({
    currency: rates.currency,
    btc: rates.btc?.value,
    usd: rates.of("USD") ?? undefined,
    electricity: tariff?.at(now()).price,
  });
  const prices: PricesFor = (minerId) => pricesWith(tariffs.ofMiner(minerId));
  return { rates, tariffs, prices, generalPrices: () => pricesWith(tariffs.ofGroup(0)) };
}

/** Rounded, so that rounding errors do not count as changes. */
export const rounded = (amount: number | null): number | null => (amount === null ? null : Number(amount.toFixed(6)));

export function* activePools(registry: MinerRegistry): Iterable<Pick<PoolReading, "url" | "worker">> {
  for (const { facts, rig } of registry.all()) {
    if (facts.demo) continue;
    const active = briefOf(rig.state)?.pools.find((pool) => pool.active);
    if (active !== undefined) yield active;
  }
}

/** A stopped rig's possible earnings follow from the pool that it would use. */
export function bestInput(
  state: RigState | undefined,
  id: number,
  power: PowerTargets,
  book: PoolBook,
): BestInput | undefined {
  const known = state === undefined ? undefined : power.rungs(id, state);
  const pools = state?.reading?.pools ?? [];
  const pool = pools.find(({ active }) => active) ?? pools.find(({ status }) => status === "enabled") ?? pools[0];
  if (known === undefined || pool === undefined) return undefined;
  return { ...known, coin: book.definitionOf(pool, state?.reading?.readings.algorithm ?? null).coin };
}

interface LedgerOptions {
  readonly config: Pick<Config, "history">;
  readonly store: Store;
  readonly demoStore: Store;
  readonly now: () => number;
  readonly log: Logger;
  readonly rates: Rates;
  readonly tariffs: Tariffs;
  readonly localTime: LocalClock;
  /** Takes what was read since the reads that count. */
  readonly takeRest: (closing: AbortSignal) => Promise<void>;
}

/** The earnings of demo miners are not stored. */
export function openLedgers(options: LedgerOptions) {
  const { config, store, demoStore, now, log, rates, tariffs, localTime, takeRest } = options;
  const open = ({ moneyDays: days }: Store): Ledger =>
    new Ledger({
      ...(days === store.moneyDays ? { takeRest } : {}),
      days,
      localTime,
      now,
      log,
      currency: rates.currency,
      keepDays: config.history.hourly,
      tariffOf: (minerId) => tariffs.ofMiner(minerId),
      btc: () => rates.btc?.value,
    });
  const [own, demo] = [open(store), open(demoStore)];
  return {
    of: (minerId: number): Ledger => (isDemo(minerId) ? demo : own),
    /** Of these miners together on a local date; null if nothing was counted. */
    sumsOf: (minerIds: readonly number[], date: string): MoneySums | null => {
      const ofOwn = own.sumsOf(new Set(minerIds.filter((id) => !isDemo(id))), date);
      const ofDemo = demo.sumsOf(new Set(minerIds.filter(isDemo)), date);
      return ofOwn === null || ofDemo === null ? (ofOwn ?? ofDemo) : addedSums(ofOwn, ofDemo);
    },
    save: (): void => own.save(),
    close: (): void => {
      own.close();
      demo.close();
    },
  };
}
