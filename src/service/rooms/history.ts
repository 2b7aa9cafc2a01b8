import type { Core } from "../core.ts";
import { DemoPast } from "../demo/demo-past.ts";
import { farmHistoryOperations } from "../history/farm-history.ts";
import { FarmRecorder, farmTurnMs } from "../history/farm-recorder.ts";
import { historyOperations } from "../history/history.ts";
import { byTimer } from "../repeat.ts";
import type { ServiceRoom } from "../room.ts";
import type { Miners } from "./miners.ts";

/** ms between two checks whether all demo miners have been read. */
const demoTurnMs = 500;

/** The measured history of each miner and of the farm. */
export function openHistory(core: Core, { registry }: Miners) {
  const { options, store, log, now, accessBook, shares, coins, records, rates } = core;
  const settings = core.settings.part("the farm's history", ["history"]).now;
  const { demoStore } = records;
  const farm = new FarmRecorder({ registry, store, log, now, rates, settings, demoStore });
  const past = new DemoPast({ registry, demoStore, store, rates, localTime: core.localTime, now, log });
  let stop = (): void => undefined;
  let stopPast = (): void => undefined;
  return {
    operations: {
      ...historyOperations(
        (id, caller) => registry.entryFor(id, accessBook.of(caller)),
        records.recorderOf,
        shares,
        now,
      ),
      ...farmHistoryOperations({
        store,
        registry,
        accessBook,
        shares,
        now,
        rates,
        settings,
        demoStore,
        algorithmId: (name) => coins.algorithm(name)?.id,
      }),
    },
    start: (): void => {
      stop = (options.historyTurns ?? byTimer)(() => farm.turn(), farmTurnMs);
      if (options.demo?.hasPast !== true) return;
      stopPast = byTimer(async () => {
        if (await past.turn()) stopPast();
      }, demoTurnMs);
    },
    close: () => {
      stop();
      stopPast();
    },
  } satisfies ServiceRoom;
}
