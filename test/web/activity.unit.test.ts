import { expect, test } from "@jest/globals";
import type { BulkJob, Command } from "../../src/contract/resources.ts";
import type { OwnedRun } from "../../src/contract/rules.ts";
import { type EntryFilters, feedOf, ownerOf, resultOf } from "../../src/web/pages/activity/entries.ts";

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();

const command = (id: number, minute: number, fields: Partial<Command> = {}): Command => ({
  id,
  minerId: 1,
  minerName: "Desk",
  actor: "anna",
  action: "restart",
  parameters: {},
  cause: null,
  state: "done",
  message: "",
  time: at(minute),
  updated: at(minute),
  ...fields,
});
const run = (id: number, minute: number, fields: Partial<OwnedRun> = {}): OwnedRun => ({
  id,
  time: at(minute),
  minerId: 1,
  outcome: "done",
  message: "fired",
  heldBy: null,
  conditions: [],
  actions: [],
  kind: "rule",
  ownerId: 3,
  key: "hot",
  name: "Too hot",
  run: 9,
  ...fields,
});
const job = (id: number, minute: number, fields: Partial<BulkJob> = {}): BulkJob => ({
  id,
  action: "stop",
  parameters: {},
  actor: "anna",
  time: at(minute),
  state: "done",
  dryRun: false,
  total: 2,
  done: 2,
  failed: 0,
  unknown: 0,
  ...fields,
});
const all: EntryFilters = { kind: null, miner: null, actor: "", owner: "", result: null, since: 0 };

const idsOf = (lists: Parameters<typeof feedOf>[0], filters: Partial<EntryFilters> = {}, most = 100): string[] =>
  feedOf(lists, { ...all, ...filters }, most).entries.map((entry) =>
    entry.kind === "command" ? `c${entry.command.id}` : entry.kind === "run" ? `r${entry.run.id}` : `b${entry.job.id}`,
  );

test("commands, runs and bulk actions are one list, newest first, and each filter leaves what fits", () => {
  const cause = { kind: "rule", key: "hot", id: 3, run: 9 } as const;
  const lists = {
    commands: [
      command(2, 30, { actor: "rule:hot", cause, state: "failed" }),
      command(1, 10, { minerId: 2, minerName: "Shelf" }),
    ],
    runs: [run(8, 20, { minerId: null, kind: "schedule", ownerId: 3, outcome: "held" }), run(7, 29)],
    jobs: [job(5, 15)],
  };
  expect(idsOf(lists)).toEqual(["c2", "r7", "r8", "b5", "c1"]);
  expect(idsOf(lists, { kind: "run" })).toEqual(["r7", "r8"]);
  expect(idsOf(lists, { miner: 1 })).toEqual(["c2", "r7"]);
  expect(idsOf(lists, { actor: "rule:hot" })).toEqual(["c2", "r7"]);
  expect(idsOf(lists, { actor: "anna" })).toEqual(["b5", "c1"]);
  expect(idsOf(lists, { owner: "rule 3" })).toEqual(["c2", "r7"]);
  expect(idsOf(lists, { owner: "schedule 3" })).toEqual(["r8"]);
  expect(idsOf(lists, { result: "failed" })).toEqual(["c2"]);
  expect(idsOf(lists, { result: "held" })).toEqual(["r8"]);
  expect(idsOf(lists, { since: Date.parse(at(20)) })).toEqual(["c2", "r7", "r8"]);
});

test("a list that is cut off says how far back the others go", () => {
  const lists = { commands: [command(3, 30), command(2, 20)], runs: [run(9, 25), run(8, 5)], jobs: [] };
  expect(idsOf(lists, {}, 2)).toEqual(["c3", "r9", "c2"]);
  expect(feedOf(lists, all, 2).isCut).toBe(true);
  expect(feedOf(lists, all, 3).isCut).toBe(false);
  // Of runs alone nothing newer is missing.
  expect(idsOf(lists, { kind: "run" }, 2)).toEqual(["r9", "r8"]);
});

test("the result of what has not ended is open, of what failed for some rigs failed; a template's command belongs to no rule", () => {
  expect(resultOf({ kind: "command", time: at(1), command: command(1, 1, { state: "sent" }) })).toBe("open");
  expect(resultOf({ kind: "run", time: at(1), run: run(1, 1, { outcome: "missed" }) })).toBe("failed");
  const bulk = (fields: Partial<BulkJob>) => resultOf({ kind: "bulk", time: at(1), job: job(1, 1, fields) });
  expect(bulk({})).toBe("done");
  expect(bulk({ state: "running", done: 0, failed: 1 })).toBe("open");
  expect(bulk({ done: 1, failed: 1 })).toBe("failed");
  expect(bulk({ done: 1, unknown: 1 })).toBe("failed");
  const cause = { kind: "template", key: "Summer", id: 3, run: 1 } as const;
  expect(ownerOf({ kind: "command", time: at(1), command: command(1, 1, { cause }) })).toBeNull();
});
