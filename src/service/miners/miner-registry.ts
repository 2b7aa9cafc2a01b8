import { setImmediate as nextTurn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import type { OwnTopics } from "../../config/plug-topics.ts";
import type { Config } from "../../config/schema.ts";
import type { MinerEvent } from "../../contract/events.ts";
import type { Messages } from "../../contract/messages.ts";
import { notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Control, Identity } from "../../contract/readings.ts";
import type { Miner, MinerPool } from "../../contract/resources.ts";
import { type RowSource, sourceOf } from "../../contract/rows.ts";
import type { WorkerHealth } from "../../contract/service.ts";
import type { Declared } from "../../fleet/declared.ts";
import { Fleet, type FleetOptions } from "../../fleet/fleet.ts";
import type { PolledRig, Poller } from "../../fleet/poller.ts";
import { type Brief, briefOf, type Remembered, type RigState, unknownRig } from "../../fleet/state.ts";
import { workerCount } from "../../fleet/workers/worker-count.ts";
import { WorkerPoller } from "../../fleet/workers/worker-poller.ts";
import { formatAddress, hostAndPort, isNoRig, isSameAddress, parseAddress, storedAddress } from "../../link/address.ts";
import type { PoolReading } from "../../link/driver.ts";
import { drivers } from "../../link/drivers/index.ts";
import type { PoolPassword } from "../../link/link.ts";
import type { DeclaredProgram, HostPrograms, ProgramHosts } from "../../link/programs/host-program.ts";
import { allMiners, type Store, type Stored, type StoredMiner, type StoredNotification } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import type { Ledger } from "../money/ledger.ts";
import { walkGroups } from "../nested-groups.ts";
import type { FarmNotices, NoticeMiner } from "../notifications/notices.ts";
import type { Access } from "../users/access.ts";
import { flatSections, minersInSections, sectionsOf, visibleSections } from "./groups.ts";
import { type GroupSection, MinerJsonCache } from "./miner-json-cache.ts";
import { noticeKeys, recordNotice } from "./miner-notices.ts";
import { Outages } from "./outages.ts";
import { PlugOwners } from "./plug-owners.ts";
import {
  currentControls,
  type LoopStatus,
  loginTrouble,
  type MinerFacts,
  type MinerFigures,
  type MinerWork,
  minerFigures,
  type Presentation,
  type PresentedMiner,
  presentFailed,
  presentMiner,
  shownEnergy,
} from "./present-miner.ts";
import { type ReadingListener, ReadingWatch } from "./reading-watch.ts";
import { RowCache } from "./row-cache.ts";
import { rowSourceOf } from "./row-source.ts";

/** A virtual rig to try things out, which is never stored. */
export interface DemoMiner {
  readonly address: string;
  readonly name: string;
  readonly username?: string;
  readonly password?: string;
  readonly token?: string;
}

/** A managed miner as a miner. Its address is the name of its host. */
export type ManagedRow = Stored<StoredMiner> & { readonly program: DeclaredProgram };
type Row = Stored<StoredMiner> & { readonly program?: DeclaredProgram };

/** The managed miners, which are stored elsewhere. */
export interface ManagedRows {
  rows(): readonly ManagedRow[];
  isManaged(minerId: number): boolean;
  /** The managed miner whose API is at this address. */
  minerAt(host: string, port: number | null): number | undefined;
  readonly programs: HostPrograms;
  readonly hosts: ProgramHosts;
  /** The host with this name, in the same group, so that every user who may act on a miner also sees its host. */
  hostOf(name: string, groupId: number): number | undefined;
}

export interface Entry {
  readonly facts: MinerFacts;
  readonly rig: PolledRig;
}

/** Stores what rigs report. */
export interface ReadingRecorder {
  add(rig: PolledRig): void;
  /** Wh as stored last. */
  energyOf(minerId: number): number | null;
  forget(minerId: number): void;
}

/** Takes what happens to miners. */
export interface MinerEvents {
  /** A miner has changed. `before`: the group that it was in, null for a new miner. */
  miner(miner: Pick<Miner, "id" | "uid" | "groupId">, before: number | null): void;
  minerRemoved(miner: Pick<Miner, "id" | "uid" | "groupId">): void;
  minerEvent(event: MinerEvent): void;
  /** So many miners have changed that subscribers read the list again. */
  reset(): void;
  /** The last event that concerns the row of this miner. */
  markOf(minerId: number): number;
  /** The last event with which this miner came to another group. */
  movedAt(minerId: number): number;
}

/** Who keeps a rig's power as it is. */
export interface PowerHolder {
  /** A user, a front end, a rule or a loop. */
  readonly what: string;
  /** Epoch ms; null: without an end. */
  readonly until: number | null;
}

/** Power control as the registry uses it. */
export interface PowerControl {
  holder(minerId: number, state: RigState): PowerHolder | null;
  /** W that the maximum of its room leaves to it; null without a maximum. */
  leftFor(minerId: number): number | null;
  /** Called with every good read before the miner is shown. */
  observe(minerId: number, reading: Brief): void;
  /** The control `power_target`, none if the power of the rig cannot be controlled. */
  control(minerId: number, state: Pick<RigState, "controls" | "reading">): Control[];
}

export interface MinerRegistryOptions {
  readonly store: Store;
  /** Holds the data of demo miners until the process ends. */
  readonly demoStore: Store;
  readonly poll: Config["poll"];
  /** Whether the list nests groups. */
  readonly groups: Config["display"]["groups"];
  readonly ownTopics: OwnTopics;
  readonly now: () => number;
  /** For the fleet. */
  readonly monotonicNow: (() => number) | undefined;
  readonly presentation: Presentation;
  readonly recorderOf: (minerId: number) => ReadingRecorder;
  readonly events: MinerEvents;
  /** Miners that may change at once with an event for each; when more change, subscribers read the list again. */
  readonly singleEvents: number;
  readonly power: PowerControl;
  /** Adds up what a miner earns and costs. */
  readonly ledgerOf: (minerId: number) => Pick<Ledger, "isDue" | "take" | "forget">;
  /** The number of a miner's open notifications. */
  readonly alarmsOf: (minerId: number) => number;
  readonly messages: Messages | null;
  readonly managed: ManagedRows;
  readonly notices: Pick<FarmNotices, "raise" | "close" | "closeMiner" | "setWarning">;
  readonly log: Logger;
}

/** The ids of demo miners start here, far from those of the store. */
const firstDemoId = 1_900_000_001;
/** Ends of a worker thread in a row that are logged; the last of them is notified of too. */
const loggedEnds = 3;
const workersTitle = "Worker threads fail";
const noLoop: LoopStatus = { heating: null, stoppedBy: null, loop: null };

export const isDemo = (minerId: number): boolean => minerId >= firstDemoId;

/**
 * All miners: their declarations, their rigs in the fleet, and what the API shows of them, which is made on
 * request.
 */
export class MinerRegistry {
  readonly fleet: Poller;
  readonly outages: Outages;
  readonly jsonCache: MinerJsonCache;
  readonly rows: RowCache;
  readonly #options: MinerRegistryOptions;
  readonly #entries = new Map<number, Entry>();
  readonly #byAddress = new Map<string, number>();
  #addressesAt = 0;
  /** Of miners that belong to a loop. */
  readonly #loopStatus = new Map<number, LoopStatus>();
  readonly #plugs: PlugOwners;
  readonly #readings: ReadingWatch;
  /** Rigs that Rigbridge fails on and has logged. */
  readonly #failing = new Set<number>();
  /** Rigs that were logged as unreachable. */
  readonly #unreachable = new Set<number>();
  /** Title of the notification about a rig's login, until the login is right. */
  readonly #loginNotified = new Map<number, string>();

  constructor(options: MinerRegistryOptions) {
    this.#options = options;
    this.#plugs = new PlugOwners(options.ownTopics, options.log);
    this.#readings = new ReadingWatch(options.log, (watched) => this.fleet.watchKeys(watched));
    const { store, notices, now } = options;
    this.outages = new Outages({
      entries: () => this.#entries.values(),
      store,
      notices,
      now,
      reportAbsence: ({ rig }) => this.#raiseAbsence(rig),
    });
    this.jsonCache = new MinerJsonCache(
      {
        present: (id, energy) => this.#presented(this.entry(id), energy),
        failed: (id, energy, error) => this.#presentedFailed(this.entry(id), energy, error),
        figures: (id) => this.#figures(this.entry(id)),
      },
      (sections, access) => this.#listedSections(sections, access),
    );
    this.rows = new RowCache({
      markOf: (id) => options.events.markOf(id),
      movedAt: (id) => options.events.movedAt(id),
      now: options.monotonicNow ?? (() => performance.now()),
      source: (id) => this.#rowSource(this.entry(id)),
      failed: (id) => sourceOf(this.present(id).miner, options.alarmsOf(id)),
    });
    const pollerOptions: FleetOptions = {
      timeout: options.poll.timeout * 1000,
      now: options.now,
      monotonicNow: options.monotonicNow,
      messages: options.messages,
      programs: options.managed.programs,
      hosts: options.managed.hosts,
      remember: (id, remembered) => this.#remember(id, remembered),
      listener: {
        read: (rig, changed, before, keys) => this.#read(rig, changed, before, keys),
        disconnected: (rig, isKnown) => this.#disconnected(rig, isKnown),
        refused: (rig, message) => this.#refused(rig, message),
        failed: (rig, error) => this.#failed(rig, error),
      },
    };
    const workers = workerCount(options.poll.workers, readsPerSecond(options));
    this.fleet = workers === 0 ? new Fleet(pollerOptions) : this.#inWorkers(workers, pollerOptions);
  }

  #inWorkers(workers: number, pollerOptions: FleetOptions): Poller {
    const { log, presentation, notices } = this.#options;
    log.debug({ workers }, "rigs are read in worker threads");
    return new WorkerPoller({
      ...pollerOptions,
      workers,
      poolLogins: (id) => presentation.pools.loginsFor(id),
      ended: (error, { worker, rigs, times, restartMs }) => {
        const fields = { err: error, worker, miners: rigs, times, restartMs };
        if (times <= loggedEnds) log.error(fields, "a worker thread ended; a new one reads its miners");
        if (times === loggedEnds)
          notices.setWarning(workersTitle, `A worker thread ended ${times} times in a row: ${error.message}`);
      },
      recovered: () => {
        log.info("the worker thread that ended runs again");
        notices.setWarning(workersTitle, null);
      },
    });
  }

  /** Takes in all miners of the store, and the demo miners. */
  start(demo: readonly DemoMiner[]): void {
    this.#plugs.assignAll(enabled(this.#options.store.miners));
    for (const miner of this.#options.managed.rows()) this.#mark(this.#take(miner), true);
    for (const miner of [...enabled(this.#options.store.miners), ...demo.map(demoRow)]) {
      if (this.#byAddress.has(miner.address))
        this.#options.log.warn(`miner ${miner.id} is left out: ${miner.address} is declared twice`);
      else this.#mark(this.#take(miner), true);
    }
    for (const { minerId, key, title, closed } of this.#options.store.notifications.list()) {
      if (minerId === null || closed !== null) continue;
      if (!this.#entries.has(minerId)) this.#options.notices.closeMiner(minerId, "The miner is no longer declared");
      if (title !== null && key === noticeKeys.login(minerId)) this.#loginNotified.set(minerId, title);
    }
    this.outages.start();
    this.arrange();
  }

  /** Throws `not.found`. */
  entry(id: number): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw notFound("miner", id);
    return entry;
  }

  find(id: number): Entry | undefined {
    return this.#entries.get(id);
  }

  /** The id of a miner given by id or uid. Throws `not.found`, also if this access does not see it. */
  idFor(miner: number | string, access: Access): number {
    const id = typeof miner === "number" ? miner : this.idOfUid(miner);
    if (id === undefined) throw notFound("miner", miner);
    return this.entryFor(id, access).facts.id;
  }

  /** The miner, undefined if it does not exist or this access does not see it. */
  visible(id: number, access: Access): Entry | undefined {
    const entry = this.#entries.get(id);
    return entry !== undefined && access.seesGroup(entry.facts.groupId) ? entry : undefined;
  }

  /** Throws `not.found`, also if this access does not see the miner. */
  entryFor(id: number, access: Access): Entry {
    const entry = this.visible(id, access);
    if (entry === undefined) throw notFound("miner", id);
    return entry;
  }

  /** Users see the notifications of their miners, and of the sites and groups of these. */
  seesNotification({ minerId, key }: Pick<StoredNotification, "minerId" | "key">, access: Access): boolean {
    return minerId === null ? this.outages.isVisible(key, access) : this.visible(minerId, access) !== undefined;
  }

  /** Every miner that this access sees. */
  *entriesFor(access: Access): Iterable<Entry> {
    for (const entry of this.#entries.values()) if (access.seesGroup(entry.facts.groupId)) yield entry;
  }

  /** Another number whenever a miner was added, removed or has another address or plug. */
  get addressesAt(): number {
    return this.#addressesAt;
  }

  /** Every miner. */
  all(): Iterable<Entry> {
    return this.#entries.values();
  }

  idOfUid(uid: string): number | undefined {
    for (const { facts, rig } of this.#entries.values()) if (rig.state.uid === uid) return facts.id;
    return undefined;
  }

  /** A miner as errors name it to a caller: "another miner" to one who does not see it. */
  nameFor(id: number, access: Access): string {
    const visible = this.visible(id, access);
    return visible === undefined ? "another miner" : `miner ${id} (${visible.facts.name})`;
  }

  /** Throws `address.known` when another miner has this address; only callers who see that miner learn which. */
  checkAddress(address: string, id: number | null, access: Access): void {
    // A miner that is just being added is in the store, but not here yet.
    const { host, port } = storedAddress(address);
    const other =
      this.#byAddress.get(address) ??
      this.#options.managed.minerAt(host, port) ??
      enabled(this.#options.store.miners).find((each) => each.address === address)?.id;
    if (other !== undefined && other !== id)
      throw new RigbridgeError("address.known", `${address} is already the address of ${this.nameFor(other, access)}`);
  }

  /** Takes a miner that was added or changed; call `arrange` after it. */
  put(miner: Row): void {
    const before = this.#entries.get(miner.id)?.facts.groupId ?? null;
    const entry = this.#take(miner);
    if (before === null) this.#options.log.info({ ...logFields(entry.facts) }, "a miner was added");
    this.#mark(entry, true, before);
  }

  async remove(id: number): Promise<void> {
    const { facts, rig } = this.entry(id);
    // Without awaiting: a list must not meet a miner that is half removed.
    this.#drop(id);
    this.jsonCache.remove(id);
    this.rows.remove(id);
    this.arrange();
    this.#options.events.minerRemoved({ id, uid: rig.state.uid, groupId: facts.groupId });
    if (!facts.demo) this.#options.log.info({ ...logFields(facts) }, "a miner was removed");
    this.#options.notices.closeMiner(id, "The miner was removed");
    this.#loopStatus.delete(id);
    this.#options.recorderOf(id).forget(id);
    this.#options.ledgerOf(id).forget(id);
    const store = this.#storeOf(id);
    await store.memory.forget(id);
    await store.activePools.forget(id);
    await store.samples.forget(id);
    store.power.forget(id);
  }

  /** Whether there are demo miners and no real one. */
  get isDemoOnly(): boolean {
    for (const id of this.#entries.keys()) if (!isDemo(id)) return false;
    return this.#entries.size > 0;
  }

  /** Removes all demo miners, and what they were in the history of the farm. */
  async removeDemos(): Promise<void> {
    for (const id of [...this.#entries.keys()]) if (isDemo(id) && this.#entries.has(id)) await this.remove(id);
    const { farmSamples } = this.#options.demoStore;
    for (const groupId of [allMiners, 0]) farmSamples.forget(groupId);
  }

  /** Call it when groups or their miners have changed. */
  arrange(): void {
    this.jsonCache.arrange(this.sections());
  }

  /** What notifications say of a miner. */
  noticeMiner(id: number): NoticeMiner | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const { name, groupId, demo } = entry.facts;
    return { name, groupId, demo, uid: entry.rig.state.uid };
  }

  /** All groups with their miners, nested. */
  sections(): GroupSection[] {
    const members = [...this.#entries.values()].map(({ facts }) => facts);
    return sectionsOf(enabled(this.#options.store.groups), members);
  }

  /** The groups as the list shows them to this access. */
  sectionsFor(access: Access): GroupSection[] {
    return this.#listedSections(this.sections(), access);
  }

  /** The miners of a group and of those inside it; of 0, those in no group. */
  minersInGroup(id: number): number[] {
    for (const { group } of walkGroups(this.sections())) if (group.id === id) return minersInSections([group]);
    return [];
  }

  #listedSections(sections: readonly GroupSection[], access: Access): GroupSection[] {
    const visible = visibleSections(sections, access);
    return this.#options.groups === "flat" ? flatSections(visible) : visible;
  }

  /** The miner as it is this moment. Throws only `not.found`: one that cannot be presented must not affect others. */
  present(id: number): PresentedMiner {
    return this.#presented(this.entry(id));
  }

  /** Takes what a miner shows of its loop, null if it has none; `changed` is false when nothing but time has passed. */
  setLoopStatus(id: number, status: LoopStatus | null, changed: boolean): void {
    const entry = this.#entries.get(id);
    if (status === null || entry === undefined) this.#loopStatus.delete(id);
    else this.#loopStatus.set(id, status);
    if (entry !== undefined && changed) this.#mark(entry, true);
  }

  /**
   * Calls the listener with the miners whose reads have changed something, and the keys that have changed: for whatever
   * acts on readings. Returns a function that ends it.
   */
  watchReadings(listener: ReadingListener): () => void {
    return this.#readings.watch(listener);
  }

  /** These miners may show something else, such as their highest power. */
  change(ids: Iterable<number>): void {
    for (const id of ids) {
      const entry = this.#entries.get(id);
      if (entry !== undefined) this.#mark(entry, true);
    }
  }

  /** Every miner may show something else: pools or coins have changed. */
  changeAll(): void {
    this.jsonCache.touch();
    if (this.fleet instanceof WorkerPoller) this.fleet.refreshLogins();
    const withReset = this.#entries.size > this.#options.singleEvents;
    for (const [id, entry] of this.#entries) {
      if (withReset) this.jsonCache.mark(id, this.#energyOf(entry), true);
      else this.#mark(entry, true);
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

  /** Of each worker thread that reads rigs. */
  workers(): readonly WorkerHealth[] {
    return this.fleet instanceof WorkerPoller ? this.fleet.health() : [];
  }

  /** Counts the money of all miners up to their last reads. Other work goes on meanwhile. */
  async countMoney(signal: AbortSignal): Promise<void> {
    let count = 0;
    for (const { rig } of this.#entries.values()) {
      this.#countMoney(rig, true);
      count += 1;
      if (count % countedAtOnce === 0) await nextTurn();
      if (signal.aborted) return;
    }
  }

  /** Counts what was read since the last read that counts, and stops polling. */
  close(): Promise<void> {
    for (const { rig } of this.#entries.values()) this.#countMoney(rig, true);
    return this.fleet.close();
  }

  #take(miner: Row): Entry {
    const { poll, presentation } = this.#options;
    const rigBefore = this.#entries.get(miner.id)?.rig;
    // The same function again, so that an unchanged declaration is equal to the one before.
    const poolPassword = rigBefore?.declared.credentials.poolPassword ?? presentation.pools.passwordsFor(miner.id);
    const own = declaredOf(miner, poll, poolPassword);
    const isAlone = miner.program !== undefined || isDemo(miner.id);
    const hostId = isAlone ? undefined : this.#options.managed.hostOf(own.address.host, miner.groupId);
    const supply = this.#plugs.supplyOf(miner);
    const declared = { ...own, supply, ...(hostId === undefined ? {} : { hostId }) };
    const isUnchanged = rigBefore !== undefined && isDeepStrictEqual(rigBefore.declared, declared);
    if (!isUnchanged) this.#drop(miner.id);
    this.#plugs.take(declared.supply, miner.id);
    const moves =
      rigBefore !== undefined &&
      (!isSameAddress(rigBefore.declared.address, declared.address) ||
        rigBefore.declared.program?.software !== declared.program?.software);
    // A change that does not concern the connection, such as a name, disturbs neither readings nor commands.
    const rig = isUnchanged ? rigBefore : this.fleet.put(declared, this.#remembered(miner.id, moves));
    const entry = { facts: this.#factsOf(miner, rig), rig };
    if (isNoRig(declared.address) && miner.program === undefined && !isUnchanged)
      this.#options.log.warn(`Miner ${miner.id} is not read: nothing is ever sent to ${miner.address}`);
    this.#entries.set(miner.id, entry);
    if (!isUnchanged) this.#addressesAt += 1;
    // Several managed miners may be on one host.
    if (miner.program === undefined) this.#byAddress.set(miner.address, miner.id);
    return entry;
  }

  /**
   * Drops the driver of a miner that moves: the rig at the new address is recognised before anything is sent. That it was
   * off at the old address does not count either.
   */
  #remembered(id: number, moves: boolean): Remembered {
    const { memory } = this.#storeOf(id);
    const remembered = memory.get(id) ?? unknownRig;
    if (!moves) return remembered;
    const moved = { driver: null, reason: null, ...(this.isManaged(id) ? { identity: null } : {}) };
    memory
      .remember(id, moved)
      .catch((error: unknown) =>
        this.#options.log.error({ err: error }, `the old driver of miner ${id} stays written`),
      );
    return { ...remembered, ...moved };
  }

  #drop(id: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#addressesAt += 1;
    this.#plugs.release(id);
    this.fleet.remove(id);
    this.#entries.delete(id);
    this.#failing.delete(id);
    this.#unreachable.delete(id);
    this.#loginNotified.delete(id);
    if (entry.rig.declared.program === undefined) this.#byAddress.delete(formatAddress(entry.rig.declared.address));
  }

  isManaged(id: number): boolean {
    return this.#options.managed.isManaged(id);
  }

  #factsOf(miner: Row, rig: PolledRig): MinerFacts {
    const description = descriptionOf(rig);
    const group = this.#options.store.groups.get(miner.groupId);
    return {
      id: miner.id,
      named: miner.name !== null,
      demo: isDemo(miner.id),
      name: miner.name ?? nameOf(rig.state.identity, description),
      // A group that the configuration file no longer declares does not count.
      groupId: group?.disabled === false ? miner.groupId : 0,
      location: miner.location,
      tags: miner.tags,
      host: { name: rig.declared.address.host, description },
    };
  }

  #storeOf(id: number): Store {
    return isDemo(id) ? this.#options.demoStore : this.#options.store;
  }

  /** Its state may have changed. `before`: the group that it was in, null for a new miner. */
  #mark(entry: Entry, changed: boolean, before: number | null = entry.facts.groupId): void {
    const { id, groupId } = entry.facts;
    const isNew = this.jsonCache.mark(id, this.#energyOf(entry), changed);
    if (isNew) this.#options.events.miner({ id, uid: entry.rig.state.uid, groupId }, before);
  }

  #energyOf({ rig }: Entry): number | null {
    return shownEnergy(this.#options.recorderOf(rig.id).energyOf(rig.id), rig.state);
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
    // Who was shown it before is shown this too.
    if (this.#logFailure(rig.id, error)) this.#mark(entry, true);
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
  #rehearse(entry: Entry): void {
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
    const { activePools } = this.#storeOf(minerId);
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

  /** A uid moves here from a miner that the configuration file no longer declares. */
  async #remember(id: number, remembered: Parameters<Store["memory"]["remember"]>[1]): Promise<void> {
    const { memory } = this.#storeOf(id);
    try {
      await memory.remember(id, remembered);
    } catch (error) {
      if (!(error instanceof RigbridgeError) || error.code !== "in.use") throw error;
      const holder = memory.all().find(({ uid }) => uid === remembered.uid);
      if (holder === undefined) throw error;
      if (this.#entries.has(holder.minerId)) {
        // Once, not with each read until it is resolved; the error itself must not name the other miner.
        if (this.#entries.get(id)?.rig.state.trouble?.code !== "in.use")
          this.#options.log.warn({ miner: id, other: holder.minerId }, `${error.message}: miner ${holder.minerId}`);
        throw error;
      }
      await memory.remember(holder.minerId, { uid: null });
      await memory.remember(id, remembered);
    }
  }

  /** Throws what Rigbridge fails on: the fleet then drops the reading before anything else uses it. */
  #read(rig: PolledRig, changed: boolean, before: RigState, keys: number): void {
    const entry = this.#entries.get(rig.id);
    if (entry?.rig !== rig) return;
    const { missed } = rig.state;
    const reading = briefOf(rig.state);
    if (reading !== null && missed === 0) this.#options.power.observe(rig.id, reading);
    if (missed === 0 && this.#unreachable.delete(rig.id))
      this.#options.log.info({ ...logFields(entry.facts) }, "a miner is back");
    if (reading !== null && missed === 0) {
      this.#notifyLogin(entry);
      // One that an earlier run left open is closed by the first read.
      if (before.missed > 0 || before.at === null) this.#closeAbsence(rig.id);
    }
    this.outages.read(entry, missed === 0 && (before.missed > 0 || before.at === null));
    const now = this.#recognised(entry);
    const wasFailing = reading !== null && this.#failing.has(rig.id);
    // Others are presented on request; the fleet compares all that they report with the read before.
    if (reading !== null && (wasFailing || briefOf(before) === null)) this.#rehearse(now);
    this.#mark(now, changed || now !== entry || wasFailing);
    this.#emitRecords(now, before.records);
    this.#options.recorderOf(rig.id).add(rig);
    // Up to the last read before a silence: afterwards nothing is known of it.
    if (reading !== null && (missed === 0 || before.missed === 0)) this.#countMoney(rig, missed > 0);
    this.#readings.add(rig.id, rig.state, before, keys);
    if (reading !== null) this.#failing.delete(rig.id);
  }

  #countMoney({ id, state, declared }: PolledRig, isLast = false): void {
    const { at, energy } = state;
    if (at === null || briefOf(state) === null) return;
    const ledger = this.#options.ledgerOf(id);
    const figures = isLast || ledger.isDue(id, at) ? this.jsonCache.current(id)?.figures : undefined;
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

  #failed(rig: PolledRig, error: unknown): void {
    const entry = this.#entries.get(rig.id);
    if (entry?.rig !== rig) return;
    this.#mark(entry, this.#logFailure(rig.id, error));
  }

  /** Updates what depends on recognition: the name of a miner without a declared one, and the port of its driver. */
  #recognised(entry: Entry): Entry {
    const { facts, rig } = entry;
    const description = descriptionOf(rig);
    const name = facts.named ? facts.name : nameOf(rig.state.identity, description);
    if (name === facts.name && description === facts.host.description) return entry;
    const recognised = { rig, facts: { ...facts, name, host: { ...facts.host, description } } };
    this.#entries.set(facts.id, recognised);
    return recognised;
  }

  /** A rig that was off in an earlier run already was notified of then. */
  #disconnected(rig: PolledRig, isKnown: boolean): void {
    const entry = this.#entries.get(rig.id);
    const { trouble } = rig.state;
    const reason = trouble?.message;
    if (entry !== undefined) this.#options.log.info({ ...logFields(entry.facts), reason }, "a miner cannot be reached");
    this.#unreachable.add(rig.id);
    if (rig.declared.offlineExpected) return;
    if (trouble !== null && trouble.quoted !== trouble.message)
      this.#options.log.info(`Miner ${rig.id} cannot be read: ${trouble.quoted}`);
    if (entry !== undefined && trouble?.code === "rig.login") this.#notifyLogin(entry);
    else if (!isKnown) {
      if (entry !== undefined && !entry.facts.demo) this.outages.gone(entry);
      this.#raiseAbsence(rig);
    }
  }

  #raiseAbsence(rig: Pick<PolledRig, "id" | "state">): void {
    const { trouble } = rig.state;
    this.#raise(noticeKeys.disconnected(rig.id), rig, "Disconnected", `Cannot be reached: ${trouble?.message ?? ""}`);
  }

  /** Notifies once until the login is right. */
  #notifyLogin({ facts, rig }: Entry): void {
    const trouble = loginTrouble(rig.state);
    if (trouble === null) {
      if (this.#loginNotified.delete(rig.id))
        this.#options.notices.close(noticeKeys.login(rig.id), "The login is right");
      return;
    }
    const { title, message } = trouble;
    if (this.#loginNotified.get(rig.id) === title) return;
    this.#loginNotified.set(rig.id, title);
    if (facts.demo) return;
    this.#options.log.info({ ...logFields(facts), reason: message }, "the login of a miner is missing or wrong");
    this.#raise(noticeKeys.login(rig.id), rig, title, message);
  }

  #closeAbsence(id: number): void {
    this.#options.notices.close(noticeKeys.disconnected(id), "It answers again");
    this.#options.notices.close(noticeKeys.refused(id), "The right rig answers");
  }

  #refused(rig: PolledRig, message: string): void {
    const facts = this.#entries.get(rig.id)?.facts;
    if (facts !== undefined)
      this.#options.log.info({ ...logFields(facts), reason: message }, "a miner was not taken in");
    this.#raise(noticeKeys.refused(rig.id), rig, "Not taken in", message);
  }

  #raise(key: string, { id: minerId }: Pick<PolledRig, "id">, title: string, message: string): void {
    this.#options.notices.raise({ key, minerId, title, source: "System", message, severity: "warning" });
  }
}

/** Miners whose money is counted in one turn of the event loop: some 5 ms. */
const countedAtOnce = 250;

/** Of all miners that are read, at their intervals. */
function readsPerSecond({ store, poll }: MinerRegistryOptions): number {
  return enabled(store.miners).reduce((sum, { interval }) => sum + 1 / (interval ?? poll.interval), 0);
}

/** What the ledger takes of one of the works of a miner. */
const revenueOf = ({ earnings: { revenuePerDay, revenueBtc }, coinKey, algorithmKey }: MinerWork) => ({
  revenuePerDay,
  revenueBtcPerDay: revenueBtc,
  coin: coinKey,
  algorithm: algorithmKey,
});

/** For the log. Foreign text, such as a rig's name, is in fields, where it cannot pass for a log line. */
const logFields = ({ id, name, host }: MinerFacts) => ({ miner: id, name, address: host.description });

const declaredOf = (
  miner: Row,
  { interval, makersLogins, nameplates }: Config["poll"],
  poolPassword: PoolPassword,
): Omit<Declared, "supply"> => {
  const { program } = miner;
  const address =
    program === undefined ? storedAddress(miner.address) : { host: miner.address, port: null, tls: false };
  const declared = {
    id: miner.id,
    address,
    credentials: {
      username: miner.username ?? undefined,
      password: miner.password ?? undefined,
      token: miner.token ?? undefined,
      makersLogin: makersLogins,
      poolPassword,
    },
    driver: miner.driver,
    uid: miner.uid,
    interval: (miner.interval ?? interval) * 1000,
    powerNameplate: miner.powerNameplate,
    modelNameplate: nameplates,
    offlineExpected: miner.offlineExpected,
    disabled: miner.disabled || (program === undefined && isNoRig(address)),
  };
  return program === undefined ? declared : { ...declared, program };
};

function descriptionOf({ declared: { address, driver, program }, state }: PolledRig): string {
  if (program !== undefined) return address.host;
  const port = address.port ?? drivers.find(({ id }) => id === (driver ?? state.driver))?.ports[0];
  return hostAndPort(address.host, port ?? (address.tls ? 443 : 80));
}

const nameOf = (identity: Identity | null, description: string): string => identity?.hostname ?? description;

/** A miner of which only the address is declared. */
export const blankMiner: Omit<StoredMiner, "address"> = {
  name: null,
  uid: null,
  driver: null,
  groupId: 0,
  username: null,
  password: null,
  token: null,
  interval: null,
  location: { site: null, container: null, rack: null, slot: null },
  tags: [],
  offlineExpected: false,
  powerNameplate: null,
  supply: null,
  power: {},
};

const demoRow = ({ address, ...demo }: DemoMiner, index: number): Stored<StoredMiner> => ({
  ...blankMiner,
  ...demo,
  id: firstDemoId + index,
  tags: ["demo"],
  owner: "file",
  key: null,
  disabled: false,
  address: formatAddress(parseAddress(address)),
});
