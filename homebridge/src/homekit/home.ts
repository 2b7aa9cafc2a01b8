import type { API, Logging, PlatformAccessory } from "homebridge";
import type { RigFaults } from "rigbridge/farm";
import { type Farm, unresolvedHosts } from "../farm-view.ts";
import { platformName, pluginName } from "../names.ts";
import type { SendCommand } from "../send-command.ts";
import type { HomePlan } from "./accessories.ts";
import { AccessoryBinding } from "./accessory-binding.ts";
import type { ReadHistory } from "./eve-history.ts";

/** The plugin's accessories in Homebridge: those it remembers and those the farm has now. */
export class Home {
  readonly #api: API;
  readonly #log: Logging;
  readonly #faults: RigFaults;
  readonly #bindings = new Map<string, AccessoryBinding>();
  readonly #logged = new Set<string>();

  constructor(api: API, log: Logging, faults: RigFaults) {
    this.#api = api;
    this.#log = log;
    this.#faults = faults;
  }

  /** Takes in an accessory that Homebridge remembers. Its state is unknown until the service has answered. */
  restore(accessory: PlatformAccessory): void {
    this.#bind(accessory).lost();
  }

  /** Adds, changes and removes accessories to match the plan. */
  show(
    { accessories, doubtful, notes }: HomePlan,
    farm: Farm,
    sendCommand: SendCommand,
    readHistory: ReadHistory,
  ): void {
    const added: PlatformAccessory[] = [];
    const wanted = new Set<string>();
    const remembered = doubtful.filter(({ key }) => this.#bindings.has(this.#uuidOf(key)));
    for (const plan of [...accessories, ...remembered]) {
      const uuid = this.#uuidOf(plan.key);
      wanted.add(uuid);
      const present = this.#bindings.get(uuid);
      const binding = present ?? this.#bind(new this.#api.platformAccessory(plan.name, uuid));
      this.#faults.run(
        `${plan.key} in HomeKit`,
        () => binding.show(plan, sendCommand, readHistory),
        () => binding.lost(),
      );
      Object.assign(binding.accessory.context, { key: plan.key, host: plan.host });
      if (present === undefined) added.push(binding.accessory);
    }
    if (added.length > 0) this.#api.registerPlatformAccessories(pluginName, platformName, added);
    this.#remove(wanted, farm);
    this.#logNew(notes);
  }

  /** The state of everything is unknown. */
  lost(): void {
    for (const binding of this.#bindings.values()) binding.lost();
  }

  #uuidOf(key: string): string {
    return this.#api.hap.uuid.generate(`rigbridge:${key}`);
  }

  #bind(accessory: PlatformAccessory): AccessoryBinding {
    // Homebridge itself stores accessories only when it stops.
    const store = () => this.#api.updatePlatformAccessories([accessory]);
    const binding = new AccessoryBinding(accessory, { hap: this.#api.hap, log: this.#log, store });
    this.#bindings.set(accessory.UUID, binding);
    return binding;
  }

  /** Except at the addresses of rigs that have not been identified yet. */
  #remove(wanted: ReadonlySet<string>, farm: Farm): void {
    const hosts = unresolvedHosts(farm, ({ uid }) => uid === null);
    const others = [...this.#bindings.values()].filter(({ accessory: { UUID } }) => !wanted.has(UUID));
    // The members of a group may be among the hidden rigs.
    const stays = (host: unknown): boolean =>
      farm.isPartial || (host === null ? farm.hidden.size > 0 : hosts.has(host));
    const gone = others.filter(({ accessory: { context } }) => !stays(context.host));
    for (const binding of others) if (!gone.includes(binding)) binding.lost();
    if (gone.length === 0) return;
    for (const { accessory } of gone) this.#bindings.delete(accessory.UUID);
    this.#api.unregisterPlatformAccessories(
      pluginName,
      platformName,
      gone.map(({ accessory }) => accessory),
    );
  }

  /** Logs each note once. */
  #logNew(notes: readonly string[]): void {
    for (const note of notes.filter((each) => !this.#logged.has(each))) {
      this.#logged.add(note);
      this.#log.info(note);
    }
  }
}
