import type { ControlValue } from "../../../contract/readings.ts";
import { type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import type { EpicApi } from "./api.ts";
import { enabledBoards, isOn, powerAlgorithm, type Snapshot, tunerOf } from "./readings.ts";

/** Boards are initialised and ramp up, which takes minutes. */
const starting = { lasting: false, restartsMining: true, seconds: 180 };
const tuning = { lasting: true, restartsMining: false, seconds: 180 };
const atOnce = { lasting: false, restartsMining: false, seconds: 5 };

/** Automatic cooling, as `/fanspeed` takes it. */
export type AutoFan = Readonly<Record<"Target Temperature" | "Idle Speed", number>>;

/** The document's example, for a rig that has not shown its own since it was connected. */
export const usualAutoFan: AutoFan = { "Target Temperature": 60, "Idle Speed": 100 };

/** The settings of automatic cooling; null while its fans have a fixed speed. */
export function autoFanOf({ summary }: Snapshot): AutoFan | null {
  const mode = summary.object("Fans").object("Fan Mode");
  if (!mode.has("Auto")) return null;
  const auto = mode.object("Auto");
  return {
    "Target Temperature": auto.number("Target Temperature") ?? usualAutoFan["Target Temperature"],
    "Idle Speed": auto.number("Idle Speed") ?? usualAutoFan["Idle Speed"],
  };
}

/** With its password. `autoFan`: the automatic cooling that it last had. */
export function offers(api: EpicApi, snapshot: Snapshot, autoFan: AutoFan): OfferedControl[] {
  const { summary } = snapshot;
  const post = async (path: string, param: unknown, done: string, signal: AbortSignal): Promise<string> => {
    await api.post(path, param, signal);
    return done;
  };
  return [
    {
      control: toggle("mining", isOn(snapshot), { ...starting, lasting: true, restartsMining: false }),
      set: (on, signal) =>
        on === true
          ? post("miner", "Autostart", "ePIC starts mining", signal)
          : post("miner", "Stop", "ePIC stops mining", signal),
    },
    // The number is a delay in seconds.
    {
      control: trigger("restart", starting),
      set: (_, signal) => post("softreboot", 0, "ePIC restarts mining", signal),
    },
    { control: trigger("reboot", starting), set: (_, signal) => post("reboot", 0, "ePIC reboots the rig", signal) },
    {
      control: toggle("locate", summary.object("Misc").boolean("Locate Miner State"), atOnce),
      set: (on, signal) =>
        post("identify", on, on === true ? "ePIC lights its LED" : "ePIC switches its LED off", signal),
    },
    fan(snapshot, autoFan, post),
    ...powerLimit(api, snapshot),
    ...boardSwitches(snapshot, post),
  ];
}

type Post = (path: string, param: unknown, done: string, signal: AbortSignal) => Promise<string>;

function fan(snapshot: Snapshot, autoFan: AutoFan, post: Post): OfferedControl {
  const percent = snapshot.summary.object("Fans").number("Fans Speed", { max: 100 });
  const value = autoFanOf(snapshot) === null ? percent : "auto";
  return {
    control: range(
      "fan",
      { unit: "%", min: 1, max: 100, step: 1, value, options: ["auto"] },
      { lasting: true, restartsMining: false, seconds: 10 },
    ),
    set: (wanted, signal) =>
      wanted === "auto"
        ? post("fanspeed", { Auto: autoFan }, "ePIC controls its fans", signal)
        : post("fanspeed", { Manual: wanted }, `ePIC runs its fans at ${wanted} %`, signal),
  };
}

/** Where its tuner has the algorithm that holds a power, within that algorithm's bounds. */
function powerLimit(api: EpicApi, { summary, capabilities }: Snapshot): OfferedControl[] {
  const algorithm = capabilities.list("PerpetualTune", 16).find((each) => each.text("algorithm") === powerAlgorithm);
  const min = algorithm?.number("min") ?? null;
  const max = algorithm?.number("max") ?? null;
  if (min === null || max === null || min >= max) return [];
  const { name, settings } = tunerOf(summary);
  const isRunning = summary.object("PerpetualTune").boolean("Running") === true;
  const isPower = name === powerAlgorithm;
  // How far it may throttle itself is in the unit of its target, so it is kept only while that is a power too.
  const least = isPower ? settings.number("Min Throttle Target") : null;
  const step = isPower ? settings.number("Throttle Step") : null;
  const throttle = least === null || step === null ? {} : { min_throttle: least, throttle_step: step };
  const target = isRunning && isPower ? settings.number("Target") : null;
  return [
    {
      control: range("power_limit", { unit: "W", min, max, step: 1, value: target }, tuning),
      set: async (watts, signal) => {
        await api.post("perpetualtune/algo", { algo: powerAlgorithm, target: watts, ...throttle }, signal);
        if (!isRunning) await api.post("perpetualtune", true, signal);
        return `ePIC tunes itself to ${watts} W`;
      },
    },
  ];
}

/** Sent with the state of every board. */
function boardSwitches({ summary }: Snapshot, post: Post): OfferedControl[] {
  const boards = enabledBoards(summary);
  return boards.map(({ slot, on }) => ({
    control: toggle(`board_${slot}`, on, { lasting: true, restartsMining: true, seconds: 180 }),
    set: (wanted: ControlValue, signal: AbortSignal) => {
      const states = boards.map((each) => ({ Index: each.slot, Data: each.slot === slot ? wanted : each.on }));
      return post("boardenable", states, `ePIC switches board ${slot} ${wanted === true ? "on" : "off"}`, signal);
    },
  }));
}
