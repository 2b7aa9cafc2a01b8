import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlValue } from "../../../contract/readings.ts";
import { choice, type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { highestWithin, limitScale } from "../shared/watt-levels.ts";
import { limitNow, type Profiles } from "./profiles.ts";
import { awakeOf, locateOf, type Snapshot } from "./readings.ts";
import type { Work, Write } from "./session.ts";

/** Runs writes within one session. */
export type InSession = (signal: AbortSignal, work: Work<string>) => Promise<string>;

/** What the controls are built from. */
export interface ControlContext {
  readonly snapshot: Snapshot;
  readonly profiles: Profiles;
  /** The record of `tempctrl`. */
  readonly temperatures: TolerantReader;
  /** W last set; null before. */
  readonly lastLimit: number | null;
  readonly keepLimit: (watts: number) => void;
}

/** Boards ramp up slowly to protect the hardware, minutes until full speed. */
const ramping = { lasting: true, restartsMining: false, seconds: 120 };
const setting = { lasting: true, restartsMining: false, seconds: 10 };

/** Source: Luxor's "LUXminer commands". */
export function offers(session: InSession, context: ControlContext): OfferedControl[] {
  const { config } = context.snapshot;
  const send =
    (command: string, ...parameters: readonly string[]) =>
    (_: ControlValue, signal: AbortSignal): Promise<string> =>
      session(signal, (write) => write(command, ...parameters));
  const awake = awakeOf(config);
  const locate = locateOf(config);
  const offered: OfferedControl[] = [
    {
      control: trigger("restart", { lasting: false, restartsMining: true, seconds: 120 }),
      set: send("resetminer"),
    },
    {
      control: trigger("reboot", { lasting: false, restartsMining: true, seconds: 180 }),
      set: send("rebootdevice"),
    },
  ];
  if (awake !== null) {
    offered.push({
      // Sleep survives a restart; before 2024 a restart ended it.
      control: toggle("mining", awake, ramping),
      set: (on, signal) => send("curtail", on === true ? "wakeup" : "sleep")(on, signal),
    });
  }
  if (locate !== null) {
    offered.push({
      control: toggle("locate", locate, { lasting: false, restartsMining: false, seconds: 5 }),
      set: (on, signal) => send("ledset", "red", on === true ? "blink" : "auto")(on, signal),
    });
  }
  return [
    ...offered,
    ...profileControls(session, context),
    ...fanControl(session, context),
    ...temperatureControl(session, context.temperatures),
    ...boardControls(session, context.snapshot),
  ];
}

function profileControls(session: InSession, { profiles, lastLimit, keepLimit }: ControlContext): OfferedControl[] {
  const { levels, others, present } = profiles;
  const offered: OfferedControl[] = [];
  if (levels.length + others.length > 0) {
    offered.push({
      control: choice("mode", [...levels, ...others], present, ramping),
      set: (name, signal) => session(signal, (write, undo) => useProfile(write, undo, profiles, String(name))),
    });
  }
  if (levels.length > 0) {
    offered.push({
      control: range("power_limit", limitScale(levels, limitNow(profiles), lastLimit), ramping),
      set: async (watts, signal) => {
        const level = highestWithin(levels, Number(watts));
        if (level === null) throw new RigbridgeError("control.absent", `No profile takes ${watts} W or less`);
        const result = await session(signal, (write, undo) => useProfile(write, undo, profiles, level.label));
        keepLimit(Number(watts));
        return `${result}; ${level.label} takes ${level.watts} W`;
      },
    });
  }
  return offered;
}

/**
 * Thermal management selects profiles automatically, up to a highest one. It is switched off for the change, as Luxor's
 * own tools do, and gets this profile as its highest: heat may still lower the profile, but nothing raises it above.
 * Thermal management is switched on again in any case.
 */
async function useProfile(write: Write, undo: Write, { managed }: Profiles, name: string): Promise<string> {
  if (managed !== true) return write("profileset", name);
  await write("atmset", "enabled=false");
  try {
    const result = await write("profileset", name);
    await write("atmset", `max_profile=${name}`);
    return `${result}; thermal management stays on, with ${name} as its highest profile`;
  } finally {
    await undo("atmset", "enabled=true").catch((error: unknown) => {
      if (!(error instanceof RigbridgeError)) throw error;
      throw new RigbridgeError(error.code, `${error.message}; its thermal management is now switched off`);
    });
  }
}

/** Rigs in water or oil have no fans, and refuse it. */
function fanControl(
  session: InSession,
  { snapshot: { fans, config }, temperatures }: ControlContext,
): OfferedControl[] {
  if (fans.length === 0 || config.boolean("ImmersionMode") === true) return [];
  const mode = temperatures.text("Mode")?.toLowerCase() ?? null;
  const value = mode === "manual" ? (fans[0]?.percent ?? null) : mode === "automatic" ? "auto" : null;
  return [
    {
      control: range("fan", { unit: "%", min: 0, max: 100, step: 1, value, options: ["auto"] }, setting),
      set: (wanted, signal) => session(signal, (write) => write("fanset", `speed=${wanted === "auto" ? -1 : wanted}`)),
    },
  ];
}

/**
 * The three thresholds are set together in ascending order. Luxor documents no lowest target; the rig checks its own.
 */
function temperatureControl(session: InSession, temperatures: TolerantReader): OfferedControl[] {
  const [target, hot, dangerous] = ["Target", "Hot", "Dangerous"].map((key) =>
    temperatures.number(key, { absent: 0, max: 250 }),
  );
  if (target == null || hot == null || dangerous == null || hot < 1) return [];
  const control = range("temperature_target", { unit: "°C", min: 1, max: hot, step: 1, value: target }, setting);
  return [
    {
      control,
      set: (wanted, signal) =>
        session(signal, (write) => write("tempctrlset", String(wanted), String(hot), String(dangerous))),
    },
  ];
}

function boardControls(session: InSession, { boards }: Snapshot): OfferedControl[] {
  const numbers = boards.map(({ number }) => number);
  return boards.flatMap(({ board: { slot }, enabled, number }): OfferedControl[] =>
    number !== slot || slot > 99 || numbers.indexOf(number) !== numbers.lastIndexOf(number)
      ? []
      : [
          {
            control: toggle(`board_${slot}`, enabled, { ...ramping, seconds: 60 }),
            set: (on, signal) =>
              session(signal, (write) => write(on === true ? "enableboard" : "disableboard", String(slot))),
          },
        ],
  );
}
