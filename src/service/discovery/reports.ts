import type { Logger } from "pino";
import { Background } from "../../async/index.ts";
import { listenForReports } from "../../discovery/rig-reports.ts";
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

export interface ReportsContext {
  readonly settings: Sections<"scan">;
  /** As `os.networkInterfaces`. */
  interfaces(): Interfaces;
  /** Epoch ms. */
  now(): number;
  readonly log: Logger;
  /** UDP ports; default: those of the makers. */
  readonly reportPorts?: readonly number[];
}

/** Addresses that are asked each second, at the same time, and that may wait. */
const limits = { perSecond: 10, atOnce: 32, waiting: 1_000 };
const roundMs = 1_000;
/** Until ports that another program had are tried again, and the machine's networks are looked up again. */
const renewMs = 60_000;
/** A rig that reports itself again sooner is not asked again. */
const againMs = 60_000;

/**
 * The reports that rigs send unasked. A report is a hint: its content is ignored; only its sender is scanned, as in a
 * search. Anyone can forge the sender, so those outside of what a regular search covers are ignored.
 */
export class Reports {
  readonly #context: ReportsContext;
  readonly #found: (rigs: readonly FoundRig[]) => Promise<void>;
  readonly #pause: (ms: number, signal: AbortSignal) => Promise<unknown>;
  readonly #waiting = new Set<string>();
  /** When each address was asked, in epoch ms. */
  readonly #askedAt = new Map<string, number>();
  #underWay = 0;
  #isAsking = false;

  /** `pause` rejects when the signal is aborted; `found` never rejects. */
  constructor(
    context: ReportsContext,
    pause: (ms: number, signal: AbortSignal) => Promise<unknown>,
    found: (rigs: readonly FoundRig[]) => Promise<void>,
  ) {
    this.#context = context;
    this.#pause = pause;
    this.#found = found;
  }

  /** Until the signal is aborted and everything under way has ended. Never rejects. */
  async listen(signal: AbortSignal): Promise<void> {
    const { settings, reportPorts: ports, log, interfaces } = this.#context;
    const current = () => plannedBy(settings.scan?.networks, interfaces());
    let planned = current();
    const work = new Background();
    const reported = (host: string): void => {
      if (this.#waiting.size >= limits.waiting || this.#wasAsked(host) || planned(host).length === 0) return;
      this.#waiting.add(host);
      if (!this.#isAsking)
        void work.add(this.#askAll((each) => void work.add(this.#ask(each, planned(each), signal)), signal));
    };
    let refused = await listenForReports({ signal, reported, ...(ports === undefined ? {} : { ports }) });
    for (const note of refused.values()) log.warn(note);
    while (!signal.aborted) {
      // Rejects only when the listening ends.
      await this.#pause(renewMs, signal).catch(() => {});
      if (signal.aborted) break;
      planned = current();
      const still = await listenForReports({ signal, reported, ports: [...refused.keys()] });
      for (const port of refused.keys()) {
        if (!still.has(port)) log.info(`Reports of rigs are now received on UDP port ${port}`);
      }
      refused = still;
    }
    await work.settled();
    this.#waiting.clear();
  }

  /** Asks what waits, so many addresses a second. */
  async #askAll(ask: (host: string) => void, signal: AbortSignal): Promise<void> {
    this.#isAsking = true;
    while (this.#waiting.size > 0 && !signal.aborted) {
      const free = Math.min(limits.perSecond, limits.atOnce - this.#underWay);
      for (const host of [...this.#waiting].slice(0, free)) {
        this.#waiting.delete(host);
        this.#askedAt.set(host, this.#context.now());
        ask(host);
      }
      // Rejects only when the listening ends.
      await this.#pause(roundMs, signal).catch(() => {});
    }
    this.#isAsking = false;
  }

  /** Never rejects. */
  async #ask(host: string, ports: readonly number[], signal: AbortSignal): Promise<void> {
    const rigs: FoundRig[] = [];
    this.#underWay += 1;
    try {
      const plan = planSearch(parseNetworks([host]), { ports, yes: false });
      await scan({ plan, signal, found: (rig) => rigs.push(rig) });
      if (!signal.aborted) await this.#found(rigs);
    } catch (error) {
      this.#context.log.warn({ err: error }, `The rig that reported itself from ${host} could not be asked`);
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
