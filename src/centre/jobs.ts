import { notFound, RigbridgeError } from "../contract/problems.ts";
import type { BulkAction, BulkJob } from "../contract/resources.ts";
import type { Caller, Input, Reply } from "../contract/service.ts";
import { numberAt } from "../contract/site-numbers.ts";
import { requestKeyOf } from "../service/request-key.ts";
import type { Collection, Stored, StoredSiteJob } from "../store/index.ts";

/** The share of a site in a bulk action: the job there, or why it has none. */
type JobPart = StoredSiteJob["parts"][number];

/** Asks a site; its reply has the numbers of the centre. */
interface Asking {
  start(site: number, body: Input<"startBulkAction">, caller: Caller): Promise<Reply<"startBulkAction">>;
  get(id: number, caller: Caller): Promise<BulkAction>;
  cancel(id: number, caller: Caller): Promise<Reply<"cancelBulkAction">>;
}

/** The share of a site in a request: its body there, and the numbers of its miners at the centre, if they are named. */
export interface Share {
  readonly site: number;
  readonly body: Input<"startBulkAction">;
  readonly miners: readonly number[];
}

interface Started {
  readonly part: JobPart;
  /** Why the site did not take its share. */
  readonly error: RigbridgeError | null;
}

/** Jobs of several sites that are kept; older ones are shown by site. */
const kept = 1_000;

/**
 * Bulk actions over several sites: each site gets its share once and does it alone. Such an action has the number of its
 * first share; which others belong to it is stored.
 */
export class SiteJobs {
  readonly #stored: Collection<StoredSiteJob>;
  readonly #asking: Asking;

  constructor(stored: Collection<StoredSiteJob>, asking: Asking) {
    this.#stored = stored;
    this.#asking = asking;
  }

  async start(shares: readonly Share[], caller: Caller): Promise<Reply<"startBulkAction">> {
    const [only] = shares;
    if (only !== undefined && shares.length === 1) return this.#asking.start(only.site, only.body, caller);
    const of = requestKeyOf(caller);
    const key = of === undefined ? null : `${of.caller} ${of.key}`;
    const earlier = key === null ? undefined : this.#stored.all().find((job) => job.key === key);
    if (earlier !== undefined) return { id: earlier.job };
    const started = await Promise.all(shares.map((share) => this.#startedAt(share, caller)));
    const parts = started.map(({ part }) => part);
    const first = parts.find(({ job }) => job !== null)?.job ?? null;
    if (first === null) throw started.find(({ error }) => error !== null)?.error ?? notFound("site", 0);
    await this.#stored.add({ job: first, key, parts });
    const [oldest] = this.#stored.all();
    if (oldest !== undefined && this.#stored.all().length > kept) await this.#stored.remove(oldest.id);
    return { id: first };
  }

  async #startedAt({ site, body, miners }: Share, caller: Caller): Promise<Started> {
    try {
      const { id } = await this.#asking.start(site, body, caller);
      return { part: { site, job: id, miners: [], problem: null }, error: null };
    } catch (error) {
      // Whatever one site refuses, the others go on.
      if (!(error instanceof RigbridgeError)) throw error;
      return { part: { site, job: null, miners: [...miners], problem: error.message }, error };
    }
  }

  async get(id: number, caller: Caller): Promise<BulkAction> {
    const job = this.#jobOf(id);
    if (job === undefined) return this.#asking.get(id, caller);
    const parts = await Promise.all(job.parts.map((part) => this.#partOf(part, caller)));
    const known = parts.filter((part) => part !== null);
    const [first] = known;
    if (first === undefined) throw notFound("bulk action", id);
    const results = known.flatMap((part) => part.results);
    const lost = job.parts.flatMap(({ miners, problem }) =>
      miners.map((minerId) => ({ minerId, state: "failed" as const, message: problem ?? "", before: null })),
    );
    const jobs = known.map(({ results: _, ...job }): BulkJob => job);
    return { ...jobOver(jobs, id, lost.length), results: [...results, ...lost] };
  }

  /** The job of a site; null for one that was not started, or whose site cannot be asked now. */
  async #partOf({ job }: JobPart, caller: Caller): Promise<BulkAction | null> {
    if (job === null) return null;
    try {
      return await this.#asking.get(job, caller);
    } catch (error) {
      if (error instanceof RigbridgeError) return null;
      throw error;
    }
  }

  async cancel(id: number, caller: Caller): Promise<Reply<"cancelBulkAction">> {
    const job = this.#jobOf(id);
    if (job === undefined) return this.#asking.cancel(id, caller);
    const asked = await Promise.allSettled(
      job.parts.flatMap((part) => (part.job === null ? [] : [this.#asking.cancel(part.job, caller)])),
    );
    const done = asked.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const failed = asked.find((each) => each.status === "rejected");
    if (done.length === 0 && failed !== undefined) throw failed.reason;
    return { success: true, message: done.map(({ message }) => message).join("; ") };
  }

  /** Jobs of sites as people started them: the shares of one action are one job. */
  together(jobs: readonly BulkJob[]): BulkJob[] {
    const byId = new Map(jobs.map((job) => [job.id, job]));
    for (const { job: id, parts } of this.#stored.all()) {
      const known = parts.flatMap(({ job }) => (job === null ? [] : (byId.get(job) ?? [])));
      if (known.length === 0) continue;
      const lost = parts.reduce((sum, { miners }) => sum + miners.length, 0);
      for (const { id: share } of known) byId.delete(share);
      byId.set(id, jobOver(known, id, lost));
    }
    return [...byId.values()].toSorted((a, b) => b.time.localeCompare(a.time));
  }

  #jobOf(id: number): Stored<StoredSiteJob> | undefined {
    return this.#stored.all().find(({ job }) => job === id);
  }
}

/** One job over its shares; `lost`: miners at sites that did not take their share. */
function jobOver(shares: readonly BulkJob[], id: number, lost: number): BulkJob {
  const [first, ...others] = shares;
  if (first === undefined) throw notFound("bulk action", id);
  const sum = { ...first, id };
  for (const each of others) {
    for (const count of ["total", "done", "failed", "unknown"] as const) sum[count] += each[count];
    if (each.state === "running") sum.state = each.state;
  }
  sum.total += lost;
  sum.failed += lost;
  return sum;
}

/** The numbers of miners of a site, as the centre has them. */
export const numbersAt = (site: number, ids: Iterable<number>): number[] => Array.from(ids, (id) => numberAt(site, id));
