import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import { choice, type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import type { GoldshellApi } from "./api.ts";
import { planInUse, plansOf } from "./plans.ts";

const setting = { lasting: true, restartsMining: true, seconds: 120 };

/** With its login. `lastLevel`: of the plan that it last hashed with, null when unknown. */
export function offers(api: GoldshellApi, settings: TolerantReader, lastLevel: number | null): OfferedControl[] {
  return [
    ...planControls(api, settings, lastLevel),
    ...temperatureTarget(api, settings),
    {
      control: trigger("reboot", { lasting: false, restartsMining: true, seconds: 120 }),
      set: (_, signal) => api.put("restart", undefined, signal),
    },
  ];
}

/** Settings are written as a whole: those just read, with these fields changed. */
async function change(
  api: GoldshellApi,
  fields: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<string> {
  const stored = await api.get("setting", signal);
  if (!isRecord(stored)) throw new RigbridgeError("rig.garbled", `${api.at}: its settings could not be read`);
  return api.put("setting", { ...stored, ...fields }, signal);
}

function planControls(api: GoldshellApi, settings: TolerantReader, lastLevel: number | null): OfferedControl[] {
  const plans = plansOf(settings);
  const present = planInUse(settings);
  const isManual = settings.boolean("manual") === true;
  const hashing = plans.filter(({ isIdle }) => !isIdle);
  const idle = plans.find(({ isIdle }) => isIdle);
  const [first] = hashing;
  if (first === undefined) return [];
  const use = (level: number, signal: AbortSignal): Promise<string> =>
    change(api, { select: level, manual: false }, signal);
  const names = hashing.map(({ level }) => String(level));
  const value = present === null || present.isIdle ? null : String(present.level);
  const offered: OfferedControl[] = [
    { control: choice("mode", names, value, setting), set: (level, signal) => use(Number(level), signal) },
  ];
  if (idle === undefined) return offered;
  // A clock set by hand would be lost.
  if (isManual) return offered;
  return [
    {
      control: toggle("mining", present === null ? null : !present.isIdle, { ...setting, restartsMining: false }),
      set: (on, signal) => use(on === true ? (lastLevel ?? first.level) : idle.level, signal),
    },
    ...offered,
  ];
}

/** Of the boards, which its fans follow; the rig reports the bounds. */
function temperatureTarget(api: GoldshellApi, settings: TolerantReader): OfferedControl[] {
  const [min = null, max = null] = settings.numbers("temp_targets", {}, 2);
  const value = settings.number("temp_target");
  if (min === null || max === null || min <= 0 || min >= max || value === null) return [];
  return [
    {
      control: range(
        "temperature_target",
        { unit: "°C", min, max, step: 1, value },
        { lasting: true, restartsMining: false, seconds: 10 },
      ),
      set: (wanted, signal) => change(api, { temp_target: wanted }, signal),
    },
  ];
}
