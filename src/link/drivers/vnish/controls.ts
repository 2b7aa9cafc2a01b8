import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlValue } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import { choice, type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { highestWithin, limitScale } from "../shared/watt-levels.ts";
import type { Presets } from "./presets.ts";
import { isOn, type Snapshot, stateOf } from "./readings.ts";
import { minerSettings, store } from "./settings.ts";
import type { VnishWeb } from "./web.ts";

/** What the controls are built from. */
export interface ControlContext {
  readonly snapshot: Snapshot;
  readonly presets: Presets;
  /** W last set; null before. */
  readonly lastLimit: number | null;
  readonly keepLimit: (watts: number) => void;
  /** °C, the last target of automatic cooling; null when unknown. */
  readonly autoTarget: number | null;
}

/** Boards are initialised and ramp up, which takes minutes. */
const starting = { lasting: false, restartsMining: true, seconds: 180 };
const preset = { lasting: true, restartsMining: true, seconds: 180 };
const cooling = { lasting: true, restartsMining: false, seconds: 10 };

/** With its password. */
export function offers(web: VnishWeb, context: ControlContext): OfferedControl[] {
  const { snapshot } = context;
  const post =
    (path: string, done: string) =>
    async (_: ControlValue, signal: AbortSignal): Promise<string> => {
      await web.post(path, undefined, signal);
      return done;
    };
  return [
    { control: trigger("restart", starting), set: post("mining/restart", "VNish restarts mining") },
    { control: trigger("reboot", starting), set: post("system/reboot", "VNish reboots the rig") },
    miningSwitch(snapshot, post),
    ...locateSwitch(web, snapshot),
    ...throttle(web, snapshot),
    ...presetControls(web, context),
    ...coolingControls(web, context),
  ];
}

type Post = (path: string, done: string) => OfferedControl["set"];

/** A reboot ends a stop, unless the rig is set to remain stopped. */
function miningSwitch(snapshot: Snapshot, post: Post): OfferedControl {
  const start = stateOf(snapshot) === "paused" ? "mining/resume" : "mining/start";
  return {
    control: toggle("mining", isOn(snapshot), { ...starting, restartsMining: false }),
    set: (on, signal) =>
      on === true
        ? post(start, "VNish starts mining")(on, signal)
        : post("mining/stop", "VNish stops mining")(on, signal),
  };
}

/**
 * `find-miner` toggles, so it is called only when the rig is in the other state; newer firmware calls it
 * `locate-miner`.
 */
function locateSwitch(web: VnishWeb, { status }: Snapshot): OfferedControl[] {
  const now = status.boolean("find_miner");
  if (now === null) return [];
  return [
    {
      control: toggle("locate", now, { lasting: false, restartsMining: false, seconds: 5 }),
      set: async (wanted, signal) => {
        const { value } = await web.get("status", signal);
        const on = isRecord(value) ? value.find_miner : null;
        if (on === wanted) return wanted === true ? "The rig is already blinking" : "The rig is not blinking";
        await web.post("find-miner", undefined, signal, { otherwise: "locate-miner" });
        return wanted === true ? "VNish blinks" : "VNish stops blinking";
      },
    },
  ];
}

/** Takes effect at once, until the next restart. Since 1.3.3. */
function throttle(web: VnishWeb, { miner, info }: Snapshot): OfferedControl[] {
  if (!isSince(info.text("fw_version"), [1, 3, 3])) return [];
  const value = miner.object("miner_status").number("throttled", { min: 0, max: 100 });
  const scale = { unit: "%", min: 20, max: 100, step: 1, value } as const;
  return [
    {
      control: range("throttle", scale, { lasting: false, restartsMining: false, seconds: 30 }),
      set: async (percent, signal) => {
        await web.post("mining/throttle", { percent }, signal);
        return `VNish works at ${percent} %`;
      },
    },
  ];
}

/** "1.3.4", "1.2.0-rc1". */
export function isSince(version: string | null, wanted: readonly number[]): boolean {
  const parts = /^v?(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?/.exec(version ?? "");
  if (parts === null) return false;
  for (const [index, least] of wanted.entries()) {
    const part = Number(parts[index + 1] ?? 0);
    if (part !== least) return part > least;
  }
  return true;
}

/** Only the name is sent: the other fields of `overclock` would overwrite the tuning of that preset. */
function presetControls(web: VnishWeb, { presets, lastLimit, keepLimit }: ControlContext): OfferedControl[] {
  const { tuned, others, present, presentWatts, switches } = presets;
  const use = (name: string, signal: AbortSignal): Promise<string> =>
    store(web, { overclock: { preset: name } }, "restart", signal);
  const offered: OfferedControl[] = [];
  if (tuned.length + others.length > 0) {
    offered.push({
      control: choice("mode", [...tuned, ...others], present, preset),
      set: (name, signal) => use(String(name), signal),
    });
  }
  // While the firmware switches presets automatically, none of them is a limit.
  if (tuned.length > 0 && !switches) {
    offered.push({
      control: range("power_limit", limitScale(tuned, presentWatts, lastLimit), preset),
      set: async (watts, signal) => {
        const level = highestWithin(tuned, Number(watts));
        if (level === null) throw new RigbridgeError("control.absent", `No tuned preset takes ${watts} W or less`);
        const result = await use(level.label, signal);
        keepLimit(Number(watts));
        return `${result}; preset ${level.label}`;
      },
    });
  }
  return offered;
}

/**
 * Cooling has one mode: `auto` with its target temperature, or `manual` with the speed. Rigs in oil or water report
 * `immersion`, and get no control.
 */
function coolingControls(web: VnishWeb, { snapshot: { miner, model }, autoTarget }: ControlContext): OfferedControl[] {
  const mode = miner.object("cooling").object("settings").object("mode");
  const name = mode.text("name");
  if (name !== "auto" && name !== "manual") return [];
  const consts = model.object("cooling");
  const offered: OfferedControl[] = [
    fan(web, name === "auto" ? "auto" : mode.number("param", { max: 100 }), consts, autoTarget),
  ];
  const min = consts.number("min_target_temp");
  const max = consts.number("max_target_temp");
  const target = mode.number("param", { absent: 0 });
  if (name === "auto" && min !== null && max !== null && min < max && target !== null) {
    offered.push({
      control: range("temperature_target", { unit: "°C", min, max, step: 1, value: target }, cooling),
      set: (wanted, signal) => setCooling(web, { name: "auto", param: wanted }, signal),
    });
  }
  return offered;
}

function fan(
  web: VnishWeb,
  value: "auto" | number | null,
  consts: TolerantReader,
  autoTarget: number | null,
): OfferedControl {
  const min = consts.number("min_fan_pwm", { max: 100 }) ?? 0;
  const auto = autoTarget === null ? { name: "auto" } : { name: "auto", param: autoTarget };
  return {
    control: range("fan", { unit: "%", min, max: 100, step: 1, value, options: ["auto"] }, cooling),
    set: (wanted, signal) => setCooling(web, wanted === "auto" ? auto : { name: "manual", param: wanted }, signal),
  };
}

/** The other cooling settings are written back unchanged. */
async function setCooling(
  web: VnishWeb,
  mode: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<string> {
  const { cooling: stored } = await minerSettings(web, signal);
  return store(web, { cooling: { ...(isRecord(stored) ? stored : {}), mode } }, "later", signal);
}
