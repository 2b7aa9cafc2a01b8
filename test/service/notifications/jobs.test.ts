import { afterEach, describe, expect, test } from "@jest/globals";
import { JobNotices } from "../../../src/service/automation/job-notices.ts";
import { until } from "../../until.ts";
import { type Bench, caller, closeBenches, openBench } from "../bench.ts";
import { openOutboxBench } from "./outbox-bench.ts";

afterEach(closeBenches);

const jobsIn = async ({ service }: Bench) =>
  (await service.listNotifications({}, caller)).notificationList
    .filter(({ source }) => source === "Jobs")
    .map(({ title, message, count, closedUtc, severity }) => ({
      title,
      message,
      count,
      severity,
      open: closedUtc === null,
    }));

async function restartAll({ service }: Bench, miners: readonly number[]): Promise<number> {
  const { id } = await service.startBulkAction(
    { action: "restart", parameters: {}, miners: [...miners], parallel: 16, delay: 0, dryRun: false },
    caller,
  );
  await until(async () => (await service.getBulkAction({ id }, caller)).state === "done", "the end of the bulk action");
  return id;
}

test("a bulk action that fails on some miners is one notification, which closes when the next one ends well", async () => {
  const bench = await openBench({ rigs: Array.from({ length: 3 }, () => ({ kind: "axeos" as const, warm: true })) });
  const ids: number[] = [];
  for (const [index, rig] of bench.farm.rigs.entries())
    ids.push(await bench.add(rig.address, { name: `Rig ${index}` }));
  bench.rig(2).powerOff();
  const id = await restartAll(bench, ids);
  expect(await jobsIn(bench)).toEqual([
    {
      title: "Bulk action restart failed",
      message: expect.stringMatching(new RegExp(`^1 of 3 failed \\(action ${id} by test\\): Rig 2: `)),
      count: 1,
      severity: "warning",
      open: true,
    },
  ]);
  await bench.act(ids[2] ?? 0, { action: "restart" }).catch(() => undefined);
  await restartAll(bench, ids.slice(2));
  expect(await jobsIn(bench)).toMatchObject([{ count: 2, open: true }]);
  await restartAll(bench, ids.slice(0, 2));
  expect(await jobsIn(bench)).toMatchObject([{ count: 2, open: false }]);
});

test("a schedule that fails is one notification; what is done for one miner at a person's request is none", async () => {
  const turns: (() => Promise<void>)[] = [];
  const bench = await openBench({
    rigs: [{ kind: "axeos", warm: true }],
    config: {
      electricity: { price: 0.1 },
      templates: [{ name: "Again", do: [{ action: "restart" }] }],
      schedules: [{ key: "cheap", price: { below: 0.2 }, do: [{ action: "restart" }] }],
    },
    ruleTurns: (work) => {
      turns.push(work);
      return () => undefined;
    },
  });
  const id = await bench.add(bench.rig(0).address, { name: "Rig A" });
  bench.rig(0).powerOff();
  await bench.act(id, { action: "apply_template", template_id: 1 }).catch(() => undefined);
  expect(await jobsIn(bench)).toEqual([]);
  for (const turn of turns) await turn();
  await until(async () => (await jobsIn(bench)).length > 0, "the notification of the schedule");
  expect(await jobsIn(bench)).toMatchObject([
    { title: "Schedule cheap failed", message: expect.stringMatching(/^1 of 1 failed: Rig A: /), open: true },
  ]);
});

describe("a job that failed", () => {
  const cause = { kind: "schedule", key: "night", id: 4 } as const;
  const result = (minerId: number, state: "done" | "failed" | "unknown" | "cancelled", message = "no") => ({
    minerId,
    state,
    message,
  });
  async function openJobs() {
    const { notices, store } = await openOutboxBench([]);
    const jobs = new JobNotices(notices, (id) => (id === 9 ? undefined : `Rig ${id}`));
    const list = () => store.notifications.list().map(({ message, closed }) => [message, closed === null]);
    return {
      jobs,
      list,
      ended: (results: Parameters<JobNotices["ended"]>[1]) =>
        jobs.ended({ cause, actor: "schedule:night", id: 1 }, results),
    };
  }

  test("names some of many miners, in texts of bounded length", async () => {
    const { list, ended } = await openJobs();
    ended([
      result(1, "done"),
      ...[2, 3, 9, 5].map((id) => result(id, "failed")),
      ...[6, 7].map((id) => result(id, "unknown", "x".repeat(5_000))),
    ]);
    const [text] = list()[0] ?? [];
    expect(text).toBe(
      "4 of 7 failed, the outcome of 2 is unknown: Rig 2: no; Rig 3: no; miner 9: no; Rig 5: no; " +
        `Rig 6: ${"x".repeat(199)}…; and 1 more`,
    );
  });

  test("stays one notification until it ends well; cancelled miners say nothing", async () => {
    const { list, ended } = await openJobs();
    ended([result(1, "cancelled")]);
    expect(list()).toEqual([]);
    ended([result(0, "failed", "webhook: no answer")]);
    ended([result(1, "cancelled")]);
    expect(list()).toEqual([["1 of 1 failed: webhook: no answer", true]]);
    ended([result(1, "done")]);
    expect(list()).toEqual([["1 of 1 failed: webhook: no answer", false]]);
  });
});
