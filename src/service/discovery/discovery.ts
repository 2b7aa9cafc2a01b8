import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { invalid, notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Discovery, Severity } from "../../contract/resources.ts";
import type { MiningService } from "../../contract/service.ts";
import { listenForRigs } from "../../discovery/announced-rigs.ts";
import type { PolledRig } from "../../fleet/poller.ts";
import { acceptsLogin } from "../../link/accepts-login.ts";
import type { RigAddress } from "../../link/address.ts";
import { parseAddress } from "../../link/address.ts";
import { drivers } from "../../link/drivers/index.ts";
import { type Interfaces, ownNetworks, parseNetworks, planSearch, type SearchPlan } from "../../link/networks.ts";
import { usualPorts } from "../../link/ports.ts";
import { describeRig, type FoundRig, type Progress, remarkOn, scan } from "../../link/scan.ts";
import { coded } from "../../messages/coded.ts";
import type { CodedText } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import { done } from "../crud.ts";
import type { Notices } from "../notifications/notices.ts";
import type { Sections } from "../settings/live-settings.ts";
import { type AccessBook, needsAll } from "../users/access.ts";

type DiscoveryOperations = Pick<MiningService, "startDiscovery" | "getDiscovery" | "cancelDiscovery">;

export interface DiscoveryContext {
  readonly settings: Sections<"scan" | "logins">;
  readonly accessBook: AccessBook;
  /** The rigs of all miners. */
  rigs(): Iterable<PolledRig>;
  /** Adds a miner, like POST /api/miners; `login` is the name of one. */
  add(miner: { readonly address: string; readonly login?: string }): Promise<unknown>;
  readonly notices: Notices;
  /** As `os.networkInterfaces`. */
  interfaces(): Interfaces;
  /** Epoch ms. */
  now(): number;
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
  /** Marks of the rigs that were reported or added since the start. */
  readonly #reported = new Set<string>();

  constructor(context: DiscoveryContext) {
    this.#context = context;
  }

  /** Starts the regular searches of the configuration, the first one now. */
  start(): void {
    const { scan } = this.#context.settings;
    this.#repeats = new AbortController();
    const signal = AbortSignal.any([this.#repeats.signal, this.#closing.signal]);
    if (scan?.every !== undefined) this.#repeating = this.#repeat(scan.every * 1000, scan.add, signal);
  }

  /** Applies changed settings to the regular searches; a running search continues. */
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
    const known = found.length > 0 ? marksOfAll(this.#context.rigs()) : new Set();
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
      this.#raise(
        searchKey,
        coded("notices.search.title"),
        coded("notices.search.message", { id: job.id, why }),
        "warning",
      );
    }
    job.endedAt = this.#context.now();
    this.#running = null;
  }

  async #announced(interfaces: readonly string[], signal: AbortSignal) {
    if (interfaces.length === 0) return [];
    const { announced, notes } = await listenForRigs({ interfaces, signal });
    for (const note of notes) this.#context.log.warn(note);
    return announced;
  }

  async #repeat(ms: number, add: "ask" | "auto", signal: AbortSignal): Promise<void> {
    const { pause = (time, signal) => delay(time, undefined, { signal }), log } = this.#context;
    const warn = ({ address }: FoundRig, error: unknown): void =>
      log.warn({ err: error }, `The rig found at ${address} could not be added`);
    while (!signal.aborted) {
      try {
        await this.#running?.ended;
        if (signal.aborted) return;
        const { job, ended } = this.#begin(undefined, false);
        await ended;
        for (const rig of this.#unreported(job.found)) await this.#report(rig, add).catch((error) => warn(rig, error));
      } catch (error) {
        log.warn({ err: error }, "The search for new rigs could not be made");
      }
      // Rejects only when these searches end.
      await pause(ms, signal).catch(() => {});
    }
  }

  /** The rigs that are neither miners nor reported yet; closes the reports of rigs that have become miners. */
  #unreported(found: readonly FoundRig[]): FoundRig[] {
    const known = marksOfAll(this.#context.rigs());
    for (const rig of found)
      if (marksOf(rig).some((mark) => known.has(mark))) this.#context.notices.close(newRigKey(rig));
    return found.filter((rig) => !marksOf(rig).some((mark) => known.has(mark) || this.#reported.has(mark)));
  }

  /** Adds a rig that needs no login, or accepts one, if so configured, or reports it. The next search retries failures. */
  async #report(rig: FoundRig, add: "ask" | "auto"): Promise<void> {
    const { address, driver, identity, note, login } = rig;
    const found = { model: describeRig(identity), address };
    const accepted = add === "auto" ? await this.#acceptedLogin(rig) : undefined;
    if (add === "auto" && driver !== null && (note === null || accepted !== undefined)) {
      await this.#context.add({ address, ...(accepted === undefined ? {} : { login: accepted }) });
      this.#raise(null, coded("notices.added.title"), coded("notices.added.message", found));
    } else {
      const usable =
        login === null
          ? coded("notices.newRig.message", found)
          : coded("notices.newRig.withLogin", { ...found, remark: remarkOn(rig) ?? "" });
      const message = note === null ? usable : coded("notices.newRig.withNote", { ...found, note });
      this.#raise(newRigKey(rig), coded("notices.newRig.title"), message);
    }
    for (const mark of marksOf(rig)) this.#reported.add(mark);
  }

  /** The name of the first login for this kind of rig that it accepts. A rig that fails otherwise is asked no more. */
  async #acceptedLogin({ address, driver: id, login }: FoundRig): Promise<string | undefined> {
    const driver = drivers.find((each) => each.id === id);
    if (driver === undefined || login === null) return undefined;
    const { scan, logins } = this.#context.settings;
    const forIt = (scan?.logins ?? []).flatMap((name) =>
      logins.filter((each) => each.name === name && each.driver === id),
    );
    for (const { name, username, password, token } of forIt.slice(0, mostTries)) {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(tryTimeoutMs)]);
      try {
        if (await acceptsLogin(address, driver, { username, password, token }, signal)) return name;
      } catch (error) {
        this.#context.log.info({ err: error }, `No login could be tried at the rig found at ${address}`);
        return undefined;
      }
    }
    return undefined;
  }

  #raise(key: string | null, title: CodedText, message: CodedText, severity: Severity = "info"): void {
    this.#context.notices.raise({ key, minerId: null, title, source: "Discovery", message, severity });
  }

  #forgetOld(): void {
    const ended = [...this.#jobs.values()].filter(({ state }) => state !== "running").reverse();
    for (const [age, { id, endedAt }] of ended.entries()) {
      if (age >= keptJobs || this.#context.now() - (endedAt ?? 0) > keptMs) this.#jobs.delete(id);
    }
  }
}

/** Some rigs lock after more wrong logins. */
const mostTries = 3;
const tryTimeoutMs = 10_000;

const searchKey = "search";
const newRigKey = (rig: FoundRig): string => `new-rig:${marksOf(rig).at(-1)}`;

/** The identifiers of a rig: its MAC, its serial number, and its address. */
const marksOf = ({ address, driver, identity }: FoundRig): string[] =>
  marks(parseAddress(address), driver, identity.mac, identity.serial);

function marksOfAll(rigs: Iterable<PolledRig>): Set<string> {
  const all = new Set<string>();
  for (const { declared, state } of rigs) {
    const { mac = null, serial = null } = state.identity ?? {};
    for (const mark of marks(declared.address, declared.driver ?? state.driver, mac, serial)) all.add(mark);
  }
  return all;
}

function marks({ host, port, tls }: RigAddress, driverId: string | null, mac: string | null, serial: string | null) {
  const usual = drivers.find(({ id }) => id === driverId)?.ports ?? usualPorts;
  const ports = port !== null ? [port] : tls ? [443] : usual;
  return [
    ...ports.map((each) => `${host}:${each}`),
    ...(mac === null ? [] : [`mac ${mac}`]),
    ...(serial === null ? [] : [`serial ${serial}`]),
  ];
}
