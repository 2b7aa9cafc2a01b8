import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { csvOf } from "../../src/contract/csv.ts";

describe("a table as CSV", () => {
  test("has CRLF, quotes where RFC 4180 wants them, and nothing for null", () => {
    const rows = [
      ["plain", 1.5, null, true],
      ['with "quotes", commas', -2, null, false],
      ["two\nlines", 0, null, false],
    ];
    expect(csvOf({ columns: ["a", "b", "c", "d"], rows })).toBe(
      'a,b,c,d\r\nplain,1.5,,true\r\n"with ""quotes"", commas",-2,,false\r\n"two\nlines",0,,false\r\n',
    );
  });

  test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", '=HYPERLINK("http://example")'])(
    "makes no formula of the text %j",
    (text) => {
      const cell = csvOf({ columns: ["a"], rows: [[text]] }).slice(3);
      expect(cell).toMatch(/^"?'/);
    },
  );

  test("for people has units in its head, and only the decimals that they read", () => {
    const columns = ["name", { name: "energy", unit: "kWh", per: 1000, decimals: 3 }] as const;
    const rows = [
      ["a", 1234.5678],
      ["b", null],
    ];
    expect(csvOf({ columns, rows })).toBe("name,energy\r\na,1234.5678\r\nb,\r\n");
    expect(csvOf({ columns, rows }, { units: true, bom: true })).toBe("\u{FEFF}name,energy (kWh)\r\na,1.235\r\nb,\r\n");
  });

  test("reads back as it was, but for the apostrophe", () => {
    const text = fc.string({ unit: fc.constantFrom("a", ",", '"', "\n", "\r", "=", "-", " ") });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { minLength: 1 }), (rows) => {
        const read = parsed(csvOf({ columns: ["one", "two"], rows })).slice(1);
        const guarded = (value: string) => (/^[=+\-@\t\r]/.test(value) ? `'${value}` : value);
        expect(read).toEqual(rows.map((row) => row.map(guarded)));
      }),
    );
  });
});

/** A reader by RFC 4180. */
function parsed(csv: string): string[][] {
  const rows: string[][] = [];
  let [row, cell, quoted] = [[] as string[], "", false];
  for (let at = 0; at < csv.length; at += 1) {
    const letter = csv[at] ?? "";
    if (quoted && letter === '"' && csv[at + 1] === '"') {
      cell += '"';
      at += 1;
    } else if (letter === '"') quoted = !quoted;
    else if (!quoted && letter === ",") {
      row.push(cell);
      cell = "";
    } else if (!quoted && letter === "\r" && csv[at + 1] === "\n") {
      rows.push([...row, cell]);
      [row, cell] = [[], ""];
      at += 1;
    } else cell += letter;
  }
  return rows;
}
