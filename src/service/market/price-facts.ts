import { z } from "zod";
import type { PriceSourceSettings } from "../../config/money.ts";
import { mostPeriods, type PricePeriod } from "../money/tariff.ts";
import { type Remark, type SourceShape, textOf } from "./feed.ts";

/** Prices of one source, per kWh. */
export const PriceFacts = z.object({
  currency: z.string().regex(/^[A-Z]{3}$/),
  periods: z.array(z.object({ start: z.number(), end: z.number(), value: z.number() })).max(mostPeriods),
});
export type PriceFacts = z.infer<typeof PriceFacts>;

export type PriceSource = SourceShape<PriceSourceSettings, PriceFacts>;

/** The readable prices, with a remark about the others; null if there are none. */
export function pricesOf(
  currency: string,
  periods: readonly (PricePeriod | null)[],
  remark: Remark,
): PriceFacts | null {
  const good = periods.filter(
    (period): period is PricePeriod =>
      period !== null && [period.start, period.end, period.value].every(Number.isFinite) && period.end > period.start,
  );
  const bad = periods.length - good.length;
  if (bad > 0) remark(`${bad} of its ${periods.length} prices could not be read`);
  return good.length === 0 ? null : { currency, periods: good.slice(-mostPeriods) };
}

/** Converted from a price per MWh, without the last digits that the division adds. */
export const perKilowattHour = (price: number): number => Number((price / 1000).toPrecision(12));

/** ISO 8601 with zone, else NaN. */
export const instant = (value: unknown): number => {
  const text = textOf(value);
  return /^\d{4}-\d\d-\d\dT.+(Z|[+-]\d\d:?\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
};
