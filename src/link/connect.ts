import type { ControlKey, ControlValue } from "../contract/readings.ts";
import { withCheckedRates } from "./board-rates.ts";
import type { Driver, PoolControls, Reading, Rig } from "./driver.ts";
import type { Link } from "./link.ts";

/** A rig as everything but its driver sees it: what was read is checked in the same way for every family. */
export const connect = (driver: Driver, link: Link): Rig => new CheckedRig(driver.connect(link));

/** `Required`, so that whatever a rig can do besides is not forgotten here. */
class CheckedRig implements Required<Rig> {
  readonly #rig: Rig;

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    return withCheckedRates(await this.#rig.read(signal));
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
