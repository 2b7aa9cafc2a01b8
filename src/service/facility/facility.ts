import type { Logger } from "pino";
import { Background } from "../../async/index.ts";
import { briefOf } from "../../fleet/state.ts";
import { coded } from "../../messages/coded.ts";
import type { Store } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { Notices } from "../notifications/notices.ts";
import type { Repeat } from "../repeat.ts";
import { Cover } from "./covered-rigs.ts";
import type { Device, DeviceState } from "./device.ts";
import type { Devices } from "./devices.ts";
import { type Difference, differenceOf, differenceTurn } from "./difference.ts";
import { Fans } from "./fans.ts";

/** ms between two turns: devices that are due are read, fans follow, and meters are compared with their rigs. */
const turnMs = 1_000;

/** ms for which the lists of the devices' rigs are kept: a farm has too many to look through each turn. */
const rigsMs = 10_000;

export interface FacilityContext {
  readonly devices: Devices;
  readonly registry: { all(): Iterable<Entry>; find(id: number): Entry | undefined };
  readonly store: Pick<Store, "groups" | "lease">;
  readonly notices: Notices;
  readonly repeat: Repeat;
  readonly log: Logger;
  /** Epoch ms. */
  readonly now: () => number;
}

interface Members {
  /** Epoch ms. */
  readonly at: number;
  readonly devices: readonly Device[];
  readonly ids: ReadonlyMap<Device, readonly number[]>;
}

/** Reads the facility devices, and acts on what they say. */
export class FacilityTurns {
  readonly fans: Fans;
  readonly #context: FacilityContext;
  readonly #running = new Background();
  /** Devices whose difference is too large, and since when, epoch ms. */
  readonly #since = new Map<string, number>();
  /** Whether the notice about a device is open; absent: unknown, since an earlier run may have raised it. */
  readonly #isOpen = new Map<string, boolean>();
  /** The state of a device that was last compared with its rigs. */
  readonly #compared = new WeakMap<Device, DeviceState>();
  #members: Members = { at: Number.NEGATIVE_INFINITY, devices: [], ids: new Map() };
  #stop: (() => void) | null = null;

  constructor(context: FacilityContext) {
    this.#context = context;
    const { devices, store, log, now } = context;
    this.fans = new Fans({
      devices: () => devices.all(),
      rigsOf: (device) => this.rigsOf(device),
      covers: (device, minerId) => this.#covers(device, minerId),
      store,
      log,
      now,
    });
  }

  /** Begins or ends the turns, by whether there are devices. */
  follow(): void {
    const keys = new Set(this.#context.devices.all().map(({ settings }) => settings.key));
    for (const key of this.#isOpen.keys()) if (!keys.has(key)) this.#end(key, key);
    for (const key of this.#since.keys()) if (!keys.has(key)) this.#since.delete(key);
    if (keys.size > 0) this.#stop ??= this.#context.repeat(() => this.turn(), turnMs);
    else {
      this.#stop?.();
      this.#stop = null;
    }
  }

  /** One turn; never rejects. */
  async turn(): Promise<void> {
    const { devices } = this.#context;
    for (const device of devices.all()) if (device.isDue) void this.#running.add(device.poll());
    void this.#running.add(this.fans.turn());
    for (const device of devices.all()) {
      if (this.#compared.get(device) === device.state) continue;
      this.#compared.set(device, device.state);
      this.#compare(device);
    }
  }

  /** The miners that a device measures or cools, as of some seconds ago. */
  rigsOf(device: Device): readonly Entry[] {
    const { registry, devices, now } = this.#context;
    const { at, devices: before } = this.#members;
    if (before !== devices.all() || Math.abs(now() - at) >= rigsMs) {
      const ids = [...this.rigsNow()].map(([each, rigs]) => [each, rigs.map(({ facts }) => facts.id)] as const);
      this.#members = { at: now(), devices: devices.all(), ids: new Map(ids) };
    }
    return (this.#members.ids.get(device) ?? []).flatMap((id) => registry.find(id) ?? []);
  }

  /** Those of all devices, as of now. */
  rigsNow(): ReadonlyMap<Device, readonly Entry[]> {
    const { registry, store, devices } = this.#context;
    return new Cover(devices.all(), enabled(store.groups)).membersIn(registry.all());
  }

  #covers(device: Device, minerId: number): boolean {
    const { registry, store } = this.#context;
    const entry = registry.find(minerId);
    return entry !== undefined && new Cover([device], enabled(store.groups)).has(device, entry);
  }

  /** What a device and its rigs say now; null for one that measures none. */
  differenceOf(device: Device): Difference | null {
    const { kind } = device.settings;
    if (kind !== "meter" && kind !== "pdu") return null;
    const rigs = this.rigsOf(device);
    return rigs.length === 0 ? null : differenceOf(device.state.values.power, rigs.map(powerOf));
  }

  settled(): Promise<void> {
    return this.#running.settled();
  }

  async close(): Promise<void> {
    this.#stop?.();
    this.fans.close();
    await this.settled();
  }

  #compare(device: Device): void {
    const { key, name } = device.settings;
    const title = name ?? key;
    const difference = this.differenceOf(device);
    if (difference === null) {
      this.#end(key, title);
      return;
    }
    const { notices, now } = this.#context;
    const { since, isNotice } = differenceTurn(difference, this.#since.get(key) ?? null, now());
    if (since === null) this.#since.delete(key);
    else this.#since.set(key, since);
    if (isNotice === false) this.#end(key, title);
    if (isNotice !== true || this.#isOpen.get(key) === true) return;
    this.#isOpen.set(key, true);
    const { meter, rigs, unknown, total } = difference;
    const figures = { device: title, meter: Math.round(meter ?? 0), rigs: Math.round(rigs), total };
    const message =
      unknown === 0
        ? coded("notices.facility.difference", figures)
        : coded("notices.facility.unknown", { ...figures, unknown });
    notices.raise({ key: noticeKey(key), minerId: null, title, source: "System", message, severity: "warning" });
  }

  #end(key: string, device: string): void {
    if (this.#isOpen.get(key) === false) return;
    this.#isOpen.set(key, false);
    this.#context.notices.close(noticeKey(key), coded("notices.facility.over", { device }));
  }
}

/** Stored, so it never changes. */
const noticeKey = (key: string): string => `facility-difference:${key}`;

/** W as last read; null: unknown, or it has missed a read. */
function powerOf({ rig: { state } }: Entry): number | null {
  return state.missed > 0 ? null : (briefOf(state)?.readings.power ?? null);
}
