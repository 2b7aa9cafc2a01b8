import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { csvOf } from "../../../src/contract/csv.ts";
import { rigTable } from "../../../src/service/imports/csv-table.ts";

const rowsOf = (csv: string) => rigTable(csv).rows.map(({ line, cells }) => [line, Object.fromEntries(cells)]);
const mistakesOf = (csv: string) =>
  rigTable(csv).mistakes.map(({ line, column, message }) => `${line}:${column ?? "-"} ${message}`);

describe("a list of rigs is read", () => {
  const rows = [
    [2, { address: "10.0.0.1", name: "Attic" }],
    [3, { address: "10.0.0.2" }],
  ];

  test.each([
    ["with commas", "address,name\n10.0.0.1,Attic\n10.0.0.2,\n"],
    ["with semicolons, a byte order mark and CRLF", "\uFEFFaddress;name\r\n10.0.0.1;Attic\r\n10.0.0.2;\r\n"],
    ["with tabs and upper case", "Address\tNAME\n10.0.0.1\t Attic \n10.0.0.2"],
    ["with quotes and short lines", '"address","name"\n"10.0.0.1","Attic"\n10.0.0.2'],
    ["with old line ends", "address,name\r10.0.0.1,Attic\r10.0.0.2"],
  ])("%s", (_, csv) => {
    expect(rowsOf(csv)).toEqual(rows);
    expect(mistakesOf(csv)).toEqual([]);
  });

  test("as addresses alone, one in each line", () => {
    expect(rowsOf("10.0.0.1\n\n rig.local:4067\n")).toEqual([
      [1, { address: "10.0.0.1" }],
      [3, { address: "rig.local:4067" }],
    ]);
  });

  test("with the file's lines, also after a cell of several lines", () => {
    expect(rowsOf('address,name\n10.0.0.1,"two\nlines"\n\n10.0.0.2,One').map(([line]) => line)).toEqual([2, 5]);
  });

  test("columns of the dashboard's list that cannot be set are ignored, and named", () => {
    expect(rigTable("uid,status,Hashrate,name\nu,Mining,1,A").ignored).toEqual(["status", "hashrate"]);
  });

  test("texts come back as csvOf wrote them, formulas too", () => {
    // As cells are trimmed, and an empty one sets nothing.
    const text = fc
      .string({ unit: "grapheme", minLength: 1 })
      .filter((each) => each.trim() === each && !/[\r']/.test(each));
    fc.assert(
      fc.property(text, (name) => {
        const csv = csvOf({ columns: ["address", "name"], rows: [["10.0.0.1", name]] });
        expect(rigTable(csv).rows[0]?.cells.get("name")).toBe(name);
      }),
    );
    expect(rowsOf("address,name\n10.0.0.1,'=1+1")).toEqual([[2, { address: "10.0.0.1", name: "=1+1" }]]);
  });
});

describe("a list that cannot be read says where and why", () => {
  test.each([
    ["nothing in it", "", ["1:- The file has no rows"]],
    ["a head alone", "address,name\n", ["1:- The file has no rows"]],
    ["no column to find rigs by", "name,tags\nAttic,a", [expect.stringContaining("1:- The first line names none of")]],
    [
      "a misspelt column alone",
      "adress\n10.0.0.1",
      [expect.stringContaining('did you mean "address"?'), expect.anything()],
    ],
    [
      "a password",
      "address,Password\n10.0.0.1,secret",
      [expect.stringContaining("1:2 logins are not read from files")],
    ],
    ["a column twice", "address,name,Name\n10.0.0.1,A,B", ["1:3 is there twice"]],
    ["a cell too many", "address\n10.0.0.1,A", ["2:2 has no column; the first line names 1"]],
    [
      "an open quotation mark",
      'address,name\n10.0.0.1,"A\n10.0.0.2,B',
      [expect.stringContaining("2:2 has a quotation")],
    ],
  ])("%s", (_, csv, mistakes) => {
    expect(mistakesOf(csv)).toEqual(mistakes);
  });

  test("too many rows", () => {
    expect(mistakesOf(`address\n${"10.0.0.1\n".repeat(50_001)}`)).toEqual([
      "1:- The file has more than 50000 rows; divide it",
    ]);
  });
});
