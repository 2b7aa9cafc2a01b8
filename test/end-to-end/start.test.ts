import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "@jest/globals";
import { openStore } from "../any-store.ts";
import { command, type Ended, rigbridge, running } from "../cli/command.ts";
import { toFirstVersion } from "../store/first-version.ts";
import { folders } from "../store/folder.ts";
import { miner } from "../store/rows.ts";
import { within } from "../until.ts";

// depends on: src/**

const folder = folders();
const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;
const miners = 400;

/** A folder with a store of several hundred pages. */
async function stored(): Promise<{ data: string; file: string }> {
  const data = folder();
  const file = join(data, "rigbridge.db");
  const store = await openStore({ file, now: Date.now });
  const rows = Array.from(
    { length: miners },
    (_, index) => [`m${index}`, miner(`127.102.1.1:${1000 + index}`)] as const,
  );
  await store.miners.declare(new Map(rows));
  await store.close();
  // As if they had been added over the API.
  sql(file, "update resource set owner = 'store', key = null");
  return { data, file };
}

const serve = (data: string): readonly string[] => ["serve", "--data", data, "--port", "0"];
/** In this process, because it ends before it serves. */
const start = (data: string): Promise<Ended> => command(serve(data));
/** Where only the end of the process closes the damaged file. */
const startProcess = (data: string): Promise<Ended> => rigbridge(serve(data));

/** Every file of the store except its lock, with its bytes. */
const bytes = (data: string) =>
  readdirSync(data)
    .filter((name) => statSync(join(data, name)).isFile() && !/lock$|reserve$|shm$/.test(name))
    .map((name) => [name, readFileSync(join(data, name)).toString("base64")]);

const page = (file: string, at: number, change: (page: Buffer) => void): void => {
  const whole = readFileSync(file);
  change(whole.subarray(at * 4096, (at + 1) * 4096));
  writeFileSync(file, whole);
};

const sql = (file: string, statements: string): void => {
  const database = new DatabaseSync(file);
  database.exec(statements);
  database.close();
};

describe("an unusable store is reported in a sentence, and not modified:", () => {
  test.each<[string, RegExp, (file: string) => void, typeof start?]>([
    ["another file", /is not a store of Rigbridge/, (file) => writeFileSync(file, "miners:\n".repeat(1000))],
    ["a damaged header", /is damaged/, (file) => page(file, 0, (header) => header.fill(0xff, 16, 60))],
    ["no header", /is not a store of Rigbridge/, (file) => page(file, 0, (header) => header.fill(0))],
    [
      "pages of zeros",
      /is damaged/,
      (file) => {
        for (let at = 20; at < statSync(file).size / 4096; at += 1) page(file, at, (middle) => middle.fill(0));
      },
      startProcess,
    ],
    [
      "half of it",
      /is damaged/,
      (file) => truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096),
      startProcess,
    ],
    ["a newer version's", /newer Rigbridge \(store version 99/, (file) => sql(file, "pragma user_version = 99")],
    [
      "a row that is none",
      /is damaged: miner 1000000007 cannot be read/,
      (file) => sql(file, "update resource set value = '{}' where id = 1000000007"),
    ],
    [
      "an older one that cannot be brought up to date",
      /cannot be opened: table bulk_action already exists/,
      (file) => sql(file, `${toFirstVersion} create table bulk_action (x)`),
    ],
  ])("%s", async (_what, sentence, damage, started = start) => {
    const { data, file } = await stored();
    damage(file);
    const before = bytes(data);
    const { code, stderr } = await started(data);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(code).toBe(1);
    expect(bytes(data)).toEqual(before);
  });

  test("a folder in its place", async () => {
    const data = folder();
    mkdirSync(join(data, "rigbridge.db"));
    expect(await start(data)).toMatchObject({ code: 1, stderr: expect.stringContaining("is not a file") });
  });

  test("a link to nothing", async () => {
    const data = folder();
    symlinkSync(join(data, "nowhere.db"), join(data, "rigbridge.db"));
    expect(await start(data)).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be opened") });
    expect(existsSync(join(data, "nowhere.db"))).toBe(false);
  });

  test.each<[string, RegExp, (data: string, file: string) => void]>([
    ["of another user", /is not readable and writable by this user/, (data) => chmodSync(data, 0o777)],
    [
      "that is read-only",
      /is not readable and writable by this user/,
      (data, file) => {
        chmodSync(data, 0o777);
        chmodSync(file, 0o444);
      },
    ],
    [
      "in a folder that is",
      /is not writable by this user/,
      (data, file) => {
        chmodSync(file, 0o666);
        chmodSync(data, 0o555);
      },
    ],
  ])("one %s", async (_what, sentence, forbid) => {
    const { data, file } = await stored();
    const before = bytes(data);
    forbid(data, file);
    const { code, said } = await startAsNobody(data);
    chmodSync(data, 0o700);
    expect(said).toMatch(sentence);
    expect(code).toBe(1);
    expect(bytes(data)).toEqual(before);
  });
});

/** Root has every permission, so it starts the service as the user nobody. */
async function startAsNobody(data: string): Promise<{ code: unknown; said: string }> {
  const main = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const args = ["--disable-warning=ExperimentalWarning", main, "serve", "--data", data, "--port", "0"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"], ...user });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const [code] = await within(once(child, "close"), "the service to end", { details: () => said });
  return { code, said };
}

describe("a service starts with its miners", () => {
  const minersOf = async (data: string): Promise<number> => {
    const service = await running(["serve", "--data", data, "--port", "0"], ready);
    const url = ready.exec(service.said())?.[1];
    const answer = await fetch(`${url}/api/summary`);
    const { totalCount }: { totalCount?: unknown } = Object(await answer.json());
    service.signal("SIGTERM");
    expect(await service.ended).toMatchObject({ code: 0 });
    return Number(totalCount);
  };

  test("when the store is a link to one", async () => {
    const { file } = await stored();
    const data = folder();
    symlinkSync(file, join(data, "rigbridge.db"));
    expect(await minersOf(data)).toBe(miners);
  });

  test("when its write-ahead log was cut off", async () => {
    const { file } = await stored();
    const raw = new DatabaseSync(file);
    raw.exec("insert into sequence values ('pool', 7)");
    const data = folder();
    writeFileSync(join(data, "rigbridge.db"), readFileSync(file));
    writeFileSync(join(data, "rigbridge.db-wal"), readFileSync(`${file}-wal`).subarray(0, -100));
    raw.close();
    expect(await minersOf(data)).toBe(miners);
  });

  test("when it is of the first version, and keeps all its rows", async () => {
    const { data, file } = await stored();
    sql(file, `${toFirstVersion} insert into command values (7, 1, 1, 5, '', '', 'stop', '{}', 'done', 'x')`);
    expect(await minersOf(data)).toBe(miners);
    const raw = new DatabaseSync(file);
    expect(raw.prepare("select message from command").all()).toEqual([{ message: "x" }]);
    expect(
      raw.prepare("select count(*) as tables from sqlite_schema where type = 'table' and name like 'bulk_%'").get(),
    ).toMatchObject({
      tables: 2,
    });
    raw.close();
  });
});
