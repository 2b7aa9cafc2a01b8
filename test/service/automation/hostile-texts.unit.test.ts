import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { splitWords } from "../../../src/catalogue/parameters.ts";
import { unevaluable } from "../../../src/config/rule-checks.ts";
import { Duration } from "../../../src/contract/duration.ts";
import { quantityIn } from "../../../src/contract/quantity.ts";
import { CronText } from "../../../src/contract/rule-conditions.ts";
import { filled, namesIn, textMistake, textNames } from "../../../src/contract/texts.ts";
import { JsonPath } from "../../../src/contract/topic.ts";
import { parseAddress } from "../../../src/link/address.ts";
import { numberIn, valueAt, valueIn } from "../../../src/link/quantity.ts";
import { hashrateOf, poolViewSources } from "../../../src/service/market/pool-view-sources.ts";
import { readPrices } from "../../../src/service/market/price-list.ts";
import { fill, fillJson } from "../../../src/service/notifications/fill.ts";

/**
 * Every text that a person, a broker or a server outside gives us to evaluate. A pattern that takes the square of such a
 * text, or worse, does not end within the time of these tests.
 */
const length = 60_000;

/** Long runs of what patterns skip, between what they look for. */
const hostile = fc
  .tuple(
    fc.constantFrom("", "1", "{{", "{", "[", '"', "12.5e", "0x", "a.", "http://", "-", "\\", "*/"),
    fc.constantFrom(
      " ",
      "\t",
      "a",
      "1",
      ".",
      ",",
      "{",
      "{{",
      "}}",
      "[",
      '"',
      "\\",
      "\n",
      "1h",
      "a.",
      "é",
      "{{a}}",
      "-",
      "1,",
      "''",
    ),
    fc.integer({ min: 1, max: length }),
    fc.constantFrom("", "x", "x y", "}}", "}", " W", "\n", "1", '"', ".", "!"),
  )
  .map(([start, part, times, end]) => start + part.repeat(Math.ceil(times / part.length)) + end);

const watts = { what: "a power", units: ["W"], min: 0, max: 1e6 };
const readings = { numRuns: 200 };

describe("is read in a time that grows with its length, and nothing is thrown:", () => {
  test.each<[string, (text: string) => unknown]>([
    ["a text with names of values", (text) => [textMistake(text), namesIn(text).length, filled(text, () => "value")]],
    ["a text of a channel", (text) => fill(text, { title: "x".repeat(1_000) }, (value) => value)],
    ["a body of a channel", (text) => fillJson({ a: text, b: [text] }, { title: "x" }, (value) => value)],
    ["a message of a plug, a sensor or a topic", (text) => [numberIn(text, undefined, watts), valueIn(text, "a.0.b")]],
    ["a number in JSON", (text) => numberIn(JSON.stringify({ a: text }), "a", watts)],
    ["a path", (text) => [valueIn('{"a": [1]}', text), valueAt({ a: [1] }, text), JsonPath.safeParse(text).success]],
    ["a hash rate of a pool", hashrateOf],
    ["a price", (text) => [readPrices(text, undefined, 0), readPrices({ a: text }, "a", 0)]],
    ["a duration", (text) => Duration(0, 100).safeParse(text).success],
    ["a quantity", (text) => quantityIn(text, "W")],
    ["an address", (text) => swallowing(() => parseAddress(text))],
    // As long as the schema lets them be.
    ["parameters of a mining program", (text) => splitWords(text.slice(0, 4_000))],
    ["a cron pattern", (text) => cronIn(text.slice(0, 100))],
    ["an expression", (text) => unevaluable({ ...ruleOf, when: { all: [{ offline: true }], where: text } })],
  ])("%s", (_what, read) => {
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string({ maxLength: 200 })), (text) => {
        read(text);
      }),
      readings,
    );
  });
});

const ruleOf = { key: "a", name: "a" };
const cronIn = (text: string): unknown =>
  CronText.safeParse(text).success && unevaluable({ ...ruleOf, when: { all: [{ cron: text }] } });

/** What is refused with a sentence is refused well. */
function swallowing(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(RangeError);
  }
}

test("cron patterns of all kinds are decided at once", () => {
  const field = fc.constantFrom(
    "*",
    "0",
    "59",
    "*/59",
    "1-5",
    "31",
    "30",
    "2",
    "L",
    "5#5",
    "1,2,3",
    "mon-fri",
    "29",
    "?",
    "0/7",
  );
  fc.assert(
    fc.property(fc.array(field, { minLength: 5, maxLength: 6 }), (fields) => {
      for (const { message } of unevaluable({ ...ruleOf, when: { all: [{ cron: fields.join(" ") }] } }))
        expect(message).toMatch(/never comes|is not a cron pattern/);
    }),
    { numRuns: 300 },
  );
});

test("a text has at most 100,000 characters with its values, whatever is in them", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...textNames), { maxLength: 600 }),
      fc.integer({ min: 0, max: 9_000 }),
      (names, size) => {
        const text = names.map((name) => `{{ ${name} }}`).join(" ");
        const whole = filled(text, () => "v".repeat(size));
        expect(whole.length).toBeLessThanOrEqual(100_000 + names.length);
        if (names.length * (size + 1) + text.length < 100_000)
          expect(whole.length).toBe(Math.max(0, names.length * (size + 1) - 1));
      },
    ),
    { numRuns: 100 },
  );
});

test("answers that are nested deeply, wide or full of rows are read like any other", () => {
  const deep: unknown = JSON.parse("[".repeat(50_000) + "]".repeat(50_000));
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, " ".repeat(50)]));
  const rows = Array.from({ length: 6_000 }, (_, index) => ({ start: 1.7e9 + index * 900, value: "0.1" }));
  for (const answer of [deep, wide, { rates: deep }, rows]) {
    for (const path of [undefined, "rates", "0.0.0", "a.b"]) {
      const prices = readPrices(answer, path, 0);
      expect(typeof prices === "string" || prices.length <= 6_000).toBe(true);
    }
    const settings = {
      type: "json" as const,
      worker: "0",
      name: "name",
      hashrate: "value",
      unit: "TH/s" as const,
      rejected: "start",
      balance: "value",
      balanceFactor: 1,
      lastShare: "start",
      url: "http://192.0.2.1",
    };
    expect(() =>
      poolViewSources.json.read([answer], { ...settings, headers: {}, every: 60 }, () => undefined, 0),
    ).not.toThrow();
  }
  expect(numberIn("[".repeat(50_000) + "]".repeat(50_000), "0.0", watts)).toBe(
    "answers with something other than a number",
  );
});

test("a price lasts until the next one that begins later, and the last as long as the one before", () => {
  const row = (start: number, value: number) => ({ start, value });
  expect(readPrices([row(1.7e9 + 7200, 3), row(1.7e9, 1), row(1.7e9 + 3600, 2), row(1.7e9, 4)], undefined, 0)).toEqual([
    { start: 1.7e12 + 7.2e6, end: 1.7e12 + 10.8e6, value: 3 },
    { start: 1.7e12, end: 1.7e12 + 3.6e6, value: 1 },
    { start: 1.7e12 + 3.6e6, end: 1.7e12 + 7.2e6, value: 2 },
    { start: 1.7e12, end: 1.7e12 + 3.6e6, value: 4 },
  ]);
});
