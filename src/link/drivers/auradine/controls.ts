import { choice, type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import type { AuradineApi } from "./api.ts";
import { isOn, ledCodes, powerLimitOf, type Snapshot } from "./readings.ts";

const starting = { lasting: false, restartsMining: true, seconds: 180 };
const setting = { lasting: true, restartsMining: true, seconds: 180 };

/** Beside "custom", which a power limit sets. */
const modes = ["eco", "normal", "turbo"];

/** W; the rig reports no lower bound. */
const leastPower = 100;

/**
 * With its login. Its fans have no control: whether the index of one counts from 0 or from 1, and how they become automatic
 * again, is not documented.
 */
export function offers(api: AuradineApi, snapshot: Snapshot): OfferedControl[] {
  const { mode, led } = snapshot;
  const present = mode.text("Mode");
  return [
    {
      control: toggle("mining", isOn(snapshot), { lasting: true, restartsMining: false, seconds: 180 }),
      set: (on, signal) => api.post("mode", { sleep: on === true ? "off" : "on" }, signal),
    },
    {
      control: choice("mode", modes, present !== null && modes.includes(present) ? present : null, setting),
      set: (wanted, signal) => api.post("mode", { mode: wanted }, signal),
    },
    ...powerLimit(api, snapshot),
    {
      control: toggle("locate", led.has("Code") ? led.integer("Code") === ledCodes.locate : null, {
        lasting: false,
        restartsMining: false,
        seconds: 5,
      }),
      set: (on, signal) => api.post("led", { code: on === true ? ledCodes.locate : ledCodes.normal }, signal),
    },
    {
      control: trigger("restart", starting),
      set: (_, signal) => api.post("restart", { parameter: "gcminer" }, signal),
    },
    { control: trigger("reboot", starting), set: (_, signal) => api.post("restart", {}, signal) },
  ];
}

/** Up to what its power supply gives at most. */
function powerLimit(api: AuradineApi, snapshot: Snapshot): OfferedControl[] {
  const max = Math.floor(snapshot.psu.number("PoutMax") ?? 0);
  if (max <= leastPower) return [];
  const value = powerLimitOf(snapshot);
  return [
    {
      control: range("power_limit", { unit: "W", min: leastPower, max, step: 1, value }, setting),
      set: (watts, signal) => api.post("mode", { mode: "custom", tune: "power", power: watts }, signal),
    },
  ];
}
