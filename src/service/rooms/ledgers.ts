import type { MoneySums, Store } from "../../store/index.ts";
import type { Core } from "../core.ts";
import { isDemo } from "../miners/declared-miner.ts";
import { addedSums, Ledger } from "../money/ledger.ts";

/** `takeRest` takes what was read since the reads that count. The earnings of demo miners are not stored. */
export function openLedgers(core: Core, takeRest: (closing: AbortSignal) => Promise<void>) {
  const { config, store, now, log, rates, tariffs, localTime } = core;
  const { demoStore } = core.records;
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
