import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import type { OwnTopics } from "../../config/plug-topics.ts";
import type { MinerEvent } from "../../contract/events.ts";
import type { Messages } from "../../contract/messages.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Miner } from "../../contract/resources.ts";
import type { WorkerHealth } from "../../contract/service.ts";
import type { FleetOptions } from "../../fleet/fleet.ts";
import type { PolledRig } from "../../fleet/poller.ts";
import type { MovingPoller } from "../../fleet/workers/moving-poller.ts";
import { formatAddress, isNoRig, isSameAddress, storedAddress } from "../../link/address.ts";
import type { Outlets } from "../../link/plugs/plug.ts";
import type { HostPrograms, ProgramHosts } from "../../link/programs/host-program.ts";
import { detail } from "../../messages/detail.ts";
import { allMiners, type Store, type Stored, type StoredMiner } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import type { Ledger } from "../money/ledger.ts";
import { walkGroups } from "../nested-groups.ts";
import type { FarmNotices } from "../notifications/notices.ts";
import { nowhere, type PlaceBook } from "../places/place-book.ts";
import type { Placement } from "../places/placing.ts";
import type { Sections } from "../settings/live-settings.ts";
import type { Access } from "../users/access.ts";
import {
  declaredOf,
  descriptionOf,
  isDemo,
  type ManagedRow,
  minerFields,
  nameOf,
  type Row,
  readSettingsOf,
} from "./declared-miner.ts";
import { flatSections, minersInSections, sectionsOf, visibleSections } from "./groups.ts";
import { defaultPlacement, withDefaults } from "./miner-defaults.ts";
import { type DisplayEvents, MinerDisplay } from "./miner-display.ts";
import { type Entry, MinerEntries } from "./miner-entries.ts";
import type { GroupSection } from "./miner-json-cache.ts";
import { MinerMemory } from "./miner-memory.ts";
import { openPoller, threadsFail, workersOf } from "./open-poller.ts";
import { type OutletNaming, PlugOwners } from "./plug-owners.ts";
import type { PowerControl } from "./power-control.ts";
import { MinerPresence } from "./presence.ts";
import type { MinerFacts, Presentation } from "./present-miner.ts";
import { type ReadingListener, ReadingWatch } from "./reading-watch.ts";
import { MinerReadings, type ReadingRecorder } from "./readings.ts";
import { repairOf, saveRepair } from "./repairs.ts";

/** The managed miners, which are stored elsewhere. */
export interface ManagedRows {
  rows(): readonly ManagedRow[];
  isManaged(minerId: number): boolean;
  /** The managed miner whose API is at this address. */
  minerAt(host: string, port: number | null): number | undefined;
  readonly programs: HostPrograms;
  readonly hosts: ProgramHosts;
  /** The host with this name in the same group, so that every user who may act on a miner also sees its host. */
  hostOf(name: string, groupId: number): number | undefined;
}

/** Receives the events of miners. */
export interface MinerEvents extends DisplayEvents {
  minerRemoved(miner: Pick<Miner, "id" | "uid" | "groupId">): void;
  minerEvent(event: MinerEvent): void;
}

export interface MinerRegistryOptions {
  readonly store: Store;
  /** Stores the data of demo miners until the process ends. */
  readonly demoStore: Store;
  readonly settings: Sections<"poll" | "display" | "logins" | "defaults">;
  readonly ownTopics: () => OwnTopics;
  readonly outletNaming: OutletNaming;
  /** The outlets of PDUs. */
  readonly outlets: Outlets;
  readonly now: () => number;
  /** Used by the fleet. */
  readonly monotonicNow: (() => number) | undefined;
  readonly presentation: Presentation;
  readonly recorderOf: (minerId: number) => ReadingRecorder;
  readonly events: MinerEvents;
  /** Up to this many simultaneous changes get an event each; beyond it, subscribers read the list again. */
  readonly singleEvents: number;
  readonly power: PowerControl;
  /** Adds up what a miner earns and costs. */
  readonly ledgerOf: (minerId: number) => Pick<Ledger, "isDue" | "take" | "forget">;
  /** The number of a miner's open notifications. */
  readonly alarmsOf: (minerId: number) => number;
  readonly messages: Messages;
  readonly managed: ManagedRows;
  readonly places: PlaceBook;
  readonly notices: Pick<FarmNotices, "raise" | "close" | "closeMiner" | "setWarning">;
  readonly log: Logger;
}

/**
 * Declared miners, and their rigs in the fleet. Reads go to `readings` and `presence`; the API's view is in `display`.
 */
export class MinerRegistry extends MinerEntries {
  readonly fleet: MovingPoller;
  readonly display: MinerDisplay;
  readonly presence: MinerPresence;
  readonly readings: MinerReadings;
  readonly #options: MinerRegistryOptions;
  readonly #byAddress = new Map<string, number>();
  #addressesAt = 0;
  readonly #plugs: PlugOwners;
  readonly #watch: ReadingWatch;
  readonly #memory: MinerMemory;

  constructor(options: MinerRegistryOptions) {
    super();
    this.#options = options;
    const isShared = (called: string, id: number): boolean =>
      options.store.miners
        .all()
        .some((other) => other.id !== id && !other.disabled && (other.name === called || other.uid === called));
    this.#plugs = new PlugOwners(options.ownTopics, options.outletNaming, isShared, options.log);
    this.#watch = new ReadingWatch(options.log, (watched) => this.fleet.watchKeys(watched));
    const storeOf = (id: number): Store => this.#storeOf(id);
    this.#memory = new MinerMemory({
      entries: this,
      isManaged: (id) => this.isManaged(id),
      storeOf,
      log: options.log,
    });
    this.display = new MinerDisplay({
      ...options,
      entries: this,
      storeOf,
      sectionsFor: (sections, access) => this.#listedSections(sections, access),
      energyOf: (id) => options.recorderOf(id).energyOf(id),
      monotonicNow: options.monotonicNow ?? (() => performance.now()),
    });
    this.presence = new MinerPresence({ ...options, entries: this });
    this.readings = new MinerReadings({
      ...options,
      entries: this,
      replace: (entry) => void this.entries.set(entry.facts.id, entry),
      display: this.display,
      presence: this.presence,
      watch: this.#watch,
    });
    const pollerOptions: Omit<FleetOptions, "timeout"> = {
      now: options.now,
      monotonicNow: options.monotonicNow,
      messages: options.messages,
      outlets: options.outlets,
      programs: options.managed.programs,
      hosts: options.managed.hosts,
      remember: (id, remembered) => this.#memory.remember(id, remembered),
      listener: {
        read: (rig, changed, before, keys) => this.readings.read(rig, changed, before, keys),
        disconnected: (rig, isKnown) => this.presence.disconnected(rig, isKnown),
        refused: (rig, message) => this.presence.refused(rig, message),
        failed: (rig, error) => this.readings.failed(rig, error),
      },
    };
    this.fleet = openPoller(pollerOptions, options);
  }

  /** Takes in all miners of the store. */
  start(): void {
    this.#plugs.assignAll(enabled(this.#options.store.miners));
    for (const miner of this.#options.managed.rows()) this.display.mark(this.#take(miner), true);
    for (const miner of this.#declaredOnce()) this.display.mark(this.#take(miner), true);
    this.presence.start();
    this.arrange();
  }

  /** Takes in what the configuration file says now, as a start would; call `arrange` after it. */
  follow(): void {
    const miners = this.#declaredOnce();
    const kept = new Set(miners.map(({ id }) => id));
    for (const id of [...this.entries.keys()])
      if (!kept.has(id) && !this.isManaged(id)) this.#takeOut(id, "The miner is no longer declared");
    for (const miner of miners) this.put(miner);
  }

  /** The miners of the store, without those whose address another has. */
  #declaredOnce(): Stored<StoredMiner>[] {
    const addresses = new Map<string, number>();
    return enabled(this.#options.store.miners).filter(({ id, address }) => {
      const isFirst = !addresses.has(address);
      if (isFirst) addresses.set(address, id);
      else this.#options.log.warn(`miner ${id} is left out: ${address} is declared twice`);
      return isFirst;
    });
  }

  /** Changes whenever a miner is added or removed, or its address or plug changes. */
  get addressesAt(): number {
    return this.#addressesAt;
  }

  /** Throws `address.known` if another miner has this address; the error names it only if the caller sees it. */
  checkAddress(address: string, id: number | null, access: Access): void {
    // A miner that is being added is in the store, but not here yet.
    const stored = enabled(this.#options.store.miners).find((each) => each.address === address)?.id;
    this.refuseHolder(address, stored, id, access);
  }

  /** Like `checkAddress`, for a caller that knows which miner of the store has the address. */
  refuseHolder(address: string, stored: number | undefined, id: number | null, access: Access): void {
    const { host, port } = storedAddress(address);
    const other = this.#byAddress.get(address) ?? this.#options.managed.minerAt(host, port) ?? stored;
    if (other !== undefined && other !== id)
      throw new RigbridgeError(
        "address.known",
        detail("rig.addressKnown", { address, miner: this.nameFor(other, access) }),
      );
  }

  /** Adds or updates a miner; call `arrange` after it. */
  put(miner: Row): void {
    const before = this.entries.get(miner.id)?.facts.groupId ?? null;
    const entry = this.#take(miner);
    if (before === null) this.#options.log.info({ ...minerFields(entry.facts) }, "a miner was added");
    this.display.mark(entry, true, before);
  }

  /** Puts a miner in repair, or changes the note of its repair; null ends it. */
  async setRepair(id: number, note: string | null): Promise<void> {
    const { repair: before } = this.entry(id).facts;
    const store = this.#storeOf(id);
    await saveRepair(store.repairs, id, note, this.#options.now());
    const entry = this.entry(id);
    const changed = { ...entry, facts: { ...entry.facts, repair: repairOf(store.repairs, id) } };
    this.entries.set(id, changed);
    this.display.mark(changed, true);
    if (before === null && note !== null) this.presence.repairBegan(id);
    if (before !== null && note === null) this.presence.repairEnded(changed);
  }

  async remove(id: number): Promise<void> {
    // Synchronous, so that no list contains a half-removed miner.
    this.#takeOut(id, "The miner was removed");
    this.arrange();
    this.#options.recorderOf(id).forget(id);
    await this.#options.ledgerOf(id).forget(id);
    const store = this.#storeOf(id);
    await saveRepair(store.repairs, id, null, this.#options.now());
    await store.memory.forget(id);
    await store.activePools.forget(id);
    await store.samples.forget(id);
    await store.power.forget(id);
  }

  /** Its history stays. */
  #takeOut(id: number, why: string): void {
    const { facts, rig } = this.entry(id);
    this.#drop(id);
    this.display.remove(id);
    this.#options.events.minerRemoved({ id, uid: rig.state.uid, groupId: facts.groupId });
    if (!facts.demo) this.#options.log.info({ ...minerFields(facts) }, "a miner was removed");
    this.#options.notices.closeMiner(id, why);
  }

  /** Removes all demo miners and their share of the farm's history. */
  async removeDemos(): Promise<void> {
    const { store, demoStore } = this.#options;
    for (const { id } of demoStore.miners.all()) {
      await store.miners.remove(id);
      if (this.entries.has(id)) await this.remove(id);
    }
    for (const { id } of [{ id: allMiners }, { id: 0 }, ...demoStore.groups.all()])
      await demoStore.farmSamples.forget(id);
  }

  /** Call it when groups or their miners have changed. */
  arrange(): void {
    this.display.jsonCache.arrange(this.sections());
  }

  /** All groups with their miners, nested. */
  sections(): GroupSection[] {
    const members = [...this.entries.values()].map(({ facts }) => facts);
    return sectionsOf(enabled(this.#options.store.groups), members);
  }

  /** The groups as the list shows them to this access. */
  sectionsFor(access: Access): GroupSection[] {
    return this.#listedSections(this.sections(), access);
  }

  /** The miners of a group and its subgroups; for 0, those in no group. */
  minersInGroup(id: number): number[] {
    for (const { group } of walkGroups(this.sections())) if (group.id === id) return minersInSections([group]);
    return [];
  }

  #listedSections(sections: readonly GroupSection[], access: Access): GroupSection[] {
    const visible = visibleSections(sections, access);
    return this.#options.settings.display.groups === "flat" ? flatSections(visible) : visible;
  }

  /**
   * Calls the listener with the miners whose readings changed, and the changed keys. Returns a function that ends it.
   */
  watchReadings(listener: ReadingListener): () => void {
    return this.#watch.watch(listener);
  }

  /** The display of every miner may have changed, because pools or coins have. */
  changeAll(): void {
    this.fleet.refreshLogins();
    this.display.changeAll();
  }

  /** Reads every rig as the settings say now. */
  adjust(): void {
    const { store, settings, managed } = this.#options;
    for (const miner of [...enabled(store.miners), ...managed.rows()])
      this.fleet.adjust(miner.id, readSettingsOf(this.#complete(miner), settings.poll));
    if (this.fleet.use(workersOf(this.#options))) this.#options.notices.setWarning(threadsFail, null);
  }

  /** The health of each worker thread that reads rigs. */
  workers(): readonly WorkerHealth[] {
    return this.fleet.health();
  }

  /** Stops polling, after counting the last readings. */
  close(): Promise<void> {
    this.readings.countMoneyNow();
    return this.fleet.close();
  }

  /**
   * Shows the miners in these places, which have changed, and those that have another place by their defaults again; call
   * `arrange` after it.
   */
  renewPlaced(placeIds: ReadonlySet<number>): void {
    for (const { facts } of [...this.entries.values()]) {
      const miner = this.#options.store.miners.get(facts.id);
      if (miner === undefined) continue;
      const { placeId } = this.#complete(miner);
      if (placeId !== facts.placeId || (placeId !== null && placeIds.has(placeId))) this.put(miner);
    }
  }

  /** Applies the logins and defaults of the settings, and where groups lie, to all miners; call `arrange` after it. */
  renew(): void {
    for (const miner of enabled(this.#options.store.miners)) this.put(miner);
  }

  /** Where the defaults put a miner that is being added, unless it gets a place of its own. */
  defaultPlacement(miner: Pick<Row, "address" | "groupId">): Placement {
    const { settings, store, places } = this.#options;
    return defaultPlacement(miner, settings.defaults, store.groups, places);
  }

  #complete(miner: Row): Row {
    const { settings, store, places } = this.#options;
    return withDefaults(miner, settings.defaults, store.groups, places);
  }

  #take(stored: Row): Entry {
    const miner = this.#complete(stored);
    const { presentation, settings } = this.#options;
    const rigBefore = this.entries.get(miner.id)?.rig;
    // Reuses the function, so that an unchanged declaration equals the previous one.
    const poolPassword = rigBefore?.declared.credentials.poolPassword ?? presentation.pools.passwordsFor(miner.id);
    const own = declaredOf(miner, settings, poolPassword);
    const isAlone = miner.program !== undefined || isDemo(miner.id);
    const hostId = isAlone ? undefined : this.#options.managed.hostOf(own.address.host, miner.groupId);
    const knownUid = rigBefore?.state.uid ?? this.#memory.of(miner.id, false).uid;
    // A managed miner is a program, and its host has the plug.
    const supply = miner.program === undefined ? this.#plugs.supplyOf(miner, knownUid) : null;
    const declared = { ...own, supply, ...(hostId === undefined ? {} : { hostId }) };
    const isUnchanged = rigBefore !== undefined && isDeepStrictEqual(rigBefore.declared, declared);
    if (!isUnchanged) this.#drop(miner.id);
    this.#plugs.take(declared.supply, miner.id);
    const moves =
      rigBefore !== undefined &&
      (!isSameAddress(rigBefore.declared.address, declared.address) ||
        rigBefore.declared.program?.software !== declared.program?.software);
    // A change that does not concern the connection, such as a name, affects neither readings nor commands.
    const rig = isUnchanged ? rigBefore : this.fleet.put(declared, this.#memory.of(miner.id, moves));
    const entry = { facts: this.#factsOf(miner, rig), rig };
    if (isNoRig(declared.address) && miner.program === undefined && !isUnchanged)
      this.#options.log.warn(`Miner ${miner.id} is not read: nothing is ever sent to ${miner.address}`);
    this.entries.set(miner.id, entry);
    if (!isUnchanged) this.#addressesAt += 1;
    // Several managed miners may share one host.
    if (miner.program === undefined) this.#byAddress.set(miner.address, miner.id);
    return entry;
  }

  #drop(id: number): void {
    const entry = this.entries.get(id);
    if (entry === undefined) return;
    this.#addressesAt += 1;
    this.#plugs.release(id);
    this.fleet.remove(id);
    this.entries.delete(id);
    this.display.recovered(id);
    this.presence.forget(id);
    const address = formatAddress(entry.rig.declared.address);
    // Two miners may have swapped their addresses.
    if (this.#byAddress.get(address) === id) this.#byAddress.delete(address);
  }

  isManaged(id: number): boolean {
    return this.#options.managed.isManaged(id);
  }

  #factsOf(miner: Row, rig: PolledRig): MinerFacts {
    const description = descriptionOf(rig);
    const group = this.#options.store.groups.get(miner.groupId);
    const place = this.#options.places.get(miner.placeId);
    return {
      id: miner.id,
      named: miner.name !== null,
      demo: isDemo(miner.id),
      name: miner.name ?? nameOf(rig.state.identity, description),
      // A group that was removed from the configuration file is ignored.
      groupId: group?.disabled === false ? miner.groupId : 0,
      location: { ...(place?.location ?? nowhere), slot: miner.slot },
      placeId: place?.row.id ?? null,
      position: place === undefined ? null : miner.position,
      tags: miner.tags,
      repair: repairOf(this.#storeOf(miner.id).repairs, miner.id),
      host: { name: rig.declared.address.host, description },
    };
  }

  #storeOf(id: number): Store {
    return isDemo(id) ? this.#options.demoStore : this.#options.store;
  }
}
