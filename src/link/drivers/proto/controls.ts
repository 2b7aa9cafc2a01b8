import { choice, type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import { isOn, type Snapshot } from "./readings.ts";

/** Resolves with the rig's own words. */
export type Write = (method: "POST" | "PUT", page: string, body: unknown, signal: AbortSignal) => Promise<string>;

const starting = { lasting: true, restartsMining: false, seconds: 180 };
const tuning = { lasting: true, restartsMining: false, seconds: 180 };

const modes = ["MaximumHashrate", "Efficiency"];

/** How long its light blinks, s; the rig allows no more. It is not switched off earlier. */
const blinkSeconds = 300;

export function offers(write: Write, snapshot: Snapshot): OfferedControl[] {
  return [
    {
      control: toggle("mining", isOn(snapshot), starting),
      set: (on, signal) => write("POST", on === true ? "mining/start" : "mining/stop", undefined, signal),
    },
    ...powerLimit(write, snapshot),
    ...mode(write, snapshot),
    ...fan(write, snapshot),
    {
      control: trigger("locate", { lasting: false, restartsMining: false, seconds: 5 }),
      set: (_, signal) => write("POST", `system/locate?led_on_time=${blinkSeconds}`, undefined, signal),
    },
    {
      control: trigger("reboot", { lasting: false, restartsMining: true, seconds: 240 }),
      set: (_, signal) => write("POST", "system/reboot", undefined, signal),
    },
  ];
}

/** Within the bounds that the rig reports. */
function powerLimit(write: Write, { mining, target }: Snapshot): OfferedControl[] {
  const min = target.number("power_target_min_watts");
  const max = target.number("power_target_max_watts");
  if (min === null || max === null || min >= max) return [];
  const value = mining.number("power_target_watts", { absent: 0 });
  return [
    {
      control: range("power_limit", { unit: "W", min, max, step: 1, value }, tuning),
      set: (watts, signal) => write("PUT", "mining/target", { power_target_watts: watts }, signal),
    },
  ];
}

function mode(write: Write, { target }: Snapshot): OfferedControl[] {
  const present = target.text("performance_mode");
  if (present === null) return [];
  return [
    {
      control: choice("mode", modes, modes.includes(present) ? present : null, tuning),
      set: (wanted, signal) => write("PUT", "mining/target", { performance_mode: wanted }, signal),
    },
  ];
}

/** Automatic fans are given back the temperature that they last held. */
function fan(write: Write, { cooling }: Snapshot): OfferedControl[] {
  const present = cooling.text("fan_mode");
  if (present === null) return [];
  const target = cooling.number("target_temperature_c");
  const auto = { mode: "Auto", ...(target === null ? {} : { target_temperature_c: target }) };
  const percent = present === "Manual" ? cooling.number("speed_percentage", { max: 100 }) : null;
  return [
    {
      control: range(
        "fan",
        { unit: "%", min: 0, max: 100, step: 1, value: present === "Auto" ? "auto" : percent, options: ["auto"] },
        { lasting: true, restartsMining: false, seconds: 10 },
      ),
      set: (wanted, signal) =>
        write("PUT", "cooling", wanted === "auto" ? auto : { mode: "Manual", speed_percentage: wanted }, signal),
    },
  ];
}
