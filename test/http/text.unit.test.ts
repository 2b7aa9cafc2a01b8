import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { clientHolds, tagged, weak } from "../../src/http/etag.ts";
import { parseBody } from "../../src/http/json.ts";
import { surveyJson } from "../../src/http/json-survey.ts";
import { loggable } from "../../src/http/log.ts";
import { readQuery } from "../../src/http/query.ts";

describe("a query", () => {
  test("is decoded as forms write it", () => {
    const { values } = readQuery("/api/miners?name=a+b%20c&empty&x=1=2&#key=3");
    expect([...values]).toEqual([
      ["name", "a b c"],
      ["empty", ""],
      ["x", "1=2"],
    ]);
  });

  test("has no value for what stands there twice or is broken", () => {
    const query = readQuery("/?a=1&a=2&b=%zz&c=3");
    expect([...query.values.keys()]).toEqual(["c"]);
    expect([...query.repeated, ...query.broken]).toEqual(["a", "b"]);
  });

  test("gives back whatever was written into it", () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1, unit: "grapheme" }));
    fc.assert(
      fc.property(names, fc.string({ unit: "grapheme" }), (given, value) => {
        const text = given.map((name) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
        expect(readQuery(`/?${text}`).values).toEqual(new Map(given.map((name) => [name, value])));
      }),
    );
  });
});

describe("a JSON body", () => {
  test.each([
    ['{"a":1,\n "b": x}', "line 2, column 7"],
    ['{"a":1', "ends too early"],
    ["[1,]", "line 1, column 4"],
    ['{"a" 1}', "line 1, column 6"],
    ["{,}", "line 1, column 2"],
    ['"a\tb"', "line 1, column 3"],
    ['"\\x"', "line 1, column 2"],
    ["01", "line 1, column 2"],
    ["1 2", "line 1, column 3"],
    ["]", "line 1, column 1"],
    ["", "ends too early"],
  ])("%j is broken at %s", (text, where) => {
    expect(() => parseBody(text, 32)).toThrow(where);
  });

  test("is not quoted in the error if it is malformed", () => {
    expect(() => parseBody('{"password":"hunter2" nix}', 32)).toThrow(/^(?!.*hunter2)/);
  });

  test.each(['{"__proto__":{"a":1}}', '{"a":[{"__proto__":1}]}', '{"constructor":{"prototype":{"a":1}}}'])(
    "%s is refused",
    (text) => expect(() => parseBody(text, 32)).toThrow("forbidden name"),
  );

  test("may be nested as deep as allowed and not deeper", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    expect(parseBody(nested(32), 32)).toBeDefined();
    expect(() => parseBody(nested(33), 32)).toThrow("nested too deeply");
    expect(() => parseBody(nested(200_000), 32)).toThrow("nested too deeply");
  });

  test.each([
    [`{${Array.from({ length: 1_001 }, (_, index) => `"k${index}":1`).join()}}`, "more than 1,000 names"],
    [`[${'{"a":1},'.repeat(1_001)}1]`, "more than 1,000 names"],
    [`[${"1,".repeat(110_000)}1]`, "more than 110,000 items"],
    [`[${"[],".repeat(110_000)}1]`, "more than 110,000 items"],
    [`{"a":"${"x".repeat(20_001)}"}`, "a string of more than 20,000 characters"],
    [`{"${"x".repeat(20_001)}":1}`, "a string of more than 20,000 characters"],
    [`["${String.raw`\u0041`.repeat(160_000)}"]`, "a string of more than 20,000 characters"],
    [`"${String.raw`\"`.repeat(490_000)}`, "a string of more than 20,000 characters"],
  ])("%#: beyond the limits of every operation is refused, even if the rest is malformed", (text, words) => {
    for (const each of [text, text.slice(0, -1)]) expect(() => parseBody(each, 32)).toThrow(words);
  });

  test("may hold as much as is allowed", () => {
    const names = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, index]));
    for (const value of [names, new Array(100_000).fill(1), "x".repeat(20_000)])
      expect(parseBody(JSON.stringify(value), 32)).toEqual(value);
  });

  test("is counted by lines however many there are", () => {
    expect(() => parseBody(`${"\n".repeat(900_000)} x`, 32)).toThrow("line 900001, column 2");
  });

  test("is at fault exactly where JSON.parse refuses it, whatever was done to it", () => {
    const mutated = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom(...'{}[],:"\\ 01e.-+tfnu\n\t\u0001é'))
      .map(([text, at, character]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + character + text.slice(place + (at % 2));
      });
    fc.assert(
      fc.property(mutated, (text) => {
        const { fault } = surveyJson(text, unbounded);
        expect(fault === undefined).toBe(isJson(text));
        if (fault !== undefined && fault < text.length) expect(isBeginning(text.slice(0, fault))).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const unbounded = {
  levels: Number.POSITIVE_INFINITY,
  names: Number.POSITIVE_INFINITY,
  items: Number.POSITIVE_INFINITY,
  characters: Number.POSITIVE_INFINITY,
};

/** A text with nothing wrong in it but that it may end too early. */
const isBeginning = (text: string): boolean => (surveyJson(text, unbounded).fault ?? text.length) === text.length;

describe("a tag", () => {
  test("does not change with metaData and changes with everything else", () => {
    const tag = (reply: object) => tagged(reply).etag;
    expect(tag({ a: 1, metaData: { updated: 1 } })).toBe(tag({ a: 1, metaData: { updated: 2 } }));
    expect(tag({ a: 1, metaData: {} })).not.toBe(tag({ a: 2, metaData: {} }));
    expect(tag({ metaData: 1 })).not.toBe(tag({ updated: 1 }));
    expect(tag([{ metaData: 1 }])).not.toBe(tag([{ metaData: 2 }]));
    expect(tag({ list: "x".repeat(1_000_001) })).toBeUndefined();
  });

  test("leaves the reply as it is", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("a", "b", "metaData"), fc.jsonValue()), (reply) => {
        expect(JSON.parse(tagged(reply).text)).toEqual(JSON.parse(JSON.stringify(reply)));
      }),
    );
  });

  test.each([
    ['W/"a"', true],
    ['"a"', true],
    ['"b", W/"a"', true],
    ["*", true],
    ['"b"', false],
    ["a", false],
    ["", false],
    [undefined, false],
  ])("is held by a client that sends If-None-Match %s: %s", (header, held) => {
    expect(clientHolds(header, weak("a"))).toBe(held);
  });

  test("is weak however the service writes it", () => {
    expect([weak("a"), weak('"a"'), weak('W/"a"')]).toEqual(['W/"a"', 'W/"a"', 'W/"a"']);
  });
});

test.each([
  ["/api/miners?key=SECRET"],
  ["/api/miners&key=SECRET"],
  ["/api/miners;key=SECRET"],
  ["/api/miners%3Fkey=SECRET"],
  ["http://host/api/miners?key=SECRET"],
  ["/api/miners#key=SECRET"],
])("%s is logged as its path", (target) => {
  expect(loggable(target)).toBe("/api/miners");
});
