import { setTimeout as pause } from "node:timers/promises";
import type { Logging, MatterAccessory, MatterAPI } from "homebridge";
import type { RigFaults } from "rigbridge/farm";
import { type Farm, unresolvedHosts } from "../farm-view.ts";
import { platformName, pluginName } from "../names.ts";
import { isCurrent, miningControl } from "../rig-state.ts";
import type { SendCommand } from "../send-command.ts";
import { DeviceBinding, type DeviceContext } from "./device-binding.ts";
import { reportIntervalMs } from "./due.ts";
import type { DevicePlan } from "./plan.ts";
import { rememberedPlan } from "./remembered.ts";

/** The plugin's Matter devices in Homebridge: those it remembers and those the farm has now. */
export class MatterBridge {
  readonly #context: DeviceContext;
  readonly #devices = new Map<string, DeviceBinding>();
  readonly #faults: RigFaults;
  readonly #closing: AbortSignal;
  #last: Promise<void> = Promise.resolve();

  /** `closing` is aborted when Homebridge stops its own part of Matter. */
  constructor(matter: MatterAPI, log: Logging, faults: RigFaults, closing: AbortSignal) {
    this.#faults = faults;
    this.#closing = closing;
    this.#context = {
      matter,
      warn: (message) => log.warn(message),
      info: (message) => log.info(message),
      inTurn: (work) => {
        const done = this.#last.then(work);
        this.#last = done.catch(() => undefined);
        return done;
      },
      pause: (ms) => pause(ms, undefined, { signal: closing, ref: false }).catch(() => undefined),
      closing,
    };
    const timer = setInterval(() => {
      for (const device of this.#devices.values()) this.#guard(device, () => device.report());
    }, reportIntervalMs);
    closing.addEventListener("abort", () => clearInterval(timer));
  }

  /**
   * Takes in a device that Homebridge remembers, immediately: Homebridge forgets devices that are not registered again,
   * and shows them as they were at the end of the last run until they are.
   */
  restore(accessory: MatterAccessory): void {
    const plan = rememberedPlan(accessory);
    if (plan === null) {
      const { matter, warn } = this.#context;
      matter
        .unregisterPlatformAccessories(pluginName, platformName, [accessory])
        .catch((error: unknown) => warn(`${accessory.displayName} was not removed from Matter: ${String(error)}`));
      return;
    }
    const device = new DeviceBinding(plan, this.#context, true);
    this.#devices.set(plan.key, device);
    device.lost();
  }

  /** Adds, changes and removes devices to match the plans. */
  show(plans: readonly DevicePlan[], farm: Farm, sendCommand: SendCommand): void {
    if (this.#closing.aborted) return;
    for (const plan of plans) {
      const device = this.#devices.get(plan.key) ?? new DeviceBinding(plan, this.#context, false);
      this.#devices.set(plan.key, device);
      this.#guard(device, () => device.show(plan, sendCommand));
    }
    this.#remove(new Set(plans.map(({ key }) => key)), farm);
  }

  /** A device that makes the program fail is in an unknown state; the others are shown. */
  #guard(device: DeviceBinding, work: () => void): void {
    this.#faults.run(`${device.plan.key} in Matter`, work, () => device.lost());
  }

  /** The state of everything is unknown. */
  lost(): void {
    if (this.#closing.aborted) return;
    for (const device of this.#devices.values()) device.lost();
  }

  /** Except at the addresses of rigs of unknown kind, and groups, which may contain those. */
  #remove(wanted: ReadonlySet<string>, farm: Farm): void {
    const hosts = unresolvedHosts(farm, (miner) => miner.uid === null || (!isCurrent(miner) && !miningControl(miner)));
    for (const [key, device] of this.#devices) {
      if (wanted.has(key)) continue;
      const { host } = device.plan;
      if (farm.isPartial || (host === null ? hosts.size > 0 : hosts.has(host))) device.lost();
      else {
        this.#devices.delete(key);
        device.remove();
      }
    }
  }
}
