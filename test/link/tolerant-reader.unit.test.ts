import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Notes, parseNumber, printable, TolerantReader } from "../../src/link/tolerant-reader.ts";

function reader(value: unknown): { reply: TolerantReader; notes: Notes } {
  const notes = new Notes();
  return { reply: new TolerantReader(value, notes, "summary"), notes };
}

describe("numbers", () => {
  test.each([
    ["12", 12],
    [" 18,500.5 ", 18_500.5],
    ["524K", 524_000],
    ["7.64G", 7.64e9],
    ["1.05 M", 1.05e6],
    ["59%", 59],
    ["58W", 58],
    ["15011 GH/s", 15_011e9],
    ["-12.5", -12.5],
    ["1e3", 1000],
    ["1,5", null],
    ["inf", null],
    ["nan", null],
    ["", null],
    [".", null],
    ["12 apples", null],
    ["0x10", null],
  ])("%j is %p", (text, number) => {
    expect(parseNumber(text)).toBe(number);
  });

  test("are scaled to SI without rounding errors of binary fractions", () => {
    const { reply } = reader({ "MHS 5s": 133.86, voltage: 1146 });
    expect(reply.number("MHS 5s", { times: 1e6 })).toBe(133_860_000);
    expect(reply.number("voltage", { times: 1e-3 })).toBe(1.146);
  });

  test.each([
    [1e308, {}],
    [Number.POSITIVE_INFINITY, {}],
    [2 ** 63, {}],
    [1e14, { times: 1e6 }],
    [-1, {}],
    [300, { max: 250 }],
    ["inf", {}],
    ["much", {}],
    [{}, {}],
    [[], {}],
    [true, {}],
  ])("%p with %j is unknown, and a note", (value, rule) => {
    const { reply, notes } = reader({ power: value });
    expect(reply.number("power", rule)).toBeNull();
    expect(notes.list()).toEqual([expect.stringContaining("summary.power")]);
  });

  test("that are missing or absent are unknown without a note", () => {
    const { reply, notes } = reader({ a: null, b: "", temp2: -1 });
    expect([reply.number("a"), reply.number("b"), reply.number("c")]).toEqual([null, null, null]);
    expect(reply.number("temp2", { absent: -1 })).toBeNull();
    expect(notes.list()).toEqual([]);
  });

  test("beyond the exact range are not counts", () => {
    const { reply } = reader({ shares: 2 ** 60, best: 4.9 });
    expect(reply.integer("shares")).toBeNull();
    expect(reply.integer("best")).toBe(4);
  });
});

describe("texts", () => {
  test("lose terminal escapes, control characters and direction marks", () => {
    expect(printable("\u001b[31mrig\u0007\u202e-7\r\n")).toBe("rig-7");
  });

  test("are cut to their length, never through a character", () => {
    const { reply, notes } = reader({ name: `${"x".repeat(199)}😀` });
    expect(reply.text("name")).toBe(`${"x".repeat(199)}\ufffd`);
    expect(notes.list()).toEqual(["summary.name is too long and was cut"]);
  });

  test("without printable characters are unknown, and numbers are texts", () => {
    const { reply } = reader({ empty: "\u0000 ", board: 401 });
    expect([reply.text("empty"), reply.text("board")]).toEqual([null, "401"]);
  });
});

test("yes and no are read in the words that devices use", () => {
  const { reply } = reader({ a: "Y", b: 0, c: "false", d: true, e: "perhaps" });
  expect(["a", "b", "c", "d", "e", "f"].map((key) => reply.boolean(key))).toEqual([
    true,
    false,
    false,
    true,
    null,
    null,
  ]);
});

test("a list contains its objects up to a maximum, and notes what it left out", () => {
  const { reply, notes } = reader({ devs: [{ id: 1 }, 7, { id: 2 }, { id: 3 }], pools: {} });
  expect(reply.list("devs", 3).map((each) => each.integer("id"))).toEqual([1, 2]);
  expect(reply.list("pools")).toEqual([]);
  expect(notes.list()).toHaveLength(3);
});

test("lists are read by position, also lists of lists, and what is no list has no elements", () => {
  const { reply, notes } = reader({ temp: [61, null, "hot"], threads: [[1, 2], "x", [3]], fan: 5 });
  const temp = reply.row("temp");
  expect(["0", "1", "2", "3"].map((position) => temp.number(position))).toEqual([61, null, null, null]);
  expect(reply.rows("threads").map((row) => row.number("0"))).toEqual([1, null, 3]);
  expect([reply.row("fan").keys(), reply.row("lacking").keys(), reply.rows("lacking")]).toEqual([[], [], []]);
  expect(notes.list()).toEqual([
    ...["summary.temp.2 is not a number", "summary.threads.1 is not a list", "summary.fan is not a list"],
  ]);
  expect(
    reader({ many: Array(500).fill(1) })
      .reply.row("many", 3)
      .keys(),
  ).toEqual(["0", "1", "2"]);
});

test("keys of Object.prototype are not in a reply that lacks them", () => {
  const { reply } = reader({});
  expect([reply.text("constructor"), reply.has("toString"), reply.object("__proto__").keys()]).toEqual([
    null,
    false,
    [],
  ]);
});

test("notes are bounded and not repeated", () => {
  const notes = new Notes();
  for (let index = 0; index < 100; index += 1) notes.add(`note ${index % 50}`);
  expect(notes.list()).toHaveLength(20);
});

test("no reply makes reading throw, and every number is finite and in range", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("a", "b", "__proto__"), fc.anything()), (value) => {
      const { reply, notes } = reader(value);
      const number = reply.number("a", { times: 1e6, max: 1e15 });
      expect(number === null || (number >= 0 && number <= 1e15)).toBe(true);
      const text = reply.text("a", 20);
      expect(text === null || (text.length <= 20 && !/\p{Cc}/u.test(text))).toBe(true);
      reply.boolean("b");
      reply.object("b").number("a");
      reply.list("a").map((each) => each.integer("a"));
      reply.numbers("b");
      expect(notes.list().length).toBeLessThanOrEqual(20);
    }),
    { numRuns: 1_000 },
  );
});
