import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "@jest/globals";
import { noCommand, type RunResult, type Store } from "../../src/store/store.ts";
import { openStore } from "../any-store.ts";
import { testOfFile } from "../test-of-file.ts";
import { toFirstVersion, withoutCounts } from "./first-version.ts";
import { folders } from "./folder.ts";

const folder = folders();
const newFile = () => join(folder(), "rigbridge.db");
const start = 1_750_000_000_000;
const now = () => start;

const job = {
  actor: "Ann",
  userId: 3,
  action: "set",
  parameters: { property: "fan", value: 40 },
  parallel: 16,
  delay: 0.5,
  dryRun: false,
};
/** What the rows of an older version do not say. */
const defaults = {
  cause: null,
  preview: null,
  occurrence: null,
  steps: null,
  waits: 0,
  ended: null,
  done: 0,
  failed: 0,
  unknown: 0,
};
const queued = (...minerIds: number[]): RunResult[] =>
  minerIds.map((minerId) => ({ minerId, state: "queued", message: "" }));
const command = { minerId: 5, minerName: "Rig", actor: "Ann", action: "set", parameters: {} };
const told = async (store: Store, id: number) =>
  (await store.runs.results(id)).map(({ minerId, state, message }) => `${minerId} ${state} ${message}`.trim());

describe("bulk actions", () => {
  test("are stored with a result for every miner, in the order of the request", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    const { id } = await first.runs.add(job, queued(9, 5, 7));
    expect(await first.runs.get(id)).toEqual({ ...defaults, ...job, id, time: now(), total: 3, state: "running" });
    expect(await first.runs.claim(id, 5)).toBe(true);
    await first.runs.end(id, { minerId: 5, state: "done", message: "OK, a 'word' of \"the rig\"" });
    await first.close();
    const second = await openStore({ file, now });
    const running = { ...defaults, ...job, id, time: now(), total: 3, done: 1, state: "running" };
    expect(await second.runs.running()).toEqual([running]);
    expect((await second.runs.turns(id)).map(({ minerId, state }) => [minerId, state])).toEqual([
      [9, "queued"],
      [5, "done"],
      [7, "queued"],
    ]);
    expect(await told(second, id)).toEqual(["9 queued", "5 done OK, a 'word' of \"the rig\"", "7 queued"]);
    await second.runs.finish(id);
    expect(await second.runs.running()).toEqual([]);
    expect(await second.runs.get(id)).toMatchObject({ state: "done" });
    expect(await second.runs.get(id + 1)).toBeUndefined();
    await second.close();
  });

  test("that are dry runs are done at once", async () => {
    const store = await openStore({ file: ":memory:", now });
    const dry = { ...job, dryRun: true, userId: null };
    const { id, state } = await store.runs.add(dry, [{ minerId: 5, state: "possible", message: "" }]);
    expect(state).toBe("done");
    expect(await store.runs.get(id)).toEqual({
      ...defaults,
      ...dry,
      ended: now(),
      id,
      time: now(),
      total: 1,
      done: 1,
      state: "done",
    });
    await store.close();
  });

  test("that are cancelled change only queued miners, and a claim and a result may be stored again", async () => {
    const store = await openStore({ file: ":memory:", now });
    const { id } = await store.runs.add(job, queued(1, 2, 3));
    expect(await store.runs.claim(id, 1)).toBe(true);
    expect(await store.runs.claim(id, 1)).toBe(true);
    const done = { state: "done", message: "OK", commandId: null } as const;
    const next = (step: number) =>
      store.runs.next(id, { minerId: 1, step }, done, { state: "queued", message: `After ${step}` });
    await next(0);
    await next(0);
    expect(await store.runs.turns(id)).toMatchObject([{ step: 1, past: [done] }, { step: 0 }, { step: 0 }]);
    await next(1);
    await store.runs.claim(id, 1);
    await next(1);
    expect(await store.runs.turns(id)).toMatchObject([{ step: 2, past: [done, done], state: "sent" }, {}, {}]);
    expect(await store.runs.cancel(id, "Not now")).toBe(2);
    expect(await store.runs.claim(id, 2)).toBe(false);
    expect(await told(store, id)).toEqual(["1 sent", "2 cancelled Not now", "3 cancelled Not now"]);
    await store.runs.finish(id);
    expect(await store.runs.get(id)).toMatchObject({ state: "cancelled" });
    await store.close();
  });

  test("left by the last run take over the outcomes of their commands, and unsent miners are queued again", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    const { id } = await first.runs.add(job, queued(1, 2, 3, 4, 5, 6));
    for (const minerId of [1, 2, 3, 4, 5]) await first.runs.claim(id, minerId);
    const bound = async (minerId: number) => {
      const row = await first.commands.add(command);
      await first.runs.bind(id, minerId, row.id);
      return row.id;
    };
    await bound(2);
    await first.commands.move(await bound(3), "sent", "");
    await first.commands.move(await bound(4), "done", "OK");
    await first.commands.move(await bound(5), "failed", "No");
    await first.close();
    const second = await openStore({ file, now });
    expect(await told(second, id)).toEqual([
      "1 queued",
      "2 queued",
      "3 unknown the service stopped before the rig answered",
      "4 done OK",
      "5 failed No",
      "6 queued",
    ]);
    expect(await second.runs.get(id)).toMatchObject({ done: 1, failed: 1, unknown: 1 });
    // The process ends again, after one of them was restarted and interrupted.
    await second.runs.claim(id, 2);
    await second.runs.cancel(id, "Not now");
    await second.close();
    const third = await openStore({ file, now });
    expect((await told(third, id)).slice(0, 2)).toEqual([
      "1 cancelled Not now",
      "2 cancelled the service stopped before it was sent",
    ]);
    expect(await third.runs.list()).toMatchObject([{ total: 6, done: 1, failed: 1, unknown: 1 }]);
    await third.close();
  });

  testOfFile(
    "count how their miners ended: also those that end after it was cancelled, and those of earlier versions",
    async () => {
      const file = newFile();
      const first = await openStore({ file, now });
      const { id } = await first.runs.add(job, queued(1, 2, 3, 4, 5));
      for (const minerId of [1, 2, 3, 4]) await first.runs.claim(id, minerId);
      await first.runs.cancel(id, "Not now");
      const states = ["done", "failed", "failed", "unknown"] as const;
      for (const [index, state] of states.entries())
        await first.runs.end(id, { minerId: index + 1, state, message: "" });
      const counts = { total: 5, done: 1, failed: 2, unknown: 1 };
      expect(await first.runs.list()).toMatchObject([counts]);
      // A step that is over says nothing yet of how the miner ends.
      const steps = await first.runs.add(job, queued(1));
      await first.runs.next(
        steps.id,
        { minerId: 1, step: 0 },
        { state: "done", message: "", commandId: null },
        { state: "queued", message: "" },
      );
      expect(await first.runs.get(steps.id)).toMatchObject({ done: 0 });
      await first.close();
      const raw = new DatabaseSync(file);
      raw.exec(withoutCounts);
      raw.close();
      const second = await openStore({ file, now });
      expect(await second.runs.list()).toMatchObject([{ done: 0, failed: 0, unknown: 0 }, counts]);
      await second.close();
    },
  );

  testOfFile("that have ended are kept for 30 days, up to a thousand, and their ids are never reused", async () => {
    const file = newFile();
    let time = start;
    const first = await openStore({ file, now: () => time });
    const { id: old } = await first.runs.add(job, queued(1));
    await first.runs.finish(old);
    const { id: running } = await first.runs.add(job, queued(1));
    time += 30 * 86_400_000 + 1;
    await first.close();
    const second = await openStore({ file, now: () => time });
    expect(await second.runs.get(old)).toBeUndefined();
    expect(await second.runs.results(old)).toEqual([]);
    // It was given up for its age, and so it has ended.
    expect(await second.runs.get(running)).toBeUndefined();
    const possible: RunResult[] = [{ minerId: 1, state: "possible", message: "" }];
    for (let count = 0; count < 1_003; count += 1) await second.runs.add({ ...job, dryRun: true }, possible);
    const kept = [running + 1, running + 2, running + 3, running + 1_003];
    const found = await Promise.all(kept.map(async (id) => (await second.runs.get(id)) !== undefined));
    expect(found).toEqual([false, false, true, true]);
    await second.close();
    const raw = new DatabaseSync(file);
    raw.exec("delete from bulk_action");
    raw.close();
    const third = await openStore({ file, now: () => time });
    expect((await third.runs.add(job, queued(1))).id).toBe(running + 1_004);
    await third.close();
  });
});

describe("runs of rules", () => {
  const cause = { kind: "rule", key: "too-hot", id: 4 } as const;
  const steps = [{ action: "stop" }, { wait: 60 }, { action: "start" }];
  const rule = (occurrence: string) => ({
    ...job,
    action: "rule",
    parameters: {},
    cause,
    occurrence,
    steps,
    waits: 60,
  });

  test("are begun once for an occurrence, also after a restart, and are no bulk actions", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    expect(await first.runs.isBegun("too-hot 5 1")).toBe(false);
    const { id } = await first.runs.add(rule("too-hot 5 1"), queued(5));
    await expect(first.runs.add(rule("too-hot 5 1"), queued(5))).rejects.toThrow();
    await first.close();
    const second = await openStore({ file, now });
    expect([await second.runs.isBegun("too-hot 5 1"), await second.runs.isBegun("too-hot 5 2")]).toEqual([true, false]);
    expect(await second.runs.get(id)).toMatchObject({ cause, steps, waits: 60, state: "running" });
    expect(await second.runs.list()).toEqual([]);
    await second.close();
  });

  test("keep the result of each step, and where they are", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    const { id } = await first.runs.add(rule("a"), queued(5, 6, 7));
    await first.runs.claim(id, 5);
    const row = await first.commands.add(command);
    await first.runs.bind(id, 5, row.id);
    await first.commands.move(row.id, "done", "OK");
    const done = { state: "done", message: "OK", commandId: row.id } as const;
    await first.runs.next(id, { minerId: 5, step: 0 }, done, { state: "queued", message: "" });
    await first.runs.note(id, 5, "Waits until noon");
    // A message was about to be sent, and a command was given to a rig.
    await first.runs.claim(id, 6, noCommand);
    await first.runs.claim(id, 7);
    const sent = await first.commands.add(command);
    await first.runs.bind(id, 7, sent.id);
    await first.commands.move(sent.id, "sent", "");
    await first.close();
    const second = await openStore({ file, now });
    const stopped = "the service stopped before the rig answered";
    expect(await second.runs.turns(id)).toEqual([
      { minerId: 5, step: 1, past: [done], state: "queued", message: "Waits until noon", commandId: null },
      { minerId: 6, step: 0, past: [], state: "unknown", message: stopped, commandId: noCommand },
      { minerId: 7, step: 0, past: [], state: "unknown", message: stopped, commandId: sent.id },
    ]);
    await second.close();
  });

  test("go on after an absence that their waits explain, and are kept for 30 days", async () => {
    const file = newFile();
    let time = start;
    const first = await openStore({ file, now: () => time });
    const { id } = await first.runs.add({ ...rule("long"), waits: 7200 }, queued(5));
    const { id: short } = await first.runs.add(rule("short"), queued(5));
    await first.close();
    time += 2 * 3_600_000;
    const second = await openStore({ file, now: () => time });
    expect((await second.runs.running()).map((run) => run.id)).toEqual([id]);
    expect((await second.runs.get(short))?.state).toBe("cancelled");
    await second.runs.finish(id);
    expect(await second.runs.get(id)).toMatchObject({ state: "done", ended: time });
    await second.close();
    time += 30 * 86_400_000;
    const third = await openStore({ file, now: () => time });
    expect(await third.runs.get(id)).toBeUndefined();
    expect(await third.runs.isBegun("long")).toBe(false);
    await third.close();
  });

  testOfFile("never push bulk actions out", async () => {
    const file = newFile();
    const first = await openStore({ file, now });
    const { id } = await first.runs.add(job, queued(1));
    await first.runs.finish(id);
    await first.close();
    const raw = new DatabaseSync(file);
    raw.exec(`with recursive n(i) as (select 1 union all select i + 1 from n limit 200001)
      insert into bulk_action (time, actor, action, parameters, parallel, delay, dry_run, total, state, cause)
      select ${start}, 'rule:a', 'rule', '{}', 1, 0, 0, 1, 'done', '{"kind":"rule","key":"a","id":1}' from n`);
    raw.close();
    const second = await openStore({ file, now });
    expect(await second.runs.get(id)).toBeDefined();
    expect([await second.runs.get(id + 1), (await second.runs.get(id + 2))?.state]).toEqual([undefined, "done"]);
    await second.close();
  });
});

testOfFile("a store of version 1 gets the tables of bulk actions, and keeps its commands", async () => {
  const file = newFile();
  const first = await openStore({ file, now });
  await first.commands.add(command);
  await first.close();
  const raw = new DatabaseSync(file);
  raw.exec(toFirstVersion);
  raw.close();
  const second = await openStore({ file, now });
  expect((await second.runs.add(job, queued(5))).id).toBe(1);
  expect(await second.commands.list()).toHaveLength(1);
  await second.close();
});
