import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Format, formatFor } from "../../src/units/format.ts";

const locales = [
  "en-US",
  "en-IN",
  "sv-SE",
  "de-DE",
  "de-CH",
  "fr-FR",
  "pt-PT",
  "es-ES",
  "ar-EG",
  "hi-IN",
  "fa-IR",
  "ja",
];

const formats = locales.map((locale) => ({ locale, format: formatFor({ locale, currency: "USD" }) }));

const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, " ");

const intl = (locale: string, digits: number): Intl.NumberFormat =>
  new Intl.NumberFormat(locale, {
    numberingSystem: "latn",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });

/** Values around the end of the fast path, ties of the last digit, and any others. */
const figures = fc.oneof(
  fc.double({ min: 0, max: 1100, noNaN: true }),
  fc.integer({ min: 0, max: 1_100_000 }).map((thousandths) => thousandths / 1000),
  fc.double({ min: -1e15, max: 1e15, noNaN: true }),
  fc.integer(),
);

describe.each(formats)("numbers in $locale", ({ locale, format }) => {
  test("are those of Intl, with plain spaces", () => {
    const two = intl(locale, 2);
    const none = intl(locale, 0);
    fc.assert(
      fc.property(figures, (figure) => {
        fc.pre(!Object.is(figure, -0));
        expect(format.decimal(figure)).toBe(plain(two.format(figure)));
        expect(format.grouped(figure)).toBe(plain(none.format(figure)));
      }),
      { numRuns: 500 },
    );
  });

  test("have Latin digits and no space but the plain one", () => {
    for (const text of [format.decimal(1234567.891), format.money(1234.5), format.hashrate(73.22e12)]) {
      expect(text).not.toMatch(/[\u00a0\u202f]/);
      expect(text).not.toMatch(/(?=\p{Nd})[^0-9]/u);
    }
  });
});

const swedish = formatFor({ locale: "sv-SE", currency: "USD", timeZone: "Europe/Stockholm" });
const american = formatFor({ locale: "en-US", currency: "USD", timeZone: "UTC" });

describe("display strings have the recorded shapes", () => {
  test.each<[string, (format: Format) => string, string, string]>([
    ["hash rate", ({ hashrate }) => hashrate(73.22e12), "73,22 TH/s", "73.22 TH/s"],
    ["money", ({ money }) => money(10.17), "$10,17", "$10.17"],
    ["money that is owed", ({ money }) => money(-10.17), "-$10,17", "-$10.17"],
    ["temperatures", ({ temperatures }) => temperatures([59, 58.6, 59.4]), "59 59 59 °C", "59 59 59 °C"],
    ["one temperature", ({ temperatures }) => temperatures([68]), "68 °C", "68 °C"],
    ["temperatures of which one is unknown", ({ temperatures }) => temperatures([59, null]), "59 °C", "59 °C"],
    ["no temperature", ({ temperatures }) => temperatures([null]), "", ""],
    ["power", ({ power }) => power(2865), "2865 W", "2865 W"],
    ["work utility", ({ decimal }) => decimal(200_540.59), "200 540,59", "200,540.59"],
    ["a count", ({ count }) => count(12_169), "12169", "12169"],
    ["a run time", ({ duration }) => duration(6_060), "1h 41m", "1h 41m"],
  ])("%s", (_, show, inSwedish, inAmerican) => {
    expect(show(swedish)).toBe(inSwedish);
    expect(show(american)).toBe(inAmerican);
  });

  test.each([
    [0, "0m"],
    [59.9, "0m"],
    [60, "1m"],
    [3_600, "1h 0m"],
    [86_399, "23h 59m"],
    [86_400, "1d 0h 0m"],
    [90_061, "1d 1h 1m"],
  ])("%d seconds are %s", (seconds, text) => expect(american.duration(seconds)).toBe(text));

  test("the currency symbol is in front in every locale", () => {
    expect(formatFor({ locale: "de-DE", currency: "EUR" }).money(1234.5)).toBe("€1.234,50");
  });

  test("a symbol that ends in a letter is separated from the number", () => {
    expect(formatFor({ locale: "sv-SE", currency: "SEK" }).money(12)).toBe("kr 12,00");
    expect(formatFor({ locale: "en-US", currency: "CHF" }).money(-10.17)).toBe("-CHF 10.17");
    expect(formatFor({ locale: "pt-BR", currency: "BRL" }).money(12)).toBe("R$12,00");
  });
});

describe("the unit's prefix", () => {
  test.each([
    [null, "0 H/s"],
    [0, "0 H/s"],
    [0.004, "0.00 H/s"],
    [999.99, "999.99 H/s"],
    [999.995, "1.00 kH/s"],
    [1_000, "1.00 kH/s"],
    [999_994.9, "999.99 kH/s"],
    [999_995, "1.00 MH/s"],
    [1e9, "1.00 GH/s"],
    [1e12, "1.00 TH/s"],
    [1e15, "1.00 PH/s"],
    [1e18, "1.00 EH/s"],
    [1e21, "1.00 ZH/s"],
    [1e24, "1,000.00 ZH/s"],
  ])("of %p is as in %s", (perSecond, text) => expect(american.hashrate(perSecond)).toBe(text));

  test("precedes the unit of an algorithm", () => {
    expect(american.hashrate(140_000, "Sol/s")).toBe("140.00 kSol/s");
    expect(american.hashrate(4.2, "G/s")).toBe("4.20 G/s");
  });

  test("never leaves four digits before the decimal point while there is a larger unit", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e23, noNaN: true }), (perSecond) => {
        expect(american.hashrate(perSecond)).toMatch(/^\d{1,3}(\.\d\d)? [kMGTPEZ]?H\/s$/);
      }),
    );
  });
});

describe("local time", () => {
  test("is yyyy-MM-dd HH:mm:ss in the operator's time zone", () => {
    const time = Date.UTC(2026, 0, 31, 23, 4, 5, 678);
    expect(american.localTime(time)).toBe("2026-01-31 23:04:05");
    expect(swedish.localTime(time)).toBe("2026-02-01 00:04:05");
  });

  test("follows the clock in both directions", () => {
    const times = [0, 999, 1_000, 500, 1_500].map((time) => american.localTime(time).slice(-2));
    expect(times).toEqual(["00", "00", "01", "00", "01"]);
  });
});
