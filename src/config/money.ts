import { z } from "zod";
import { asked } from "../contract/form-kind.ts";
import { CoinName } from "../contract/inputs.ts";
import { secret } from "../contract/secrets.ts";
import { TimeZone } from "../contract/time-zone.ts";
import { JsonPath, Topic } from "../contract/topic.ts";

/**
 * Sources of coins, exchange rates, electricity prices and a pool's own figures. Nothing is requested until it is set.
 */
const webAddress = asked(
  "line",
  z
    .url({ protocol: /^https?$/, error: "must be a web address such as https://mempool.space" })
    .max(2000)
    .refine((url) => !/^[a-z]+:\/\/[^/?#]*@/i.test(url), "must not contain a password; put it in headers or token"),
);
const token = secret(
  z
    .string()
    .min(1)
    .max(2000)
    .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces")
    .optional(),
);
const headers = z
  .record(
    z.string().regex(/^[!#$%&'*+.^_`|~\w-]{1,100}$/, "is not the name of a header"),
    secret(
      z
        .string()
        .max(4000)
        .regex(/^[\x20-\x7e]*$/, "must be one line of printable ASCII"),
    ),
  )
  .default({})
  .describe("headers of the request, such as Authorization: Bearer and a token; kept secret");
const currency = z.string().regex(/^[A-Z]{3}$/, "must be a currency code such as EUR");

export const coinSourceTypes = ["whattomine", "mempool", "coingecko", "minerstat"] as const;

export const CoinSourceSettings = z
  .strictObject({
    type: z.enum(coinSourceTypes).describe("the form of its replies"),
    url: webAddress.optional().describe("its address; absent = the public service of that name"),
    coins: z
      .record(CoinName, z.string().regex(/^[\w.-]{1,100}$/, "must be 1 to 100 letters, digits, dots and hyphens"))
      .refine((coins) => Object.keys(coins).length <= 200, "can name at most 200 coins")
      .default({})
      .describe("short names of coins and what the source calls them; absent = every coin that it lists"),
    token: token.describe("access token, where the source needs one"),
    every: z.number().min(180).max(86_400).default(600).describe("seconds between two requests"),
  })
  .check(({ value, issues }) => {
    const missing = (key: string) =>
      issues.push({ code: "custom", input: value, path: [key], message: `is required for ${value.type}` });
    if ((value.type === "coingecko" || value.type === "minerstat") && Object.keys(value.coins).length === 0)
      missing("coins");
    if (value.type === "minerstat" && value.url === undefined && value.token === undefined) missing("token");
  });
export type CoinSourceSettings = z.infer<typeof CoinSourceSettings>;

export const MarketSettings = z.strictObject({
  sources: z
    .array(CoinSourceSettings)
    .max(20)
    .default([])
    .describe("where difficulties, rewards and prices come from, in order of preference; absent = nowhere"),
});

export const RateSettings = z.strictObject({
  btc: z.number().positive().optional().describe("money per BTC; absent = as the market sources have it"),
  currencies: z
    .record(currency, z.number().positive())
    .default({})
    .describe("money per unit of other currencies, such as EUR: 1.08; absent = as the market sources have it"),
});

export const priceSourceTypes = [
  "awattar",
  "energy-charts",
  "nordpool",
  "entsoe",
  "octopus",
  "tibber",
  "list",
] as const;

/** The keys that each type must have, and may have beside type, url and every. */
const priceSourceKeys: Record<(typeof priceSourceTypes)[number], { must: readonly string[]; may: readonly string[] }> =
  {
    awattar: { must: [], may: ["area", "token"] },
    "energy-charts": { must: ["area"], may: [] },
    nordpool: { must: ["area"], may: ["currency"] },
    entsoe: { must: ["area", "token"], may: [] },
    octopus: { must: ["tariff"], may: [] },
    tibber: { must: ["token"], may: ["home"] },
    list: { must: ["currency"], may: ["headers", "path", "topic"] },
  };

export const PriceSourceSettings = z
  .strictObject({
    type: z.enum(priceSourceTypes).describe("the form of its replies; list = [{start, end, value}] per kWh"),
    url: webAddress.optional().describe("its address; absent = the public service of that name"),
    area: z
      .string()
      .regex(/^[\w-]{1,40}$/, "must be 1 to 40 letters, digits, hyphens and underscores")
      .optional()
      .describe("price area: DE-LU (energy-charts), SE3 (nordpool), 10Y1001A1001A82H (entsoe), at or de (awattar)"),
    tariff: z
      .string()
      .regex(/^E-[12]R-[A-Z0-9-]{3,60}-[A-P]$/, "must be a tariff code such as E-1R-AGILE-24-10-01-C")
      .optional()
      .describe("tariff code at Octopus"),
    home: z.string().max(100).optional().describe("id of the home at Tibber; absent = the first with a contract"),
    currency: currency.optional().describe("currency of the prices"),
    token: token.describe("access token"),
    headers,
    path: JsonPath.optional().describe("path of the list in the JSON, such as result.rates; absent = found there"),
    topic: Topic.optional().describe(
      "topic with the list, or with the present price, at the broker of the MQTT bridge",
    ),
    every: z.number().min(60).max(86_400).default(1800).describe("seconds between two requests"),
  })
  .check(({ value, issues }) => {
    const report = (path: string, message: string) =>
      issues.push({ code: "custom", input: value, path: [path], message });
    const { must, may } = priceSourceKeys[value.type];
    for (const [key, each] of Object.entries(value)) {
      const isSet = key === "headers" ? Object.keys(value.headers).length > 0 : each !== undefined;
      if (isSet && !["type", "url", "every", ...must, ...may].includes(key))
        report(key, `has no meaning for ${value.type}`);
    }
    for (const key of must) if (Reflect.get(value, key) === undefined) report(key, `is required for ${value.type}`);
    if (value.type === "list" && (value.url === undefined) === (value.topic === undefined))
      report("url", "is required for list, unless topic is set; not both");
    if (value.type === "awattar" && value.area !== undefined && !["at", "de"].includes(value.area))
      report("area", "must be at or de for awattar");
  });
export type PriceSourceSettings = z.infer<typeof PriceSourceSettings>;

const day = z
  .string()
  .regex(
    /^(mon|tue|wed|thu|fri|sat|sun)(-(mon|tue|wed|thu|fri|sat|sun))?$/,
    "must be a day such as mon, or days such as mon-fri",
  );
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time such as 22:00");

export const ZoneSettings = z.strictObject({
  days: z
    .array(day)
    .min(1)
    .max(7)
    .optional()
    .describe("days on which it begins, such as [mon-fri]; absent = every day"),
  from: timeOfDay.describe("when it begins"),
  to: timeOfDay.describe("when it ends; earlier than its beginning = on the next day, the same = after a whole day"),
  price: z.number().min(-1000).max(1_000_000).describe("money per kWh"),
});
export type ZoneSettings = z.infer<typeof ZoneSettings>;

export const ElectricitySettings = z
  .strictObject({
    price: z.number().min(0).optional().describe("money per kWh; with prices by the hour: the one at all other hours"),
    zones: z
      .array(ZoneSettings)
      .min(1)
      .max(50)
      .optional()
      .describe("prices by time of day; the first that fits counts"),
    timeZone: TimeZone.optional().describe("time zone of the zones; absent = that of display"),
    source: PriceSourceSettings.optional().describe("where prices come from"),
    add: z
      .number()
      .min(-1_000_000)
      .max(1_000_000)
      .default(0)
      .describe("surcharge per kWh in the display currency, added to every price before the factor"),
    factor: z.number().positive().max(1000).default(1).describe("what every price is multiplied by, such as a tax"),
  })
  .check(({ value, issues }) => {
    const { price, zones, source, add, factor, timeZone } = value;
    const report = (path: string, message: string) =>
      issues.push({ code: "custom", input: value, path: [path], message });
    if (source !== undefined && price !== undefined) report("price", "cannot be combined with source; remove one");
    if (source !== undefined && zones !== undefined) report("zones", "cannot be combined with source; remove one");
    if (timeZone !== undefined && zones === undefined) report("timeZone", "has a meaning only with zones");
    const isPriced = price !== undefined || zones !== undefined || source !== undefined;
    if (!isPriced && add !== 0) report("add", "needs price, zones or source");
    if (!isPriced && factor !== 1) report("factor", "needs price, zones or source");
  });
export type ElectricitySettings = z.infer<typeof ElectricitySettings>;

export const poolViewTypes = ["ckpool", "public-pool", "json"] as const;

/** A pool's own figures of an account or worker. */
export const PoolViewSettings = z
  .strictObject({
    type: z.enum(poolViewTypes).describe("the form of its replies"),
    url: z
      .string()
      .max(2000)
      .refine(
        (url) =>
          URL.canParse(url.replaceAll(/\{(address|worker)\}/g, "x")) && /^https?:\/\/[^/?#@{]+([/?#]|$)/i.test(url),
        "must be a web address such as https://pool.example/users/{address}, without a password",
      )
      .describe("address of the pool's API; {address} and {worker} stand for those of the rig"),
    headers,
    worker: JsonPath.optional().describe("json: path of the list of workers; absent = the reply is about one worker"),
    name: JsonPath.optional().describe("json: path of a worker's name in the list"),
    hashrate: JsonPath.optional().describe("json: path of the hash rate, a number or a text such as 1.2T"),
    unit: z
      .enum(["H/s", "kH/s", "MH/s", "GH/s", "TH/s", "PH/s"])
      .default("H/s")
      .describe("json: unit of the hash rate"),
    rejected: JsonPath.optional().describe("json: path of the number of rejected shares"),
    balance: JsonPath.optional().describe("json: path of the balance in coins"),
    balanceFactor: z.number().positive().default(1).describe("json: coins per unit of the balance, such as 1e-8"),
    lastShare: JsonPath.optional().describe("json: path of the time of the last share"),
    every: z.number().min(60).max(86_400).default(300).describe("seconds between two requests"),
  })
  .check(({ value, issues }) => {
    const report = (path: string, message: string) =>
      issues.push({ code: "custom", input: value, path: [path], message });
    const paths = ["worker", "name", "hashrate", "rejected", "balance", "lastShare"] as const;
    if (value.type !== "json")
      for (const key of paths) if (value[key] !== undefined) report(key, `has no meaning for ${value.type}`);
    if (value.type === "json" && ![value.hashrate, value.rejected, value.balance].some((path) => path !== undefined))
      report("hashrate", "is required for json, or rejected or balance");
    if ((value.worker === undefined) !== (value.name === undefined))
      report(value.worker === undefined ? "worker" : "name", "is required, since worker and name belong together");
  });
export type PoolViewSettings = z.infer<typeof PoolViewSettings>;
