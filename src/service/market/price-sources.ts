import type { priceSourceTypes } from "../../config/money.ts";
import { localTimeIn } from "../money/local-time.ts";
import { entsoe } from "./entsoe.ts";
import { fieldsOf, listOf, numberOf, textOf } from "./feed.ts";
import { instant, type PriceSource, perKilowattHour, pricesOf } from "./price-facts.ts";
import { readPrices } from "./price-list.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Net, per MWh; tomorrow's appear after 14:00. */
const awattar: PriceSource = {
  url: "https://api.awattar.at",
  requests: ({ area, url: own, token }, url, now) => {
    const base = own === undefined && area === "de" ? "https://api.awattar.de" : url;
    const start = Math.floor(now / dayMs - 1) * dayMs;
    return [
      {
        url: `${base}/v1/marketdata?start=${start}&end=${start + 4 * dayMs}`,
        ...(token === undefined ? {} : { headers: { authorization: `Basic ${btoa(`${token}:`)}` } }),
      },
    ];
  },
  read: ([answer], _settings, remark) => {
    let currency = "EUR";
    const periods = listOf(fieldsOf(answer).data).map((row) => {
      const { start_timestamp, end_timestamp, marketprice, unit } = fieldsOf(row);
      const [start, end, value] = [numberOf(start_timestamp), numberOf(end_timestamp), numberOf(marketprice)];
      if (/^[a-z]{3}\/MWh$/i.test(textOf(unit))) currency = textOf(unit).slice(0, 3).toUpperCase();
      else if (unit !== undefined) return null;
      return start === null || end === null || value === null ? null : { start, end, value: perKilowattHour(value) };
    });
    return pricesOf(currency, periods, remark);
  },
};

/** Two parallel lists; always EUR per MWh. */
const energyCharts: PriceSource = {
  url: "https://api.energy-charts.info",
  requests: ({ area = "" }, url, now) => [
    { url: `${url}/price?${new URLSearchParams({ bzn: area, start: day(now - dayMs), end: day(now + 2 * dayMs) })}` },
  ],
  read: ([answer], _settings, remark) => {
    const { unix_seconds, price, unit } = fieldsOf(answer);
    const [seconds, prices] = [listOf(unix_seconds).map(numberOf), listOf(price)];
    if (seconds.length !== prices.length)
      remark(`it lists ${seconds.length} times and ${prices.length} prices; what is without the other is left out`);
    if (typeof unit === "string" && !/^EUR\s*\/\s*MWh$/i.test(unit)) {
      remark("its prices are not in EUR/MWh");
      return null;
    }
    const step = shortest(seconds);
    const periods = seconds.slice(0, prices.length).map((second, index) => {
      const value = numberOf(prices[index]);
      const next = seconds[index + 1];
      if (second === null || value === null || step === null) return null;
      // A price does not continue over a gap in the list.
      const length = next != null && next > second && next - second <= 3600 ? next - second : step;
      return { start: second * 1000, end: (second + length) * 1000, value: perKilowattHour(value) };
    });
    return pricesOf("EUR", periods, remark);
  },
};

/** s between two neighbours. */
function shortest(seconds: readonly (number | null)[]): number | null {
  let found: number | null = null;
  for (const [index, second] of seconds.entries()) {
    const next = seconds[index + 1];
    if (second === null || next == null || next <= second) continue;
    found = Math.min(found ?? Number.POSITIVE_INFINITY, next - second);
  }
  return found === null ? null : Math.min(found, 3600);
}

const centralEurope = localTimeIn("Europe/Berlin");

/** By CET days; 204 = not published yet; quarter hours, per MWh. */
const nordpool: PriceSource = {
  url: "https://dataportal-api.nordpoolgroup.com",
  requests: ({ area = "", currency = "EUR" }, url, now) =>
    // Midnight at the rig may fall on the day before or after.
    [0, 24].map((hours) => ({
      url: `${url}/api/DayAheadPrices?${new URLSearchParams({
        date: centralEurope(now + hours * hourMs).date,
        market: "DayAhead",
        deliveryArea: area,
        currency,
      })}`,
    })),
  read: (answers, { area = "" }, remark) => {
    let currency = "EUR";
    const periods = answers.flatMap((answer) => {
      const { multiAreaEntries, areaStates, currency: unit } = fieldsOf(answer);
      if (/^[A-Z]{3}$/.test(textOf(unit))) currency = textOf(unit);
      const isFinal = listOf(areaStates).some((state) => {
        const { state: name, areas } = fieldsOf(state);
        return name === "Final" && listOf(areas).includes(area);
      });
      if (answer !== null && !isFinal) {
        remark("its prices are not final yet");
        return [];
      }
      return listOf(multiAreaEntries).map((row) => {
        const { deliveryStart, deliveryEnd, entryPerArea } = fieldsOf(row);
        const value = numberOf(fieldsOf(entryPerArea)[area]);
        const [start, end] = [instant(deliveryStart), instant(deliveryEnd)];
        return value === null ? null : { start, end, value: perKilowattHour(value) };
      });
    });
    return pricesOf(currency, periods, remark);
  },
};

/** Pence including tax, newest first, in pages; a fixed tariff has no end. */
const octopus: PriceSource = {
  url: "https://api.octopus.energy",
  requests: ({ tariff = "" }, url, now) => {
    const product = tariff.replace(/^E-[12]R-/, "").replace(/-[A-P]$/, "");
    const span = new URLSearchParams({
      period_from: new Date(now - dayMs).toISOString(),
      period_to: new Date(now + 3 * dayMs).toISOString(),
    });
    return [{ url: `${url}/v1/products/${product}/electricity-tariffs/${tariff}/standard-unit-rates/?${span}` }];
  },
  next: (json) => textOf(fieldsOf(json).next) || null,
  read: (answers, _settings, remark, now) => {
    const rows = answers.flatMap((answer) => listOf(fieldsOf(answer).results)).map(fieldsOf);
    // The same time is listed for each payment method.
    const isOther = ({ payment_method: way }: Readonly<Record<string, unknown>>) => way === "NON_DIRECT_DEBIT";
    const own = rows.some((row) => !isOther(row)) ? rows.filter((row) => !isOther(row)) : rows;
    const periods = own.map(({ value_inc_vat, valid_from, valid_to }) => {
      const value = numberOf(value_inc_vat);
      const end = valid_to === null || valid_to === undefined ? now + 3 * dayMs : instant(valid_to);
      return value === null ? null : { start: instant(valid_from), end, value: value / 100 };
    });
    return pricesOf("GBP", periods, remark);
  },
};

const tibberQuery =
  "{viewer{homes{id currentSubscription{priceInfo(resolution: QUARTER_HOURLY)" +
  "{today{total startsAt currency} tomorrow{total startsAt currency}}}}}}";

/** GraphQL; errors come with status 200. Per kWh including tax; a former customer has no subscription. */
const tibber: PriceSource = {
  url: "https://api.tibber.com",
  requests: ({ token = "" }, url) => [
    {
      url: `${url}/v1-beta/gql`,
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: tibberQuery }),
    },
  ],
  read: ([answer], { home }, remark) => {
    const { data, errors } = fieldsOf(answer);
    const homes = listOf(fieldsOf(fieldsOf(data).viewer).homes).map(fieldsOf);
    const found = homes.find(({ id, currentSubscription }) =>
      home === undefined ? currentSubscription !== null && currentSubscription !== undefined : id === home,
    );
    if (found === undefined) {
      remark(listOf(errors).length > 0 ? "it refuses the query; check token" : "it lists no such home with a contract");
      return null;
    }
    const { today, tomorrow } = fieldsOf(fieldsOf(found.currentSubscription).priceInfo);
    const rows = [...listOf(today), ...listOf(tomorrow)].map(fieldsOf);
    const starts = rows.map(({ startsAt }) => instant(startsAt));
    const step = (shortest(starts.map((start) => (Number.isNaN(start) ? null : start / 1000))) ?? 3600) * 1000;
    let currency = "EUR";
    const periods = rows.map((row, index) => {
      const [start = Number.NaN, value] = [starts[index], numberOf(row.total)];
      if (/^[A-Z]{3}$/.test(textOf(row.currency))) currency = textOf(row.currency);
      return value === null ? null : { start, end: start + step, value };
    });
    return pricesOf(currency, periods, remark);
  },
};

/** [{start, end, value}] per kWh, a format that evcc, Home Assistant and Node-RED can produce. */
const list: PriceSource = {
  url: null,
  isWhole: true,
  requests: ({ headers }, url) => [{ url, headers }],
  read: ([answer], { path, currency = "" }, remark, now) => {
    const periods = readPrices(answer, path, now);
    if (typeof periods === "string") {
      remark(periods);
      return null;
    }
    return pricesOf(currency, periods, remark);
  },
};

export const priceSources: Readonly<Record<(typeof priceSourceTypes)[number], PriceSource>> = {
  awattar,
  "energy-charts": energyCharts,
  nordpool,
  entsoe,
  octopus,
  tibber,
  list,
};
