import { setTimeout as pause } from "node:timers/promises";
import type { MatterAccessory, MatterAPI } from "homebridge";
import type { RigFaults } from "rigbridge/farm";
import type { Farm } from "../farm-view.ts";
import type { HomeLog } from "../homekit/home.ts";
import { isKnown, miningControl } from "../homekit/main-switch.ts";
import { platformName, pluginName } from "../names.ts";
import type { SendCommand } from "../send-command.ts";
import { DeviceBinding, type DeviceContext } from "./device-binding.ts";
import { turnEvery } from "./due.ts";
import type { DevicePlan } from "./plan.ts";
import { rememberedPlan } from "./remembered.ts";

export interface MatterBridgeOptions {
  readonly log: HomeLog;
  readonly faults: RigFaults;
  /** Aborted when Homebridge ends its own part of Matter. */
  readonly closing: AbortSignal;
}

/** The Matter devices of this plugin at Homebridge: those that it remembers, and those that the farm has now. */
export class MatterBridge {
  readonly #through: DeviceContext;
  readonly #shown = new Map<string, DeviceBinding>();
  readonly #faults: RigFaults;
  readonly #closing: AbortSignal;
  #last: Promise<void> = Promise.resolve();

  constructor(matter: MatterAPI, { log, faults, closing }: MatterBridgeOptions) {
    this.#faults = faults;
    this.#closing = closing;
    this.#through = {
      matter,
      warn: (message) => log.warn(message),
      inTurn: (work) => {
        const done = this.#last.then(work);
        this.#last = done.catch(() => undefined);
        return done;
      },
      pause: (ms) => pause(ms, undefined, { signal: closing, ref: false }).catch(() => undefined),
      closing,
    };
    const timer = setInterval(() => {
      for (const device of this.#shown.values()) this.#bring(device, () => device.turn());
    }, turnEvery);
    closing.addEventListener("abort", () => clearInterval(timer));
  }

  /**
   * Takes in a device that Homebridge remembers. At once: it forgets those that are not registered anew, and until then
   * shows them with what was true when it ended.
   */
  restore(accessory: MatterAccessory): void {
    const plan = rememberedPlan(accessory);
    if (plan === null) {
      const { matter, warn } = this.#through;
      matter
        .unregisterPlatformAccessories(pluginName, platformName, [accessory])
        .catch((error: unknown) => warn(`${accessory.displayName} was not removed from Matter: ${String(error)}`));
      return;
    }
    const device = new DeviceBinding(plan, this.#through, true);
    this.#shown.set(plan.key, device);
    device.lost();
  }

  /** Adds, changes and removes devices until they are those of the plans. */
  show(plans: readonly DevicePlan[], farm: Farm, sendCommand: SendCommand): void {
    if (this.#closing.aborted) return;
    for (const plan of plans) {
      const device = this.#shown.get(plan.key) ?? new DeviceBinding(plan, this.#through, false);
      this.#shown.set(plan.key, device);
      this.#bring(device, () => device.show(plan, sendCommand));
    }
    this.#leave(new Set(plans.map(({ key }) => key)), farm);
  }

  /** Where the program fails over one device, nobody knows how that one is, and the others go on. */
  #bring(device: DeviceBinding, work: () => void): void {
    this.#faults.run(`${device.plan.key} in Matter`, work, () => device.lost());
  }

  /** Nobody knows how anything is. */
  lost(): void {
    if (this.#closing.aborted) return;
    for (const device of this.#shown.values()) device.lost();
  }

  /**
   * A rig that does not say yet what it is may be any of those that are not there: what stands at its address stays, and
   * so do groups, which may have it.
   */
  #leave(wanted: ReadonlySet<string>, { miners, hidden }: Farm): void {
    const silent = miners.filter((miner) => miner.uid === null || (!isKnown(miner) && !miningControl(miner)));
    const hosts = new Set([...silent.map(({ hostDescription }) => hostDescription), ...hidden]);
    for (const [key, device] of this.#shown) {
      if (wanted.has(key)) continue;
      const { host } = device.plan;
      if (host === null ? hosts.size > 0 : hosts.has(host)) device.lost();
      else this.#remove(key, device);
    }
  }

  #remove(key: string, device: DeviceBinding): void {
    this.#shown.delete(key);
    device.remove();
  }
}
