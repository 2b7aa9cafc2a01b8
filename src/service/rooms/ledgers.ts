import type { MoneySums, Store } from "../../store/index.ts";
import type { Core } from "../core.ts";
import { isDemo } from "../miners/declared-miner.ts";
import { addedSums, Ledger } from "../money/ledger.ts";

/** `takeRest` counts the reads since the last counted ones. The earnings of demo miners are not stored. */
export function openLedgers(core: Core, takeRest: (closing: AbortSignal) => Promise<void>) {
  const { store, now, log, rates, tariffs, localTime } = core;
  const settings = core.settings.part("money by day", ["history", "display"]);
  const { demoStore } = core.records;
  const open = ({ moneyDays: days }: Store): Ledger =>
    new Ledger({
      ...(days === store.moneyDays ? { takeRest } : {}),
      days,
      localTime,
      now,
      log,
      rates,
      settings: settings.now,
      tariffOf: (minerId) => tariffs.ofMiner(minerId),
      btc: () => rates.btc?.value,
    });
  const [own, demo] = [open(store), open(demoStore)];
  settings.onChange(({ display }, before) => {
    if (display.currency === before.display.currency) return;
    for (const ledger of [own, demo])
      ledger
        .takeCurrency()
        .catch((error: unknown) => log.error({ err: error }, "what miners have cost so far cannot be read"));
  });
  return {
    of: (minerId: number): Ledger => (isDemo(minerId) ? demo : own),
    /** Sums of these miners on a local date; null if nothing was counted. */
    sumsOf: async (minerIds: readonly number[], date: string): Promise<MoneySums | null> => {
      const ofOwn = await own.sumsOf(new Set(minerIds.filter((id) => !isDemo(id))), date);
      const ofDemo = await demo.sumsOf(new Set(minerIds.filter(isDemo)), date);
      return ofOwn === null || ofDemo === null ? (ofOwn ?? ofDemo) : addedSums(ofOwn, ofDemo);
    },
    save: (): Promise<void> => own.save(),
    start: async (): Promise<void> => {
      await own.start();
      await demo.start();
    },
    close: async (): Promise<void> => {
      await own.close();
      await demo.close();
    },
  };
}
