import { createHash } from "node:crypto";
import { invalidAll, notFound, RigbridgeError } from "../contract/problems.ts";
import type { BulkAction, BulkJob } from "../contract/resources.ts";
import type { Caller, Input, Reply } from "../contract/service.ts";
import { highestThere, numberAt, numberThere } from "../contract/site-numbers.ts";
import { keyReused, requestKeyOf } from "../service/request-key.ts";
import type { Collection, Stored, StoredSiteJob } from "../store/index.ts";
import { joinedPreview } from "./joined-preview.ts";
import { isLost, LostAnswers, lostText, type Place } from "./lost-answers.ts";

/** The share of a site in a bulk action: the job there, or why it has none. */
type JobPart = StoredSiteJob["parts"][number];

/** Asks a site; its reply has the numbers of the centre. */
interface Asking {
  start(site: number, body: Input<"startBulkAction">, caller: Caller): Promise<Reply<"startBulkAction">>;
  get(id: number, caller: Caller): Promise<BulkAction>;
  cancel(id: number, caller: Caller): Promise<Reply<"cancelBulkAction">>;
  /** The job that a request with this key has started there; undefined if it was not received. */
  find(site: number, request: string): Promise<BulkJob | undefined>;
  /** The key with which a site knows the caller's request. */
  keyAt(site: number, caller: Caller): string | null;
  place(site: number): Place | undefined;
  /** Whether the caller sees the miners of all sites. */
  seesAll(caller: Caller): boolean;
}

/** The share of a site in a request: its body there, and the numbers of its miners at the centre, as far as they are known. */
export interface Share {
  readonly site: number;
  readonly body: Input<"startBulkAction">;
  readonly miners: readonly number[];
}

interface Started {
  readonly part: JobPart;
  /** Why the site did not take its share, or is not known to have. */
  readonly error: RigbridgeError | null;
}

/** A share whose site has not said yet whether it took it. */
interface LostShare {
  /** Of the stored job. */
  readonly id: number;
  readonly request: string;
}

/** ms for which a repeat with the same key gets the same answer, as at each service. */
const keyKeptMs = 24 * 3_600_000;

/** Jobs of several sites that are kept; older ones are shown by site. */
const kept = 1_000;

/**
 * Bulk actions over several sites: each site gets its share once and does it alone. Such an action has the number of its
 * first share; which others belong to it is stored. A share whose answer was lost is unknown until its site is back and
 * was asked for it by the key of the request, which does not start it.
 */
export class SiteJobs {
  readonly #stored: Collection<StoredSiteJob>;
  readonly #asking: Asking;
  readonly #questions: LostAnswers<LostShare>;

  constructor(stored: Collection<StoredSiteJob>, asking: Asking) {
    this.#stored = stored;
    this.#asking = asking;
    this.#questions = new LostAnswers({
      next: (site) => this.#lostAt(site),
      ask: async (site, { id, request }) => this.#resolved(site, id, await asking.find(site.id, request)),
    });
  }

  async start(
    shares: readonly Share[],
    body: Input<"startBulkAction">,
    actor: string,
    caller: Caller,
  ): Promise<Reply<"startBulkAction">> {
    const { action, parameters, dryRun } = body;
    const asked = { action, parameters, dryRun, actor, time: new Date().toISOString() };
    const of = requestKeyOf(caller);
    const request = of === undefined ? null : `${of.caller} ${of.key}`;
    const digest = createHash("sha256")
      .update(JSON.stringify([request, body]))
      .digest("hex");
    const before = this.#earlier(request, digest);
    if (before !== undefined) {
      caller.idempotency?.replayed?.();
      return { id: before.job };
    }
    const started = await Promise.all(shares.map((share) => this.#startedAt(share, body, caller)));
    // The same request may have come twice at once.
    const meanwhile = this.#earlier(request, digest);
    if (meanwhile !== undefined) return { id: meanwhile.job };
    const parts = started.map(({ part }) => part);
    const first = parts.find(({ job }) => job !== null)?.job ?? null;
    // The site shows its share itself.
    if (first !== null && parts.length === 1) return { id: first };
    const lost = parts.filter(({ request }) => request !== null);
    const [{ site = 0 } = {}] = lost;
    if (first === null && lost.length === 0)
      throw started.find(({ error }) => error !== null)?.error ?? notFound("site", 0);
    const job = first ?? this.#unused(site);
    await this.#stored.add({ job, request, digest, parts, asked });
    const [oldest] = this.#stored.all();
    if (oldest !== undefined && this.#stored.all().length > kept) await this.#stored.remove(oldest.id);
    // A site may have been reached all the time.
    for (const each of lost) {
      const place = this.#asking.place(each.site);
      if (place?.isReached) void this.resolve(place);
    }
    return { id: job };
  }

  /** The action that a request has already started. Throws `idempotency.reused` if its key was used for another. */
  #earlier(request: string | null, digest: string): Stored<StoredSiteJob> | undefined {
    if (request === null) return undefined;
    const isKept = ({ asked }: StoredSiteJob): boolean =>
      asked !== null && Math.abs(Date.now() - Date.parse(asked.time)) < keyKeptMs;
    const earlier = this.#stored.all().find((job) => job.request === request && isKept(job));
    if (earlier !== undefined && earlier.digest !== digest) throw keyReused();
    return earlier;
  }

  async #startedAt(share: Share, whole: Input<"startBulkAction">, caller: Caller): Promise<Started> {
    const { site, body, miners } = share;
    try {
      const { id } = await this.#asking.start(site, body, caller);
      return { part: { site, job: id, miners: [], problem: null, request: null }, error: null };
    } catch (failure) {
      // Whatever one site refuses, the others go on.
      if (!(failure instanceof RigbridgeError)) throw failure;
      const error = ofWhole(failure, miners, whole.miners);
      const request = isLost(error) ? this.#asking.keyAt(site, caller) : null;
      const place = this.#asking.place(site);
      const problem = request === null || place === undefined ? error.message : lostText(place);
      return { part: { site, job: null, miners: [...miners], problem, request }, error };
    }
  }

  /** A number for an action of which no share is known: the highest of a site, which its own do not reach. */
  #unused(site: number): number {
    let there = highestThere;
    while (this.#jobOf(numberAt(site, there)) !== undefined) there -= 1;
    return numberAt(site, there);
  }

  /** Asks a site that is back whether it took its shares whose answer was lost. */
  resolve(site: Place): Promise<void> {
    return this.#questions.resolve(site);
  }

  close(): void {
    this.#questions.close();
  }

  #lostAt(place: Place): LostShare | undefined {
    for (const { id, parts } of this.#stored.all())
      for (const { site, request } of parts) if (site === place.id && request !== null) return { id, request };
    return undefined;
  }

  async #resolved(site: Place, id: number, found: BulkJob | undefined): Promise<void> {
    const stored = this.#stored.get(id);
    if (stored === undefined) return;
    const known =
      found === undefined
        ? { problem: `Nothing was done: ${site.name} has no such action` }
        : { job: found.id, miners: [], problem: null };
    const parts = stored.parts.map((part) => (part.site === site.id ? { ...part, ...known, request: null } : part));
    await this.#stored.change(id, { parts });
  }

  async get(id: number, caller: Caller): Promise<BulkAction> {
    const job = this.#jobOf(id);
    if (job === undefined) return this.#asking.get(id, caller);
    const shares = await Promise.all(job.parts.map((part) => this.#partOf(part, caller)));
    const known = shares.filter((share) => share !== null);
    const results = known.flatMap((share) => share.results);
    const seesAll = this.#asking.seesAll(caller);
    if (known.length === 0 && !seesAll) throw notFound("bulk action", id);
    const others = job.parts.flatMap(({ miners, problem, request }) =>
      miners.map((minerId) => {
        const state = request === null ? ("failed" as const) : ("unknown" as const);
        return { minerId, state, message: problem ?? "", before: null };
      }),
    );
    const jobs = known.map(({ results: _, preview: __, ...share }): BulkJob => share);
    const preview = joinedPreview(known.map((share) => share.preview));
    return { ...this.#jobOver(job, jobs), preview, results: [...results, ...others] };
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
    const shares = job.parts.filter(({ job: share, request }) => share !== null || request !== null);
    const asked = await Promise.allSettled(
      shares.map(async ({ site, job: share }) => {
        if (share !== null) return this.#asking.cancel(share, caller);
        const { name = "" } = this.#asking.place(site) ?? {};
        throw new RigbridgeError("not.possible", `${name} has not said yet whether it took its share`);
      }),
    );
    const done = asked.flatMap((each) => (each.status === "fulfilled" ? [each.value.message] : []));
    const failed = asked.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    if (done.length === 0) throw failed[0] ?? notFound("bulk action", id);
    const said = failed.map((error: unknown) => (error instanceof Error ? error.message : String(error)));
    return { success: true, message: [...done, ...said].join("; ") };
  }

  /**
   * Jobs of sites as people started them: the shares of one action are one job. `key`: only that of the caller's request
   * with this key.
   */
  together(jobs: readonly BulkJob[], caller: Caller, key: string | undefined): BulkJob[] {
    const of = key === undefined ? undefined : requestKeyOf({ ...caller, idempotency: { key } });
    const seesAll = this.#asking.seesAll(caller);
    const byId = new Map(jobs.map((job) => [job.id, job]));
    for (const job of this.#stored.all()) {
      const known = job.parts.flatMap(({ job: share }) => (share === null ? [] : (byId.get(share) ?? [])));
      const isWanted = of === undefined || job.request === `${of.caller} ${of.key}`;
      // What no site says anything of now is known here alone.
      const isOnlyHere =
        job.asked !== null && job.parts.every(({ job: share, site }) => share === null || this.#isAway(site));
      if (known.length === 0 && !(isOnlyHere && isWanted && seesAll)) continue;
      for (const { id: share } of known) byId.delete(share);
      byId.set(job.job, this.#jobOver(job, known));
    }
    return [...byId.values()].toSorted((a, b) => b.time.localeCompare(a.time));
  }

  #isAway(site: number): boolean {
    return this.#asking.place(site)?.isReached === false;
  }

  #jobOf(id: number): Stored<StoredSiteJob> | undefined {
    return this.#stored.all().find(({ job }) => job === id);
  }

  /**
   * One job over the shares that are known. It runs as long as a site has not said whether it took its share, or cannot
   * be asked for it.
   */
  #jobOver({ job: id, parts, asked }: Stored<StoredSiteJob>, shares: readonly BulkJob[]): BulkJob {
    const [first] = shares;
    const head = first ?? asked;
    if (head === null) throw notFound("bulk action", id);
    const { action, parameters, dryRun, actor, time } = head;
    const sum = { id, action, parameters, dryRun, actor, time, total: 0, done: 0, failed: 0, unknown: 0 };
    for (const each of shares)
      for (const count of ["total", "done", "failed", "unknown"] as const) sum[count] += each[count];
    for (const { miners, request } of parts) {
      sum.total += miners.length;
      sum[request === null ? "failed" : "unknown"] += miners.length;
    }
    const known = new Set(shares.map((share) => share.id));
    const isOpen = parts.some(({ site, job, request }) => {
      return request !== null || (job !== null && !known.has(job) && this.#isAway(site));
    });
    const isRunning = isOpen || shares.some(({ state }) => state === "running");
    return { ...sum, state: isRunning ? "running" : (first?.state ?? "done") };
  }
}

/** What a site says of the miners of its share, by their place in the whole request and their numbers at the centre. */
function ofWhole(error: RigbridgeError, share: readonly number[], miners: readonly number[] = []): RigbridgeError {
  if (error.code !== "input.invalid") return error;
  const mistakes = error.errors.map((mistake) => {
    const miner = share[Number(/^miners\[(\d+)\]$/.exec(mistake.path)?.[1])];
    if (miner === undefined) return mistake;
    return {
      path: `miners[${miners.indexOf(miner)}]`,
      message: mistake.message.replace(String(numberThere(miner)), String(miner)),
    };
  });
  return mistakes.length === 0 ? error : invalidAll(mistakes);
}

/** The numbers of miners of a site, as the centre has them. */
export const numbersAt = (site: number, ids: Iterable<number>): number[] => Array.from(ids, (id) => numberAt(site, id));
