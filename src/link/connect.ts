import type { ControlKey, ControlValue } from "../contract/readings.ts";
import { withCheckedRates } from "./board-rates.ts";
import type { Driver, PoolControls, Reading, Rig } from "./driver.ts";
import { isLiquidCooled } from "./identity.ts";
import type { Link } from "./link.ts";

/** A rig as everything but its driver sees it: what was read is made consistent in the same way for every family. */
export const connect = (driver: Driver, link: Link): Rig => new CheckedRig(driver.connect(link));

/** `Required`, so that whatever a rig can do besides is not forgotten here. */
class CheckedRig implements Required<Rig> {
  readonly #rig: Rig;

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    return withCheckedRates(withoutZeros(withoutDryFans(asItsSwitchSays(await this.#rig.read(signal)))));
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#rig.set(key, value, signal);
  }

  get pools(): PoolControls {
    return this.#rig.pools;
  }

  get quick(): true | undefined {
    return this.#rig.quick;
  }

  doubt(): void {
    this.#rig.doubt?.();
  }

  close(): void {
    this.#rig.close();
  }
}

/** A rig that is switched on and hashes nothing is idle, not stopped: whether it mines is what its switch says. */
function asItsSwitchSays(reading: Reading): Reading {
  const on = reading.controls.find(({ key }) => key === "mining")?.value;
  const { mining } = reading.readings;
  const agree = mining === on || (mining === null && on === true);
  if (typeof on !== "boolean" || agree) return reading;
  return { ...reading, readings: { ...reading.readings, mining: on } };
}

/** Firmware of a rig that is cooled by a liquid may list fans at 0 rpm; it has none, and none to set. */
function withoutDryFans(reading: Reading): Reading {
  const { identity, readings, controls } = reading;
  if (!isLiquidCooled(identity.model) || readings.fans.some(({ rpm }) => (rpm ?? 0) > 0)) return reading;
  return { ...reading, readings: { ...readings, fans: [] }, controls: controls.filter(({ key }) => key !== "fan") };
}

/** A board that is off, or that does not tell, says 0 MHz. */
function withoutZeros(reading: Reading): Reading {
  const { readings, devices } = reading;
  const isZero = readings.boards.some(({ frequency }) => frequency === 0) || devices.some(({ clock }) => clock === 0);
  if (!isZero) return reading;
  return {
    ...reading,
    readings: {
      ...readings,
      boards: readings.boards.map((board) => (board.frequency === 0 ? { ...board, frequency: null } : board)),
    },
    devices: devices.map((device) => (device.clock === 0 ? { ...device, clock: null } : device)),
  };
}
