import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Parsed, parseReply, parseStrict } from "../../../src/link/transports/json.ts";

const read = (parsed: Parsed): unknown => {
  if ("problem" in parsed) throw new Error(parsed.problem);
  return parsed.value;
};

/** Keys and texts full of what JSON's grammar is made of. */
const text = fc.string({ unit: fc.constantFrom("a", "}", "{", ",", "]", "[", '"', "\\", " ", "é", ":", "1", "😀") });
const leaf = fc.oneof(
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const records = (keys: fc.Arbitrary<string>) =>
  fc.letrec<{ record: Record<string, unknown>; value: unknown }>((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie("value"), { maxLength: 4 }), tie("record")),
    record: fc.dictionary(keys, tie("value"), { maxKeys: 5 }),
  })).record;
const record = records(text);

/** As JSON keeps it: -0 is written 0. */
function kept(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(kept);
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? 0 : value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, kept(each)]));
}

/** JSON with `between` in the place of commas and `last` before each closing bracket. */
function written(value: unknown, style: { between: string; last: string }): string {
  const list = (parts: string[]): string => parts.join(style.between) + (parts.length > 0 ? style.last : "");
  if (Array.isArray(value)) return `[${list(value.map((each) => written(each, style)))}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${list(Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}:${written(each, style)}`))}}`;
}

describe("sound JSON", () => {
  test("is read as JSON.parse reads it, without a repair", () => {
    // JSON.parse of V8 13.6 now and then takes "\\a" for "\\" after it has read an object with that key.
    const keys = text.filter((key) => !key.includes("\\"));
    fc.assert(
      fc.property(records(keys), (value) => {
        const json = JSON.stringify(value);
        expect(parseReply(json)).toEqual({ value: JSON.parse(json), repairs: [] });
      }),
    );
  });

  test("is read alike by the repairing reader, which a mark in front of it brings in", () => {
    fc.assert(
      fc.property(record, (value) => {
        const json = JSON.stringify(value);
        expect(parseReply(`\uFEFF${json}`)).toEqual({
          value: kept(value),
          repairs: ["a byte order mark was ignored"],
        });
      }),
    );
  });
});

describe("broken JSON gives the value of the sound one", () => {
  const repaired = (damage: (value: Record<string, unknown>) => string): void =>
    fc.assert(
      fc.property(record, (value) => {
        expect(read(parseReply(damage(value)))).toEqual(kept(value));
      }),
    );

  test("with missing commas", () => repaired((value) => written(value, { between: " ", last: "" })));
  test("with doubled commas and commas before brackets", () =>
    repaired((value) => written(value, { between: ",,", last: "," })));
  test("with NULs between and behind", () =>
    repaired((value) => `${written(value, { between: "\0,\0", last: "\0" })}\0\0`));
  test("with other bytes behind", () => repaired((value) => `${JSON.stringify(value)}\0OK\r\n`));
  test("repeated", () => repaired((value) => JSON.stringify(value).repeat(2)));
  test("with half a document behind", () => repaired((value) => `${JSON.stringify(value)}{"more":[1,`));

  test.each([
    ['{"a":nan,"b":-inf,"c":NaN,"d":Infinity}', { a: null, b: null, c: null, d: null }],
    ['{"a":"one\ntwo\u0000three"}', { a: "onetwothree" }],
    ['{"a":"","b":"x""temp0":1}', { a: "", b: "x", temp0: 1 }],
    ['[,{"a":1}]', [{ a: 1 }]],
    [',"a":1}', { a: 1 }],
    ['{"CGMiner":1}{"STATS":[2],"CGMiner":3}', { CGMiner: 1, STATS: [2] }],
    ['{"a":+5,"b":.5,"c":007}', { a: 5, b: 0.5, c: 7 }],
    ['{"a":"\\x"}', { a: "x" }],
  ])("%j", (json, value) => {
    expect(read(parseReply(json))).toEqual(value);
  });
});

describe("what is not JSON", () => {
  test.each([
    ["", "not JSON"],
    ["STATUS=S,When=1,Code=22|", "not JSON"],
    ["HTTP/1.1 400 Bad Request", "not JSON"],
    ['{"a":[1,2', "ends in the middle"],
    ['{"a":"b', "ends in the middle"],
    ['{"a"}', "no value"],
    ['{"a":hello}', "bare word"],
    [`{"deep":${"[".repeat(40)}${"]".repeat(40)}}`, "nests deeper"],
    [`\uFEFF{"deep":${"[".repeat(40)}${"]".repeat(40)}}`, "nests deeper"],
    ["[".repeat(1_000_000), "nests deeper"],
  ])("%.30j is named", (json, words) => {
    expect(parseReply(json)).toEqual({ problem: expect.stringContaining(words) });
  });

  test("32 levels are read", () => {
    expect(read(parseStrict("[".repeat(32) + "]".repeat(32)))).toHaveLength(1);
  });

  test("any text gives a value or a problem", () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"',
      "\\",
      "nan",
      "1",
      "-",
      "\0",
      "\n",
      "\uFEFF",
      "tru",
    );
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: pieces, maxLength: 200 })), (json) => {
        const parsed = parseReply(json);
        expect("value" in parsed || parsed.problem.length > 0).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

test("__proto__ is a key like any other, and changes no prototype", () => {
  const value = read(parseReply('\uFEFF{"__proto__":{"hacked":1}}'));
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(JSON.stringify(value)).toBe('{"__proto__":{"hacked":1}}');
});
