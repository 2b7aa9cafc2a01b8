import type { ControlValue } from "../../../contract/readings.ts";
import { type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { type HttpTransport, refusal, words } from "../../transports/http.ts";

interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** The ranges that its chip supports. */
export interface ChipOptions {
  readonly megahertz: Bounds | null;
  readonly millivolts: Bounds | null;
}

/** The ranges that AxeOS's own page offers per chip, for firmware without /api/system/asic. */
const knownChips: Readonly<Record<string, ChipOptions>> = {
  BM1397: { megahertz: { min: 400, max: 600 }, millivolts: { min: 1100, max: 1500 } },
  BM1366: { megahertz: { min: 400, max: 575 }, millivolts: { min: 1100, max: 1300 } },
  BM1368: { megahertz: { min: 400, max: 575 }, millivolts: { min: 1100, max: 1300 } },
  BM1370: { megahertz: { min: 400, max: 625 }, millivolts: { min: 1000, max: 1250 } },
};

/** From the device's own lists, otherwise by the chip's name; null for an unknown chip. */
export function chipOptions(asic: TolerantReader | null, chip: string | null): ChipOptions | null {
  const known = knownChips[chip ?? ""] ?? null;
  if (asic === null) return known;
  return {
    megahertz: bounds(asic.numbers("frequencyOptions")) ?? known?.megahertz ?? null,
    millivolts: bounds(asic.numbers("voltageOptions")) ?? known?.millivolts ?? null,
  };
}

function bounds(options: readonly (number | null)[]): Bounds | null {
  const numbers = options.filter((option) => option !== null && option > 0).map(Number);
  return numbers.length === 0 ? null : { min: Math.min(...numbers), max: Math.max(...numbers) };
}

/** Settings are stored in flash and applied while it runs. */
const setting = { lasting: true, restartsMining: false, seconds: 10 };
const restarting = { lasting: false, restartsMining: true, seconds: 30 };
const atOnce = { lasting: false, restartsMining: false, seconds: 5 };

/** The controls that the device's own information supports. */
export function offers(http: HttpTransport, info: TolerantReader, chip: ChipOptions | null): OfferedControl[] {
  const post = async (path: string, signal: AbortSignal): Promise<string> =>
    words((await http.send({ method: "POST", path }, signal)).body) || "AxeOS accepted it";
  const patch = async (body: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string> =>
    words((await http.send({ method: "PATCH", path: "/api/system", body }, signal)).body) ||
    "AxeOS accepted the settings";

  const restart = (key: "restart" | "reboot"): OfferedControl => ({
    control: trigger(key, restarting),
    set: (_, signal) => post("/api/system/restart", signal),
  });

  const ranged = (
    key: "frequency" | "voltage",
    unit: "MHz" | "mV",
    field: "frequency" | "coreVoltage",
    within: Bounds | null | undefined,
  ): OfferedControl[] => {
    const value = info.number(field);
    if (value === null || within === null || within === undefined) return [];
    // It may have been set beyond the range by hand.
    const min = Math.min(within.min, value);
    const max = Math.max(within.max, value);
    const control = range(key, { unit, min, max, step: 1, value }, setting);
    return [{ control, set: (wanted, signal) => patch({ [field]: wanted }, signal) }];
  };

  return [
    restart("restart"),
    restart("reboot"),
    ...ranged("frequency", "MHz", "frequency", chip?.megahertz),
    ...ranged("voltage", "mV", "coreVoltage", chip?.millivolts),
    ...fan(info, patch),
    ...temperatureTarget(info, patch),
    ...miningAndLocate(http, info, post),
  ];
}

type Patch = (body: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<string>;

function fan(info: TolerantReader, patch: Patch): OfferedControl[] {
  const auto = info.boolean("autofanspeed");
  if (auto === null) return [];
  // Newer firmware separates the set speed from the present one.
  const field = info.has("manualFanSpeed") ? "manualFanSpeed" : "fanspeed";
  const percent = info.number(field, { absent: -1, max: 100 });
  const value = auto ? "auto" : percent;
  return [
    {
      control: range("fan", { unit: "%", min: 0, max: 100, step: 1, value, options: ["auto"] }, setting),
      set: (wanted, signal) =>
        patch(wanted === "auto" ? { autofanspeed: 1 } : { autofanspeed: 0, [field]: wanted }, signal),
    },
  ];
}

/** The firmware accepts 35 to 66 °C. */
function temperatureTarget(info: TolerantReader, patch: Patch): OfferedControl[] {
  const value = info.number("temptarget");
  if (value === null) return [];
  return [
    {
      control: range("temperature_target", { unit: "°C", min: 35, max: 66, step: 1, value }, setting),
      set: (wanted, signal) => patch({ temptarget: wanted }, signal),
    },
  ];
}

/** Firmware that reports `miningPaused` has pause and identify. */
function miningAndLocate(
  http: HttpTransport,
  info: TolerantReader,
  post: (path: string, signal: AbortSignal) => Promise<string>,
): OfferedControl[] {
  const paused = info.boolean("miningPaused");
  if (paused === null) return [];
  return [
    {
      control: toggle("mining", !paused, atOnce),
      set: (on, signal) => pauseOrResume(http, on, signal),
    },
    // Blinks and shows its name for 30 s; a second call in the meantime stops it.
    { control: trigger("locate", atOnce), set: (_, signal) => post("/api/system/identify", signal) },
  ];
}

/** Some builds have /mining instead of /pause and /resume; a missing path has done nothing. */
async function pauseOrResume(http: HttpTransport, on: ControlValue, signal: AbortSignal): Promise<string> {
  const call = { method: "POST", path: on === true ? "/api/system/resume" : "/api/system/pause" } as const;
  const reply = await http.call(call, signal);
  if (reply.status < 300) return words(reply.body) || (on === true ? "resumed" : "paused");
  if (reply.status !== 404 && reply.status !== 405) throw refusal(http.at, call, reply);
  const other = await http.send({ method: "POST", path: "/api/system/mining", body: { pause: on !== true } }, signal);
  return words(other.body) || (on === true ? "resumed" : "paused");
}
