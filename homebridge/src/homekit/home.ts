import type { API, PlatformAccessory } from "homebridge";
import type { RigFaults } from "rigbridge/farm";
import type { Farm } from "../farm-view.ts";
import { platformName, pluginName } from "../names.ts";
import type { SendCommand } from "../send-command.ts";
import type { HomePlan } from "./accessories.ts";
import { AccessoryBinding } from "./accessory-binding.ts";
import type { AccessoryPlan } from "./plan.ts";

export interface HomeLog {
  info(message: string): void;
  warn(message: string): void;
}

/** The accessories of this plugin at Homebridge: those that it remembers, and those that the farm has now. */
export class Home {
  readonly #api: API;
  readonly #log: HomeLog;
  readonly #faults: RigFaults;
  readonly #shown = new Map<string, AccessoryBinding>();
  readonly #said = new Set<string>();

  constructor(api: API, log: HomeLog, faults: RigFaults) {
    this.#api = api;
    this.#log = log;
    this.#faults = faults;
  }

  /** Takes in an accessory that Homebridge remembers; nobody knows how it is before the service has been heard. */
  restore(accessory: PlatformAccessory): void {
    const shown = this.#shownFor(accessory);
    this.#shown.set(accessory.UUID, shown);
    shown.lost();
  }

  /** Adds, changes and removes accessories until they are those of the plan. */
  show({ accessories, doubtful, notes }: HomePlan, farm: Farm, sendCommand: SendCommand): void {
    const added: PlatformAccessory[] = [];
    const wanted = new Set<string>();
    const remembered = doubtful.filter(({ key }) => this.#shown.has(this.#uuidOf(key)));
    for (const plan of [...accessories, ...remembered]) {
      const uuid = this.#uuidOf(plan.key);
      wanted.add(uuid);
      const known = this.#shown.get(uuid);
      const shown = known ?? this.#add(uuid, plan);
      this.#faults.run(
        `${plan.key} in HomeKit`,
        () => shown.show(plan, sendCommand),
        () => shown.lost(),
      );
      shown.accessory.context = { key: plan.key, host: plan.host };
      if (known === undefined) added.push(shown.accessory);
    }
    if (added.length > 0) this.#api.registerPlatformAccessories(pluginName, platformName, added);
    this.#remove(wanted, farm);
    this.#say(notes);
  }

  /** Nobody knows how anything is. */
  lost(): void {
    for (const shown of this.#shown.values()) shown.lost();
  }

  #uuidOf(key: string): string {
    return this.#api.hap.uuid.generate(`rigbridge:${key}`);
  }

  #add(uuid: string, { name }: AccessoryPlan): AccessoryBinding {
    const shown = this.#shownFor(new this.#api.platformAccessory(name, uuid));
    this.#shown.set(uuid, shown);
    return shown;
  }

  #shownFor(accessory: PlatformAccessory): AccessoryBinding {
    return new AccessoryBinding(accessory, { hap: this.#api.hap, warn: (message) => this.#log.warn(message) });
  }

  /**
   * A rig that has not been identified yet may be any of those that are not there: what stands at its address stays, and
   * nobody knows how it is.
   */
  #remove(wanted: ReadonlySet<string>, { miners, hidden }: Farm): void {
    const unidentified = miners.flatMap(({ uid, hostDescription }) => (uid === null ? [hostDescription] : []));
    const unknownHosts = new Set([...unidentified, ...hidden]);
    const others = [...this.#shown.values()].filter(({ accessory: { UUID } }) => !wanted.has(UUID));
    // Groups may have lost to `hidden` whom they are made of.
    const stays = (host: unknown): boolean => (host === null ? hidden.size > 0 : unknownHosts.has(String(host)));
    const gone = others.filter(({ accessory: { context } }) => !stays(context.host));
    for (const shown of others) if (!gone.includes(shown)) shown.lost();
    if (gone.length === 0) return;
    for (const { accessory } of gone) this.#shown.delete(accessory.UUID);
    this.#api.unregisterPlatformAccessories(
      pluginName,
      platformName,
      gone.map(({ accessory }) => accessory),
    );
  }

  /** Each once. */
  #say(notes: readonly string[]): void {
    for (const note of notes) {
      if (this.#said.has(note)) continue;
      this.#said.add(note);
      this.#log.info(note);
    }
  }
}
