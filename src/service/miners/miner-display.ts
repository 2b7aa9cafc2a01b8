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
import { RowCache } from "./row-cache.ts";
import { rowSourceOf } from "./row-source.ts";

/** Takes changes of what miners show. */
export interface DisplayEvents {
  /** A miner has changed. `before`: the group that it was in, null for a new miner. */
  miner(miner: Pick<Miner, "id" | "uid" | "groupId">, before: number | null): void;
  /** So many miners have changed that subscribers read the list again. */
  reset(): void;
  /** The last event that concerns the row of this miner. */
  markOf(minerId: number): number;
  /** The last event with which this miner came to another group. */
  movedAt(minerId: number): number;
}

export interface MinerDisplayOptions {
  readonly entries: Pick<MinerEntries, "entry" | "find" | "all" | "size">;
  /** Holds the data of a miner. */
  readonly storeOf: (minerId: number) => Store;
  readonly sectionsFor: SectionsFor;
  readonly presentation: Presentation;
  /** Wh of a miner as stored last. */
  readonly energyOf: (minerId: number) => number | null;
  /** The number of a miner's open notifications. */
  readonly alarmsOf: (minerId: number) => number;
  readonly power: Pick<PowerControl, "holder" | "leftFor" | "control">;
  readonly events: DisplayEvents;
  /** Miners that may change at once with an event for each; when more change, subscribers read the list again. */
  readonly singleEvents: number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonicNow: () => number;
  readonly log: Logger;
}

const noLoop: LoopStatus = { heating: null, stoppedBy: null, loop: null };

/** What the API shows of the miners, which is made on request. */
export class MinerDisplay {
  readonly jsonCache: MinerJsonCache;
  readonly rows: RowCache;
  readonly #options: MinerDisplayOptions;
  /** Of miners that belong to a loop. */
  readonly #loopStatus = new Map<number, LoopStatus>();
  /** Miners that Rigbridge fails on and has logged. */
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
      source: (id) => this.#rowSource(entries.entry(id)),
      failed: (id) => sourceOf(this.present(id).miner, alarmsOf(id)),
    });
  }

  /** The miner as it is this moment. Throws only `not.found`: one that cannot be presented must not affect others. */
  present(id: number): PresentedMiner {
    return this.#presented(this.#options.entries.entry(id));
  }

  /** Takes what a miner shows of its loop, null if it has none; `changed` is false when nothing but time has passed. */
  setLoopStatus(id: number, status: LoopStatus | null, changed: boolean): void {
    const entry = this.#options.entries.find(id);
    if (status === null || entry === undefined) this.#loopStatus.delete(id);
    else this.#loopStatus.set(id, status);
    if (entry !== undefined && changed) this.mark(entry, true);
  }

  /** These miners may show something else, such as their highest power. */
  change(ids: Iterable<number>): void {
    for (const id of ids) {
      const entry = this.#options.entries.find(id);
      if (entry !== undefined) this.mark(entry, true);
    }
  }

  /** Every miner may show something else: pools or coins have changed. */
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

  /** Its miner was removed. */
  remove(id: number): void {
    this.jsonCache.remove(id);
    this.rows.remove(id);
    this.#loopStatus.delete(id);
    this.#failing.delete(id);
  }

  /** Its state may have changed. `before`: the group that it was in, null for a new miner. */
  mark(entry: Entry, changed: boolean, before: number | null = entry.facts.groupId): void {
    const { id, groupId } = entry.facts;
    const isNew = this.jsonCache.mark(id, this.#energyOf(entry), changed);
    if (isNew) this.#options.events.miner({ id, uid: entry.rig.state.uid, groupId }, before);
  }

  #energyOf({ rig }: Entry): number | null {
    return shownEnergy(this.#options.energyOf(rig.id), rig.state);
  }

  /** Throws what Rigbridge fails on. */
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
    // Those who were shown the miner as it was learn of it.
    if (this.#logFailure(rig.id, error)) this.mark(entry, true);
    return presentFailed(facts, rig, { energy }, this.#options.presentation);
  }

  /** Throws what Rigbridge fails on. */
  #rowSource({ facts, rig }: Entry): RowSource {
    const { id } = facts;
    const figures = this.jsonCache.current(id)?.figures;
    if (figures === undefined || this.#failing.has(id))
      return sourceOf(this.present(id).miner, this.#options.alarmsOf(id));
    const { stoppedBy } = this.#loopStatus.get(id) ?? noLoop;
    const energy = this.jsonCache.current(id)?.energy ?? null;
    return rowSourceOf(facts, rig, { figures, energy, stoppedBy, alarms: this.#options.alarmsOf(id) });
  }

  /** Throws what Rigbridge would fail on once the miner is requested. */
  rehearse(entry: Entry): void {
    JSON.stringify(this.#present(entry, this.#energyOf(entry)));
  }

  #figures(entry: Entry): MinerFigures {
    try {
      if (!this.#failing.has(entry.rig.id)) return minerFigures(entry.facts, entry.rig, this.#options.presentation);
    } catch {
      // It fails again below, where that is logged.
    }
    return this.#presented(entry).figures;
  }

  /** Active IDs. Pools that are listed twice with one worker are distinguished by their order. */
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

  /** Logs once until the miner can be presented again; returns whether it did. */
  #logFailure(id: number, error: unknown): boolean {
    if (this.#failing.has(id)) return false;
    this.#failing.add(id);
    this.#options.log.error({ err: error, miner: id }, `miner ${id} cannot be shown`);
    return true;
  }

  /** Rigbridge fails on this miner: it is logged once, until the miner can be presented again. */
  fail(entry: Entry, error: unknown): void {
    this.mark(entry, this.#logFailure(entry.rig.id, error));
  }

  isFailing(id: number): boolean {
    return this.#failing.has(id);
  }

  /** It can be presented, or its connection is a new one. */
  recovered(id: number): void {
    this.#failing.delete(id);
  }
}
