import { setTimeout as pause } from "node:timers/promises";
import type { BulkPreview } from "../contract/bulk-preview.ts";
import type { BulkAction } from "../contract/resources.ts";
import type { MinerRow } from "../contract/rows.ts";
import type { Input } from "../contract/service.ts";
import { asData, longestMessage } from "./data-text.ts";
import type { Small, ToolContext } from "./tool.ts";

/** A result waits this long for the rigs, ms in all; job_status has the rest. */
const looksMs = [100, 200, 400, 800, 1_500, 3_000, 4_000];
/** Rigs whose result is shown at once, failures first. */
const mostShown = 20;

export type JobBody = Pick<Input<"startBulkAction">, "action" | "parameters" | "orReboot">;

/** Starts an action on these rigs as a job, and waits a little for its end. */
export async function runJob(
  body: JobBody,
  targets: readonly Pick<MinerRow, "id" | "name">[],
  dryRun: boolean,
  { service, caller, signal }: ToolContext,
): Promise<Small> {
  const miners = targets.map(({ id }) => id);
  const { id } = await service.startBulkAction({ ...body, miners, parallel: 16, delay: 0, dryRun }, caller);
  let job = await service.getBulkAction({ id }, caller);
  for (const ms of looksMs) {
    if (job.state !== "running" || signal.aborted) break;
    await pause(ms);
    job = await service.getBulkAction({ id }, caller);
  }
  const names = new Map(targets.map((rig) => [rig.id, rig.name]));
  const results = job.results.toSorted((one, other) => rank(one) - rank(other));
  return {
    ...jobHead(job),
    results: results.slice(0, mostShown).map((each) => smallResult(each, names.get(each.minerId))),
    ...(results.length > mostShown ? { more: `job_status with job ${id} lists all ${results.length} results` } : {}),
    ...(job.state === "running" ? { next: `not finished; job_status with job ${id} says how it ends` } : {}),
  };
}

type Result = BulkAction["results"][number];

const rank = ({ state }: Result): number => (state === "failed" ? 0 : state === "unknown" ? 1 : 2);

/** The counts of a job. */
export const jobHead = ({ id, action, state, dryRun, total, done, failed, unknown, preview }: BulkAction): Small => ({
  job: id,
  action: asData(action),
  state,
  dryRun,
  rigs: total,
  [dryRun ? "possible" : "done"]: done,
  failed,
  unknown,
  // An older service has none.
  ...(preview == null ? {} : previewed(preview)),
});

/** What a dry run says of all rigs together; the results say why some would not do it. */
const previewed = ({ power, seconds, revenueLost, currency }: BulkPreview): Small => ({
  watts: power,
  ...(seconds === null ? {} : { secondsUntil: { "50 %": seconds.half, "90 %": seconds.most, "100 %": seconds.all } }),
  ...(revenueLost === null ? {} : { revenueLostPerHour: revenueLost, currency }),
});

export const smallResult = ({ minerId, state, message, before }: Result, name: string | undefined): Small => ({
  rig: minerId,
  name: asData(name),
  state,
  message: asData(message, longestMessage),
  ...(before === null ? {} : { before: asData(before) }),
});
