import { choice, type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { ascset, notice } from "./commands.ts";
import { modeWord, modeWords, statedWatts } from "./generation.ts";
import { modeNumber, type Snapshot } from "./readings.ts";

/** What the controls of a rig are made of. */
export interface ControlContext {
  readonly rpc: RpcTransport;
  readonly snapshot: Snapshot;
  /** The options that the firmware lists; null where it has no such list. */
  readonly options: ReadonlySet<string> | null;
  /** Seconds, by the rig's own clock. */
  readonly now: () => number;
  /** What the light of a Nano 3S showed before it was made to blink; null when that was not seen. */
  readonly light: { before: string | null };
}

/** s; measured on an Avalon Q, from the command to its first answer. */
export const rebootSeconds = 230;

const rebooting = { lasting: false, restartsMining: true, seconds: rebootSeconds };
const soon = { lasting: false, restartsMining: false, seconds: 20 };

/** What it can be told now. Frequency and voltage are not among it: their bounds are told nowhere. */
export const offers = (context: ControlContext): OfferedControl[] => [
  ...mining(context),
  ...mode(context),
  ...fan(context),
  ...temperatureTarget(context),
  ...locate(context),
  ...reboot(context),
];

/** Firmware without a list of options is as old as the A10 manual, which knows this one. */
function reboot({ rpc, options }: ControlContext): OfferedControl[] {
  if (options !== null && !options.has("reboot")) return [];
  return [{ control: trigger("reboot", rebooting), set: (_, signal) => rebootNow(rpc, signal) }];
}

export const rebootNow = (rpc: RpcTransport, signal: AbortSignal): Promise<string> =>
  ascset(rpc, "reboot", "0", signal);

/** A start is under way from the moment that it initialises its boards. After a reboot it mines. */
function mining({ rpc, options, snapshot: { work, line }, now }: ControlContext): OfferedControl[] {
  const works = work === null ? null : work === "work" || work === "init";
  if (options?.has("softoff") && options.has("softon")) {
    // Without a pool it is idle too, and was not told to be.
    const value = work === "idle" && line.integer("SoftOFF") === 0 ? true : works;
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
      control: toggle("mining", works, rebooting),
      set: (on, signal) => (on === true ? rebootNow(rpc, signal) : ascset(rpc, "hashpower", "0", signal)),
    },
  ];
}

/**
 * The work mode; on a Nano 3, which has none, the level. A-series take the bare number, what came later `set,N`. On
 * A-series, Mini 3 and Q it only counts after a reboot.
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
    // To say it again would only cost a reboot.
    if (wanted === word) return `it works in the mode "${word}" already`;
    const number = modeWords[name].indexOf(String(wanted));
    const said = await ascset(rpc, option, later ? `set,${number}` : String(number), signal);
    return reboots ? `${said}; ${await rebootNow(rpc, signal)}` : said;
  };
  const seconds = reboots ? rebootSeconds : 60;
  return [{ control: choice("mode", withWatts(snapshot, words, now), word, { ...lastingMode, seconds }), set }];
}

const lastingMode = { lasting: true, restartsMining: true };

/** The watts of each mode where the firmware's cap in the present one bears them out. */
function withWatts(
  { generation: { name }, line }: Snapshot,
  words: readonly string[],
  now: number,
): string[] | { watts: number; label: string }[] {
  const stated = statedWatts[name];
  const bornOut = stated !== undefined && stated.length === words.length && line.number("MPO") === stated[now];
  return bornOut ? words.map((label, index) => ({ watts: stated[index] ?? 0, label })) : [...words];
}

/** The firmware reports how fast the fans turn, not whether they were told to. */
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

/** It takes 50 to 90 °C, and forgets it with the next restart or change of mode. */
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

/** A-series have a light for this; the light of a Nano 3S is made to blink, and gets back what it showed before. */
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
