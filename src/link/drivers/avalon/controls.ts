import { choice, type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { ascset, notice } from "./commands.ts";
import { modeWord, modeWords, statedWatts } from "./generation.ts";
import { modeNumber, type Snapshot } from "./readings.ts";

/** What the controls are built from. */
export interface ControlContext {
  readonly rpc: RpcTransport;
  readonly snapshot: Snapshot;
  /** The options that the firmware lists; null where it has no such list. */
  readonly options: ReadonlySet<string> | null;
  /** Seconds, by the rig's own clock. */
  readonly now: () => number;
  /** The light of a Nano 3S before it was set to blink; null where that is not known. */
  readonly light: { before: string | null };
}

/** s; measured on an Avalon Q, from the command to its first answer. */
export const rebootSeconds = 230;

const rebooting = { lasting: false, restartsMining: true, seconds: rebootSeconds };
const soon = { lasting: false, restartsMining: false, seconds: 20 };

/** The controls offered now. Frequency and voltage are not offered: their limits are not documented. */
export const offers = (context: ControlContext): OfferedControl[] => [
  ...mining(context),
  ...mode(context),
  ...fan(context),
  ...temperatureTarget(context),
  ...locate(context),
  ...reboot(context),
];

/** Firmware without a list of options is as old as the A10 manual, which has this one. */
function reboot({ rpc, options }: ControlContext): OfferedControl[] {
  if (options !== null && !options.has("reboot")) return [];
  return [{ control: trigger("reboot", rebooting), set: (_, signal) => rebootNow(rpc, signal) }];
}

export const rebootNow = (rpc: RpcTransport, signal: AbortSignal): Promise<string> =>
  ascset(rpc, "reboot", "0", signal);

/** It counts as on as soon as it initialises its boards. After a reboot it mines. */
function mining({ rpc, options, snapshot: { work, line }, now }: ControlContext): OfferedControl[] {
  const isOn = work === null ? null : work === "work" || work === "init";
  if (options?.has("softoff") && options.has("softon")) {
    // Without a pool it is idle too, though switched on.
    const value = work === "idle" && line.integer("SoftOFF") === 0 ? true : isOn;
    const at = (): string => `1:${Math.floor(now()) + notice}`;
    return [
      {
        control: toggle("mining", value, { lasting: false, restartsMining: true, seconds: 60 }),
        set: (on, signal) => ascset(rpc, on === true ? "softon" : "softoff", at(), signal),
      },
    ];
  }
  if (!options?.has("hashpower")) return [];
  // A10 manual, 2.6: cuts the power of the boards; only a reboot brings it back.
  return [
    {
      control: toggle("mining", isOn, rebooting),
      set: (on, signal) => (on === true ? rebootNow(rpc, signal) : ascset(rpc, "hashpower", "0", signal)),
    },
  ];
}

/**
 * The work mode; on a Nano 3, which has none, the level. A-series take the number alone, later models `set,N`. On
 * A-series, Mini 3 and Q it takes effect after a reboot.
 */
function mode({ rpc, options, snapshot }: ControlContext): OfferedControl[] {
  const { name } = snapshot.generation;
  const now = modeNumber(snapshot);
  const later = options?.has("worklevel") || options?.has("work_mode_lvl");
  const option = options?.has("workmode") ? "workmode" : options?.has("worklevel") ? "worklevel" : null;
  if (option === null || now === null) return [];
  const words = [...modeWords[name]];
  const word = modeWord(name, now);
  if (!words.includes(word)) words.push(word);
  const reboots = name === "a-series" || name === "mini3" || name === "q";
  const set: OfferedControl["set"] = async (wanted, signal) => {
    // Setting it again would only cost a reboot.
    if (wanted === word) return `it is already in the mode "${word}"`;
    const number = modeWords[name].indexOf(String(wanted));
    const result = await ascset(rpc, option, later ? `set,${number}` : String(number), signal);
    return reboots ? `${result}; ${await rebootNow(rpc, signal)}` : result;
  };
  const seconds = reboots ? rebootSeconds : 60;
  return [{ control: choice("mode", withWatts(snapshot, words, now), word, { ...lastingMode, seconds }), set }];
}

const lastingMode = { lasting: true, restartsMining: true };

/** With the stated watts of each mode, where the firmware's cap in the present mode confirms them. */
function withWatts(
  { generation: { name }, line }: Snapshot,
  words: readonly string[],
  now: number,
): string[] | { watts: number; label: string }[] {
  const stated = statedWatts[name];
  const isConfirmed = stated !== undefined && stated.length === words.length && line.number("MPO") === stated[now];
  return isConfirmed ? words.map((label, index) => ({ watts: stated[index] ?? 0, label })) : [...words];
}

/** The firmware reports the fans' speed, not whether it is set by hand. */
function fan({ rpc, options, snapshot: { generation } }: ControlContext): OfferedControl[] {
  if (!options?.has("fan-spd")) return [];
  const min = generation.name === "nano3s" ? 15 : 25;
  return [
    {
      control: range("fan", { unit: "%", min, max: 100, step: 1, value: null, options: ["auto"] }, soon),
      set: (wanted, signal) => ascset(rpc, "fan-spd", wanted === "auto" ? "-1" : String(wanted), signal),
    },
  ];
}

/** It accepts 50 to 90 °C, until the next restart or change of mode. */
function temperatureTarget({ rpc, options, snapshot: { line } }: ControlContext): OfferedControl[] {
  const value = line.number("TarT", { absent: 0, max: 120 });
  if (!options?.has("target-temp") || value === null) return [];
  return [
    {
      control: range("temperature_target", { unit: "°C", min: 50, max: 90, step: 1, value }, soon),
      set: (wanted, signal) => ascset(rpc, "target-temp", String(wanted), signal),
    },
  ];
}

const blink = 2;
const steady = 1;

/** A-series have a light for this; the light of a Nano 3S is set to blink and restored afterwards. */
function locate({ rpc, options, snapshot: { generation, line, fields }, light }: ControlContext): OfferedControl[] {
  if (generation.name === "a-series" && (options?.has("led") ?? line.has("Led"))) {
    return [
      {
        control: toggle("locate", line.boolean("Led"), soon),
        set: (on, signal) => ascset(rpc, "led", on === true ? "1-1" : "1-0", signal),
      },
    ];
  }
  const shown = fields.get("LEDUser") ?? "";
  const [effect, , warmth, ...colour] = shown.split("-").map(Number);
  if (!options?.has("ledset") || !/^\d{1,3}(?:-\d{1,3}){5}$/.test(shown)) return [];
  const set: OfferedControl["set"] = async (on, signal) => {
    if (on === true && effect !== blink) light.before = shown;
    const visible = colour.some((part) => part > 0) ? colour : [255, 255, 255];
    const off = light.before ?? [steady, 100, warmth, ...visible].join("-");
    const wanted = on === true ? [blink, 100, warmth, ...visible].join("-") : off;
    return ascset(rpc, "ledset", wanted, signal);
  };
  return [{ control: toggle("locate", effect === blink, soon), set }];
}
