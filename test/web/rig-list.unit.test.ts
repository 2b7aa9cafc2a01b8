import { expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Row } from "../../src/web/live.ts";
import { columns, rigListIn, rigListOf } from "../../src/web/pages/add/rig-list.ts";

const words = {
  noAddress: "no address",
  twice: ({ line }: { line: number }) => `twice, ${line}`,
  badInterval: "bad interval",
  unknownColumn: ({ name }: { name: string }) => `unknown ${name}`,
  noAddressColumn: "no column",
  tooMany: "too many",
};
const read = (text: string) => rigListIn(text, words);

test("bare addresses, one a line", () => {
  const { rigs, problems } = read("192.168.1.5\r\n\n rig.local:4028 \n");
  expect(problems).toEqual([]);
  expect(rigs).toEqual([
    { line: 1, rig: { address: "192.168.1.5" }, problems: [] },
    { line: 2, rig: { address: "rig.local:4028" }, problems: [] },
  ]);
});

test("a table with a head line, from a spreadsheet of any country", () => {
  const table = '\uFEFFName;Address;Site;Tags;Interval;Password\n"Rig; one";10.0.0.1;Barn;a b;30;pw\n';
  expect(read(table).rigs).toEqual([
    {
      line: 2,
      rig: {
        address: "10.0.0.1",
        name: "Rig; one",
        password: "pw",
        interval: 30,
        tags: ["a", "b"],
        location: { site: "Barn", container: null, rack: null, slot: null },
      },
      problems: [],
    },
  ]);
});

test("every mistake is named with its line", () => {
  const { rigs, problems } = read("address,interval,colour\n10.0.0.1,x,red\n,5,\n10.0.0.1,,\n");
  expect(problems).toEqual(["unknown colour"]);
  expect(rigs.map(({ line, problems: wrong }) => [line, ...wrong])).toEqual([
    [2, "bad interval"],
    [3, "no address"],
    [4, "twice, 2"],
  ]);
  expect(rigs.every(({ rig }) => rig === null)).toBe(true);
  expect(read("name,site\nA,B").problems).toEqual(["no column"]);
  expect(read("1\n".repeat(20_002)).problems).toEqual(["too many"]);
});

test("what is saved can be read again, whatever the names are", () => {
  const place = fc.option(
    fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.trim() === text && text !== ""),
  );
  const row = fc.record({
    name: fc.string({ minLength: 1, maxLength: 40 }).filter((text) => text.trim() === text && !/^[=+\-@]/.test(text)),
    site: place.map((text) => (text !== null && /^[=+\-@]/.test(text) ? null : text)),
    tags: fc.uniqueArray(fc.stringMatching(/^[a-z0-9]{1,8}$/), { maxLength: 4 }),
  });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), (rows) => {
      const listed = rows.map(({ name, site, tags }, index) => ({
        ...blank,
        name,
        tags,
        address: `10.0.0.${index}`,
        location: site === null ? null : { site, container: null, rack: null, slot: null },
      }));
      const { rigs, problems } = read(rigListOf(listed, String));
      expect(problems).toEqual([]);
      expect(rigs.map(({ rig }) => [rig?.address, rig?.name, rig?.tags ?? [], rig?.location?.site ?? null])).toEqual(
        listed.map(({ address, name, tags, location }) => [address, name, tags, location?.site ?? null]),
      );
    }),
  );
});

test("a name that a spreadsheet would run as a formula is kept from running", () => {
  const text = rigListOf([{ ...blank, name: '=HYPERLINK("http://x")' }], String);
  expect(text.split("\r\n")[0]).toBe(columns.join(","));
  expect(text).toContain(`"'=HYPERLINK(""http://x"")"`);
});

const blank: Row = {
  id: 1,
  uid: null,
  name: "",
  group: 0,
  location: null,
  tags: [],
  status: "Mining",
  reason: null,
  hashrate: null,
  expected: null,
  power: null,
  temperature: null,
  pool: null,
  coin: null,
  profit: null,
  alarms: 0,
  readAt: null,
  repair: null,
  address: "10.0.0.9",
};
