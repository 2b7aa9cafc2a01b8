import { type HomeAssistantSettings, homeAssistantSettings, type MqttSettings } from "../../config/mqtt.ts";
import type { Place } from "../../contract/place-operations.ts";
import type { FacilityDeviceState, Group, ManualAction, Miner } from "../../contract/resources.ts";
import type { RigFaults } from "../../farm/index.ts";
import type { Announcer } from "../announcer.ts";
import type { DisplayUnit, MinerWithUid } from "../miner-state.ts";
import type { MqttLink } from "../mqtt-link.ts";
import { byTimer, readRetained, type Schedule } from "../read-retained.ts";
import type { Topics } from "../topics.ts";
import { bridgeConfig } from "./bridge-device.ts";
import type { DeviceConfig } from "./component.ts";
import { curtailmentConfig } from "./curtailment-device.ts";
import {
  bridgeId,
  curtailmentId,
  type DeviceContext,
  deviceConfig,
  facilityId,
  farmId,
  groupId,
  isFacilityId,
  isSiteId,
  minerId,
  siteId,
} from "./device.ts";
import { Discovery } from "./discovery.ts";
import { facilityConfig } from "./facility-device.ts";
import { farmConfig, groupConfig } from "./group-devices.ts";
import { type NamedDevice, objectIdsOf } from "./object-ids.ts";
import { depthOf, maxMiners, placeOf, type Scope, showsGroup, showsMiner, showsMiners, viaOf } from "./scope.ts";
import { siteConfig } from "./site-device.ts";

export interface AnnouncerOptions {
  readonly connection: Pick<MqttLink, "publish" | "subscribe" | "unsubscribe" | "settled" | "isConnected">;
  readonly topics: Topics;
  readonly settings: MqttSettings;
  readonly faults: RigFaults;
  readonly version: string;
  /** Whether the bridge accepts a restart. */
  readonly canRestart?: boolean;
  /** Display currency, "SEK"; absent while it is unknown. */
  readonly currency?: string | undefined;
  /** URL of the service, for people. */
  readonly page?: string | undefined;
  /** Names of the pools that rigs can be switched to besides those they list; null while they are unknown. */
  readonly pools?: () => readonly string[] | null;
  /** Manual rules of the service, as last read. */
  readonly rules?: () => readonly ManualAction[];
  readonly warn?: (message: string) => void;
  /** A device was announced: the uid of its miner, or the id of its group, 0 for the farm. */
  readonly announced?: (device: string | number) => void;
  /** Stale devices have been removed. */
  readonly swept?: () => void;
  readonly schedule?: Schedule;
  readonly delays?: Delays;
}

export interface Delays {
  /** Changes in quick succession are announced once; Home Assistant would otherwise delay the rest of a device. */
  readonly debounceMs: number;
  /** How often an announced device is compared again: a reading rarely changes its shape. */
  readonly recheckMs: number;
  /** After this long without another retained message, all are taken to have arrived. */
  readonly quietMs: number;
  /** How long Home Assistant has to let go of entities when devices change between one message and one per entity. */
  readonly migrateMs: number;
}

const defaultDelays: Delays = { debounceMs: 500, recheckMs: 5000, quietMs: 1000, migrateMs: 2000 };

/** Miners announced per turn of the event loop. */
const batch = 25;

/** Announces miners, groups and the farm to Home Assistant as devices. */
export const announcer = (options: AnnouncerOptions): Announcer => new HomeAssistant(options);

/** The uid of a miner, the id of a group, or the farm. */
type Key = string | number | typeof farm;
const farm = Symbol("farm");

interface Members {
  readonly miners: readonly Miner[];
  readonly display: DisplayUnit | null;
}

interface MinerEntry {
  readonly miner: MinerWithUid;
  readonly display: DisplayUnit | null;
}

interface Farm extends Members {
  /** Miners that are not identified yet. */
  readonly unnamed: number;
}

interface GroupEntry extends Members {
  readonly group: Group;
}

/**
 * Publishes nothing until it has read the retained messages of earlier runs and knows how many miners there are:
 * entities whose values a rig does not report now stay, and devices that no longer exist are removed.
 */
class HomeAssistant implements Announcer {
  readonly #options: AnnouncerOptions;
  readonly #settings: HomeAssistantSettings;
  readonly #delays: Delays;
  readonly #schedule: Schedule;
  readonly #discovery: Discovery;
  readonly #miners = new Map<string, MinerEntry>();
  readonly #groups = new Map<number, GroupEntry>();
  #farm: Farm | null = null;
  /** Null before they are known. */
  #facility: readonly FacilityDeviceState[] | null = null;
  /** Null before they are known. */
  #sites: readonly Place[] | null = null;
  /** Facility devices and sites may have changed: both are announced together. */
  #areOthersChanged = false;
  /** New devices, and those that may have changed. */
  readonly #changed = new Set<Key>();
  /** Announced devices that may have changed; lower priority. */
  readonly #toRecheck = new Set<Key>();
  readonly #announced = new Set<Key>();
  /** Null: to be rebuilt, because a name has changed. */
  #objectIds: ReadonlyMap<string, string> | null = null;
  #hasReadRetained = false;
  #isSwept = false;
  #endReading: () => void;
  #cancelSweep: (() => void) | null = null;
  #cancelFlush: (() => void) | null = null;
  #cancelRecheck: (() => void) | null = null;

  constructor(options: AnnouncerOptions) {
    this.#options = options;
    this.#settings = homeAssistantSettings(options.settings);
    this.#delays = options.delays ?? defaultDelays;
    this.#schedule = options.schedule ?? byTimer;
    this.#discovery = new Discovery({
      connection: options.connection,
      settings: this.#settings,
      schedule: this.#schedule,
      migrateMs: this.#delays.migrateMs,
    });
    this.#endReading = this.#readRetained();
  }

  miner(miner: MinerWithUid, display: DisplayUnit | null): void {
    const { uid } = miner;
    const previous = this.#miners.get(uid)?.miner;
    this.#miners.set(uid, { miner, display });
    if (previous?.name !== miner.name) this.#objectIds = null;
    // A user's change is announced at once.
    if (previous?.name !== miner.name || previous.groupId !== miner.groupId) this.#announced.delete(uid);
    if (this.#isReady && this.#announced.has(uid) && this.#isBeyondRange(uid, miner))
      this.#announceSafely({ miner, display }, this.#scope, this.#context);
    else this.#markChanged(uid);
  }

  group(group: Group, miners: readonly Miner[], display: DisplayUnit | null): void {
    const previous = this.#groups.get(group.id)?.group;
    this.#groups.set(group.id, { group, miners, display });
    if (previous?.name !== group.name) this.#objectIds = null;
    if (previous?.name !== group.name || previous.parentId !== group.parentId || previous.room !== group.room)
      this.#markAllChanged();
    this.#markChanged(group.id);
  }

  farm(miners: readonly Miner[], display: DisplayUnit | null, unnamed = 0): void {
    const isFirst = this.#farm === null;
    const showed = showsMiners(this.#scope);
    this.#farm = { miners, display, unnamed };
    const shows = showsMiners(this.#scope);
    if (!shows && (isFirst || showed)) this.#options.warn?.(tooMany(this.#scope));
    if (isFirst || showed !== shows) this.#markAllChanged();
    this.#markChanged(farm);
    if (!this.#isSwept && this.#cancelSweep === null) this.#sweepSoon();
  }

  facility(devices: readonly FacilityDeviceState[]): void {
    const namesOf = (all: readonly FacilityDeviceState[] | null) =>
      JSON.stringify(all?.map(({ key, name }) => [key, name]));
    if (namesOf(this.#facility) !== namesOf(devices)) this.#objectIds = null;
    this.#facility = devices;
    // What has not changed is not published again.
    this.#areOthersChanged = true;
    this.#flushSoon();
  }

  sites(sites: readonly Place[]): void {
    const namesOf = (all: readonly Place[] | null) => JSON.stringify(all?.map(({ uid, name }) => [uid, name]));
    if (namesOf(this.#sites) === namesOf(sites)) return;
    this.#objectIds = null;
    this.#sites = sites;
    this.#areOthersChanged = true;
    this.#flushSoon();
  }

  minerRemoved(uid: string): void {
    this.#miners.delete(uid);
    this.#objectIds = null;
    this.#forget(uid);
    this.#discovery.publish(minerId(this.#base, uid), null);
  }

  groupRemoved(id: number): void {
    this.#groups.delete(id);
    this.#objectIds = null;
    this.#forget(id);
    this.#discovery.publish(groupId(this.#base, id), null);
    this.#markAllChanged();
  }

  reannounce(): void {
    this.#discovery.doubt();
    this.#markAllChanged(0);
  }

  reread(): void {
    if (!this.#hasReadRetained) return;
    this.#hasReadRetained = false;
    this.#isSwept = false;
    this.#cancelSweep?.();
    this.#cancelSweep = null;
    this.#endReading = this.#readRetained();
  }

  close(): void {
    this.#endReading();
    this.#cancelSweep?.();
    this.#cancelFlush?.();
    this.#cancelRecheck?.();
    this.#discovery.close();
  }

  get #base(): string {
    return this.#options.settings.base;
  }

  get #scope(): Scope {
    const groups = new Map([...this.#groups].map(([id, { group }]) => [id, group]));
    const { miners, unnamed } = this.#farm ?? { miners: [], unnamed: 0 };
    return {
      settings: this.#settings,
      groups,
      count: miners.length + unnamed,
      isAnnounced: (uid) => this.#discovery.has(minerId(this.#base, uid)),
    };
  }

  get #context(): DeviceContext {
    const { topics, version, currency, pools, page } = this.#options;
    return {
      base: this.#base,
      topics,
      version,
      currency: currency ?? null,
      pools: pools === undefined ? [] : pools(),
      detail: this.#settings.detail === "all",
      farmName: this.#settings.farmName,
      rules: this.#options.rules?.() ?? [],
      ...(page === undefined ? {} : { page }),
      objectIds: this.#idsOfNames(),
    };
  }

  /** For devices with the same name, a miner precedes a group, and an older device a newer one. */
  #idsOfNames(): ReadonlyMap<string, string> {
    if (this.#objectIds !== null) return this.#objectIds;
    const base = this.#base;
    const miners = [...this.#miners.values()].map(({ miner }) => miner).sort((a, b) => a.id - b.id);
    const groups = [...this.#groups.values()].map(({ group }) => group).sort((a, b) => a.id - b.id);
    this.#objectIds = objectIdsOf([
      ...miners.map(({ uid, name }): NamedDevice => ({ id: minerId(base, uid), kind: "miner", key: uid, name })),
      ...groups.map(({ id, name }): NamedDevice => ({ id: groupId(base, id), kind: "group", key: `${id}`, name })),
      { id: farmId(base), kind: "farm", key: base, name: this.#settings.farmName },
      ...(this.#facility ?? []).map(
        ({ key, name }): NamedDevice => ({ id: facilityId(base, key), kind: "facility", key, name }),
      ),
      ...(this.#sites ?? []).map(
        ({ uid, name }): NamedDevice => ({ id: siteId(base, uid), kind: "site", key: uid, name }),
      ),
    ]);
    return this.#objectIds;
  }

  /** Reads retained messages of earlier runs. Returns a function that ends the reading. */
  #readRetained(): () => void {
    const { connection, topics } = this.#options;
    return readRetained({
      connection,
      filters: this.#discovery.filters,
      quietMs: this.#delays.quietMs,
      schedule: this.#schedule,
      receive: (message) => this.#discovery.adopt(message, topics.state),
      done: () => {
        this.#hasReadRetained = true;
        this.#flushSoon();
        this.#sweepSoon();
      },
    });
  }

  #markChanged(key: Key): void {
    if (!this.#announced.has(key)) {
      this.#changed.add(key);
      this.#flushSoon();
      return;
    }
    this.#toRecheck.add(key);
    this.#cancelRecheck ??= this.#schedule(() => {
      this.#cancelRecheck = null;
      for (const each of this.#toRecheck) this.#changed.add(each);
      this.#flushSoon();
    }, this.#delays.recheckMs);
  }

  #forget(key: Key): void {
    for (const keys of [this.#changed, this.#toRecheck, this.#announced]) keys.delete(key);
  }

  #markAllChanged(ms?: number): void {
    if (this.#farm !== null) this.#changed.add(farm);
    for (const id of this.#groups.keys()) this.#changed.add(id);
    for (const uid of this.#miners.keys()) this.#changed.add(uid);
    this.#areOthersChanged = true;
    this.#flushSoon(ms);
  }

  get #isReady(): boolean {
    return this.#hasReadRetained && this.#farm !== null;
  }

  #flushSoon(ms = this.#delays.debounceMs): void {
    if (!this.#isReady || this.#cancelFlush !== null) return;
    this.#cancelFlush = this.#schedule(() => {
      this.#cancelFlush = null;
      this.#flush();
      if (this.#changed.size > 0) this.#flushSoon(0);
    }, ms);
  }

  /** Devices through which others are connected come first. */
  #flush(): void {
    const [scope, context] = [this.#scope, this.#context];
    if (this.#startAnnouncing(farm)) this.#announceFarm(context);
    if (this.#areOthersChanged) this.#announceOthers(context);
    const groups = [...this.#groups.values()].filter(({ group }) => this.#startAnnouncing(group.id));
    groups.sort((a, b) => depthOf(scope, a.group) - depthOf(scope, b.group));
    for (const group of groups) this.#announceGroup(group, scope, context);
    let left = batch;
    for (const key of this.#changed) {
      if (left === 0) break;
      left -= 1;
      const miner = typeof key === "string" ? this.#miners.get(key) : undefined;
      if (this.#startAnnouncing(key) && miner !== undefined) this.#announceSafely(miner, scope, context);
    }
  }

  /** Whether a value lies outside its announced range, for which Home Assistant would log an error. */
  #isBeyondRange(uid: string, { controls }: Miner): boolean {
    const previous = this.#discovery.previous(minerId(this.#base, uid));
    return controls.some(({ key, kind, value }) => {
      const range = kind === "range" && typeof value === "number" ? previous.range(key) : null;
      return range !== null && (Number(value) < range.min || Number(value) > range.max);
    });
  }

  /** Whether this device is to be announced; if so, it counts as announced. */
  #startAnnouncing(key: Key): boolean {
    this.#toRecheck.delete(key);
    if (!this.#changed.delete(key)) return false;
    this.#announced.add(key);
    return true;
  }

  #announceFarm(context: DeviceContext): void {
    if (this.#farm === null) return;
    const { miners, display } = this.#farm;
    const id = farmId(this.#base);
    this.#publish(0, id, farmConfig(miners, display, this.#discovery.previous(id), context));
    const { settings, canRestart = false } = this.#options;
    this.#discovery.publish(bridgeId(this.#base), bridgeConfig({ canCommand: settings.requests, canRestart }, context));
    if (settings.curtailment) this.#discovery.publish(curtailmentId(this.#base), curtailmentConfig(context));
  }

  /** Announces facility devices and sites, and removes those that no longer exist, once they are known. */
  #announceOthers(context: DeviceContext): void {
    this.#areOthersChanged = false;
    const base = this.#base;
    const configs = new Map([
      ...(this.#facility ?? []).map((each) => {
        const id = facilityId(base, each.key);
        return [id, facilityConfig(each, this.#discovery.previous(id), context)] as const;
      }),
      ...(this.#sites ?? []).map((each) => [siteId(base, each.uid), siteConfig(each, context)] as const),
    ]);
    for (const id of this.#discovery.ids) {
      const isKnown = isFacilityId(base, id) ? this.#facility !== null : isSiteId(base, id) && this.#sites !== null;
      if (isKnown && !configs.has(id)) this.#discovery.publish(id, null);
    }
    for (const [id, config] of configs) this.#discovery.publish(id, config);
  }

  #announceGroup({ group, miners, display }: GroupEntry, scope: Scope, context: DeviceContext): void {
    const id = groupId(this.#base, group.id);
    const via = viaOf(scope, group, this.#base);
    const config = () => groupConfig(group, miners, display, via, this.#discovery.previous(id), context);
    this.#publish(group.id, id, showsGroup(scope, group) ? config() : null);
  }

  #announceSafely(entry: MinerEntry, scope: Scope, context: DeviceContext): void {
    this.#options.faults.run(
      `${entry.miner.id} in Home Assistant`,
      () => this.#announceMiner(entry, scope, context),
      () => undefined,
    );
  }

  #announceMiner({ miner, display }: MinerEntry, scope: Scope, context: DeviceContext): void {
    const id = minerId(this.#base, miner.uid);
    const place = placeOf(scope, miner, this.#base);
    const config = () => deviceConfig(miner, display, place, this.#discovery.previous(id), context);
    this.#publish(miner.uid, id, showsMiner(scope, miner) ? config() : null);
  }

  #publish(device: string | number, id: string, config: DeviceConfig | null): void {
    this.#discovery.publish(id, config, () => this.#options.announced?.(device));
  }

  #sweepSoon(): void {
    if (!this.#isReady || this.#isSwept || this.#farm?.unnamed !== 0) return;
    this.#cancelSweep?.();
    this.#cancelSweep = this.#schedule(() => this.#sweep(), this.#delays.quietMs + this.#delays.debounceMs);
  }

  /** Removes devices of an earlier run that no longer exist. */
  #sweep(): void {
    this.#cancelSweep = null;
    if (this.#farm?.unnamed !== 0) return;
    this.#isSwept = true;
    const scope = this.#scope;
    const groups = [...this.#groups.values()].map(({ group }) => group).filter((group) => showsGroup(scope, group));
    const miners = [...(this.#farm?.miners ?? []), ...[...this.#miners.values()].map(({ miner }) => miner)];
    const included = miners.filter((miner) => showsMiner(scope, miner));
    const current = new Set([
      farmId(this.#base),
      bridgeId(this.#base),
      ...(this.#options.settings.curtailment ? [curtailmentId(this.#base)] : []),
      ...groups.map(({ id }) => groupId(this.#base, id)),
      ...included.flatMap(({ uid }) => (uid === null ? [] : [minerId(this.#base, uid)])),
    ]);
    // Facility devices and sites are removed once they are known.
    const isOther = (id: string): boolean => isFacilityId(this.#base, id) || isSiteId(this.#base, id);
    for (const id of this.#discovery.ids) if (!current.has(id) && !isOther(id)) this.#discovery.publish(id, null);
    this.#options.swept?.();
  }
}

const tooMany = ({ settings, count }: Scope): string =>
  settings.miners === false
    ? "Home Assistant gets only groups and the farm, because mqtt.homeAssistant.miners is false"
    : `Home Assistant gets groups, the farm and only the miners that it has already, because ${count} miners are more than ${maxMiners}; set mqtt.homeAssistant.miners to true to announce each miner`;
