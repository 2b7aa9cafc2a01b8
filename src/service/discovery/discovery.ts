import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { invalid, notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Discovery } from "../../contract/resources.ts";
import type { MiningService } from "../../contract/service.ts";
import { listenForRigs } from "../../discovery/announced-rigs.ts";
import { ownNetworks, parseNetworks, planSearch, type SearchPlan } from "../../link/networks.ts";
import { usualPorts } from "../../link/ports.ts";
import { type FoundRig, type Progress, remarkOn, scan } from "../../link/scan.ts";
import { coded } from "../../messages/coded.ts";
import { detail } from "../../messages/detail.ts";
import { done } from "../crud.ts";
import type { Sections } from "../settings/live-settings.ts";
import { type AccessBook, needsAll } from "../users/access.ts";
import { type Hint, Hints, type HintsContext } from "./hints.ts";
import { marksOf, rigsByMark } from "./marks.ts";
import { NewRigs, type NewRigsContext } from "./new-rigs.ts";
import { Sightings, type SightingsContext } from "./sightings.ts";

type DiscoveryOperations = Pick<MiningService, "startDiscovery" | "getDiscovery" | "cancelDiscovery">;

export interface DiscoveryContext extends NewRigsContext, HintsContext, SightingsContext {
  readonly settings: Sections<"scan" | "logins">;
  readonly accessBook: AccessBook;
  readonly log: Logger;
  /** Resolves after this time, rejects when the signal is aborted. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

interface Job {
  readonly id: number;
  readonly cancelling: AbortController;
  state: Discovery["state"];
  progress: Progress;
  readonly found: FoundRig[];
  /** Epoch ms. */
  endedAt: number | null;
}

/** Searches kept after they have ended, and for how many ms. */
const keptJobs = 20;
const keptMs = 3_600_000;

/**
 * Searches for rigs, requested by callers or by the configuration's `scan`; one at a time. Kept in memory: a restart
 * drops them and does not resume them.
 */
export class Discoveries implements DiscoveryOperations {
  readonly #context: DiscoveryContext;
  readonly #jobs = new Map<number, Job>();
  #lastId = 0;
  #running: { readonly id: number; readonly ended: Promise<void> } | null = null;
  readonly #closing = new AbortController();
  #repeats = new AbortController();
  #repeating: Promise<void> = Promise.resolve();
  #following: Promise<void> = Promise.resolve();
  readonly #newRigs: NewRigs;
  readonly #hints: Hints;
  readonly sightings: Sightings;

  constructor(context: DiscoveryContext) {
    this.#context = context;
    this.#newRigs = new NewRigs(context, this.#closing.signal);
    this.sightings = new Sightings(context);
    this.#hints = new Hints(context, this.#pause, (rigs, hint) => this.#sighted(rigs, hint));
  }

  /** Starts the regular searches of the configuration, the first one now, and follows hints if so configured. */
  start(): void {
    const { scan } = this.#context.settings;
    this.#repeats = new AbortController();
    const signal = AbortSignal.any([this.#repeats.signal, this.#closing.signal]);
    if (scan?.every !== undefined) this.#repeating = this.#repeat(scan.every * 1000, signal);
    if (scan?.reports === true || (scan?.leases ?? []).length > 0)
      this.#following = this.#following.then(() => this.#hints.follow(signal));
  }

  /** Applies changed settings to the regular searches and the hints; a running search continues. */
  renew(): void {
    this.#repeats.abort();
    this.start();
  }

  startDiscovery: MiningService["startDiscovery"] = async ({ networks, yes }, caller) => {
    needsAll(this.#context.accessBook.of(caller));
    return { id: this.#begin(networks, yes).job.id };
  };

  getDiscovery: MiningService["getDiscovery"] = async ({ id }, caller) => {
    needsAll(this.#context.accessBook.of(caller));
    const { state, progress, found } = this.#job(id);
    const known = rigsByMark(found, this.#context.rigs());
    return {
      state,
      ...progress,
      found: found.map((rig) => ({
        address: rig.address,
        driver: rig.driver,
        identity: rig.identity,
        known: marksOf(rig).some((mark) => known.has(mark)),
        note: remarkOn(rig),
      })),
    };
  };

  cancelDiscovery: MiningService["cancelDiscovery"] = async ({ id }, caller) => {
    needsAll(this.#context.accessBook.of(caller));
    const { state, cancelling } = this.#job(id);
    if (state !== "running") return done(`Search ${id} has ended already`);
    cancelling.abort();
    await this.#running?.ended;
    return done(`Search ${id} cancelled`);
  };

  /** Resolves when no search is running. */
  async settled(): Promise<void> {
    await this.#running?.ended;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.settled();
    await this.#repeating;
    await this.#following;
  }

  /** Throws `not.found`. */
  #job(id: number): Job {
    this.#forgetOld();
    const job = this.#jobs.get(id);
    if (job === undefined) throw notFound("search", id);
    return job;
  }

  /** Throws `not.possible` while another search is running. */
  #begin(networks: readonly string[] | undefined, yes: boolean): { job: Job; ended: Promise<void> } {
    if (this.#closing.signal.aborted) throw new RigbridgeError("service.not-ready", detail("service.closing"));
    if (this.#running !== null) {
      throw new RigbridgeError("not.possible", detail("search.running", { id: this.#running.id }));
    }
    const { plan, listenOn } = this.#planOf(networks, yes);
    this.#lastId += 1;
    const job: Job = {
      id: this.#lastId,
      cancelling: new AbortController(),
      state: "running",
      progress: { scanned: 0, total: plan.total },
      found: [],
      endedAt: null,
    };
    this.#jobs.set(job.id, job);
    this.#forgetOld();
    const ended = this.#run(job, plan, listenOn);
    this.#running = { id: job.id, ended };
    return { job, ended };
  }

  /** The addresses to search, and the machine's own addresses at which to listen for announcements. */
  #planOf(requested: readonly string[] | undefined, yes: boolean): { plan: SearchPlan; listenOn: readonly string[] } {
    const networks = requested ?? this.#context.settings.scan?.networks;
    if (networks?.length === 0) throw invalid("networks", detail("input.emptyNetworks"));
    if (networks !== undefined) {
      return { plan: planSearch(parseNetworks(networks), { ports: usualPorts, yes }), listenOn: [] };
    }
    const own = ownNetworks(this.#context.interfaces());
    if (own.networks.length === 0) {
      throw new RigbridgeError("not.possible", detail("search.noNetwork"));
    }
    for (const note of own.notes) this.#context.log.info(note);
    return { plan: planSearch(own.networks, { ports: usualPorts, yes }), listenOn: own.addresses };
  }

  /** Never rejects. */
  async #run(job: Job, plan: SearchPlan, listenOn: readonly string[]): Promise<void> {
    const signal = AbortSignal.any([job.cancelling.signal, this.#closing.signal]);
    try {
      await scan({
        plan,
        announced: this.#announced(listenOn, signal),
        signal,
        found: (rig) => job.found.push(rig),
        progress: (progress) => {
          job.progress = progress;
        },
      });
      job.state = signal.aborted ? "cancelled" : "done";
      if (job.state === "done") this.#context.notices.close(searchKey, coded("notices.search.over", { id: job.id }));
    } catch (error) {
      job.state = "cancelled";
      this.#context.log.error({ err: error }, `Search ${job.id} ended early`);
      const why = error instanceof RigbridgeError ? error.message : "internal error; see the service's log";
      this.#context.notices.raise({
        key: searchKey,
        minerId: null,
        title: coded("notices.search.title"),
        source: "Discovery",
        message: coded("notices.search.message", { id: job.id, why }),
        severity: "warning",
      });
    }
    job.endedAt = this.#context.now();
    this.#running = null;
  }

  /** Never rejects. */
  #sighted(rigs: readonly FoundRig[], hint: Hint): Promise<void> {
    const [only, another] = rigs;
    const known = only !== undefined && another === undefined ? [withMac(only, hint.mac)] : rigs;
    this.sightings.take(known, hint.source);
    return this.#newRigs.take(known);
  }

  async #announced(interfaces: readonly string[], signal: AbortSignal) {
    if (interfaces.length === 0) return [];
    const { announced, notes } = await listenForRigs({ interfaces, signal });
    for (const note of notes) this.#context.log.warn(note);
    return announced;
  }

  readonly #pause = (ms: number, signal: AbortSignal): Promise<unknown> =>
    (this.#context.pause ?? ((time) => delay(time, undefined, { signal })))(ms, signal);

  async #repeat(ms: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#running?.ended;
        if (signal.aborted) return;
        const { job, ended } = this.#begin(undefined, false);
        await ended;
        await this.#newRigs.take(job.found);
      } catch (error) {
        this.#context.log.warn({ err: error }, "The search for new rigs could not be made");
      }
      // Rejects only when these searches end.
      await this.#pause(ms, signal).catch(() => {});
    }
  }

  #forgetOld(): void {
    const ended = [...this.#jobs.values()].filter(({ state }) => state !== "running").reverse();
    for (const [age, { id, endedAt }] of ended.entries()) {
      if (age >= keptJobs || this.#context.now() - (endedAt ?? 0) > keptMs) this.#jobs.delete(id);
    }
  }
}

/** The only rig of an address has the MAC that the network knows, unless it reports one itself. */
const withMac = (rig: FoundRig, mac: string | null): FoundRig => ({
  ...rig,
  identity: { ...rig.identity, mac: rig.identity.mac ?? mac },
});

const searchKey = "search";
