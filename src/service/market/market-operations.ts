import type { MiningService } from "../../contract/service.ts";
import type { Coins } from "../money/coins.ts";
import type { Rates } from "../money/rates.ts";
import type { Market } from "./market.ts";

/** GET /api/market. */
export const marketOperations = (
  present: () => Market,
  coins: Coins,
  rates: Rates,
  now: () => number,
): Pick<MiningService, "getMarket"> => ({
  getMarket: async () => {
    const market = present();
    const isoOf = (at: number | null | undefined): string | null => (at == null ? null : new Date(at).toISOString());
    const ageOf = (at: number | null | undefined): number | null =>
      at == null ? null : Math.max(0, Math.round((now() - at) / 1000));
    const known = market.coinMarket.known();
    const shown = [...coins.all()].filter(
      ({ shortName, setBy }) => setBy !== null || known.has(shortName.toUpperCase()),
    );
    const btc = rates.btc;
    return {
      coins: shown.map(({ shortName, name, algorithm, coinClass, profit, profitUsd, setBy }) => {
        const { work, price, held } = market.coinMarket.chosen(shortName);
        return {
          shortName,
          name,
          algorithm,
          coinClass,
          profit,
          profitUsd,
          setBy,
          held,
          difficulty: work?.difficulty ?? null,
          networkHashrate: work?.networkHashrate ?? null,
          blockTime: work?.blockTime ?? null,
          reward: work?.reward ?? null,
          workSource: work?.source ?? null,
          workAt: isoOf(work?.at),
          workAge: ageOf(work?.at),
          priceBtc: shortName === "BTC" ? 1 : (price?.btc ?? null),
          priceUsd: price?.usd ?? null,
          priceSource: price?.source ?? null,
          priceAt: isoOf(price?.at),
          priceAge: ageOf(price?.at),
        };
      }),
      rates: {
        currency: rates.currency,
        btc: btc?.value ?? null,
        source: btc?.from?.source ?? null,
        at: isoOf(btc?.from?.at),
        age: ageOf(btc?.from?.at),
      },
      sources: market.sources.map(({ type, host, at, problem }) => ({
        type,
        source: host,
        at: isoOf(at),
        age: ageOf(at),
        problem,
      })),
    };
  },
});
