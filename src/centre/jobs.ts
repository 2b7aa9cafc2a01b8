import { newIdempotencyKey } from "../contract/idempotency.ts";
import { notFound, RigbridgeError } from "../contract/problems.ts";
import type { BulkAction, BulkJob } from "../contract/resources.ts";
import type { Caller, Input, Reply } from "../contract/service.ts";
import { numberAt } from "../contract/site-numbers.ts";
import { requestKeyOf } from "../service/request-key.ts";
import type { Collection, Stored, StoredSiteJob } from "../store/index.ts";
import { isLost, LostAnswers, lostText, type Place } from "./lost-answers.ts";

/** The share of a site in a bulk action: the job there, or why it has none. */
type JobPart = StoredSiteJob["parts"][number];

/** Asks a site; its reply has the numbers of the centre. */
interface Asking {
  start(site: number, body: Input<"startBulkAction">, caller: Caller): Promise<Reply<"startBulkAction">>;
  get(id: number, caller: Caller): Promise<BulkAction>;
  cancel(id: number, caller: Caller): Promise<Reply<"cancelBulkAction">>;
  place(site: number): Place | undefined;
  /** The key with which sites know a request of the caller. */
  keyThere(caller: Caller, key: string): string;
  /** The job that a request with this key has started at a site. */
  find(site: number, key: string): Promise<Reply<"listBulkActions">>;
}

/** The share of a site in a request: its body there, and the numbers of its miners at the centre, as last read. */
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
  readonly #questions: LostAnswers<Stored<StoredSiteJob>>;

  constructor(stored: Collection<StoredSiteJob>, asking: Asking) {
    this.#stored = stored;
    this.#asking = asking;
    this.#questions = new LostAnswers({
      next: ({ id }) => stored.all().find(({ parts }) => parts.some((part) => part.site === id && isUnknown(part))),
      ask: (site, job) => this.#ask(site, job),
    });
  }

  /** Asks a site that is back whether it took the shares whose answers were lost. */
  resolve(site: Place): Promise<void> {
    return this.#questions.resolve(site);
  }

  close(): void {
    this.#questions.close();
  }

  async start(shares: readonly Share[], caller: Caller): Promise<Reply<"startBulkAction">> {
    const [only] = shares;
    if (only !== undefined && shares.length === 1) return this.#asking.start(only.site, only.body, caller);
    const of = requestKeyOf(caller);
    const key = of === undefined ? null : `${of.caller} ${of.key}`;
    const earlier = key === null ? undefined : this.#stored.all().find((job) => job.key === key);
    if (earlier !== undefined) return { id: earlier.job };
    // Without a key, a site could not be asked whether it took a share whose answer was lost.
    const keyed = { ...caller, idempotency: caller.idempotency ?? { key: newIdempotencyKey() } };
    const started = await Promise.all(shares.map((share) => this.#startedAt(share, keyed)));
    const parts = started.map(({ part }) => part);
    const first = parts.find(({ job }) => job !== null)?.job ?? null;
    if (first === null) {
      const errors = started.flatMap(({ error }) => error ?? []);
      throw errors.find(isLost) ?? errors[0] ?? notFound("site", 0);
    }
    await this.#stored.add({ job: first, key, parts });
    // A site may have been reached all the time.
    for (const { site } of parts.filter(isUnknown)) {
      const place = this.#asking.place(site);
      if (place?.isReached === true) void this.resolve(place);
    }
    const [oldest] = this.#stored.all();
    if (oldest !== undefined && this.#stored.all().length > kept) await this.#stored.remove(oldest.id);
    return { id: first };
  }

  async #startedAt(
    { site, body, miners }: Share,
    caller: Caller & { readonly idempotency: { readonly key: string } },
  ): Promise<Started> {
    const part = { site, job: null, miners: [...miners], problem: null, request: null };
    try {
      const { id } = await this.#asking.start(site, body, caller);
      return { part: { ...part, job: id, miners: [] }, error: null };
    } catch (error) {
      // Whatever one site refuses, the others go on.
      if (!(error instanceof RigbridgeError)) throw error;
      const place = site === 0 ? undefined : this.#asking.place(site);
      if (place === undefined || !isLost(error)) return { part: { ...part, problem: error.message }, error };
      const request = this.#asking.keyThere(caller, caller.idempotency.key);
      return { part: { ...part, problem: lostText(place), request }, error };
    }
  }

  /** Notes the job that a site has for a share whose answer was lost; it is never sent again. */
  async #ask({ id: site, name }: Place, job: Stored<StoredSiteJob>): Promise<void> {
    const lost = job.parts.find((part) => part.site === site && isUnknown(part));
    if (lost === undefined || lost.request === null) return;
    const [found] = await this.#asking.find(site, lost.request);
    const known = { ...lost, request: null };
    const part =
      found === undefined
        ? { ...known, problem: `Nothing was done: ${name} has no such action` }
        : { ...known, job: found.id, miners: [], problem: null };
    // Another site may have answered meanwhile.
    const now = this.#stored.get(job.id);
    if (now === undefined) return;
    await this.#stored.change(now.id, { parts: now.parts.map((each) => (each.site === site ? part : each)) });
  }

  async get(id: number, caller: Caller): Promise<BulkAction> {
    const job = this.#jobOf(id);
    if (job === undefined) return this.#asking.get(id, caller);
    const parts = await Promise.all(job.parts.map((part) => this.#partOf(part, caller)));
    const known = parts.filter((part) => part !== null);
    const [first] = known;
    if (first === undefined) throw notFound("bulk action", id);
    const results = known.flatMap((part) => part.results);
    const missing = job.parts.flatMap((part) =>
      part.miners.map((minerId) => {
        const state = isUnknown(part) ? ("unknown" as const) : ("failed" as const);
        return { minerId, state, message: part.problem ?? "", before: null };
      }),
    );
    const jobs = known.map(({ results: _, ...job }): BulkJob => job);
    return { ...jobOver(jobs, id, job.parts), results: [...results, ...missing] };
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
    // A share that was not stopped, as far as is known.
    const lost = job.parts.filter(isUnknown).flatMap(({ problem }) => problem ?? []);
    return { success: true, message: [...done.map(({ message }) => message), ...lost].join("; ") };
  }

  /** Jobs of sites as people started them: the shares of one action are one job. */
  together(jobs: readonly BulkJob[]): BulkJob[] {
    const byId = new Map(jobs.map((job) => [job.id, job]));
    for (const { job: id, parts } of this.#stored.all()) {
      const known = parts.flatMap(({ job }) => (job === null ? [] : (byId.get(job) ?? [])));
      if (known.length === 0) continue;
      for (const { id: share } of known) byId.delete(share);
      byId.set(id, jobOver(known, id, parts));
    }
    return [...byId.values()].toSorted((a, b) => b.time.localeCompare(a.time));
  }

  #jobOf(id: number): Stored<StoredSiteJob> | undefined {
    return this.#stored.all().find(({ job }) => job === id);
  }
}

/** Whether the site may have taken its share: its answer was lost, and it was not asked yet. */
const isUnknown = ({ request }: JobPart): boolean => request !== null;

/** One job over its shares; `parts` name the miners of sites that did not take theirs, or of which that is not known. */
function jobOver(shares: readonly BulkJob[], id: number, parts: readonly JobPart[]): BulkJob {
  const [first, ...others] = shares;
  if (first === undefined) throw notFound("bulk action", id);
  const sum = { ...first, id };
  for (const each of others) {
    for (const count of ["total", "done", "failed", "unknown"] as const) sum[count] += each[count];
    if (each.state === "running") sum.state = each.state;
  }
  for (const part of parts) {
    sum.total += part.miners.length;
    sum[isUnknown(part) ? "unknown" : "failed"] += part.miners.length;
  }
  return sum;
}

/** The numbers of miners of a site, as the centre has them. */
export const numbersAt = (site: number, ids: Iterable<number>): number[] => Array.from(ids, (id) => numberAt(site, id));
