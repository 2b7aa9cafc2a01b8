import { coded } from "../../messages/coded.ts";
import type { RunResult } from "../../store/index.ts";
import type { Notices } from "../notifications/notices.ts";
import type { RunCause } from "./run-types.ts";

/** Miners listed in a notification, and the maximum length of each message. */
const named = 5;
const mostCharacters = 200;

/** A run that has ended or could not start. */
export interface EndedJob {
  readonly cause: RunCause;
  readonly actor: string;
  /** Id of the run; null if it did not start. */
  readonly id: number | null;
}

/** Actions on a single miner report to their caller, and rules have traces. */
export const isReported = ({ kind }: RunCause): boolean => kind === "bulk" || kind === "schedule";

/**
 * Notifies of bulk actions and schedules that ended with failures: one notification per schedule or kind of bulk
 * action, closed by its next run without failures.
 */
export class JobNotices {
  readonly #notices: Notices;
  readonly #nameOf: (minerId: number) => string | undefined;

  constructor(notices: Notices, nameOf: (minerId: number) => string | undefined) {
    this.#notices = notices;
    this.#nameOf = nameOf;
  }

  ended({ cause, actor, id }: EndedJob, results: readonly Pick<RunResult, "minerId" | "state" | "message">[]): void {
    if (!isReported(cause)) return;
    const key = cause.kind === "schedule" ? `job:schedule:${cause.id}` : `job:bulk:${cause.key}:${cause.id}`;
    const troubles = results.filter(({ state }) => state === "failed" || state === "unknown");
    const what = { key: cause.key };
    if (troubles.length === 0) {
      if (results.some(({ state }) => state === "done"))
        this.#notices.close(
          key,
          coded(cause.kind === "schedule" ? "notices.job.scheduleOver" : "notices.job.bulkOver", what),
        );
      return;
    }
    const count = (wanted: RunResult["state"]): number => troubles.filter(({ state }) => state === wanted).length;
    const [failed, unknown] = [count("failed"), count("unknown")];
    const sums = [
      ...(failed > 0 ? [`${failed} of ${results.length} failed`] : []),
      ...(unknown > 0 ? [`the outcome of ${unknown} is unknown`] : []),
    ];
    const names = troubles.slice(0, named).map((result) => this.#lineOf(result));
    const more = troubles.length > named ? [`and ${troubles.length - named} more`] : [];
    const by = cause.kind === "schedule" || id === null ? "" : ` (action ${id} by ${actor})`;
    this.#notices.raise({
      key,
      minerId: null,
      source: "Jobs",
      severity: "warning",
      title: coded(cause.kind === "schedule" ? "notices.job.schedule" : "notices.job.bulk", what),
      message: `${sums.join(", ")}${by}: ${[...names, ...more].join("; ")}`,
    });
  }

  #lineOf({ minerId, message }: Pick<RunResult, "minerId" | "message">): string {
    const text = message.length <= mostCharacters ? message : `${message.slice(0, mostCharacters - 1).toWellFormed()}…`;
    return minerId === 0 ? text : `${this.#nameOf(minerId) ?? `miner ${minerId}`}: ${text}`;
  }
}
