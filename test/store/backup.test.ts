import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "@jest/globals";
import { backUpStore, restoreStore } from "../../src/store/backup.ts";
import { requireSpace } from "../../src/store/space.ts";
import { openStore } from "../../src/store/store.ts";
import { folders } from "./folder.ts";

const folder = folders();
const now = () => 1_750_000_000_000;

/** A store that was closed, with these groups, and a backup of it. */
async function backedUp(...names: readonly string[]) {
  const file = join(folder(), "rigbridge.db");
  const store = await openStore({ file, now });
  for (const name of names) store.groups.add({ name, parentId: 0 });
  const backup = join(folder(), "backup.db");
  backUpStore(file, backup);
  return { file, store, backup };
}

const sql = (file: string, statement: string): void => {
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();
};

async function groupsIn(file: string): Promise<string[]> {
  const store = await openStore({ file, now });
  const names = store.groups.all().map(({ name }) => name);
  await store.close();
  return names;
}

test("a backup is for its owner only, has the newest writes, and nothing is left beside it", async () => {
  const { store, backup } = await backedUp("Hall");
  await store.close();
  expect(statSync(backup).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(backup))).toEqual(["backup.db"]);
  expect(await groupsIn(backup)).toEqual(["Hall"]);
  expect(() => backUpStore(backup, backup)).toThrow(`${backup} exists already; choose a new name.`);
});

test("a restored store replaces the old one, which is kept whole beside it", async () => {
  const { file, store, backup } = await backedUp("Hall");
  store.groups.add({ name: "Newer", parentId: 0 });
  await store.close();
  // As after a kill: the newest write is in the log.
  const open = new DatabaseSync(file);
  open.exec("update resource set value = replace(value, 'Newer', 'Newest')");
  const log = readFileSync(`${file}-wal`);
  open.close();
  writeFileSync(`${file}-wal`, log);
  const kept = restoreStore(backup, file, now);
  expect(kept).toBe(`${file}.before-restore-2025-06-15`);
  expect(await groupsIn(file)).toEqual(["Hall"]);
  expect(await groupsIn(kept ?? "")).toEqual(["Hall", "Newest"]);
  expect(restoreStore(backup, file, now)).toBe(`${file}.before-restore-2025-06-15-2`);
  expect(readdirSync(dirname(file)).filter((name) => name.endsWith(".part"))).toEqual([]);
});

test("a damaged store can be replaced, too", async () => {
  const { file, store, backup } = await backedUp("Hall");
  await store.close();
  writeFileSync(file, "x".repeat(10_000));
  restoreStore(backup, file);
  expect(await groupsIn(file)).toEqual(["Hall"]);
});

describe("is refused in one sentence, and the store stays as it is:", () => {
  test.each([
    [
      "a backup of a newer version",
      (backup: string) => sql(backup, "pragma user_version = 999"),
      /^The backup \S+ was written by a newer Rigbridge \(store version 999, this one supports up to \d+\); install that version again, or choose another backup file\. It was not changed\.$/,
    ],
    [
      "a backup that was cut",
      (backup: string) => truncateSync(backup, 20_000),
      /^\S+ is damaged; restore another backup\. Nothing was changed\.$/,
    ],
    [
      "a backup with a page of zeros",
      (backup: string) => {
        const bytes = readFileSync(backup);
        writeFileSync(backup, bytes.fill(0, 8_192, 12_288));
      },
      /^\S+ is damaged; restore another backup\. Nothing was changed\.$/,
    ],
    [
      "another file",
      (backup: string) => writeFileSync(backup, "hello"),
      /^\S+ is not a backup of Rigbridge; choose another backup file\. It was not changed\.$/,
    ],
  ])("%s", async (_, spoil, sentence) => {
    const { file, store, backup } = await backedUp("Hall");
    await store.close();
    spoil(backup);
    const before = readFileSync(file);
    expect(() => restoreStore(backup, file)).toThrow(sentence);
    expect(readFileSync(file)).toEqual(before);
    expect(readdirSync(dirname(file)).filter((name) => /part|before/.test(name))).toEqual([]);
  });

  test("a disk that is too small", () => {
    expect(() => requireSpace("/srv/backup.db", 1_200_000_000, 12_000_000)).toThrow(
      "The disk of /srv has 12 MB free, and /srv/backup.db needs 1,200 MB; free some space, or choose another folder.",
    );
    requireSpace("/srv/backup.db", 12_000_000, 12_000_000);
  });
});
