import { signal } from "@preact/signals";
import type { BulkAction, BulkJob } from "../../../contract/resources.ts";
import { call, Problem } from "../../api.ts";
import { onEvent } from "../../live.ts";
import { problemText } from "../../parts/messages.tsx";
import { may } from "../../session.ts";

export type JobResult = BulkAction["results"][number];

/** An action for many rigs: run by the service, or by calls of this page in sequence. */
export interface Job {
  readonly key: string;
  readonly action: string;
  readonly parameters: BulkJob["parameters"];
  readonly state: BulkJob["state"];
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly unknown: number;
  /** Null: not loaded yet. */
  readonly results: readonly JobResult[] | null;
  /** Why its progress is currently unknown. */
  readonly problem: string | null;
  readonly cancel: () => Promise<unknown>;
  /** Repeats it for some of its rigs. */
  readonly again: (ids: readonly number[]) => Promise<unknown>;
  /** Gives one rig back what it had; absent: the service does, if the action can be undone. */
  readonly giveBack?: OwnWork["giveBack"];
}

/** What the page does itself for each rig. */
export interface OwnWork {
  /** Resolves with what it did. */
  readonly each: (id: number) => Promise<string>;
  /** What is said of a rig that it was not done for. */
  readonly cancelled: string;
  /** What a rig has before; null: not known. */
  readonly before?: (id: number) => string | null;
  readonly giveBack?: ((id: number, before: string) => Promise<string>) | undefined;
}

/** Newest first. */
export const jobs = signal<readonly Job[]>([]);

const storageKey = "rigbridge.rigs.jobs";
/** Ids of the service's jobs that this browser started and still shows. */
const followed = new Set((sessionStorage.getItem(storageKey) ?? "").split(",").filter((id) => /^\d+$/.test(id)));
const keepFollowed = (): void => sessionStorage.setItem(storageKey, [...followed].slice(-50).join(","));

function put(job: Job): void {
  const isNew = jobs.value.every(({ key }) => key !== job.key);
  jobs.value = isNew ? [job, ...jobs.value] : jobs.value.map((each) => (each.key === job.key ? job : each));
}

const isListed = (key: string): boolean => jobs.value.some((job) => job.key === key);

export function dismiss(job: Job): void {
  jobs.value = jobs.value.filter(({ key }) => key !== job.key);
  followed.delete(job.key);
  keepFollowed();
}

/** Finds running jobs of any user, and those of this browser. */
export async function findJobs(signal: AbortSignal): Promise<void> {
  if (!may("listBulkActions")) return;
  const all = await call("listBulkActions", {}, { signal });
  const wanted = all.filter(({ id, state, dryRun }) => !dryRun && (state === "running" || followed.has(String(id))));
  for (const job of wanted.toReversed()) follow({ ...job, results: null });
}

type Pace = Pick<BulkBody, "parallel" | "delay" | "order">;

/** Starts a bulk action of the service for these rigs, and follows it. */
export async function startJob(
  action: BulkBody["action"],
  parameters: BulkJob["parameters"],
  miners: readonly number[],
  pace: Pace = { parallel: 16, delay: 0 },
): Promise<void> {
  const { id } = await call("startBulkAction", { ...bodyOf(action, parameters, miners), ...pace });
  followed.add(String(id));
  keepFollowed();
  const total = miners.length;
  const counts = { done: 0, failed: 0, unknown: 0, results: null };
  const dates = { actor: "", time: new Date().toISOString(), dryRun: false };
  follow({ id, action, parameters, state: "running", total, ...dates, ...counts }, pace);
}

/** What it would do, by the last readings: for each rig, and in all. */
export async function rehearse(
  action: BulkBody["action"],
  parameters: BulkJob["parameters"],
  miners: readonly number[],
  pace: Pace,
): Promise<Pick<BulkAction, "results" | "preview">> {
  const { id } = await call("startBulkAction", { ...bodyOf(action, parameters, miners), ...pace, dryRun: true });
  const { results, preview } = await call("getBulkAction", { id });
  // An older site has none.
  return { results, preview: preview ?? null };
}

export type BulkBody = Parameters<typeof call<"startBulkAction">>[1];

/** `orReboot` stands beside the parameters. */
function bodyOf(
  action: BulkBody["action"],
  { orReboot, ...parameters }: BulkJob["parameters"],
  miners: readonly number[],
): BulkBody {
  return {
    action,
    parameters,
    miners: [...miners],
    parallel: 16,
    delay: 0,
    dryRun: false,
    ...(orReboot === true ? { orReboot } : {}),
  };
}

/** A job in the form of the API; `results` are null until loaded. */
type ServiceJob = BulkJob & { readonly results: readonly JobResult[] | null };

function jobOf(job: ServiceJob, problem: string | null, pace?: Pace): Job {
  const { id, action, parameters, state, total, done, failed, unknown, results } = job;
  return {
    key: String(id),
    action,
    parameters,
    state,
    total,
    done,
    failed,
    unknown,
    results,
    problem,
    cancel: () => call("cancelBulkAction", { id }),
    // The service has accepted this action before.
    again: (ids) => startJob(action as BulkBody["action"], parameters, ids, pace),
  };
}

/** Minimum ms between two reads of a job; longer for large ones, because the answer lists each of their rigs. */
const shortestMs = 700;
const longestMs = 3_000;
const msPerRig = 0.5;

/** Polls a job, sooner after commands, until it has ended or is dismissed. */
function follow(start: ServiceJob, pace?: Pace): void {
  const { id } = start;
  const key = String(id);
  if (isListed(key)) return;
  let latest = start;
  put(jobOf(latest, null, pace));
  const readOn = async (): Promise<void> => {
    while (isListed(key)) {
      try {
        latest = await call("getBulkAction", { id });
        if (!isListed(key)) return;
        put(jobOf(latest, null, pace));
        if (latest.state !== "running" && latest.results?.every(({ state }) => !isOpen(state)) !== false) return;
      } catch (error) {
        if (error instanceof Problem && error.status === 404) return dismiss(jobOf(latest, null));
        put(jobOf(latest, problemText(error), pace));
      }
      await commandOrTime(Math.max(shortestMs, start.total * msPerRig));
    }
  };
  void readOn();
}

export const isOpen = (state: JobResult["state"]): boolean => state === "queued" || state === "sent";

/** Resolves once a command changes, after `leastMs` at the earliest, or after some seconds. */
async function commandOrTime(leastMs: number): Promise<void> {
  let seen = false;
  let wake = (): void => undefined;
  const stop = onEvent(({ type }) => {
    if (type !== "command") return;
    seen = true;
    wake();
  });
  await pause(leastMs);
  if (!seen) await Promise.race([pause(longestMs), new Promise<void>((resolve) => (wake = resolve))]);
  stop();
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let lastOwn = 0;
const ownAtOnce = 4;

/** Does something for each of these rigs that the service has no bulk action for. */
export function startOwnJob(
  action: string,
  parameters: BulkJob["parameters"],
  miners: readonly number[],
  work: OwnWork,
): void {
  const { each, cancelled, giveBack } = work;
  const key = `own-${++lastOwn}`;
  const results: JobResult[] = miners.map((minerId) => ({
    minerId,
    state: "queued",
    message: "",
    before: work.before?.(minerId) ?? null,
  }));
  let isCancelled = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const count = (state: JobResult["state"]) => results.filter((result) => result.state === state).length;
  const publish = (): void => {
    timer = undefined;
    const isEnded = results.every(({ state }) => !isOpen(state));
    const job: Job = {
      key,
      action,
      parameters,
      total: results.length,
      results: [...results],
      problem: null,
      unknown: 0,
      done: count("done"),
      failed: count("failed"),
      state: isEnded ? (isCancelled ? "cancelled" : "done") : "running",
      cancel: async () => {
        isCancelled = true;
      },
      again: async (ids) => startOwnJob(action, parameters, ids, work),
      giveBack,
    };
    if (isEnded || isListed(key) || results.every(({ state }) => state === "queued")) put(job);
  };
  const takeTurns = async (): Promise<void> => {
    for (;;) {
      const index = results.findIndex(({ state }) => state === "queued");
      const next = results[index];
      if (next === undefined) return;
      if (isCancelled) results[index] = { ...next, state: "cancelled", message: cancelled };
      else {
        results[index] = { ...next, state: "sent" };
        results[index] = await each(next.minerId).then(
          (message) => ({ ...next, state: "done", message }) as const,
          (error: unknown) => ({ ...next, state: "failed", message: problemText(error) }) as const,
        );
      }
      timer ??= setTimeout(publish, 250);
    }
  };
  publish();
  void Promise.all(Array.from({ length: ownAtOnce }, takeTurns)).then(() => {
    clearTimeout(timer);
    publish();
  });
}
