import type { Logger } from "pino";
import { Background } from "../../async/index.ts";
import type { SightingSource } from "../../contract/sightings.ts";
import { listenForReports } from "../../discovery/rig-reports.ts";
import type { PolledRig } from "../../fleet/poller.ts";
import {
  type Interfaces,
  isWithin,
  ownNetworks,
  parseNetworks,
  plannedPorts,
  planSearch,
} from "../../link/networks.ts";
import { usualPorts } from "../../link/ports.ts";
import { type FoundRig, scan } from "../../link/scan.ts";
import type { Sections } from "../settings/live-settings.ts";
import { LeaseFiles } from "./lease-files.ts";

/** What points to an address. */
export interface Hint {
  readonly source: SightingSource;
  /** As in identities; null = unknown. */
  readonly mac: string | null;
}

export interface HintsContext {
  readonly settings: Sections<"scan">;
  /** The rigs of all miners. */
  rigs(): Iterable<PolledRig>;
  /** As `os.networkInterfaces`. */
  interfaces(): Interfaces;
  /** Epoch ms. */
  now(): number;
  readonly log: Logger;
  /** UDP ports; default: those of the makers. */
  readonly reportPorts?: readonly number[];
}

/** Addresses that are asked each second, at the same time, and that may wait. */
const limits = { perSecond: 20, atOnce: 32, waiting: 1_000 };
const roundMs = 1_000;
/** Until ports that another program had, files of leases and the machine's networks are looked at again. */
const renewMs = 60_000;
/** An address is not asked again sooner. */
const againMs = 10_000;
/** A rig has its lease before its API answers: so often is a new one asked, with `renewMs` between. */
const triesOfLease = 5;

/**
 * Addresses at which a rig may be: of the reports that rigs send unasked, and of the files of DHCP servers and ARP. They are
 * hints: such an address is scanned, as in a search. Anyone can forge the sender of a report, so those outside of what a
 * regular search covers are ignored.
 */
export class Hints {
  readonly #context: HintsContext;
  readonly #found: (rigs: readonly FoundRig[], hint: Hint) => Promise<void>;
  readonly #pause: (ms: number, signal: AbortSignal) => Promise<unknown>;
  readonly #files: LeaseFiles;
  /** Rigs that reported themselves. */
  readonly #reported = new Map<string, Hint>();
  /** Addresses of leases. */
  readonly #waiting = new Map<string, Hint>();
  /** When each address was asked, in epoch ms. */
  readonly #askedAt = new Map<string, number>();
  /** The leases that were asked, by address. */
  #leases = new Map<string, { readonly mac: string; readonly tries: number }>();
  #underWay = 0;
  #isAsking = false;

  /** `pause` rejects when the signal is aborted; `found` never rejects. */
  constructor(
    context: HintsContext,
    pause: (ms: number, signal: AbortSignal) => Promise<unknown>,
    found: (rigs: readonly FoundRig[], hint: Hint) => Promise<void>,
  ) {
    this.#context = context;
    this.#pause = pause;
    this.#found = found;
    this.#files = new LeaseFiles(() => context.now(), context.log);
  }

  /** Until the signal is aborted and everything under way has ended. Never rejects. */
  async follow(signal: AbortSignal): Promise<void> {
    const { settings, reportPorts, log, interfaces } = this.#context;
    const { networks, reports = false, leases = [] } = settings.scan ?? {};
    const current = () => plannedBy(networks, interfaces());
    let planned = current();
    const work = new Background();
    const take = (host: string, hint: Hint): boolean => {
      const queue = hint.source === "report" ? this.#reported : this.#waiting;
      if (queue.size >= limits.waiting || this.#wasAsked(host) || planned(host).length === 0) return false;
      queue.set(host, hint);
      if (!this.#isAsking)
        void work.add(this.#askAll((each, its) => void work.add(this.#ask(each, its, planned(each), signal)), signal));
      return true;
    };
    const reported = (host: string): void =>
      void take(host, { source: "report", mac: (this.#reported.get(host) ?? this.#waiting.get(host))?.mac ?? null });
    const listen = (ports: readonly number[] | undefined) =>
      listenForReports({ signal, reported, ...(ports === undefined ? {} : { ports }) });
    let refused = reports ? await listen(reportPorts) : new Map<number, string>();
    for (const note of refused.values()) log.warn(note);
    while (!signal.aborted) {
      if (leases.length > 0) await this.#takeLeases(leases, take);
      // Rejects only when the listening ends.
      await this.#pause(renewMs, signal).catch(() => {});
      if (signal.aborted) break;
      planned = current();
      const still = await listen([...refused.keys()]);
      for (const port of refused.keys()) {
        if (!still.has(port)) log.info(`Reports of rigs are now received on UDP port ${port}`);
      }
      refused = still;
    }
    await work.settled();
    this.#reported.clear();
    this.#waiting.clear();
  }

  /** Asks the addresses of new leases; those at which a rig of a miner is read are left alone. */
  async #takeLeases(files: readonly string[], take: (host: string, hint: Hint) => boolean): Promise<void> {
    const rigs = new Map<string, string | null>();
    for (const { declared, state } of this.#context.rigs())
      rigs.set(declared.address.host, state.identity?.mac ?? null);
    const before = this.#leases;
    this.#leases = new Map();
    for (const { source, macs } of await this.#files.read(files)) {
      for (const [host, mac] of macs) {
        const reader = rigs.get(host);
        if (reader === null || reader === mac) continue;
        const known = before.get(host);
        const tries = known?.mac === mac ? known.tries : 0;
        const isTaken = tries < triesOfLease && take(host, { source, mac });
        if (isTaken || tries > 0) this.#leases.set(host, { mac, tries: isTaken ? tries + 1 : tries });
      }
    }
  }

  /** Asks what waits, so many addresses a second. */
  async #askAll(ask: (host: string, hint: Hint) => void, signal: AbortSignal): Promise<void> {
    this.#isAsking = true;
    while (this.#reported.size + this.#waiting.size > 0 && !signal.aborted) {
      const free = Math.min(limits.perSecond, limits.atOnce - this.#underWay);
      // Whoever has pressed a button waits for it; leases do not.
      for (const [host, hint] of [...this.#reported, ...this.#waiting].slice(0, free)) {
        this.#reported.delete(host);
        this.#waiting.delete(host);
        this.#askedAt.set(host, this.#context.now());
        ask(host, hint);
      }
      // Rejects only when the listening ends.
      await this.#pause(roundMs, signal).catch(() => {});
    }
    this.#isAsking = false;
  }

  /** Never rejects. */
  async #ask(host: string, hint: Hint, ports: readonly number[], signal: AbortSignal): Promise<void> {
    const rigs: FoundRig[] = [];
    this.#underWay += 1;
    try {
      const plan = planSearch(parseNetworks([host]), { ports, yes: false });
      await scan({ plan, signal, found: (rig) => rigs.push(rig) });
      const lease = this.#leases.get(host);
      if (rigs.length > 0 && lease !== undefined) this.#leases.set(host, { ...lease, tries: triesOfLease });
      if (!signal.aborted) await this.#found(rigs, hint);
    } catch (error) {
      this.#context.log.warn({ err: error }, `The address ${host}, at which a rig may be, could not be asked`);
    } finally {
      this.#underWay -= 1;
    }
  }

  #wasAsked(host: string): boolean {
    const now = this.#context.now();
    for (const [each, at] of this.#askedAt) {
      // The clock may have been set back.
      if (Math.abs(now - at) < againMs) break;
      this.#askedAt.delete(each);
    }
    return this.#askedAt.has(host);
  }
}

/** The ports to try at an address; none outside of the configured networks, or else of the machine's own. */
function plannedBy(
  networks: readonly string[] | undefined,
  interfaces: Interfaces,
): (host: string) => readonly number[] {
  if (networks === undefined) {
    const own = ownNetworks(interfaces).networks;
    return (host) => (own.some((network) => isWithin(network, host)) ? usualPorts : []);
  }
  const plan = planSearch(parseNetworks(networks), { ports: usualPorts, yes: false });
  return (host) => plannedPorts(plan, host);
}
