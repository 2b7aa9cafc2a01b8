import type { PricePeriod } from "../money/tariff.ts";
import type { Remark } from "./feed.ts";
import { type PriceSource, perKilowattHour, pricesOf } from "./price-facts.ts";

const dayMs = 86_400_000;
const resolutions: Readonly<Record<string, number>> = {
  PT15M: 900_000,
  PT30M: 1_800_000,
  PT60M: 3_600_000,
  P1D: dayMs,
};

/** "202611212300", UTC. */
const stamp = (time: number): string => new Date(time).toISOString().replaceAll(/[-:T]/g, "").slice(0, 12);

/**
 * ENTSO-E: day-ahead prices as XML. The document is flat, so elements are found by name; other features of XML
 * (document types, entities) do not occur and are refused.
 */
export const entsoe: PriceSource = {
  url: "https://web-api.tp.entsoe.eu",
  requests: ({ area = "", token = "" }, url, now) => {
    const start = Math.floor(now / dayMs - 1) * dayMs;
    const query = new URLSearchParams({
      securityToken: token,
      documentType: "A44",
      in_Domain: area,
      out_Domain: area,
      periodStart: stamp(start),
      periodEnd: stamp(start + 4 * dayMs),
    });
    return [{ url: `${url}/api?${query}` }];
  },
  read: ([answer], _settings, remark) => {
    if (typeof answer !== "string" || answer.includes("<!")) {
      remark("it answers with something other than its XML document");
      return null;
    }
    const refusal = elements(answer, "Acknowledgement_MarketDocument")[0];
    if (refusal !== undefined) {
      remark(`it has no prices (reason ${/^\d{3}$/.exec(textIn(refusal, "code"))?.[0] ?? "unknown"})`);
      return null;
    }
    const series = elements(answer, "TimeSeries").slice(0, 1000);
    const currency = series.map((each) => textIn(each, "currency_Unit.name")).find((name) => /^[A-Z]{3}$/.test(name));
    const prices = new Map<number, { readonly period: PricePeriod; readonly rank: number }>();
    let bad = 0;
    for (const each of series) {
      if (textIn(each, "currency_Unit.name") !== currency || textIn(each, "price_Measure_Unit.name") !== "MWH") {
        bad += 1;
        continue;
      }
      // Where several series cover one hour, the lowest position counts.
      const rank = Number(textIn(each, "classificationSequence_AttributeInstanceComponent.position") || 0);
      for (const period of elements(each, "Period").flatMap((block) =>
        pointsOf(block, textIn(each, "curveType"), remark),
      )) {
        const known = prices.get(period.start);
        if (known === undefined || rank < known.rank) prices.set(period.start, { period, rank });
      }
    }
    if (bad > 0) remark(`${bad} of its series are not in ${currency ?? "one currency"} per MWh`);
    return pricesOf(
      currency ?? "EUR",
      [...prices.values()].map(({ period }) => period),
      remark,
    );
  },
};

/** The prices of a period; in the curve A03 a missing position repeats the one before. */
function pointsOf(block: string, curve: string, remark: Remark): PricePeriod[] {
  const start = Date.parse(textIn(block, "start"));
  const end = Date.parse(textIn(block, "end"));
  const step = resolutions[textIn(block, "resolution")];
  if (Number.isNaN(start) || Number.isNaN(end) || step === undefined || end - start > 32 * dayMs) {
    remark("a period in its document cannot be read");
    return [];
  }
  const given = new Map<number, number>();
  for (const point of elements(block, "Point")) {
    const [position, amount] = [textIn(point, "position"), textIn(point, "price.amount")];
    if (/^\d{1,4}$/.test(position) && /^-?\d{1,9}(\.\d{1,9})?$/.test(amount))
      given.set(Number(position), Number(amount));
    else remark("a point in its document cannot be read");
  }
  const periods: PricePeriod[] = [];
  let last: number | undefined;
  for (let position = 1, at = start; at < end; position += 1, at += step) {
    const amount = given.get(position) ?? (curve === "A03" ? last : undefined);
    last = amount;
    if (amount !== undefined)
      periods.push({ start: at, end: Math.min(at + step, end), value: perKilowattHour(amount) });
  }
  return periods;
}

/** What is inside each element of this name; an element does not contain one of its own name. */
function elements(xml: string, name: string): string[] {
  const found: string[] = [];
  const opening = new RegExp(`<(?:[\\w-]+:)?${name.replaceAll(".", "\\.")}(?:\\s[^<>]*)?>`, "g");
  for (let match = opening.exec(xml); match !== null; match = opening.exec(xml)) {
    const prefix = /^<([\w-]+:)?/.exec(match[0])?.[1] ?? "";
    const end = xml.indexOf(`</${prefix}${name}`, opening.lastIndex);
    if (end < 0) break;
    found.push(xml.slice(opening.lastIndex, end));
    opening.lastIndex = end;
  }
  return found;
}

const textIn = (xml: string, name: string): string => (elements(xml, name)[0] ?? "").trim();
