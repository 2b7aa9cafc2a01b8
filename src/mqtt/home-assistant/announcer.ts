import { HomeAssistantSettings, type MqttSettings } from "../../config/mqtt.ts";
import type { Group, Miner, Summary } from "../../contract/resources.ts";
import type { RigFaults } from "../../farm/index.ts";
import type { Announcer } from "../announcer.ts";
import type { DisplayUnit } from "../miner-state.ts";
import type { MqttLink } from "../mqtt-link.ts";
import type { Topics } from "../topics.ts";
import { type DeviceContext, deviceConfig, farmId, groupId, type KnownMiner, minerId } from "./device.ts";
import { Discovery } from "./discovery.ts";
import { farmConfig, groupConfig } from "./group-devices.ts";
import { depthOf, minersAtMost, placeOf, type Scope, showsGroup, showsMiner, showsMiners, viaOf } from "./scope.ts";

export interface AnnouncerOptions {
  readonly connection: Pick<MqttLink, "publish" | "subscribe" | "unsubscribe" | "connected">;
  readonly topics: Topics;
  readonly settings: MqttSettings;
  readonly faults: RigFaults;
  /** Of Rigbridge. */
  readonly version: string;
  /** Display currency, "SEK"; absent while it is not known. */
  readonly currency?: string | undefined;
  /** Names of the pools that rigs can be sent to, beside those that they list; null while they are not known. */
  readonly pools?: () => readonly string[] | null;
  /** Told what a user should know. */
  readonly warn?: (message: string) => void;
  readonly after?: After;
  readonly delays?: Delays;
}

/** Does something once after so many ms, unless it is called off. */
export type After = (work: () => void, ms: number) => () => void;

/** ms. */
export interface Delays {
  /** What changes in quick succession is announced once; Home Assistant would put off the rest of a device otherwise. */
  readonly together: number;
  /** Each reading may bring another shape of what is announced already, and hardly ever does. */
  readonly again: number;
  /** How long nothing more has come that the broker had kept, until that is taken for all. */
  readonly quiet: number;
}

const usualDelays: Delays = { together: 500, again: 5000, quiet: 1000 };

/** Miners at a time, so that others have their turn. */
const batch = 25;

const byTimer: After = (work, ms) => {
  const timer = setTimeout(work, ms).unref();
  return () => clearTimeout(timer);
};

/** Makes miners, groups and the farm known to Home Assistant, as devices. */
export const announcer = (options: AnnouncerOptions): Announcer => new HomeAssistant(options);

/** The uid of a miner, the id of a group, or the farm. */
type Key = string | number | typeof farm;
const farm = Symbol("farm");

interface Members {
  readonly miners: readonly Miner[];
  readonly display: DisplayUnit | null;
}

interface ShownMiner {
  readonly miner: KnownMiner;
  readonly display: DisplayUnit | null;
}

interface ShownGroup extends Members {
  readonly group: Group;
}

/**
 * Nothing is published before it is known what the broker has kept of an earlier run, and how many miners there are:
 * entities that a rig does not show just now stay, and devices that are no more are taken away.
 */
class HomeAssistant implements Announcer {
  readonly #options: AnnouncerOptions;
  readonly #settings: HomeAssistantSettings;
  readonly #delays: Delays;
  readonly #after: After;
  readonly #discovery: Discovery;
  readonly #miners = new Map<string, ShownMiner>();
  readonly #groups = new Map<number, ShownGroup>();
  #farm: Members | null = null;
  /** uids of the miners, ids of the groups and `farm` that are to be said, or may have changed. */
  readonly #changed = new Set<Key>();
  /** Those of which somebody has heard, that may have changed and need no haste. */
  readonly #perhaps = new Set<Key>();
  readonly #announced = new Set<Key>();
  /** All that the broker had kept has come. */
  #heard = false;
  #isSwept = false;
  #cancelQuiet = (): void => {};
  #cancelSweep = (): void => {};
  #cancelFlush: (() => void) | null = null;
  #cancelLook: (() => void) | null = null;

  constructor(options: AnnouncerOptions) {
    const { homeAssistant } = options.settings;
    this.#options = options;
    this.#settings = typeof homeAssistant === "boolean" ? HomeAssistantSettings.parse({}) : homeAssistant;
    this.#delays = options.delays ?? usualDelays;
    this.#after = options.after ?? byTimer;
    this.#discovery = new Discovery(options.connection, this.#settings.prefix);
    this.#listen();
  }

  miner(miner: Miner, display: DisplayUnit | null): void {
    const { uid } = miner;
    if (uid === null) return;
    const before = this.#miners.get(uid)?.miner;
    this.#miners.set(uid, { miner: { ...miner, uid }, display });
    // What a person has changed is shown at once.
    if (before?.name !== miner.name || before.groupId !== miner.groupId) this.#announced.delete(uid);
    this.#touch(uid);
  }

  group(group: Group, miners: readonly Miner[], display: DisplayUnit | null): void {
    const before = this.#groups.get(group.id)?.group;
    this.#groups.set(group.id, { group, miners, display });
    if (before?.name !== group.name || before.parentId !== group.parentId) this.#touchAll();
    this.#touch(group.id);
  }

  farm(_: Summary | null, miners: readonly Miner[], display: DisplayUnit | null): void {
    const isFirst = this.#farm === null;
    const shown = showsMiners(this.#scope);
    this.#farm = { miners, display };
    const shows = showsMiners(this.#scope);
    if (!shows && (isFirst || shown)) this.#options.warn?.(tooMany(miners.length, this.#settings));
    if (isFirst || shown !== shows) this.#touchAll();
    this.#touch(farm);
    if (isFirst) this.#sweepSoon();
  }

  gone(uid: string): void {
    this.#miners.delete(uid);
    this.#forget(uid);
    this.#discovery.publish(minerId(this.#base, uid), null);
  }

  groupGone(id: number): void {
    this.#groups.delete(id);
    this.#forget(id);
    this.#discovery.publish(groupId(this.#base, id), null);
    this.#touchAll();
  }

  reannounce(): void {
    this.#discovery.doubt();
    this.#touchAll(0);
  }

  close(): void {
    this.#cancelQuiet();
    this.#cancelSweep();
    this.#cancelFlush?.();
    this.#cancelLook?.();
    if (!this.#heard) this.#options.connection.unsubscribe([this.#discovery.filter]);
  }

  get #base(): string {
    return this.#options.settings.base;
  }

  get #scope(): Scope {
    const groups = new Map([...this.#groups].map(([id, { group }]) => [id, group]));
    return { settings: this.#settings, groups, count: this.#farm?.miners.length ?? 0 };
  }

  get #context(): DeviceContext {
    const { topics, version, currency, pools } = this.#options;
    return {
      ...{ base: this.#base, topics, version, currency: currency ?? null, pools: pools === undefined ? [] : pools() },
      detail: this.#settings.detail === "all",
    };
  }

  /** Takes in what the broker has kept of an earlier run. */
  #listen(): void {
    const { connection, topics } = this.#options;
    const wait = (): void => {
      this.#cancelQuiet();
      if (!this.#heard) this.#cancelQuiet = this.#after(() => this.#allHeard(), this.#delays.quiet);
    };
    connection.subscribe([this.#discovery.filter], (message) => {
      if (!message.retained) return;
      this.#discovery.adopt(message, topics.state);
      wait();
    });
    connection.connected(wait);
  }

  #allHeard(): void {
    this.#heard = true;
    this.#options.connection.unsubscribe([this.#discovery.filter]);
    this.#flushSoon();
    this.#sweepSoon();
  }

  #touch(key: Key): void {
    if (!this.#announced.has(key)) {
      this.#changed.add(key);
      this.#flushSoon();
      return;
    }
    this.#perhaps.add(key);
    this.#cancelLook ??= this.#after(() => {
      this.#cancelLook = null;
      for (const each of this.#perhaps) this.#changed.add(each);
      this.#flushSoon();
    }, this.#delays.again);
  }

  #forget(key: Key): void {
    for (const keys of [this.#changed, this.#perhaps, this.#announced]) keys.delete(key);
  }

  #touchAll(ms?: number): void {
    if (this.#farm !== null) this.#changed.add(farm);
    for (const id of this.#groups.keys()) this.#changed.add(id);
    for (const uid of this.#miners.keys()) this.#changed.add(uid);
    this.#flushSoon(ms);
  }

  get #isReady(): boolean {
    return this.#heard && this.#farm !== null;
  }

  #flushSoon(ms = this.#delays.together): void {
    if (!this.#isReady || this.#cancelFlush !== null) return;
    this.#cancelFlush = this.#after(() => {
      this.#cancelFlush = null;
      this.#flush();
      if (this.#changed.size > 0) this.#flushSoon(0);
    }, ms);
  }

  /** What others hang on comes first. */
  #flush(): void {
    const [scope, context] = [this.#scope, this.#context];
    if (this.#takes(farm)) this.#announceFarm(context);
    const groups = [...this.#groups.values()].filter(({ group }) => this.#takes(group.id));
    groups.sort((a, b) => depthOf(scope, a.group) - depthOf(scope, b.group));
    for (const group of groups) this.#announceGroup(group, scope, context);
    for (const key of [...this.#changed].slice(0, batch)) {
      const miner = typeof key === "string" ? this.#miners.get(key) : undefined;
      if (!this.#takes(key) || miner === undefined) continue;
      this.#options.faults.run(
        `${miner.miner.id} in Home Assistant`,
        () => this.#announceMiner(miner, scope, context),
        () => undefined,
      );
    }
  }

  /** Whether this is to be said; it is, then. */
  #takes(key: Key): boolean {
    this.#perhaps.delete(key);
    if (!this.#changed.delete(key)) return false;
    this.#announced.add(key);
    return true;
  }

  #announceFarm(context: DeviceContext): void {
    if (this.#farm === null) return;
    const { miners, display } = this.#farm;
    const id = farmId(this.#base);
    this.#discovery.publish(id, farmConfig(miners, display, this.#discovery.before(id), context));
  }

  #announceGroup({ group, miners, display }: ShownGroup, scope: Scope, context: DeviceContext): void {
    const id = groupId(this.#base, group.id);
    const via = viaOf(scope, group, this.#base);
    const config = () => groupConfig(group, miners, display, via, this.#discovery.before(id), context);
    this.#discovery.publish(id, showsGroup(scope, group) ? config() : null);
  }

  #announceMiner({ miner, display }: ShownMiner, scope: Scope, context: DeviceContext): void {
    const id = minerId(this.#base, miner.uid);
    const place = placeOf(scope, miner, this.#base);
    const config = () => deviceConfig(miner, display, place, this.#discovery.before(id), context);
    this.#discovery.publish(id, showsMiner(scope, miner) ? config() : null);
  }

  #sweepSoon(): void {
    if (!this.#isReady || this.#isSwept) return;
    this.#cancelSweep();
    this.#cancelSweep = this.#after(() => this.#sweep(), this.#delays.quiet + this.#delays.together);
  }

  /** Takes away what an earlier run has announced and nobody knows any more. */
  #sweep(): void {
    this.#isSwept = true;
    const scope = this.#scope;
    const groups = [...this.#groups.values()].map(({ group }) => group).filter((group) => showsGroup(scope, group));
    const miners = [...(this.#farm?.miners ?? []), ...[...this.#miners.values()].map(({ miner }) => miner)];
    const shown = miners.filter((miner) => showsMiner(scope, miner));
    const known = new Set([
      farmId(this.#base),
      ...groups.map(({ id }) => groupId(this.#base, id)),
      ...shown.flatMap(({ uid }) => (uid === null ? [] : [minerId(this.#base, uid)])),
    ]);
    for (const id of this.#discovery.ids) if (!known.has(id)) this.#discovery.publish(id, null);
  }
}

const tooMany = (count: number, { miners }: HomeAssistantSettings): string =>
  miners === false
    ? "Home Assistant is shown groups and the farm only, as homeAssistant.miners says"
    : `${count} miners are more than ${minersAtMost}, so Home Assistant is shown groups and the farm only; homeAssistant.miners: true shows them all`;
