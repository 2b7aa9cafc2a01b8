import { setImmediate as nextTurn } from "node:timers/promises";
import type { MinerEvent } from "../../contract/events.ts";
import type { PolledRig } from "../../fleet/poller.ts";
import { briefOf, type RigState } from "../../fleet/state.ts";
import type { Ledger } from "../money/ledger.ts";
import type { FarmNotices } from "../notifications/notices.ts";
import { descriptionOf, nameOf } from "./declared-miner.ts";
import type { MinerDisplay } from "./miner-display.ts";
import type { Entry, MinerEntries } from "./miner-entries.ts";
import { recordNotice } from "./miner-notices.ts";
import type { PowerControl } from "./power-control.ts";
import type { MinerPresence } from "./presence.ts";
import type { MinerWork, Presentation } from "./present-miner.ts";
import type { ReadingWatch } from "./reading-watch.ts";
import { type RigChange, rigChangeOf } from "./rig-changes.ts";

/** Stores readings. */
export interface ReadingRecorder {
  add(rig: PolledRig): void;
  /** Last stored Wh. */
  energyOf(minerId: number): number | null;
  forget(minerId: number): void;
}

interface ReadingsOptions {
  readonly entries: Pick<MinerEntries, "all" | "find">;
  /** Replaces an entry whose name or address was found by a read. */
  readonly replace: (entry: Entry) => void;
  readonly display: MinerDisplay;
  readonly presence: MinerPresence;
  readonly watch: ReadingWatch;
  readonly power: Pick<PowerControl, "observe">;
  readonly recorderOf: (minerId: number) => ReadingRecorder;
  /** Adds up what a miner earns and costs. */
  readonly ledgerOf: (minerId: number) => Pick<Ledger, "isDue" | "take">;
  readonly events: { minerEvent(event: MinerEvent): void };
  readonly notices: Pick<FarmNotices, "raise">;
  readonly presentation: Pick<Presentation, "format">;
}

/** Miners whose money is counted per turn of the event loop: some 5 ms. */
const countedAtOnce = 250;

/** Processes each read of a rig: display, notifications, history and money. */
export class MinerReadings {
  readonly #options: ReadingsOptions;

  #changed: (entry: Entry, change: RigChange) => void = () => undefined;

  constructor(options: ReadingsOptions) {
    this.#options = options;
  }

  /** Calls this with each restart and each other firmware that a read shows, also one that a command has caused. */
  watchChanges(changed: (entry: Entry, change: RigChange) => void): void {
    this.#changed = changed;
  }

  /** Throws if the reading cannot be processed: the fleet then drops it before anything else uses it. */
  read(rig: PolledRig, changed: boolean, before: RigState, keys: number): void {
    const { entries, display, presence, watch, power, recorderOf } = this.#options;
    const entry = entries.find(rig.id);
    if (entry?.rig !== rig) return;
    const { missed } = rig.state;
    const reading = briefOf(rig.state);
    if (reading !== null && missed === 0) power.observe(rig.id, reading);
    presence.read(entry, before);
    const now = this.#recognised(entry);
    const wasFailing = reading !== null && display.isFailing(rig.id);
    // Other reads are presented on request; the fleet has compared them with the previous read.
    if (reading !== null && (wasFailing || briefOf(before) === null)) display.rehearse(now);
    display.mark(now, changed || now !== entry || wasFailing);
    this.#emitRecords(now, before.records);
    recorderOf(rig.id).add(rig);
    // Counted up to the last read before a silence; nothing is known after it.
    if (reading !== null && (missed === 0 || before.missed === 0)) this.#countMoney(rig, missed > 0);
    watch.add(rig.id, rig.state, before, keys);
    const change = reading !== null && missed === 0 ? rigChangeOf(before, rig.state) : null;
    if (change !== null) this.#changed(now, change);
    if (reading !== null) display.recovered(rig.id);
  }

  /** A reading could not be processed. */
  failed(rig: PolledRig, error: unknown): void {
    const entry = this.#options.entries.find(rig.id);
    if (entry?.rig === rig) this.#options.display.fail(entry, error);
  }

  /** Counts the money of all miners up to their last reads, yielding in between. */
  async countMoney(signal: AbortSignal): Promise<void> {
    let count = 0;
    for (const { rig } of this.#options.entries.all()) {
      this.#countMoney(rig, true);
      count += 1;
      if (count % countedAtOnce === 0) await nextTurn();
      if (signal.aborted) return;
    }
  }

  /** Like `countMoney`, but synchronous. */
  countMoneyNow(): void {
    for (const { rig } of this.#options.entries.all()) this.#countMoney(rig, true);
  }

  #countMoney({ id, state, declared }: PolledRig, isLast = false): void {
    const { at, energy } = state;
    if (at === null || briefOf(state) === null) return;
    const ledger = this.#options.ledgerOf(id);
    const figures = isLast || ledger.isDue(id, at) ? this.#options.display.jsonCache.current(id)?.figures : undefined;
    if (figures === undefined) return;
    const { groupId, dual } = figures;
    ledger.take(id, {
      at,
      energy,
      groupId,
      ...revenueOf(dual?.[0] ?? figures),
      second: dual && revenueOf(dual[1]),
      readEveryMs: declared.interval,
    });
  }

  /** The first records of a rig are not events. */
  #emitRecords({ facts, rig: { state } }: Entry, before: RigState["records"]): void {
    const { bestShare, foundBlocks } = state.records;
    if (state.records === before) return;
    const emit = (event: MinerEvent["event"], earlier: number | null, value: number | null): void => {
      if (earlier === null || value === null || value <= earlier) return;
      const happened: MinerEvent = { id: facts.id, uid: state.uid, event, value, before: earlier };
      this.#options.events.minerEvent(happened);
      this.#options.notices.raise(recordNotice(happened, this.#options.presentation.format));
    };
    emit("best_share", before.bestShare, bestShare);
    emit("block_found", before.foundBlocks, foundBlocks);
  }

  /** Updates what depends on recognition: the name of a miner without a declared one, and the port of its driver. */
  #recognised(entry: Entry): Entry {
    const { facts, rig } = entry;
    const description = descriptionOf(rig);
    const name = facts.named ? facts.name : nameOf(rig.state.identity, description);
    if (name === facts.name && description === facts.host.description) return entry;
    const recognised = { rig, facts: { ...facts, name, host: { ...facts.host, description } } };
    this.#options.replace(recognised);
    return recognised;
  }
}

/** What the ledger counts of one work of a miner. */
const revenueOf = ({ earnings: { revenuePerDay, revenueBtc }, coinKey, algorithmKey }: MinerWork) => ({
  revenuePerDay,
  revenueBtcPerDay: revenueBtc,
  coin: coinKey,
  algorithm: algorithmKey,
});
