import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { backUpStore, restoreStore } from "../../src/store/backup.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { folders } from "./folder.ts";

const folder = folders();
const start = 1_750_000_000_000;
const [minute, hour, month] = [60_000, 3_600_000, 30 * 86_400_000];
const job = { actor: "Ann", userId: null, action: "reboot", parameters: {}, parallel: 1, delay: 0, dryRun: false };
const command = { minerId: 1, minerName: "Rig", actor: "Ann", action: "reboot", parameters: {} };
const states = async (store: Store, id: number) =>
  (await store.runs.results(id)).map(({ minerId, state }) => `${minerId} ${state}`);

/** A service that has begun to tell four rigs something, and goes on with it by `tell`. */
async function begun(options: { readonly delay?: number } = {}) {
  const file = join(folder(), "rigbridge.db");
  const clock = { now: start };
  const store = await openStore({ file, now: () => clock.now });
  const queued = [1, 2, 3, 4].map((minerId) => ({ minerId, state: "queued", message: "" }) as const);
  const { id } = await store.runs.add({ ...job, ...options }, queued);
  const tell = async (minerId: number) => {
    await store.runs.claim(id, minerId);
    const row = await store.commands.add({ ...command, minerId });
    await store.runs.bind(id, minerId, row.id);
    await store.commands.move(row.id, "sent", "");
    await store.commands.move(row.id, "done", "OK");
    await store.runs.end(id, { minerId, state: "done", message: "OK" });
  };
  await tell(1);
  return { file, clock, store, id, tell };
}

function backUp(file: string): string {
  const backup = join(folder(), "backup.db");
  backUpStore(file, backup);
  return backup;
}

function restore(backup: string, file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  restoreStore(backup, file);
}

describe("a backup that was made while a bulk action was under way", () => {
  test.each([
    ["a minute later", minute, null],
    ["a month later", month, null],
    ["a minute later on another machine", minute, "elsewhere/rigbridge.db"],
  ])(
    "and is restored %s: what was under way is unknown, and nothing is executed again",
    async (_, later, elsewhere) => {
      const { file, clock, store, id, tell } = await begun();
      // One is on its way, one has a command that has not left.
      await store.runs.claim(id, 2);
      const sent = await store.commands.add(command);
      await store.runs.bind(id, 2, sent.id);
      await store.commands.move(sent.id, "sent", "");
      await store.runs.claim(id, 3);
      await store.runs.bind(id, 3, (await store.commands.add(command)).id);
      const backup = backUp(file);
      await tell(4);
      await store.runs.finish(id);
      await store.close();
      clock.now += later;
      const target = elsewhere === null ? file : join(folder(), elsewhere);
      restore(backup, target);
      const restored = await openStore({ file: target, now: () => clock.now });
      expect(await restored.runs.running()).toEqual([]);
      expect(await restored.runs.get(id)).toMatchObject({ state: "cancelled" });
      expect(await states(restored, id)).toEqual(["1 done", "2 unknown", "3 unknown", "4 unknown"]);
      expect((await restored.commands.list()).map(({ state }) => state)).toEqual(["unknown", "unknown", "done"]);
      expect((await restored.runs.results(id))[3]?.message).toContain("restored from a backup");
      // Ids that were given since the backup are not given again.
      expect((await restored.commands.add(command)).id).toBeGreaterThan(4);
      await restored.close();
    },
  );

  test("and is restored twice is not resumed the second time either", async () => {
    const { file, store, id, tell } = await begun();
    const backup = backUp(file);
    await tell(2);
    await store.close();
    for (let times = 0; times < 2; times += 1) {
      restore(backup, file);
      const restored = await openStore({ file, now: () => start });
      expect(await states(restored, id)).toEqual(["1 done", "2 unknown", "3 unknown", "4 unknown"]);
      await restored.close();
    }
  });

  test("of an earlier run, with nothing sent since, is not resumed", async () => {
    const { file, store, id } = await begun();
    const backup = backUp(file);
    await store.close();
    await (await openStore({ file, now: () => start })).close();
    restore(backup, file);
    const restored = await openStore({ file, now: () => start });
    expect(await restored.runs.running()).toEqual([]);
    expect(await states(restored, id)).toEqual(["1 done", "2 unknown", "3 unknown", "4 unknown"]);
    await restored.close();
  });
});

describe("a store whose service stopped while a bulk action was under way", () => {
  test.each([
    ["resumes it within the hour", hour - minute, 0, true],
    ["cancels the rest of it after more than an hour", hour + minute, 0, false],
    ["resumes it after an hour and a half if the delay between two rigs is an hour", 1.5 * hour, 3_600, true],
    ["cancels the rest of it after a month", month, 3_600, false],
    ["cancels the rest of it if the clock was set back by a month", -month, 0, false],
  ])("%s", async (_, away, delay, goesOn) => {
    const { file, clock, store, id } = await begun({ delay });
    await store.close();
    clock.now += away;
    const next = await openStore({ file, now: () => clock.now });
    expect((await next.runs.running()).map((each) => each.id)).toEqual(goesOn ? [id] : []);
    const rest = goesOn ? "queued" : "cancelled";
    expect(await states(next, id)).toEqual(["1 done", `2 ${rest}`, `3 ${rest}`, `4 ${rest}`]);
    if (!goesOn) expect((await next.runs.results(id))[1]?.message).toContain("did not start again within an hour");
    await next.close();
  });
});
