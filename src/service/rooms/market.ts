import { briefOf } from "../../fleet/state.ts";
import type { PoolReading } from "../../link/driver.ts";
import type { Core } from "../core.ts";
import { Market, marketTurnMs } from "../market/market.ts";
import { marketOperations } from "../market/market-operations.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { FarmNotices } from "../notifications/notices.ts";
import type { ServiceRoom } from "../room.ts";

/** The external sources. Miners show their figures, so they open this room before they are loaded themselves. */
export function openMarket(core: Core, notices: Pick<FarmNotices, "setWarning">, registry: () => MinerRegistry) {
  const { store, log, now, coins, rates, tariffs, book, messages, repeat } = core;
  const settings = core.settings.part("sources outside", [
    ...(["market", "electricity", "display", "pools", "algorithms", "coins"] as const),
  ]);
  let closing = new AbortController();
  let stop = (): void => undefined;
  const context = () => ({
    coins,
    rates,
    tariffs,
    book,
    now,
    log,
    messages,
    kept: store.keptValues,
    closing: closing.signal,
    activePools: () => activePools(registry()),
    isDemo: () => registry().isDemoOnly,
    changed: () => registry().changeAll(),
    warn: (...warning: Parameters<FarmNotices["setWarning"]>) => notices.setWarning(...warning),
  });
  let market = new Market(settings.now.market, settings.now.pools, context());
  const start = (): void => {
    if (market.isUsed) stop = repeat(() => market.turn(), marketTurnMs);
  };
  settings.onChange(() => {
    stop();
    closing.abort();
    closing = new AbortController();
    market = new Market(settings.now.market, settings.now.pools, context());
    start();
  });
  return {
    poolViewOf: (pool: Pick<PoolReading, "url" | "worker">) => market.poolViews.of(pool),
    operations: marketOperations(() => market, coins, rates, now),
    start,
    close: (): void => {
      stop();
      closing.abort();
    },
  } satisfies ServiceRoom;
}

function* activePools(registry: MinerRegistry): Iterable<Pick<PoolReading, "url" | "worker">> {
  for (const { facts, rig } of registry.all()) {
    if (facts.demo) continue;
    const active = briefOf(rig.state)?.pools.find((pool) => pool.active);
    if (active !== undefined) yield active;
  }
}
