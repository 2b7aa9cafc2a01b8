import { RigbridgeError } from "../../contract/problems.ts";
import type { Control } from "../../contract/readings.ts";
import type { Reading } from "../../link/driver.ts";
import type { Detail } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import { controlValue } from "../commands/control-value.ts";
import type { RigWrite, Setting, Step } from "../commands/steps.ts";
import { isMining, type Powered, type PowerLadder } from "./power-ladder.ts";

/** The limits of rooms on the power of rigs. */
export interface PowerMaxima {
  /** The room of a miner and its limit; null without a limit. */
  ofRoom(minerId: number): { readonly room: string; readonly watts: number } | null;
  /** W that the limit leaves to this miner besides the others of its room; null without a limit. */
  leftFor(minerId: number): number | null;
  /** A miner is being set to this power: it counts for the others before a read shows it. */
  grant(minerId: number, watts: number): void;
  /** A read shows the power that a miner is set to. */
  observe(minerId: number, watts: number): void;
}

/** W; sums of settings are not whole numbers. */
const rounding = 0.5;

/** Keeps every power setting of a rig within the limit of its room. */
export class MaximumChecks {
  readonly #ladderOf: (minerId: number, powered: Powered) => PowerLadder | null;
  #maxima: PowerMaxima | null = null;

  constructor(ladder: (minerId: number, powered: Powered) => PowerLadder | null) {
    this.#ladderOf = ladder;
  }

  use(maxima: PowerMaxima): void {
    this.#maxima = maxima;
  }

  /** W left to a miner under the limit of its room; null without a limit. */
  leftFor(minerId: number): number | null {
    return this.#maxima?.leftFor(minerId) ?? null;
  }

  observe(minerId: number, watts: number): void {
    this.#maxima?.observe(minerId, watts);
  }

  /** A power control without values above the limit. */
  limited(minerId: number, control: Control): Control {
    const most = this.#maxima?.ofRoom(minerId)?.watts ?? null;
    if (most === null) return control;
    const { max, options } = control;
    if (options === null)
      return { ...control, max: max === null ? null : Math.min(max, Math.max(control.min ?? 0, most)) };
    const isWithin = (option: (typeof options)[number]) => typeof option === "string" || !isOver(option.watts, most);
    return { ...control, max: max === null ? null : Math.min(max, most), options: options.filter(isWithin) };
  }

  /** Why a rig may not be set to this power; null if it may. */
  refusal(minerId: number, watts: number): Detail | null {
    const left = this.leftFor(minerId);
    return left !== null && isOver(watts, left) ? this.#overMaximum(minerId, left) : null;
  }

  /** Refuses to start a rig whose lowest power exceeds what the limit of its room leaves. */
  startable(minerId: number, step: Step): Step {
    return (reading) => {
      const ladder = this.#ladderOf(minerId, poweredBy(reading));
      const why = poweredBy(reading).mining === false ? this.refusal(minerId, ladder?.lowest ?? 0) : null;
      if (why !== null) throw new RigbridgeError("not.possible", why);
      return step(reading);
    };
  }

  /** Refuses a setting with which the rig would exceed what the limit of its room leaves. */
  checked(minerId: number, key: string, text: string, step: Step): Step {
    return (reading) => {
      const control = reading.controls.find((each) => each.key === key);
      if (control !== undefined) {
        const value = controlValue(control, text);
        if (this.exceeds(minerId, reading, { key: control.key, value }))
          throw new RigbridgeError("not.possible", this.#overMaximum(minerId, this.leftFor(minerId) ?? 0));
      }
      return step(reading);
    };
  }

  /** Lowers a started rig to the limit of its room. */
  within(minerId: number, set: (setting: Setting) => Step): Step {
    return (reading) => {
      const most = this.leftFor(minerId);
      const ladder = this.#ladderOf(minerId, poweredBy(reading));
      if (most === null || ladder === null || !isOver(ladder.present ?? 0, most)) return "";
      const [setting] = ladder.choose(most).settings;
      return setting === undefined ? "" : set(setting)(reading);
    };
  }

  /** Whether this setting would exceed both the limit's remainder and the rig's present power. */
  exceeds(minerId: number, { controls }: Reading, { key, value }: Setting): boolean {
    const most = this.leftFor(minerId);
    if (most === null) return false;
    const wattsWith = (some: readonly Control[]) =>
      this.#ladderOf(minerId, { controls: some, mining: true })?.present ?? 0;
    const watts = wattsWith(controls.map((each) => (each.key === key ? { ...each, value } : each)));
    return isOver(watts, most) && watts > wattsWith(controls);
  }

  /** Counts a power for the others of the room as soon as it is written. */
  granting(minerId: number, watts: number, write: RigWrite | string): RigWrite | string {
    if (typeof write === "string") return write;
    return {
      ...write,
      write: (rig, signal) => {
        this.#maxima?.grant(minerId, watts);
        return write.write(rig, signal);
      },
    };
  }

  #overMaximum(minerId: number, left: number): Detail {
    const { room = "Its room", watts = 0 } = this.#maxima?.ofRoom(minerId) ?? {};
    if (left >= watts) return detail("command.maximum", { room, watts });
    return detail("command.maximumLeft", { room, watts, left: Math.max(0, Math.floor(left)) });
  }
}

export const isOver = (watts: number, most: number): boolean => watts > most + rounding;

const poweredBy = ({ controls, readings }: Reading): Powered => ({
  controls,
  mining: isMining(controls, readings.mining),
});
