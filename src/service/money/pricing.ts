import type { Store } from "../../store/index.ts";
import type { SettingsPart } from "../settings/live-settings.ts";
import type { Prices, PricesFor } from "./earnings.ts";
import type { Rates } from "./rates.ts";
import type { Tariff } from "./tariff.ts";
import { Tariffs } from "./tariffs.ts";

/** Exchange rates, tariffs, and the resulting present prices. */
export function pricing(
  part: SettingsPart<"electricity" | "display" | "miners" | "groups">,
  store: Store,
  rates: Rates,
  now: () => number,
) {
  const tariffs = new Tariffs({ settings: part.now, store, rateOf: (currency) => rates.of(currency) });
  part.onChange(() => tariffs.renew());
  const pricesWith = (tariff: Tariff | undefined): Prices => ({
    currency: rates.currency,
    btc: rates.btc?.value,
    usd: rates.of("USD") ?? undefined,
    electricity: tariff?.at(now()).price,
  });
  const prices: PricesFor = (minerId) => pricesWith(tariffs.ofMiner(minerId));
  return { rates, tariffs, prices, generalPrices: () => pricesWith(tariffs.ofGroup(0)) };
}
