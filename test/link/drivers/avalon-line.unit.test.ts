import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { numbersIn, parseLine } from "../../../src/link/drivers/avalon/line.ts";

const fields = (text: string): Record<string, string> => Object.fromEntries(parseLine(text).fields);

describe("a line of fields", () => {
  test("may hold empty values, colons, commas, percent signs and spaces", () => {
    expect(fields("Ver[Q-1_2] FACOPTS0[] SYSTEMSTATU[Work: In Work, Hash Board: 3 ] FanR[72%] PS[0 1214 -5]")).toEqual({
      Ver: "Q-1_2",
      FACOPTS0: "",
      SYSTEMSTATU: "Work: In Work, Hash Board: 3",
      FanR: "72%",
      PS: "0 1214 -5",
    });
  });

  test("stands in named groups on newer firmware, with a space in a key, and boards in groups of their own", () => {
    expect(fields("'STATS':{Ver[a] Nonce Mask[25]} 'HB0':{PVT_T0[ 1  2]} 'HB1':{PVT_T1[3]}")).toEqual({
      Ver: "a",
      "Nonce Mask": "25",
      PVT_T0: "1  2",
      PVT_T1: "3",
    });
  });

  test("may lack the space between two fields", () => {
    expect(fields("Elapsed[103840]BOOTBY[1] LW[2]")).toEqual({ Elapsed: "103840", BOOTBY: "1", LW: "2" });
  });

  test.each([
    ["breaks off in a value", "A[1] B[2", { A: "1" }],
    ["says a field twice", "A[1] A[2]", { A: "1" }],
    ["has a value without a key", "A[1] [2]", { A: "1" }],
  ])("that %s is odd, and what was read stays", (_, text, expected) => {
    const line = parseLine(text);
    expect([Object.fromEntries(line.fields), line.odd]).toEqual([expected, true]);
  });

  const key = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,12}(?: [A-Za-z]{1,6})?$/);
  const value = fc.string({ unit: fc.constantFrom(..."aZ09 :,%.-_{}/'\"|"), maxLength: 40 });

  test("is read back field by field, however it is spaced and wrapped", () => {
    const entries = fc.uniqueArray(fc.tuple(key, value), { selector: ([name]) => name, maxLength: 30 });
    fc.assert(
      fc.property(entries, fc.boolean(), fc.constantFrom("", " ", "  "), (pairs, wrapped, space) => {
        const text = pairs.map(([name, content]) => `${name}[${content}]`).join(space);
        const line = parseLine(wrapped ? `'STATS':{${text}}` : text);
        expect([...line.fields]).toEqual(pairs.map(([name, content]) => [name, content.trim()]));
        expect(line.odd).toBe(false);
      }),
    );
  });

  test("of any text is read without a fault, and no value holds a closing bracket", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."aB[]{} :'\0"), maxLength: 200 }), (text) => {
        for (const [name, content] of parseLine(text).fields) {
          expect(name).not.toBe("");
          expect(content).not.toContain("]");
        }
      }),
    );
  });
});

test("the numbers of a field are read, and what is none is null", () => {
  expect(numbersIn(" 63  70 -5 1.25 x 1e400 --3")).toEqual([63, 70, -5, 1.25, null, null, null]);
  expect(numbersIn("")).toEqual([]);
  expect(numbersIn(undefined)).toEqual([]);
});
