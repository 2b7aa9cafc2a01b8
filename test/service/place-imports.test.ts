import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import { HttpSettings } from "../../src/config/schema.ts";
import { csvOf } from "../../src/contract/csv.ts";
import { type ImportPreview, placedTable } from "../../src/contract/imports.ts";
import type { Input } from "../../src/contract/service.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { refuseUnplace } from "../../src/service/imports/imports.ts";
import { refusal } from "../errors.ts";
import { onTestFinished } from "../finished.ts";
import { ownHost } from "../own-host.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const preview = (bench: Bench, csv: string, omitted?: Input<"previewImport">["omitted"]) =>
  bench.service.previewImport({ csv, ...(omitted === undefined ? {} : { omitted }) }, caller);
const commit = (bench: Bench, { id }: ImportPreview) => bench.service.commitImport({ id: id ?? 0 }, caller);
const mistakesOf = ({ mistakes }: ImportPreview) =>
  mistakes.map(({ line, name, message }) => `${line} ${name ?? "-"} ${message}`);
const table = async (bench: Bench) => csvOf(placedTable(await bench.service.exportPlaces({}, caller)));
const paths = async (bench: Bench) => (await bench.service.listPlaces({}, caller)).map(({ path }) => path);

test("a table of rigs by their places makes the places, is exported as it was imported, and moves rigs", async () => {
  const host = ownHost();
  const bench = await openBench();
  const head = "address\tsite\tbuilding\trow\track\trackRow\trackColumn";
  const rows = [
    `${host}:1\tTexas\tB1\tA\tR1\t1\t1`,
    `${host}:2\tTexas\tB1\tA\tR1\t1\t2`,
    `${host}:3\ttexas\tb1\tB\tR1\t1\t1`,
    `${host}:4\tTexas\t\t\t'=R9\t\t`,
  ];
  const first = await preview(bench, `\uFEFF${[head, ...rows].join("\r\n")}\r\n`);
  expect([mistakesOf(first), first.counts]).toEqual([[], { added: 4, changed: 0, same: 0, error: 0 }]);
  expect(await paths(bench)).toEqual([]);
  await commit(bench, first);
  expect(await paths(bench)).toEqual([
    "Texas",
    "Texas/=R9",
    "Texas/B1",
    "Texas/B1/A",
    "Texas/B1/A/R1",
    "Texas/B1/B",
    "Texas/B1/B/R1",
  ]);
  const exported = await table(bench);
  expect(exported.split("\r\n")).toEqual([
    "uid,mac,serial,address,name,site,building,row,rack,slot,rackRow,rackColumn,tags,driver",
    `,,,${host}:1,,Texas,B1,A,R1,,1,1,,`,
    `,,,${host}:2,,Texas,B1,A,R1,,1,2,,`,
    `,,,${host}:3,,Texas,B1,B,R1,,1,1,,`,
    `,,,${host}:4,,Texas,,,'=R9,,,,,`,
    "",
  ]);
  expect((await preview(bench, exported)).counts).toEqual({ added: 0, changed: 0, same: 4, error: 0 });
  // Two rigs change places.
  const swapped = await preview(
    bench,
    exported
      .replace(`${host}:1,,Texas,B1,A,R1,,1,1`, `${host}:1,,Texas,B1,A,R1,,1,2`)
      .replace(`${host}:2,,Texas,B1,A,R1,,1,2`, `${host}:2,,Texas,B1,A,R1,,1,1`),
  );
  expect(swapped.rows.filter(({ state }) => state === "changed").map(({ changes }) => changes)).toEqual([
    [{ field: "rackColumn", from: "1", to: "2" }],
    [{ field: "rackColumn", from: "2", to: "1" }],
  ]);
  await commit(bench, swapped);
  const moved = await preview(bench, `address,row\n${host}:1,B`);
  expect(moved.rows[0]?.changes).toEqual([
    { field: "row", from: "A", to: "B" },
    { field: "rack", from: "R1", to: null },
    { field: "rackRow", from: "1", to: null },
    { field: "rackColumn", from: "2", to: null },
  ]);
});

test("a rig that moves to another site keeps none of the smaller places of the old one, unless the row names them", async () => {
  const host = ownHost();
  const bench = await openBench();
  await commit(bench, await preview(bench, `address,site,building,rack\n${host}:1,Texas,B1,R1`));
  const moved = await preview(bench, `address,site,building,rack\n${host}:1,Ohio,,R1`);
  expect(moved.rows[0]?.changes).toEqual([
    { field: "site", from: "Texas", to: "Ohio" },
    { field: "building", from: "B1", to: null },
  ]);
  await commit(bench, moved);
  expect((await paths(bench)).filter((path) => path.startsWith("Ohio"))).toEqual(["Ohio", "Ohio/R1"]);
});

test("rigs are not unplaced if there are more than a table can list", () => {
  expect(() => refuseUnplace(50_000)).not.toThrow();
  expect(() => refuseUnplace(50_001)).toThrow("omitted: cannot be unplace: a table lists at most 50000 rigs");
});

test("ten kinds of mistakes about places are reported at once, and nothing is imported", async () => {
  const host = ownHost();
  const bench = await openBench({
    config: { miners: [90, 92].map((port) => ({ address: `${host}:${port}`, location: { site: "Texas" } })) },
  });
  const site = await bench.service.addPlace({ kind: "site", name: "Ohio", parentId: null, order: 0 }, caller);
  await bench.service.addPlace(
    { kind: "rack", name: "Small", parentId: site.id, order: 0, rows: 2, columns: 2 },
    caller,
  );
  const taken = { placeId: site.id, position: { row: 1, column: 1 } };
  const { id: holder } = await bench.service.addMiner({ address: `${host}:91`, name: "Holder", ...taken }, caller);
  const shown = await preview(
    bench,
    [
      "address,site,building,container,rack,rackRow,rackColumn,floor,mac",
      `${host}:1,Ohio,,,Small,3,1,,`,
      `${host}:2,Ohio,,,Small,1,3,,`,
      `${host}:3,Ohio,,,Small,one,1,,`,
      `${host}:4,Ohio,,,Small,0,1,,`,
      `${host}:5,Ohio,,,Small,1,,,`,
      `${host}:6,,,,,1,1,,`,
      `${host}:7,Ohio,A,B,,,,,`,
      `${host}:8,Ohio,,,,1,1,,`,
      `${host}:9,Ohio,,,Small,2,2,,`,
      `${host}:10,Ohio,,,small,2,2,,`,
      `${host}:11,${"x".repeat(65)},,,,,,,`,
      `${host}:90,Utah,,,,,,,`,
      `${host}:12,Ohio,,,,,,,no mac`,
      `${host}:9,Ohio,,,,,,,`,
      `${host}:92,,,,,1,1,,`,
    ].join("\n"),
  );
  expect(mistakesOf(shown)).toEqual([
    expect.stringMatching(/^1 floor must be one of/),
    "2 rackRow must be at most 2, the limit of its place",
    "3 rackColumn must be at most 2, the limit of its place",
    "4 rackRow must be a whole number from 1 to 1000",
    "5 rackRow must be a whole number from 1 to 1000",
    "6 rackRow needs rackColumn too",
    "7 rackRow needs a place",
    "8 container is another name of building; give one of them",
    `9 rackRow row 1, column 1 is taken by miner ${holder} (Holder)`,
    "11 rackRow is also the position of the rig in line 10",
    expect.stringMatching(/^12 site /),
    expect.stringMatching(/^13 - .* is declared by the configuration file; change it there$/),
    "14 mac is not a MAC address such as 02:00:00:aa:bb:cc",
    "15 address is the rig of line 10 again",
    "16 rackRow cannot be set: the configuration file declares this rig, and has no key for its position",
  ]);
  expect(shown.id).toBeNull();
  expect(await paths(bench)).toEqual(["Ohio", "Ohio/Small", "Texas"]);
});

test("places of the defaults count as those of their rigs: rows that name them change nothing, others begin in them", async () => {
  const host = ownHost();
  const bench = await openBench({
    config: { defaults: [{ range: host, location: { site: "Texas", container: "B1", slot: "3" } }] },
  });
  await bench.service.addMiner({ address: `${host}:1` }, caller);
  await bench.service.addMiner({ address: `${host}:2` }, caller);
  const head = "address,site,building,rack,rackRow,rackColumn";
  const shown = await preview(
    bench,
    `${head}\n${host}:1,texas,B1,,,\n${host}:2,,,R7,2,1\n${host}:3,Texas,,,,\n${host}:4,,,R7,2,2\n${host}:5,,,,1,1`,
  );
  expect([
    mistakesOf(shown),
    shown.rows.map(({ state, changes }) => [state, changes.map(({ field }) => field)]),
  ]).toEqual([
    [],
    [
      ["same", []],
      ["changed", ["rack", "rackRow", "rackColumn"]],
      ["added", ["address"]],
      ["added", ["address", "rack", "rackRow", "rackColumn"]],
      ["added", ["address", "rackRow", "rackColumn"]],
    ],
  ]);
  await commit(bench, shown);
  expect((await table(bench)).split("\r\n").slice(1, -1)).toEqual([
    `,,,${host}:1,,Texas,B1,,,3,,,,`,
    `,,,${host}:2,,Texas,B1,,R7,3,2,1,,`,
    `,,,${host}:3,,Texas,B1,,,3,,,,`,
    `,,,${host}:4,,Texas,B1,,R7,3,2,2,,`,
    `,,,${host}:5,,Texas,B1,,,3,1,1,,`,
  ]);
  // What a rig sets itself is still empty where the defaults put it.
  expect(bench.store.miners.all().map(({ placeId, slot }) => placeId === null && slot === null)).toEqual([
    true,
    false,
    true,
    false,
    false,
  ]);
  expect((await preview(bench, await table(bench))).counts).toEqual({ added: 0, changed: 0, same: 5, error: 0 });
});

test("rigs that are not in the table keep their place, or lose it and stay; a change since the preview refuses it", async () => {
  const host = ownHost();
  const bench = await openBench({ config: { miners: [{ address: `${host}:9`, location: { site: "Texas" } }] } });
  const rows = ["address,site,rack,rackRow,rackColumn", `${host}:1,Texas,R1,1,1`, `${host}:2,Texas,R1,1,2`];
  await commit(bench, await preview(bench, rows.join("\n")));
  const some = rows.slice(0, 2).join("\n");
  expect((await preview(bench, some)).counts).toMatchObject({ changed: 0, same: 1 });
  const lost = await preview(bench, some, "unplace");
  expect(lost.rows.filter(({ line }) => line === 0)).toEqual([
    {
      line: 0,
      state: "changed",
      miner: expect.any(Number),
      name: `${host}:2`,
      changes: [
        { field: "site", from: "Texas", to: null },
        { field: "rack", from: "R1", to: null },
        { field: "rackRow", from: "1", to: null },
        { field: "rackColumn", from: "2", to: null },
      ],
    },
  ]);
  const site = (await bench.service.listPlaces({}, caller)).find(({ name }) => name === "Texas");
  await bench.service.changePlace({ id: site?.id ?? 0, name: "Ohio" }, caller);
  expect(await refusal(commit(bench, lost))).toBe("not.possible");
  await bench.service.changePlace({ id: site?.id ?? 0, name: "Texas" }, caller);
  await commit(bench, lost);
  expect(await table(bench)).toContain(`,,,${host}:2,,,,,,,,,`);
  expect(await table(bench)).toContain(`,,,${host}:9,,Texas,,,,,,,`);
});

test("a table of more than a megabyte is taken over HTTP", async () => {
  const bench = await openBench();
  const settings = HttpSettings.parse({ port: 0 });
  const server = await startHttpServer({
    service: bench.service,
    settings,
    log: pino({ level: "silent" }),
    version: "test",
  });
  onTestFinished(() => server.close());
  const rows = Array.from(
    { length: 2_000 },
    (_, index) => `10.1.${index >> 8}.${index & 255}:1,Texas,${"name ".repeat(110)}`,
  );
  const body = ["address,site,tags", ...rows.map((row) => row.slice(0, 600))].join("\n");
  expect(body.length).toBeGreaterThan(1_000_000);
  const answer = await fetch(`${server.url}/api/imports?omitted=unplace`, {
    method: "POST",
    headers: { "content-type": "text/csv" },
    body,
  });
  expect(answer.status).toBe(201);
  const places = await fetch(`${server.url}/api/places.csv?bom=true`);
  expect([places.status, places.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8; header=present"]);
});
