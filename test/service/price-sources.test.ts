import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { pino } from "pino";
import { PriceSourceSettings } from "../../src/config/money.ts";
import { noMessages } from "../../src/contract/messages.ts";
import { runPrices } from "../../src/service/market/price-feeds.ts";
import { priceSources } from "../../src/service/market/price-sources.ts";
import { PriceCurve } from "../../src/service/money/tariff.ts";
import type { KeptValues } from "../../src/store/index.ts";
import { stoppedClock } from "../clock.ts";
import { onTestFinished } from "../finished.ts";
import { type Answer, openDouble } from "./source-double.ts";

const noon = Date.parse("2026-11-22T12:00:00Z");
const hour = 3_600_000;

function keptInMemory(): KeptValues {
  const rows = new Map<string, { value: unknown; at: number }>();
  return {
    get: (source) => rows.get(source),
    save: async (source, value, at) => void rows.set(source, { value: JSON.parse(JSON.stringify(value)), at }),
    keep: async () => undefined,
  };
}

/** A source at a double. */
async function openSource(settings: Record<string, unknown>, answers: Record<string, Answer>, kept = keptInMemory()) {
  const double = await openDouble(answers);
  const clock = stoppedClock(noon);
  const closing = new AbortController();
  const lines: string[] = [];
  const log = pino({ level: "trace" }, { write: (line) => lines.push(line) });
  onTestFinished(() => closing.abort());
  const open = () => {
    const curve = new PriceCurve(double.host);
    const parsed = PriceSourceSettings.parse({ url: double.url, ...settings });
    const context = { kept, now: clock.now, closing: closing.signal, log };
    return runPrices({ settings: parsed, curve }, { ...context, messages: noMessages, changed: () => undefined });
  };
  const running = open();
  return {
    double,
    clock,
    open,
    logged: () => lines.join(""),
    ...running,
    prices: () => running.curve.periods.map(({ start, end, value }) => [iso(start), (end - start) / 60_000, value]),
  };
}

const iso = (time: number): string => new Date(time).toISOString().slice(5, 16);

const entsoeDocument = (points: string, more = "") => `<?xml version="1.0" encoding="UTF-8"?>
<Publication_MarketDocument xmlns="urn:iec62325.351:tc57wg16:451-3:publicationdocument:7:3">
  <mRID>1</mRID><period.timeInterval><start>2026-11-21T23:00Z</start><end>2026-11-22T23:00Z</end></period.timeInterval>
  ${more}
  <TimeSeries>
    <mRID>1</mRID><currency_Unit.name>EUR</currency_Unit.name><price_Measure_Unit.name>MWH</price_Measure_Unit.name>
    <classificationSequence_AttributeInstanceComponent.position>1</classificationSequence_AttributeInstanceComponent.position>
    <curveType>A03</curveType>
    <Period><timeInterval><start>2026-11-22T12:00Z</start><end>2026-11-22T16:00Z</end></timeInterval>
      <resolution>PT60M</resolution>${points}</Period>
  </TimeSeries>
</Publication_MarketDocument>`;
const point = (position: number, amount: string) =>
  `<Point><position>${position}</position><price.amount>${amount}</price.amount></Point>`;

const entsoeSettings = { type: "entsoe", area: "10Y1001A1001A82H", token: "entsoe-token" };

describe("prices are read from", () => {
  test("aWATTar: per MWh, also negative and as text", async () => {
    const row = (start: number, marketprice: unknown) => ({
      start_timestamp: start,
      end_timestamp: start + hour,
      marketprice,
      unit: "Eur/MWh",
    });
    const { poll, prices, double } = await openSource(
      { type: "awattar" },
      { "/v1/marketdata": { object: "list", data: [row(noon, 42.09), row(noon + hour, "-12.5")] } },
    );
    expect(await poll()).toBe(true);
    expect(prices()).toEqual([
      ["11-22T12:00", 60, 0.042_09],
      ["11-22T13:00", 60, -0.0125],
    ]);
    const day = Date.parse("2026-11-21T00:00:00Z");
    expect(double.asked[0]?.line).toBe(`GET /v1/marketdata?start=${day}&end=${day + 96 * hour}`);
  });

  test("energy-charts: two lists, of which half an answer is told", async () => {
    const seconds = [0, 900, 1800, 2700].map((each) => noon / 1000 + each);
    const { poll, prices, curve, double } = await openSource(
      { type: "energy-charts", area: "DE-LU" },
      { "/price": { unix_seconds: seconds, price: [81.2, null, -5], unit: "EUR / MWh" } },
    );
    await poll();
    expect(prices()).toEqual([
      ["11-22T12:00", 15, 0.0812],
      ["11-22T12:30", 15, -0.005],
    ]);
    expect(curve.problem).toBe(`${double.host}: it lists 4 times and 3 prices; what is without the other is left out`);
    expect(double.asked[0]?.line).toBe("GET /price?bzn=DE-LU&start=2026-11-21&end=2026-11-24");
  });

  test("Nord Pool: by CET days, of which tomorrow may not be published; only final prices", async () => {
    const day = (state: string, start: string, value: unknown) => ({
      multiAreaEntries: [
        {
          deliveryStart: `${start}:00:00Z`,
          deliveryEnd: `${start}:15:00Z`,
          entryPerArea: { SE3: value, SE4: 99 },
        },
      ],
      areaStates: [{ state, areas: ["SE3"] }],
      currency: "SEK",
    });
    const { poll, prices, curve, double, clock } = await openSource(
      { type: "nordpool", area: "SE3", currency: "SEK" },
      {
        "/api/DayAheadPrices?date=2026-11-22": day("Final", "2026-11-22T12", 34.61),
        "/api/DayAheadPrices?date=2026-11-23": (response) => response.writeHead(204).end(),
      },
    );
    await poll();
    expect([prices(), curve.currency, curve.problem]).toEqual([[["11-22T12:00", 15, 0.034_61]], "SEK", null]);
    double.answers.set("/api/DayAheadPrices?date=2026-11-23", day("Preliminary", "2026-11-22T23", 50));
    clock.pass(1800);
    await poll();
    expect(prices()).toHaveLength(1);
    expect(curve.problem).toBe(`${double.host}: its prices are not final yet`);
    double.answers.set("/api/DayAheadPrices?date=2026-11-23", day("Final", "2026-11-22T23", "50"));
    clock.pass(1800);
    await poll();
    expect([prices()[1], curve.problem]).toEqual([["11-22T23:00", 15, 0.05], null]);
  });

  test("ENTSO-E: XML, where a missing position repeats the one before and the lowest sequence counts", async () => {
    const other = entsoeDocument(point(1, "999"), "")
      .match(/<TimeSeries>[\s\S]*<\/TimeSeries>/)?.[0]
      ?.replace("position>1<", "position>2<");
    const { poll, prices, curve, double } = await openSource(entsoeSettings, {
      "/api": entsoeDocument(`${point(1, "80.5")}${point(3, "-1.25")}`, other),
    });
    await poll();
    expect(curve.problem).toBeNull();
    expect(prices()).toEqual([
      ["11-22T12:00", 60, 0.0805],
      ["11-22T13:00", 60, 0.0805],
      ["11-22T14:00", 60, -0.001_25],
      ["11-22T15:00", 60, -0.001_25],
    ]);
    expect(double.asked[0]?.line).toContain("periodStart=202611210000&periodEnd=202611250000");
  });

  test("Octopus: pence with tax, in pages of the same server, once for each time", async () => {
    const rate = (hours: number, value: number, way: string | null = null) => ({
      value_exc_vat: 1,
      value_inc_vat: value,
      payment_method: way,
      valid_from: new Date(noon + hours * hour).toISOString(),
      valid_to: new Date(noon + (hours + 0.5) * hour).toISOString(),
    });
    const path = "/v1/products/AGILE-24-10-01/electricity-tariffs/E-1R-AGILE-24-10-01-C/standard-unit-rates/";
    const { poll, prices, double, curve } = await openSource(
      { type: "octopus", tariff: "E-1R-AGILE-24-10-01-C" },
      { [path]: { results: [rate(0.5, 19.11, "DIRECT_DEBIT"), rate(0.5, 25, "NON_DIRECT_DEBIT")] } },
    );
    double.answers.set(path, {
      results: [rate(0.5, 19.11, "DIRECT_DEBIT"), rate(0.5, 25, "NON_DIRECT_DEBIT")],
      next: `${double.url}${path}page2`,
    });
    double.answers.set(`${path}page2`, {
      results: [rate(0, -2)],
      next: "http://127.0.0.2:9/elsewhere",
    });
    await poll();
    expect(prices()).toEqual([
      ["11-22T12:00", 30, -0.02],
      ["11-22T12:30", 30, 0.1911],
    ]);
    expect([double.asked.length, curve.currency]).toEqual([2, "GBP"]);
  });

  test("Octopus: a fixed tariff without an end", async () => {
    const fixed = { value_inc_vat: 24.5, valid_from: "2025-01-01T00:00:00Z", valid_to: null };
    const { poll, curve } = await openSource(
      { type: "octopus", tariff: "E-1R-VAR-22-11-01-A" },
      { "/v1": { results: [fixed] } },
    );
    await poll();
    expect(curve.period(noon + 48 * hour).value).toBe(0.245);
  });

  test("Tibber: a query with the token, of the home that has a contract", async () => {
    const price = (startsAt: string, total: number) => ({ total, startsAt, currency: "EUR" });
    const priceInfo = {
      today: [price("2026-11-22T13:00:00.000+01:00", 0.3664), price("2026-11-22T13:15:00.000+01:00", 0.35)],
      tomorrow: [],
    };
    const { poll, prices, double } = await openSource(
      { type: "tibber", token: "tibber-token" },
      {
        "/v1-beta/gql": {
          data: {
            viewer: {
              homes: [
                { id: "old", currentSubscription: null },
                { id: "a", currentSubscription: { priceInfo } },
              ],
            },
          },
        },
      },
    );
    await poll();
    expect(prices()).toEqual([
      ["11-22T12:00", 15, 0.3664],
      ["11-22T12:15", 15, 0.35],
    ]);
    expect(double.asked[0]).toMatchObject({
      line: "POST /v1-beta/gql",
      headers: { authorization: "Bearer tibber-token" },
      body: expect.stringContaining("priceInfo"),
    });
  });

  test.each<[string, Record<string, unknown>, object]>([
    ["a bare list", {}, [{ start: "2026-11-22T12:00:00Z", end: "2026-11-22T12:15:00Z", value: 0.0812 }]],
    [
      "evcc",
      {},
      { result: { rates: [{ start: "2026-11-22T13:00:00+01:00", end: "2026-11-22T13:15:00+01:00", value: 0.0812 }] } },
    ],
    [
      "Home Assistant",
      {},
      {
        state: "0.08",
        attributes: {
          prices: [{ from: "2026-11-22 12:00:00+00:00", till: "2026-11-22 12:15:00+00:00", price: "0.0812" }],
        },
      },
    ],
    ["a path", { path: "a.1" }, { a: [0, [{ start: noon / 1000, end: noon + 900_000, value: 0.0812 }]] }],
    [
      "starts alone",
      {},
      [
        { start: noon, value: 0.0812 },
        { start: noon + 900_000, value: "nothing" },
      ],
    ],
  ])("the generic list: %s", async (_, settings, answer) => {
    const { poll, prices } = await openSource({ type: "list", currency: "EUR", ...settings }, { "/": answer });
    await poll();
    expect(prices()).toEqual([["11-22T12:00", 15, 0.0812]]);
  });
});

describe("a source that fails keeps its last prices, with a sentence that names it and no secret", () => {
  const good = [{ start: noon, end: noon + 24 * hour, value: 0.1 }];
  const secret = "very-secret-token";
  test.each<[string, Answer, string]>([
    ["a web page", "<!DOCTYPE html><title>Sign in</title>", "answers with a web page instead of data"],
    ["a status of 500", (response) => response.writeHead(500).end(secret), "answers 500"],
    [
      "a redirect",
      (response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      "answers 302; redirects are not followed",
    ],
    ["429", (response) => response.writeHead(429).end(), "answers 429: too many requests, or busy"],
    ["204", (response) => response.writeHead(204).end(), "answers without any value"],
    ["nothing", "", "answers without any value"],
    [
      "half a JSON",
      '[{"start":"2026-11-22T12:00:00Z","end":',
      "answers with something that cannot be read instead of data",
    ],
    ["another JSON", { error: secret }, ": its answer is not a list; set path to where the list is"],
    [
      "rows without numbers",
      [{ start: noon, end: noon + hour, value: "NaN" }],
      ": 1 of its 1 prices could not be read",
    ],
    ["an empty list", [], "answers without any value"],
    ["too much", (response) => response.end(" ".repeat(5_000_000)), "answers with more than 3906 KB"],
    ["a broken connection", (response) => response.destroy(), "cannot be reached"],
  ])("%s", async (_, answer, words) => {
    const settings = { type: "list", currency: "EUR", headers: { Authorization: `Bearer ${secret}` } };
    const { poll, curve, double, clock, prices } = await openSource(settings, { "/": good });
    await poll();
    expect(curve.problem).toBeNull();
    double.answers.set("/", answer);
    clock.pass(1800);
    expect(await poll()).toBe(false);
    expect(curve.problem).toBe(words.startsWith(":") ? `${double.host}${words}` : `${double.host} ${words}`);
    expect([prices(), curve.at]).toEqual([[["11-22T12:00", 1440, 0.1]], noon]);
    expect(double.asked.every(({ headers }) => headers.authorization === `Bearer ${secret}`)).toBe(true);
  });

  test("the token of ENTSO-E, which is in the address, is in no sentence and no log", async () => {
    const { poll, curve, double, logged } = await openSource(entsoeSettings, {
      "/api": (response) => response.writeHead(401).end(),
    });
    await poll();
    expect(double.asked[0]?.line).toContain("securityToken=entsoe-token");
    expect(curve.problem).toBe(`${double.host} answers 401`);
    expect(logged()).toContain("a source failed");
    expect(logged()).not.toContain("entsoe-token");
  });

  test("ENTSO-E's refusal, and a document with entities", async () => {
    const refusal =
      '<?xml version="1.0"?><Acknowledgement_MarketDocument><Reason><code>999</code><text>No matching data</text></Reason></Acknowledgement_MarketDocument>';
    const { poll, curve, double, clock } = await openSource(entsoeSettings, { "/api": refusal });
    await poll();
    expect(curve.problem).toBe(`${double.host}: it has no prices (reason 999)`);
    double.answers.set("/api", `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]>${entsoeDocument(point(1, "1"))}`);
    clock.pass(3600);
    await poll();
    expect([curve.problem, curve.at]).toEqual([
      `${double.host}: it answers with something other than its XML document`,
      null,
    ]);
  });

  test("Tibber's errors with status 200, and a former customer", async () => {
    const { poll, curve, double, clock } = await openSource(
      { type: "tibber", token: "tibber-token" },
      { "/v1-beta/gql": { errors: [{ message: "invalid tibber-token" }] } },
    );
    await poll();
    expect(curve.problem).toBe(`${double.host}: it refuses the query; check token`);
    double.answers.set("/v1-beta/gql", { data: { viewer: { homes: [{ id: "old", currentSubscription: null }] } } });
    clock.pass(3600);
    await poll();
    expect(curve.problem).toBe(`${double.host}: it lists no such home with a contract`);
  });
});

describe("a source is asked", () => {
  const list = { type: "list", currency: "EUR" };
  const row = [{ start: noon, end: noon + hour, value: 1 }];

  test("no more often than set, after a failure with growing breaks, and when it says after 429", async () => {
    const { poll, double, clock } = await openSource(list, { "/": row });
    const askedAfter = async (seconds: number): Promise<boolean> => {
      const before = double.asked.length;
      clock.pass(seconds);
      await poll();
      return double.asked.length > before;
    };
    expect(await askedAfter(0)).toBe(true);
    expect([await askedAfter(1700), await askedAfter(100)]).toEqual([false, true]);
    double.answers.set("/", "<html>");
    expect(await askedAfter(1800)).toBe(true);
    expect([await askedAfter(50), await askedAfter(10)]).toEqual([false, true]);
    expect([await askedAfter(110), await askedAfter(10)]).toEqual([false, true]);
    double.answers.set("/", (response) => response.writeHead(429, { "retry-after": "7200" }).end());
    expect(await askedAfter(240)).toBe(true);
    expect([await askedAfter(7100), await askedAfter(100)]).toEqual([false, true]);
  });

  test("with the tag of its last answer", async () => {
    const { poll, double, clock, curve } = await openSource(list, {
      "/": (response, { headers }) =>
        headers["if-none-match"] === '"1"'
          ? response.writeHead(304).end()
          : response.writeHead(200, { etag: '"1"' }).end(JSON.stringify(row)),
    });
    await poll();
    clock.pass(1800);
    expect(await poll()).toBe(true);
    expect(double.asked.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"1"']);
    expect([curve.at, curve.problem]).toEqual([noon + 1_800_000, null]);
  });

  test("by the next run only when it is due, with the last prices and their age until then", async () => {
    const { poll, open, double, clock } = await openSource(list, { "/": row });
    await poll();
    clock.pass(600);
    const next = open();
    expect([next.curve.periods, next.curve.at]).toEqual([[{ start: noon, end: noon + hour, value: 1 }], noon]);
    await next.poll();
    expect(double.asked).toHaveLength(1);
    clock.pass(1200);
    await next.poll();
    expect(double.asked).toHaveLength(2);
  });
});

test("whatever a source answers, its prices are finite, and nothing throws", () => {
  const settings = PriceSourceSettings.parse({ type: "list", url: "http://127.0.0.1", currency: "EUR" });
  const names = [
    "start",
    "end",
    "value",
    "data",
    "price",
    "unix_seconds",
    "results",
    "total",
    "startsAt",
    "multiAreaEntries",
  ];
  const json = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(
        null,
        true,
        "",
        "NaN",
        "1e400",
        "-5",
        "2026-11-22T12:00:00Z",
        noon,
        noon / 1000,
        -1,
        1e308,
        "<x>",
      ),
      fc.array(tie("node"), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...names), tie("node"), { maxKeys: 5 }),
    ),
  })).node;
  fc.assert(
    fc.property(fc.constantFrom(...Object.values(priceSources)), fc.array(json, { maxLength: 3 }), (shape, answers) => {
      const facts = shape.read(answers, settings, () => undefined, noon);
      for (const { start, end, value } of facts?.periods ?? []) {
        expect([start, end, value].every(Number.isFinite)).toBe(true);
        expect(end).toBeGreaterThan(start);
      }
    }),
  );
});
