import type { Control, ControlKey, ControlValue } from "../../../contract/readings.ts";
import { type OfferedControl, setControl } from "../../controls.ts";
import type { Rig } from "../../driver.ts";

/** The controls that the last read of a rig offered; before the first read the rig is read for them. */
export class OfferedControls {
  #offered: readonly OfferedControl[] | undefined;

  /** Replaces the list; returns it as a reading has it. */
  offer(offered: readonly OfferedControl[]): Control[] {
    this.#offered = offered;
    return offered.map(({ control }) => control);
  }

  async list(rig: Pick<Rig, "read">, signal: AbortSignal): Promise<readonly OfferedControl[]> {
    if (this.#offered === undefined) await rig.read(signal);
    return this.#offered ?? [];
  }

  async has(rig: Pick<Rig, "read">, key: ControlKey, signal: AbortSignal): Promise<boolean> {
    return (await this.list(rig, signal)).some(({ control }) => control.key === key);
  }

  /** Throws as `setControl` does. */
  async set(rig: Pick<Rig, "read">, key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return setControl(await this.list(rig, signal), key, value, signal);
  }
}
