import type { Caller } from "../../contract/service.ts";
import type { RigState } from "../../fleet/state.ts";
import type { Core } from "../core.ts";
import { type BestInput, economicsOf } from "../money/economics.ts";
import { moneyOperations } from "../money/money-operations.ts";
import type { PoolBook } from "../money/pool-book.ts";
import type { PowerTargets } from "../power/power-targets.ts";
import type { ServiceRoom } from "../room.ts";
import type { Miners } from "./miners.ts";

/** Coins, pools, and the earnings and costs of miners. */
export function openMoney(core: Core, { registry, managed, ledgers, power }: Miners) {
  const { store, now, coins, book, accessBook, shares, tariffs, prices, rates, localTime, places } = core;
  const economics = economicsOf({
    tariffs,
    prices,
    profitOf: (id) => registry.display.jsonCache.current(id)?.figures.earnings.profitPerDay ?? null,
    bestInputOf: (id) => bestInput(registry.find(id)?.rig.state, id, power, book),
  });
  const changesMiners = followed(() => registry.changeAll());
  const changesPrograms = followed(() => managed.syncAll());
  return {
    economics,
    operations: {
      listPools: book.listPools,
      getPool: book.getPool,
      savePool: changesPrograms(changesMiners(book.savePool)),
      deletePool: changesMiners(book.deletePool),
      listPoolGroups: book.listPoolGroups,
      savePoolGroup: changesPrograms(book.savePoolGroup),
      deletePoolGroup: book.deletePoolGroup,
      saveCoin: changesMiners(coins.saveCoin),
      deleteCoin: changesMiners(coins.deleteCoin),
      ...moneyOperations({
        store,
        coins,
        accessBook,
        shares,
        now,
        days: store.moneyDays,
        save: ledgers.save,
        tariffs,
        rates,
        localTime,
        nameOf: (id) => registry.find(id)?.facts.name,
        placesOf: (id) => places.lineOf(registry.find(id)?.facts.placeId ?? null),
        pathOf: (id) => places.get(id)?.path,
        idOf: (miner, caller) => registry.idFor(miner, accessBook.of(caller)),
      }),
    },
  } satisfies ServiceRoom;
}

/** Runs the operation, and then the effects of its change. */
const followed =
  (follow: () => void) =>
  <Input, Reply>(operation: (input: Input, caller: Caller) => Promise<Reply>) =>
  async (input: Input, caller: Caller): Promise<Reply> => {
    const reply = await operation(input, caller);
    follow();
    return reply;
  };

/** A stopped rig's possible earnings follow from the pool that it would use. */
function bestInput(
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
