import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { formatFor } from "../../src/units/format.ts";
import { parserFor } from "../../src/units/parse.ts";

/** Many language tags, of which Intl supports some. */
const tags = `af am ar ar-AE ar-DZ ar-EG ar-LB ar-MA ar-SA as ast az be bg bn bn-IN br bs ca ceb chr ckb cs cv cy da de
  de-AT de-CH de-LI dsb ee el en en-150 en-AU en-CA en-CH en-GB en-IE en-IN en-NZ en-SE en-US en-ZA eo es es-AR es-CL
  es-CO es-CR es-ES es-MX es-PE es-US et eu fa fa-AF ff fi fil fo fr fr-BE fr-CA fr-CH fr-FR fr-LU fr-MA fur fy ga gd gl
  gsw gu ha haw he hi hi-IN hr hsb hu hy ia id ig is it it-CH ja jv ka kea kk kl km kn ko kok ks ku ky lb lo lt lv mai mi
  mk ml mn mni mr mr-IN ms mt my my-MM nb ne ne-NP nl nl-BE nn no om or os pa pl ps pt pt-AO pt-BR pt-CH pt-PT qu rm ro
  ru ru-UA rw sa sat sc sd se si sk sl so sq sr sr-Latn su sv sv-FI sv-SE sw ta ta-LK te tg th ti tk to tr tt ug uk ur
  ur-IN uz vi wo xh yi yo yue zgh zh zh-HK zh-TW zu`.split(/\s+/);
const locales = Intl.NumberFormat.supportedLocalesOf(tags);
const currencies = ["USD", "EUR", "SEK", "CHF", "INR", "JPY", "DKK", "PLN", "XBT"];
const units = ["H/s", "Sol/s", "G/s"] as const;
const prefixes = [1, 1e3, 1e6, 1e9, 1e12, 1e15, 1e18, 1e21];

test("there are some 150 locales to parse", () => expect(locales.length).toBeGreaterThan(140));

describe("formatted strings are parsed back", () => {
  test.each(locales)("in %s", (locale) => {
    const parser = parserFor({ locale });
    const byCurrency = currencies.map((currency) => formatFor({ locale, currency }));
    const figure = fc.oneof(
      fc.double({ min: -1e9, max: 1e9, noNaN: true }),
      fc.integer({ min: -2_000_000, max: 2_000_000 }),
    );
    const format = formatFor({ locale, currency: "USD" });
    fc.assert(
      fc.property(figure, fc.nat({ max: 8 }), (value, currency) => {
        const near = (read: number | null, digits: number, wanted = value) =>
          expect([read, Math.abs((read ?? Number.NaN) - wanted) <= 0.5001 * 10 ** -digits]).toEqual([read, true]);
        near(parser.decimal(format.decimal(value)), 2);
        near(parser.count(format.count(value)), 0);
        near(parser.power(format.power(Math.abs(value))), 0, Math.abs(value));
        near(parser.money(byCurrency[currency]?.money(value) ?? ""), 2);
      }),
      { numRuns: 30 },
    );
    fc.assert(
      fc.property(fc.double({ min: 0, max: 999.99, noNaN: true }), fc.constantFrom(...units), (value, unit) => {
        for (const prefix of prefixes) {
          const read = parser.hashrate(format.hashrate(value * prefix, unit));
          expect(Math.abs((read ?? Number.NaN) - value * prefix)).toBeLessThanOrEqual(0.005_001 * prefix);
        }
      }),
      { numRuns: 10 },
    );
  });

  test("temperatures and durations, which are whole numbers everywhere", () => {
    const format = formatFor({ locale: "sv-SE", currency: "SEK" });
    const parser = parserFor({ locale: "sv-SE" });
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -40, max: 150 }), { minLength: 1 }), fc.nat(1e8), (boards, minutes) => {
        expect(parser.temperatures(format.temperatures(boards))).toEqual(boards);
        expect(parser.duration(format.duration(minutes * 60))).toBe(minutes * 60);
      }),
    );
  });

  test("also with the locale's own digits and signs, as Intl formats them", () => {
    for (const locale of ["ar-EG", "fa", "mr-IN", "bn", "my", "ne", "sv-SE", "de-CH", "he"]) {
      const intl = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
      const parser = parserFor({ locale });
      for (const value of [0.5, 73.22, 1234.5, 200_540.59, -12_345_678.9])
        expect([locale, parser.decimal(intl.format(value))]).toEqual([locale, value]);
    }
  });
});

describe("strings of the foreign product", () => {
  const swedish = parserFor({ locale: "sv-SE" });
  const american = parserFor({ locale: "en-US" });
  const swiss = parserFor({ locale: "de-CH" });

  test.each([
    ["plain space", "200 540,59"],
    ["no-break space", "200\u00a0540,59"],
    ["narrow no-break space", "200\u202f540,59"],
    ["no groups", "200540,59"],
  ])("numbers grouped by %s", (_, text) => expect(swedish.decimal(text)).toBe(200_540.59));

  test.each(["1'234.50", "1’234.50"])("numbers grouped by an apostrophe: %s", (text) =>
    expect(swiss.decimal(text)).toBe(1234.5),
  );

  test.each([
    ["73.22 TH/s", 73.22e12],
    ["73.22 Th/s", 73.22e12],
    ["73.22TH/s", 73.22e12],
    ["1.5 KH/s", 1500],
    ["12 GHash/s", 12e9],
    ["140.00 kSol/s", 140_000],
    ["4.20 G/s", 4.2],
    ["4.20 GG/s", 4.2e9],
    ["0 H/s", 0],
    ["1,000.00 ZH/s", 1e24],
  ])("hash rate %s", (text, value) => expect(american.hashrate(text)).toBeCloseTo(value, -Math.log10(value || 1) + 9));

  test.each([
    ["59 59 59 °C", [59, 59, 59]],
    ["68 °C", [68]],
    ["100 101 °C", [100, 101]],
    ["-3 °C", [-3]],
    ["59.5 60 °C", [59.5, 60]],
    ["140 °F", [60]],
  ])("temperatures %s", (text, values) => expect(american.temperatures(text)).toEqual(values));

  test.each([
    ["1h 41m", 6060],
    ["2d 3h 0m", 183_600],
    ["0m", 0],
    ["5m 3s", 303],
  ])("run time %s", (text, seconds) => expect(american.duration(text)).toBe(seconds));

  test.each([
    ["$10.17", 10.17],
    ["-$10.17", -10.17],
    ["$-10.17", -10.17],
    ["CHF 1,234.50", 1234.5],
    ["10.17 €", 10.17],
    ["kr.12.00", 12],
  ])("money %s", (text, amount) => expect(american.money(text)).toBe(amount));

  test.each(["2,865 W", "2865 W", "2.865 kW"])("power %s", (text) => expect(american.power(text)).toBe(2865));
});

describe("any other string is null", () => {
  const parser = parserFor({ locale: "en-US" });

  test.each(["", " ", "abc", "73,22", "1,23,456", "200 540.59", "1.2.3", "--1", "1e5", "NaN", "½", "1,234,56"])(
    "number %p",
    (text) => expect(parser.decimal(text)).toBeNull(),
  );
  test.each(["", "73,22 TH/s", "73.22", "73.22 XH/s", "TH/s", "73.22 T"])("hash rate %p", (text) =>
    expect(parser.hashrate(text)).toBeNull(),
  );
  test.each(["", "°C", "59", "59  x °C", "59,5 °C"])("temperature %p", (text) =>
    expect(parser.temperatures(text)).toBeNull(),
  );
  test.each(["", "1", "1x", "h", "1m 2h"])("run time %p", (text) => expect(parser.duration(text)).toBeNull());
  test.each(["", "$", "10,17 kr", "$1.2.3"])("money %p", (text) => expect(parser.money(text)).toBeNull());

  test("no text makes it throw, and every result is a finite number", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (text) => {
        for (const read of [parser.hashrate, parser.power, parser.duration, parser.money, parser.count]) {
          const value = read(text);
          expect(value === null || Number.isFinite(value)).toBe(true);
        }
      }),
    );
  });

  test("a number of another locale is refused rather than misread", () => {
    for (const [written, told] of [
      ["sv-SE", "en-US"],
      ["en-US", "sv-SE"],
      ["de-DE", "en-US"],
      ["en-US", "de-DE"],
      ["fr-FR", "de-DE"],
    ] as const) {
      const text = formatFor({ locale: written, currency: "USD" }).decimal(200_540.59);
      expect([told, text, parserFor({ locale: told }).decimal(text)]).toEqual([told, text, null]);
    }
  });
});
