import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import { type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { BraiinsRest } from "./rest.ts";
import type { PagePath, RestPages } from "./rest-pages.ts";
import { runningOf, tunerOf } from "./rest-readings.ts";
import { slotOf } from "./snapshot.ts";

/** Reads the pages that show a control with each read for so many seconds. */
export type Awaited = (paths: readonly PagePath[], seconds: number) => void;

/**
 * Settings survive a restart; `save_action` is deprecated, and everything is saved and applied. The rig reports a new
 * power target at once, and its tuner takes minutes to reach it.
 */
const tuned = { lasting: true, restartsMining: false, seconds: 180 } as const;
const cooled = { lasting: true, restartsMining: false, seconds: 30 } as const;
const switched = { lasting: true, restartsMining: false, seconds: 60 } as const;
const passing = { lasting: false, restartsMining: false } as const;

/** The settings of the REST API, within the constraints that the rig reports. */
export function restControls(rest: BraiinsRest, pages: RestPages, awaited: Awaited): OfferedControl[] {
  // Odd fields are noted with the readings.
  const page = (path: PagePath): TolerantReader => new TolerantReader(pages.get(path), new Notes(), path);
  return [
    mining(rest, page("miner/details")),
    {
      control: trigger("restart", { lasting: false, restartsMining: true, seconds: 120 }),
      set: (_, signal) => rest.write("PUT", "actions/restart", undefined, "Mining restarts", signal),
    },
    {
      control: trigger("reboot", { lasting: false, restartsMining: true, seconds: 180 }),
      set: (_, signal) => rest.write("PUT", "actions/reboot", undefined, "The rig reboots", signal),
    },
    ...locate(rest, pages.get("actions/locate"), awaited),
    ...powerLimit(rest, page, awaited),
    ...cooling(rest, page, awaited),
    ...boards(rest, page("miner/hw/hashboards")),
  ];
}

/**
 * Pause and resume, not stop and start: a pause cuts the power of the boards while BOSminer monitors temperatures and
 * winds the fans down; with BOSminer stopped nothing is measured, and the fans run at full speed.
 * Source: Braiins' "BOSminer API" and PauseMode of the OpenAPI; braiins/braiins issue 77.
 */
function mining(rest: BraiinsRest, details: TolerantReader): OfferedControl {
  const { wanted, started } = runningOf(details);
  const on = started ? ["resume", "Mining resumes"] : ["start", "Mining starts"];
  return {
    control: toggle("mining", wanted, { ...passing, seconds: 60 }),
    set: (value, signal) => {
      const [action = "", done = ""] = value === true ? on : ["pause", "Mining is paused"];
      return rest.write("PUT", `actions/${action}`, undefined, done, signal);
    },
  };
}

function locate(rest: BraiinsRest, shown: unknown, awaited: Awaited): OfferedControl[] {
  if (typeof shown !== "boolean") return [];
  return [
    {
      control: toggle("locate", shown, { ...passing, seconds: 5 }),
      set: (on, signal) => {
        awaited(["actions/locate"], 30);
        return rest.write(
          "PUT",
          "actions/locate",
          on === true,
          on === true ? "It blinks" : "It stops blinking",
          signal,
        );
      },
    },
  ];
}

type Page = (path: PagePath) => TolerantReader;

/** Only with the rig's own limits, which differ by model from 30 W to 8 kW. */
function powerLimit(rest: BraiinsRest, page: Page, awaited: Awaited): OfferedControl[] {
  const limits = page("configuration/constraints").object("tuner_constraints").object("power_target");
  const min = limits.object("min").number("watt");
  const max = limits.object("max").number("watt");
  if (min === null || max === null || max <= min) return [];
  const { target } = tunerOf(page("performance/tuner-state"), page("configuration/miner"));
  return [
    {
      control: range("power_limit", { unit: "W", min, max, step: 1, value: target }, tuned),
      set: (watt, signal) => {
        awaited(["performance/tuner-state", "configuration/miner"], 60);
        return rest.write("PUT", "performance/power-target", { watt }, `The power target is ${watt} W`, signal);
      },
    },
  ];
}

/**
 * The fan and its target temperature, if fans do the cooling: a rig in oil or water gets no control. All settings
 * common to both modes are sent along, because a change of mode resets missing ones.
 */
function cooling(rest: BraiinsRest, page: Page, awaited: Awaited): OfferedControl[] {
  const mode = page("configuration/miner").object("temperature").object("mode");
  const limits = page("configuration/constraints").object("cooling_constraints");
  const automatic = mode.has("auto");
  if (!automatic && !mode.has("manual")) return [];
  const put = async (next: "auto" | "manual", change: Readonly<Record<string, unknown>>, signal: AbortSignal) => {
    awaited(["configuration/miner"], cooled.seconds + 15);
    const kept = await coolingNow(rest, next, signal);
    return rest.write("PUT", "cooling/mode", { [next]: { ...kept, ...change } }, "The cooling is set", signal);
  };
  return [...fan(mode, limits, put), ...(automatic ? temperatureTarget(mode, limits, put) : [])];
}

type Put = (next: "auto" | "manual", change: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<string>;

function fan(mode: TolerantReader, limits: TolerantReader, put: Put): OfferedControl[] {
  const ratio = limits.object("fan_speed_ratio");
  const min = ratio.number("min", { max: 1 });
  const max = ratio.number("max", { max: 1 });
  if (min === null || max === null || max <= min) return [];
  const manual = mode.object("manual").number("fan_speed_ratio", { max: 1 });
  const value = mode.has("auto") ? "auto" : percent(manual);
  const scale = { unit: "%", min: Math.ceil(min * 100), max: Math.floor(max * 100), step: 1, value } as const;
  return [
    {
      control: range("fan", { ...scale, options: ["auto"] }, cooled),
      set: (set, signal) =>
        typeof set === "number" ? put("manual", { fan_speed_ratio: set / 100 }, signal) : put("auto", {}, signal),
    },
  ];
}

const percent = (ratio: number | null): number | null => (ratio === null ? null : Math.round(ratio * 100));

function temperatureTarget(mode: TolerantReader, limits: TolerantReader, put: Put): OfferedControl[] {
  const bounds = limits.object("target_temperature");
  const min = bounds.object("min").number("degree_c");
  const max = bounds.object("max").number("degree_c");
  if (min === null || max === null || max <= min) return [];
  const value = mode.object("auto").object("target_temperature").number("degree_c");
  return [
    {
      control: range("temperature_target", { unit: "°C", min, max, step: 1, value }, cooled),
      set: (degrees, signal) => put("auto", { target_temperature: { degree_c: degrees } }, signal),
    },
  ];
}

const shared = [
  "target_temperature",
  "hot_temperature",
  "dangerous_temperature",
  "minimum_required_fans",
  "pause_mode",
];
const own = { auto: ["min_fan_speed", "max_fan_speed"], manual: ["fan_speed_ratio"] } as const;

/** The present settings that the next mode has too. */
async function coolingNow(
  rest: BraiinsRest,
  next: "auto" | "manual",
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const configuration = await rest.strictPage("configuration/miner", signal);
  const temperature = isRecord(configuration) ? configuration.temperature : undefined;
  const mode = isRecord(temperature) ? temperature.mode : undefined;
  const now = isRecord(mode) ? (mode.auto ?? mode.manual) : undefined;
  if (!isRecord(now))
    throw new RigbridgeError("not.possible", `${rest.at}: the rig is no longer cooled by fans; nothing was changed`);
  const kept = [...shared, ...own[next]].filter((key) => now[key] !== undefined && now[key] !== null);
  return Object.fromEntries(kept.map((key) => [key, now[key]]));
}

function boards(rest: BraiinsRest, page: TolerantReader): OfferedControl[] {
  return page.list("hashboards", 16).flatMap((board): OfferedControl[] => {
    const slot = slotOf(board, "id");
    const id = board.text("id");
    const enabled = board.boolean("enabled");
    if (slot === null || id === null || enabled === null) return [];
    return [
      {
        control: toggle(`board_${slot}`, enabled, switched),
        set: (on, signal) => {
          const body = { enable: on === true, hashboard_ids: [id] };
          return rest.write("PATCH", "miner/hw/hashboards", body, `Board ${slot} is ${on ? "on" : "off"}`, signal);
        },
      },
    ];
  });
}
