import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, test } from "@jest/globals";
import { storeVersion } from "../../src/store/migrations.ts";
import { openStore } from "../../src/store/store.ts";
import { within } from "../until.ts";
import { folders } from "./folder.ts";
import { miner } from "./rows.ts";

// depends on: src/store/**, test/store/*.ts

const folder = folders();
const now = () => 1_750_000_000_000;
const newFile = () => join(folder(), "rigbridge.db");
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

const start = (script: string, file: string): ChildProcess => {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), file], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  return child;
};

const refusal = async (file: string): Promise<string> => {
  const error = await openStore({ file, now }).then(
    (store) => store.close(),
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ name: "RigbridgeError", code: "store.refused" });
  return String(error);
};

describe("a new store", () => {
  test("has the current schema and is private to its owner, as are the files beside it", async () => {
    const file = newFile();
    const store = await openStore({ file, now });
    await store.miners.add(miner("10.0.0.1"));
    const names = readdirSync(join(file, ".."));
    const beside = ["-shm", "-wal", ".lock", ".reserve", ".run"].map((end) => `rigbridge.db${end}`);
    expect(names.sort()).toEqual(["rigbridge.db", ...beside]);
    for (const name of names) expect(statSync(join(file, "..", name)).mode & 0o777).toBe(0o600);
    await store.close();
    const raw = new DatabaseSync(file);
    expect(raw.prepare("pragma user_version").get()).toMatchObject({ user_version: storeVersion });
    expect(raw.prepare("select count(*) as rows from migration").get()).toMatchObject({ rows: storeVersion });
    raw.close();
  });

  test("that others could read is made private", async () => {
    const file = newFile();
    writeFileSync(file, "", { mode: 0o644 });
    chmodSync(file, 0o644);
    await (await openStore({ file, now })).close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("may be closed twice, and refuses writes after that", async () => {
    const store = await openStore({ file: newFile(), now });
    await store.close();
    await store.close();
    await expect(store.miners.add(miner("10.0.0.1"))).rejects.toMatchObject({ code: "service.not-ready" });
  });
});

describe("a store is refused, and not changed,", () => {
  const newer = async (file: string): Promise<void> => {
    await (await openStore({ file, now })).close();
    const raw = new DatabaseSync(file);
    raw.exec(`pragma user_version = ${storeVersion + 1}`);
    raw.close();
  };

  test("when a newer version wrote it", async () => {
    const file = newFile();
    await newer(file);
    const before = readFileSync(file);
    const sentence = await refusal(file);
    expect(sentence).toContain(file);
    expect(sentence).toContain(`store version ${storeVersion + 1}, this one supports up to ${storeVersion}`);
    expect(readFileSync(file)).toEqual(before);
  });

  test("when a newer version wrote it and its mark is still in the write-ahead log", async () => {
    const file = newFile();
    await (await openStore({ file, now })).close();
    const raw = new DatabaseSync(file);
    raw.exec(`pragma wal_autocheckpoint = 0; pragma user_version = ${storeVersion + 1}`);
    const copy = newFile();
    writeFileSync(copy, readFileSync(file));
    writeFileSync(`${copy}-wal`, readFileSync(`${file}-wal`));
    raw.close();
    const before = readFileSync(copy);
    expect(await refusal(copy)).toContain("newer");
    expect(readFileSync(copy)).toEqual(before);
  });

  test.each([
    ["text", Buffer.from("miners:\n  - address: 10.0.0.1\n")],
    ["long text", Buffer.alloc(5_000, "x")],
  ])("when it is %s", async (_, bytes) => {
    const file = newFile();
    writeFileSync(file, bytes);
    expect(await refusal(file)).toContain("is not a store of Rigbridge");
    expect(readFileSync(file)).toEqual(bytes);
  });

  test("when it is another program's database", async () => {
    const file = newFile();
    const raw = new DatabaseSync(file);
    raw.exec("create table theirs (x)");
    raw.close();
    const before = readFileSync(file);
    expect(await refusal(file)).toContain("is not a store of Rigbridge");
    expect(readFileSync(file)).toEqual(before);
  });

  test("when its header is damaged", async () => {
    const file = newFile();
    await (await openStore({ file, now })).close();
    const bytes = readFileSync(file);
    bytes.fill(0xff, 16, 60);
    writeFileSync(file, bytes);
    expect(await refusal(file)).toContain("is damaged");
    expect(readFileSync(file)).toEqual(bytes);
  });

  test.each([
    ["pages of zeros", (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096)])],
    ["half of it", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
  ])("when it is damaged: %s; nothing is left open, and a backup can take its place", async (_, damage) => {
    const file = newFile();
    await (await openStore({ file, now })).close();
    const whole = readFileSync(file);
    const bytes = damage(whole);
    writeFileSync(file, bytes);
    expect(await refusal(file)).toContain("is damaged");
    expect(readFileSync(file)).toEqual(bytes);
    // SQLite removes them with the last connection.
    expect([existsSync(`${file}-wal`), existsSync(`${file}-shm`)]).toEqual([false, false]);
    writeFileSync(file, whole);
    await (await openStore({ file, now })).close();
  });

  test("when its folder is missing, a file, or the store is a folder", async () => {
    const base = folder();
    expect(await refusal(join(base, "nowhere", "x.db"))).toContain("does not exist");
    writeFileSync(join(base, "file"), "");
    expect(await refusal(join(base, "file", "x.db"))).toMatch(/not a folder|ENOTDIR/);
    mkdirSync(join(base, "folder.db"));
    expect(await refusal(join(base, "folder.db"))).toContain("is not a file");
    expect(existsSync(join(base, "nowhere"))).toBe(false);
  });

  // Root may write everywhere, except in places like /proc.
  test("when its folder cannot be written", async () => {
    const base = process.getuid?.() === 0 ? "/proc" : folder();
    if (base !== "/proc") chmodSync(base, 0o500);
    expect(await refusal(join(base, "x.db"))).toMatch(/is not writable|cannot be opened/);
    if (base !== "/proc") chmodSync(base, 0o700);
  });
});

test("a truncated write-ahead log loses only its missing part", async () => {
  const file = newFile();
  const first = await openStore({ file, now });
  await first.miners.add(miner("10.0.0.1"));
  const copy = newFile();
  writeFileSync(copy, readFileSync(file));
  writeFileSync(`${copy}-wal`, readFileSync(`${file}-wal`).subarray(0, -100));
  await first.close();
  const second = await openStore({ file: copy, now });
  await second.miners.add(miner("10.0.0.2"));
  await second.close();
  const raw = new DatabaseSync(copy);
  expect(raw.prepare("pragma integrity_check").get()).toMatchObject({ integrity_check: "ok" });
  raw.close();
});

describe("one service per store:", () => {
  test("a second one in the same process is refused, and the first keeps its lock", async () => {
    const file = newFile();
    const store = await openStore({ file, now });
    expect(await refusal(file)).toContain(`process ${process.pid}`);
    expect(await refusal(file)).toContain(`process ${process.pid}`);
    const link = join(folder(), "link.db");
    symlinkSync(file, link);
    expect(await refusal(link)).toContain("in use");
    const child = start("holder.ts", file);
    child.stdout?.resume();
    const [code] = await within(once(child, "exit"), "the refused process to end");
    expect(code).not.toBe(0);
    await store.close();
    await (await openStore({ file, now })).close();
  });

  test("another process refuses a hard link to it with the reason, and changes nothing", async () => {
    const file = newFile();
    const store = await openStore({ file, now });
    await store.miners.add(miner("10.0.0.1"));
    const link = join(folder(), "link.db");
    linkSync(file, link);
    expect(await refusal(link)).toContain("has 2 names (hard links)");
    const child = start("holder.ts", link);
    child.stdout?.resume();
    const [code] = await within(once(child, "exit"), "the refused process to end");
    expect(code).not.toBe(0);
    expect(readdirSync(join(link, ".."))).toEqual(["link.db"]);
    await store.miners.add(miner("10.0.0.2"));
    await store.close();
    // Under its first name it is refused too as long as there is another.
    expect(await refusal(file)).toContain("hard links");
    rmSync(link);
    const again = await openStore({ file, now });
    expect(again.miners.all()).toHaveLength(2);
    await again.close();
  });

  test("the error names the other process by its pid, and its lock ends when it is killed", async () => {
    const file = newFile();
    const child = start("holder.ts", file);
    if (child.stdout !== null) await within(once(child.stdout, "data"), "the other process to hold the store");
    expect(await refusal(file)).toContain(`process ${child.pid}`);
    child.kill("SIGKILL");
    await within(once(child, "exit"), "the killed process to end");
    const store = await openStore({ file, now });
    await store.close();
  });
});

test("acknowledged writes survive kill -9 at any moment", async () => {
  const file = newFile();
  const acknowledged: string[] = [];
  for (let round = 0; round < 8; round++) {
    const child = start("writer.ts", file);
    const enough = 1 + Math.floor(Math.random() * 400);
    let seen = 0;
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      seen += chunk.split("\n").length - 1;
      if (seen >= enough) child.kill("SIGKILL");
    });
    await within(once(child, "close"), "the writer to be killed", { details: () => `${seen} writes acknowledged` });
    acknowledged.push(...text.split("\n").slice(0, -1));
  }
  expect(acknowledged.length).toBeGreaterThan(8);

  const raw = new DatabaseSync(file);
  expect(raw.prepare("pragma integrity_check").get()).toMatchObject({ integrity_check: "ok" });
  const commands = new Set(
    raw
      .prepare("select id from command")
      .all()
      .map(({ id }) => id),
  );
  raw.close();
  const store = await openStore({ file, now });
  const notifications = new Set(store.notifications.list().map(({ id }) => id));
  const present = async (line: string): Promise<boolean> => {
    const [kind = "", id = ""] = line.split(" ");
    if (kind === "miner") return store.miners.get(Number(id)) !== undefined;
    if (kind === "command") return commands.has(Number(id));
    if (kind === "notification") return notifications.has(Number(id));
    return kind === "sample" && (await store.samples.read(Number(id), 0, 2_000)).length === 1;
  };
  for (const line of acknowledged) expect([line, await present(line)]).toEqual([line, true]);
  await store.close();
});
