import type { Logger } from "pino";
import { notFound } from "../../contract/problems.ts";
import type { Miner, MinerPool } from "../../contract/resources.ts";
import { type RowSource, sourceOf } from "../../contract/rows.ts";
import type { PoolReading } from "../../link/driver.ts";
import type { Store } from "../../store/index.ts";
import type { Entry, MinerEntries } from "./miner-entries.ts";
import { MinerJsonCache, type SectionsFor } from "./miner-json-cache.ts";
import type { PowerControl } from "./power-control.ts";
import {
  currentControls,
  type LoopStatus,
  type MinerFigures,
  minerFigures,
  type Presentation,
  type PresentedMiner,
  presentFailed,
  presentMiner,
  shownEnergy,
} from "./present-miner.ts";
import { columnValues, RowCache } from "./row-cache.ts";
import { rowSourceOf } from "./row-source.ts";

/** Receives changes of displayed miners. */
export interface DisplayEvents {
  /** A miner has changed. `before`: its previous group, null for a new miner. */
  miner(miner: Pick<Miner, "id" | "uid" | "groupId">, before: number | null): void;
  /** Too many miners have changed for single events: subscribers read the list again. */
  reset(): void;
  /** The last event for the row of this miner. */
  markOf(minerId: number): number;
  /** The last event with which this miner changed group. */
  movedAt(minerId: number): number;
}

export interface MinerDisplayOptions {
  readonly entries: Pick<MinerEntries, "entry" | "find" | "all" | "size">;
  /** Where the data of a miner is stored. */
  readonly storeOf: (minerId: number) => Store;
  readonly sectionsFor: SectionsFor;
  readonly presentation: Presentation;
  /** The last stored energy of a miner, Wh. */
  readonly energyOf: (minerId: number) => number | null;
  /** The number of a miner's open notifications. */
  readonly alarmsOf: (minerId: number) => number;
  readonly power: Pick<PowerControl, "holder" | "leftFor" | "control">;
  readonly events: DisplayEvents;
  /** Up to this many simultaneous changes get an event each; beyond it, subscribers read the list again. */
  readonly singleEvents: number;
  /** ms of the monotonic clock. */
  readonly monotonicNow: () => number;
  readonly log: Logger;
}

const noLoop: LoopStatus = { heating: null, stoppedBy: null, loop: null };

/** The API's view of the miners, built on request. */
export class MinerDisplay {
  readonly jsonCache: MinerJsonCache;
  readonly rows: RowCache;
  readonly #options: MinerDisplayOptions;
  /** Status of miners that belong to a loop. */
  readonly #loopStatus = new Map<number, LoopStatus>();
  /** Miners that cannot be presented; each was logged. */
  readonly #failing = new Set<number>();

  constructor(options: MinerDisplayOptions) {
    this.#options = options;
    const { entries, events, alarmsOf } = options;
    this.jsonCache = new MinerJsonCache(
      {
        present: (id, energy) => this.#presented(entries.entry(id), energy),
        failed: (id, energy, error) => this.#presentedFailed(entries.entry(id), energy, error),
        figures: (id) => this.#figures(entries.entry(id)),
      },
      options.sectionsFor,
    );
    this.rows = new RowCache({
      markOf: (id) => events.markOf(id),
      movedAt: (id) => events.movedAt(id),
      now: options.monotonicNow,
      values: (id, names) =>
        columnValues(
          names,
          () => this.#rowSource(entries.entry(id)),
          () => sourceOf(this.present(id).miner, alarmsOf(id)),
        ),
    });
  }

  /** The miner as of now. Throws only `not.found`: a miner that cannot be presented must not affect the others. */
  present(id: number): PresentedMiner {
    return this.#presented(this.#options.entries.entry(id));
  }

  /** Sets what a miner shows of its loop, null if it has none; `changed` is false if only time has passed. */
  setLoopStatus(id: number, status: LoopStatus | null, changed: boolean): void {
    const entry = this.#options.entries.find(id);
    if (status === null || entry === undefined) this.#loopStatus.delete(id);
    else this.#loopStatus.set(id, status);
    if (entry !== undefined && changed) this.mark(entry, true);
  }

  /** The display of these miners may have changed, such as their highest power. */
  change(ids: Iterable<number>): void {
    for (const id of ids) {
      const entry = this.#options.entries.find(id);
      if (entry !== undefined) this.mark(entry, true);
    }
  }

  /** The display of every miner may have changed, because pools or coins have. */
  changeAll(): void {
    this.jsonCache.touch();
    const { entries, singleEvents } = this.#options;
    const withReset = entries.size > singleEvents;
    for (const entry of entries.all()) {
      if (withReset) this.jsonCache.mark(entry.facts.id, this.#energyOf(entry), true);
      else this.mark(entry, true);
    }
    if (withReset) this.#options.events.reset();
  }

  /** The pool with this Active ID in a rig's list. */
  poolById(minerId: number, poolId: number, pools: readonly PoolReading[]): PoolReading | undefined {
    return pools[this.#poolIds(minerId, pools).indexOf(poolId)];
  }

  /** Throws `not.found`. */
  presentedPool(minerId: number, poolId: number): MinerPool {
    const pool = this.present(minerId).miner.poolList.find(({ id }) => id === poolId);
    if (pool === undefined) throw notFound("pool", poolId);
    return pool;
  }

  /** The miner was removed. */
  remove(id: number): void {
    this.jsonCache.remove(id);
    this.rows.remove(id);
    this.#loopStatus.delete(id);
    this.#failing.delete(id);
  }

  /** The miner's state may have changed. `before`: its previous group, null for a new miner. */
  mark(entry: Entry, changed: boolean, before: number | null = entry.facts.groupId): void {
    const { id, groupId } = entry.facts;
    const isNew = this.jsonCache.mark(id, this.#energyOf(entry), changed);
    if (isNew) this.#options.events.miner({ id, uid: entry.rig.state.uid, groupId }, before);
  }

  #energyOf({ rig }: Entry): number | null {
    return shownEnergy(this.#options.energyOf(rig.id), rig.state);
  }

  /** Throws if the reading cannot be presented. */
  #present({ facts, rig }: Entry, energy: number | null): PresentedMiner {
    const { id } = facts;
    const { reading } = rig.state;
    const extras = {
      ...(this.#loopStatus.get(id) ?? noLoop),
      energy,
      poolIds: this.#poolIds(id, reading?.pools ?? []),
      powerTarget: this.#options.power.control(id, { controls: currentControls(rig.state), reading }),
      holder: this.#options.power.holder(id, rig.state),
      powerLeft: this.#options.power.leftFor(id),
    };
    return presentMiner(facts, rig, extras, this.#options.presentation);
  }

  #presented(entry: Entry, energy: number | null = this.#energyOf(entry)): PresentedMiner {
    try {
      return this.#present(entry, energy);
    } catch (error) {
      return this.#presentedFailed(entry, energy, error);
    }
  }

  #presentedFailed(entry: Entry, energy: number | null, error: unknown): PresentedMiner {
    const { facts, rig } = entry;
    // Subscribers that saw the miner before get this state as well.
    if (this.#logFailure(rig.id, error)) this.mark(entry, true);
    return presentFailed(facts, rig, { energy }, this.#options.presentation);
  }

  /** Throws if the reading cannot be presented. */
  #rowSource({ facts, rig }: Entry): RowSource {
    const { id } = facts;
    const figures = this.jsonCache.current(id)?.figures;
    if (figures === undefined || this.#failing.has(id))
      return sourceOf(this.present(id).miner, this.#options.alarmsOf(id));
    const { stoppedBy } = this.#loopStatus.get(id) ?? noLoop;
    const energy = this.jsonCache.current(id)?.energy ?? null;
    return rowSourceOf(facts, rig, { figures, energy, stoppedBy, alarms: this.#options.alarmsOf(id) });
  }

  /** Throws if a later request for the miner would fail. */
  rehearse(entry: Entry): void {
    JSON.stringify(this.#present(entry, this.#energyOf(entry)));
  }

  #figures(entry: Entry): MinerFigures {
    try {
      if (!this.#failing.has(entry.rig.id)) return minerFigures(entry.facts, entry.rig, this.#options.presentation);
    } catch {
      // It fails again below and is logged there.
    }
    return this.#presented(entry).figures;
  }

  /** Active IDs. Duplicates of one pool and worker are distinguished by their order. */
  #poolIds(minerId: number, pools: readonly PoolReading[]): number[] {
    const { activePools } = this.#options.storeOf(minerId);
    const counts = new Map<string, number>();
    return pools.map(({ url, worker }) => {
      const key = `${url}\n${worker}`;
      const ordinal = counts.get(key) ?? 0;
      counts.set(key, ordinal + 1);
      return activePools.idOf(minerId, url, worker, ordinal);
    });
  }

  /** Logs the failure once until the miner can be presented again; returns whether it logged. */
  #logFailure(id: number, error: unknown): boolean {
    if (this.#failing.has(id)) return false;
    this.#failing.add(id);
    this.#options.log.error({ err: error, miner: id }, `miner ${id} cannot be shown`);
    return true;
  }

  /** The miner cannot be presented: logged once until it can be. */
  fail(entry: Entry, error: unknown): void {
    this.mark(entry, this.#logFailure(entry.rig.id, error));
  }

  isFailing(id: number): boolean {
    return this.#failing.has(id);
  }

  /** The miner can be presented again, or has a new connection. */
  recovered(id: number): void {
    this.#failing.delete(id);
  }
}
