import { isDeepStrictEqual } from "node:util";
import type { Facility } from "../../contract/facility-settings.ts";
import type { Messages } from "../../contract/messages.ts";
import type { Supply } from "../../contract/plug-settings.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { phaseOf } from "../../fleet/schedule.ts";
import { openDevice } from "../../link/facility/open-device.ts";
import type { Outlets } from "../../link/plugs/plug.ts";
import { Device, type DeviceContext } from "./device.ts";

interface DevicesContext extends DeviceContext {
  readonly messages: Messages;
}

/** The facility devices of the settings, opened; nothing is loaded for a driver that none of them has. */
export class Devices {
  readonly #context: DevicesContext;
  #devices: readonly Device[] = [];
  #outlets: ReadonlyMap<string, Supply> = new Map();

  constructor(settings: Facility, context: DevicesContext) {
    this.#context = context;
    this.follow(settings);
  }

  all(): readonly Device[] {
    return this.#devices;
  }

  find(key: string): Device | undefined {
    return this.#devices.find(({ settings }) => settings.key === key);
  }

  /** Opens what is new or different, and closes what is gone. */
  follow(settings: Facility): void {
    const before = new Set(this.#devices);
    this.#devices = settings.map((each, index) => {
      const kept = this.find(each.key);
      if (kept !== undefined && isDeepStrictEqual(kept.settings, each)) return kept;
      return new Device(each, openDevice(each, this.#context), phaseOf(index), this.#context);
    });
    this.#outlets = outletsIn(settings);
    const now = new Set(this.#devices);
    for (const device of before) if (!now.has(device)) device.close();
  }

  /** The outlet that names a miner by one of these names; null if none does. */
  outletNaming(names: readonly (string | null)[]): Supply | null {
    for (const name of names) {
      const outlet = name === null ? undefined : this.#outlets.get(name);
      if (outlet !== undefined) return outlet;
    }
    return null;
  }

  /** For the fleet: each call finds the device as it is then, since its settings may have changed. */
  readonly outlets: Outlets = (key, n) => {
    const plug = () => {
      const device = this.find(key);
      if (device === undefined) throw new RigbridgeError("rig.unreachable", `There is no PDU ${key}`);
      return device.outlet(n);
    };
    return {
      read: async (signal) => plug().read(signal),
      switch: async (on, signal) => plug().switch(on, signal),
      close: () => undefined,
    };
  };

  async settled(): Promise<void> {
    await Promise.all(this.#devices.map((device) => device.settled()));
  }

  close(): void {
    for (const device of this.#devices) device.close();
  }
}

/** The outlets that supply rigs, by the name or uid that the settings give the rig. */
export const outletsIn = (settings: Facility): ReadonlyMap<string, Supply> =>
  new Map(
    settings.flatMap((device): [string, Supply][] =>
      device.driver === "snmp"
        ? device.outlets.flatMap(({ n, miner, cutPower, delay }): [string, Supply][] =>
            miner === undefined ? [] : [[miner, { type: "outlet", device: device.key, outlet: n, cutPower, delay }]],
          )
        : [],
    ),
  );
