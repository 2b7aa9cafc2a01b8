import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import { HttpSettings } from "../../src/config/schema.ts";
import type { ImportPreview } from "../../src/contract/imports.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { onTestFinished } from "../finished.ts";
import { ownHost } from "../own-host.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const config = {
  groups: [{ name: "Hall", groups: [{ name: "Row 1" }] }],
  logins: [
    { name: "ant", username: "root", password: "ant-word" },
    { name: "whats", password: "whats-word" },
  ],
};

const linesOf = (preview: ImportPreview) =>
  preview.mistakes.map(({ line, column, name, message }) => `${line}:${column ?? "-"} ${name ?? "-"} ${message}`);

const preview = (bench: Bench, csv: string, who = caller) => bench.service.previewImport({ csv }, who);

async function imported(bench: Bench, csv: string) {
  const { id, mistakes } = await preview(bench, csv);
  expect(mistakes).toEqual([]);
  return bench.service.commitImport({ id: id ?? 0 }, caller);
}

async function code(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "done",
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
  );
}

test("ten kinds of mistakes are reported at once, with line and column, and nothing is imported", async () => {
  const bench = await openBench({
    rigs: [{ kind: "axeos" }],
    config: {
      ...config,
      miners: [
        { address: "127.104.9.1:1", name: "Of the file" },
        { address: "127.104.9.2:1", name: "Also of the file" },
      ],
    },
  });
  const known = await bench.add(bench.rig(0).address, { name: "Known" });
  const { uid } = await bench.get(known);
  const before = (await bench.service.exportMiners({}, caller)).list;
  const csv = [
    "address,name,group,interval,nameplate,mac,login,colour,uid,driver",
    "127.104.1.1:1,Fine,Hall,30,3250,,ant,,,", // nothing is wrong with it
    "127.104.1.1:1,Twice,,,,,,,,",
    "not an address,,,,,,,,,",
    "127.104.1.2:1,,Nowhere,,,,,,,",
    "127.104.1.3:1,,,soon,,,,,,",
    '127.104.1.4:1,,Nowhere,,"3,250",,,,,',
    "127.104.1.5:1,,,,,02:zz,,,,",
    "127.104.1.6:1,,,,,,nobody,,,",
    ",Nobody,,,,,,,,",
    `127.104.9.1:1,,,,,,,,${uid},`,
    "127.104.9.2:1,Renamed,,,,,,,,",
    "127.104.1.7:1,,,,,,,,,antminr",
    "127.104.1.8:1,,,,,,,,,,,more",
  ].join("\n");
  const shown = await preview(bench, csv);
  expect(linesOf(shown)).toEqual([
    expect.stringMatching(/^1:8 colour must be one of uid, mac/),
    "3:1 address is the rig of line 2 again",
    expect.stringMatching(/^4:1 address "not an address"/),
    "5:3 group there is no group Nowhere",
    expect.stringMatching(/^6:4 interval /),
    "7:3 group there is no group Nowhere",
    expect.stringMatching(/^7:5 nameplate /),
    "8:6 mac is not a MAC address such as 02:00:00:aa:bb:cc",
    "9:7 login there is no login nobody in the settings",
    expect.stringMatching(/^10:1 address is required: no rig was found/),
    expect.stringMatching(
      /^11:1 address belongs to miner \d+ \(Of the file\), and the uid of this line to miner \d+ \(Known\)$/,
    ),
    expect.stringMatching(/^12:- - .* is declared by the configuration file; change it there$/),
    expect.stringMatching(/^13:10 driver must be one of axeos/),
    "14:12 - has no column; the first line names 10",
  ]);
  expect(shown).toMatchObject({ id: null, counts: { added: 2, changed: 0, same: 0, error: 11 } });
  expect((await bench.service.exportMiners({}, caller)).list).toEqual(before);
});

test("a rig is found by MAC address, uid or address; what its row leaves empty stays, and a new address ends its login", async () => {
  const bench = await openBench({ rigs: [{ kind: "axeos" }], config });
  const id = await bench.add(bench.rig(0).address, { name: "One", tags: ["a b", "c"], login: "ant" });
  const { uid } = await bench.get(id);
  const mac = (await bench.service.exportMiners({}, caller)).list[0]?.mac ?? "";
  const row = `${mac.toUpperCase().replaceAll(":", "-")};Two;Hall / Row 1;;7,5;A1`;
  const shown = await preview(bench, `mac;name;group;tags;interval;rack\n${row}`);
  expect(shown.rows).toEqual([
    {
      line: 2,
      state: "changed",
      miner: id,
      name: "Two",
      changes: [
        { field: "name", from: "One", to: "Two" },
        { field: "group", from: null, to: "Hall / Row 1" },
        { field: "interval", from: null, to: "7.5" },
        { field: "rack", from: null, to: "A1" },
      ],
    },
  ]);
  expect(await bench.service.commitImport({ id: shown.id ?? 0 }, caller)).toEqual({ added: 0, changed: 1, same: 0 });
  expect((await bench.service.exportMiners({}, caller)).list).toMatchObject([
    { name: "Two", tags: "a b;c", interval: 7.5, rack: "A1", login: "ant", group: "Hall / Row 1" },
  ]);
  const moved = await preview(bench, `uid,address\n${uid},127.104.2.1:1`);
  expect(moved.rows[0]?.changes).toEqual([
    { field: "address", from: bench.rig(0).address, to: "127.104.2.1:1" },
    { field: "login", from: "ant", to: null },
  ]);
  const other = await preview(bench, `address,mac\n${bench.rig(0).address},02:00:00:00:00:01`);
  expect(linesOf(other)).toEqual([expect.stringMatching(/^2:2 mac is .* at miner \d+ \(Two\)/)]);
});

test("a preview is committed once, by its user, within ten minutes, and only while it still holds", async () => {
  let now = Date.now();
  const bench = await openBench({ config, clock: () => now });
  const commit = async (csv: string, meanwhile: (shown: ImportPreview) => unknown) => {
    const shown = await preview(bench, csv);
    await meanwhile(shown);
    return code(bench.service.commitImport({ id: shown.id ?? 0 }, caller));
  };
  expect(await commit("127.104.3.1:1", () => bench.service.addMiner({ address: "127.104.3.1:1" }, caller))).toBe(
    "not.possible",
  );
  expect(await commit("127.104.3.2:1", ({ id }) => bench.service.commitImport({ id: id ?? 0 }, caller))).toBe(
    "not.found",
  );
  expect(await commit("127.104.3.3:1", () => (now += 600_001))).toBe("not.found");
  const shown = await preview(bench, "127.104.3.4:1");
  expect(await code(bench.service.commitImport({ id: shown.id ?? 0 }, { actor: "another" }))).toBe("not.found");
  for (let index = 0; index < 20; index += 1) await preview(bench, `127.104.4.${index + 1}:1`);
  expect(await code(bench.service.commitImport({ id: shown.id ?? 0 }, caller))).toBe("not.found");
});

test("only a user who sees everything names a stored login, and nobody gets to see one", async () => {
  const bench = await openBench({ config });
  const [hall] = await bench.service.listGroups({}, caller);
  const { id: userId } = await bench.service.saveUser(
    { id: 0, name: "some", privilege: "administrator", groups: [hall?.id ?? 0] },
    caller,
  );
  const limited = { actor: "some", userId };
  const shown = await preview(bench, "address,group,login\n127.104.5.1:1,Hall,ant\n127.104.5.2:1,,\n", limited);
  expect(linesOf(shown)).toEqual([
    "2:- - This operation needs a user with access to all groups and pools",
    expect.stringMatching(/^3:- - This user can only add miners to groups/),
  ]);
  await imported(bench, "address,login\n127.104.5.1:1,whats\n");
  const { list } = await bench.service.exportMiners({}, caller);
  expect(JSON.stringify(list)).not.toContain("word");
});

test("a rig reads with the login that it names, and with the new one as soon as that is saved", async () => {
  const bench = await openBench({ rigs: [{ kind: "xmrig", token: "right", restricted: false }] });
  const save = (token: string) =>
    bench.service.saveSettings({ section: "logins", value: [{ name: "gpu", token }] }, caller);
  await save("wrong");
  await imported(bench, `address,login\n${bench.rig(0).address},gpu\n`);
  await bench.idle();
  const read = async () => (await bench.service.exportMiners({}, caller)).list[0]?.uid;
  expect(await read()).toBeNull();
  await save("right");
  await bench.idle();
  expect(await read()).toEqual(expect.any(String));
});

test("six hundred rigs of a spreadsheet are added over HTTP, exported, changed and imported again", async () => {
  const bench = await openBench({ config });
  const log = pino({ level: "silent" });
  const server = await startHttpServer({
    service: bench.service,
    settings: HttpSettings.parse({ port: 0 }),
    log,
    version: "test",
  });
  onTestFinished(() => server.close());
  const send = async (path: string, body?: string) => {
    const headers = body === undefined ? {} : { "content-type": "text/csv; charset=utf-8" };
    const answer = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return { status: answer.status, json: (await answer.json()) as ImportPreview };
  };
  const rows = Array.from(
    { length: 600 },
    (_, index) =>
      `127.105.${index >> 7}.${1 + (index & 127)}:1;A ${index};Row 1;ant;${index % 2 === 0 ? '"a;b"' : "-x"}`,
  );
  const csv = `\uFEFFaddress;name;group;login;rack\r\n${rows.join("\r\n")}\r\n`;
  const first = await send("/api/imports", csv);
  expect([first.status, first.json.mistakes]).toEqual([201, []]);
  expect(first.json.counts).toEqual({ added: 600, changed: 0, same: 0, error: 0 });
  expect((await bench.service.exportMiners({}, caller)).list).toEqual([]);
  expect(await send(`/api/imports/${first.json.id}`)).toEqual({
    status: 200,
    json: { added: 600, changed: 0, same: 0 },
  });
  const table = await (await fetch(`${server.url}/api/miners/settings.csv?bom=true`)).text();
  const again = await send("/api/imports", table);
  expect(again.json.counts).toEqual({ added: 0, changed: 0, same: 600, error: 0 });
  const second = await send("/api/imports", table.replace("A 7,", "Seven,").replace("A 8,", "Eight,"));
  expect(second.json.counts).toEqual({ added: 0, changed: 2, same: 598, error: 0 });
  await send(`/api/imports/${second.json.id}`);
  const names = (await bench.service.exportMiners({}, caller)).list.map(({ name }) => name);
  expect(names.slice(6, 10)).toEqual(["A 6", "Seven", "Eight", "A 9"]);
});

test("defaults by group and range fill in what a rig does not set, as soon as they are saved; a user of some groups gets no login by them", async () => {
  const host = ownHost();
  const bench = await openBench({
    rigs: [{ kind: "xmrig", host, token: "right", restricted: false }],
    config: { groups: [{ name: "Hall", groups: [{ name: "Row 1" }] }] },
  });
  await bench.service.saveSettings({ section: "logins", value: [{ name: "gpu", token: "right" }] }, caller);
  const id = await bench.add(bench.rig(0).address, { group: "Row 1" });
  const read = async () => (await bench.service.exportMiners({}, caller)).list[0]?.uid;
  expect(await read()).toBeNull();
  const value = [
    { range: "10.0.0.0/8", login: "nobody", location: { site: "Elsewhere" } },
    { group: "Hall", range: `${host}/32`, login: "gpu", location: { site: "North", rack: "R1" } },
    { group: "Hall", interval: 30, location: { site: "South" } },
  ];
  const save = (section: object[]) => bench.service.saveSettings({ section: "defaults", value: section }, caller);
  expect(await code(save(value))).toBe("input.invalid");
  await save(value.map((entry) => (entry.login === "nobody" ? { ...entry, login: "gpu" } : entry)));
  await bench.idle();
  expect(await read()).toEqual(expect.any(String));
  expect((await bench.get(id)).location).toEqual({ site: "North", container: null, rack: "R1", slot: null });
  // What is exported is what the rig has itself.
  expect((await bench.service.exportMiners({}, caller)).list).toMatchObject([
    { site: null, login: null, interval: null },
  ]);
  await bench.service.deleteMiner({ id }, caller);
  const { id: groupId } = (await bench.service.listGroups({}, caller)).find(({ name }) => name === "Row 1") ?? {
    id: 0,
  };
  const { id: userId } = await bench.service.saveUser(
    { id: 0, name: "some", privilege: "administrator", groups: [groupId] },
    caller,
  );
  await bench.service.addMiner({ address: bench.rig(0).address, group: groupId }, { actor: "some", userId });
  await bench.idle();
  expect(await read()).toBeNull();
});
