import type { ControlKey } from "../../../contract/readings.ts";
import { choice, type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import { asleep, type MinerConfig, modes } from "./config.ts";
import type { AntminerWeb } from "./web.ts";

/** Controls that require a login. */
export const webControls: readonly ControlKey[] = ["reboot", "locate", "fan", "mining", "mode"];

/** What decides which controls are offered. */
export interface ControlContext {
  /** null where it could not be read. */
  readonly config: MinerConfig | null;
  /** null where it is not reported. */
  readonly blinks: boolean | null;
  /** A liquid-cooled rig has none. */
  readonly hasFans: boolean;
  /** Mode to wake into: the one before it slept. */
  readonly awake: number;
}

/** Stored in the configuration; the mining program restarts with each change, which takes some minutes. */
export const stored = { lasting: true, restartsMining: true, seconds: 180 } as const;

/** Source: the requests of Bitmain's web page. It has no power limit, and no restart other than the reboot. */
export function offers(web: AntminerWeb, generation: "new" | "old", context: ControlContext): OfferedControl[] {
  const offered: OfferedControl[] = [
    {
      control: trigger("reboot", { lasting: false, restartsMining: true, seconds: 240 }),
      set: (_, signal) => web.reboot(signal),
    },
  ];
  if (context.blinks !== null) {
    offered.push({
      control: toggle("locate", context.blinks, { lasting: false, restartsMining: false, seconds: 5 }),
      set: (on, signal) => web.blink(on === true, signal),
    });
  }
  if (context.config !== null && context.hasFans) offered.push(fan(web, context.config));
  // Only the newer interface documents these.
  if (context.config !== null && context.config.mode !== null && generation === "new")
    offered.push(...modeControls(web, context.config.mode, context.awake));
  return offered;
}

function fan(web: AntminerWeb, { fan }: MinerConfig): OfferedControl {
  const scale = { unit: "%", min: 0, max: 100, step: 1, value: fan ?? "auto", options: ["auto"] } as const;
  return {
    control: range("fan", { ...scale, options: [...scale.options] }, stored),
    set: (value, signal) =>
      web.change((config) => ({ ...config, fan: typeof value === "number" ? Math.round(value) : null }), signal),
  };
}

/** Asleep it offers no mode: choosing one would wake it. */
function modeControls(web: AntminerWeb, mode: number, awake: number): OfferedControl[] {
  const into =
    (to: number): ((signal: AbortSignal) => Promise<string>) =>
    (signal) =>
      web.change((config) => ({ ...config, mode: to }), signal);
  const mining: OfferedControl = {
    control: toggle("mining", mode !== asleep, stored),
    set: (on, signal) => into(on === true ? awake : asleep)(signal),
  };
  if (mode === asleep) return [mining];
  const offered = [0, 3, mode].filter((each, index, all) => all.indexOf(each) === index);
  return [
    mining,
    {
      control: choice("mode", offered.map(nameOf), nameOf(mode), stored),
      set: (name, signal) => into(offered.find((each) => nameOf(each) === name) ?? mode)(signal),
    },
  ];
}

export const nameOf = (mode: number): string => modes[mode] ?? String(mode);
