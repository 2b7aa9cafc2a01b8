import { RigbridgeError } from "../../../contract/problems.ts";
import type { Identity, RigReadings } from "../../../contract/readings.ts";
import type { DeviceReading, Halt, PoolLogin, PoolReading } from "../../driver.ts";
import type { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { refusedWith } from "../../transports/limits.ts";
import { celsius } from "../shared/figures.ts";

/** What one read of a WhatsMiner says, whichever API says it. */
export interface Report {
  readonly identity: Identity;
  /** Without notes. */
  readonly readings: RigReadings;
  readonly pools: PoolReading[];
  readonly devices: DeviceReading[];
  /** Why it does not hash, where it says that it is switched off. */
  readonly halt: Halt | undefined;
  /** Percent of its power that it is held to; null where it does not say. */
  readonly throttle: number | null;
  /** Whether it is past the ramp after a start, so that its power fits its hash rate. */
  readonly settled: boolean;
  /** Whether it knows a throttle. */
  readonly throttles: boolean;
  /** Seconds over which the hash rate is averaged. */
  readonly logInterval: number | null;
}

export const modes = ["low", "normal", "high"] as const;
export type Mode = (typeof modes)[number];

/** One of the APIs of WhatsMiner: v1 and v2 over RPC, v3 over frames. Writes resolve with the device's own words. */
export interface Dialect {
  read(notes: Notes, signal: AbortSignal): Promise<Report>;
  /** The pools alone, as they are now. */
  pools(signal: AbortSignal): Promise<PoolReading[]>;
  mine(on: boolean, signal: AbortSignal): Promise<string>;
  restart(signal: AbortSignal): Promise<string>;
  reboot(signal: AbortSignal): Promise<string>;
  locate(on: boolean, signal: AbortSignal): Promise<string>;
  setMode(mode: Mode, signal: AbortSignal): Promise<string>;
  limitPower(watts: number, signal: AbortSignal): Promise<string>;
  throttle(percent: number, signal: AbortSignal): Promise<string>;
  /** The whole list, the first one first; at most three. */
  writePools(logins: readonly PoolLogin[], signal: AbortSignal): Promise<string>;
  /** The next read asks anew what the device has once said of itself. */
  doubt(): void;
}

/** Nothing is taken for a limit from here on: it switches the limit off. Source: the vendor's API, 0 to 99999. */
const noLimit = 99_999;

export const realLimit = (watts: number | null): number | null =>
  watts === null || watts <= 0 || watts >= noLimit ? null : watts;

/** "Low" as one API says and "low" as the other; null for what is no mode, such as "sleep". */
export const modeOf = (word: string | null): Mode | null => modes.find((mode) => mode === word?.toLowerCase()) ?? null;

/** All of them hash SHA-256 but the D-series. */
export const algorithmOf = (model: string | null): string | null => (model?.startsWith("D") ? null : "sha256");

/**
 * In and out. Rigs that are cooled by water or oil (M33, M56, M64 ...) have no fans, and say 0 for both.
 * null where nothing is said.
 */
export function fansOf(speeds: readonly (number | null)[], model: string | null): RigReadings["fans"] {
  if (/^M\d[346]/.test(model ?? "") && speeds.every((rpm) => rpm === null || rpm === 0)) return [];
  return speeds.flatMap((rpm) => (rpm === null ? [] : [{ rpm, percent: null }]));
}

/** One firmware says V, the other hundredths of a volt; nothing here runs on more than 1,000 V. */
const volts = (reply: number | null): number | null => (reply !== null && reply >= 1_000 ? reply / 100 : reply);

/** Both APIs name the figures of the power supply alike, but for its model and serial number. */
export function psuOf(
  psu: TolerantReader,
  keys: { readonly model: string; readonly serial: string },
): RigReadings["psu"] {
  if (psu.keys().length === 0) return null;
  return {
    power: psu.number("pin", { absent: 0 }),
    voltage: volts(psu.number("vin", { absent: 0 })),
    temperature: psu.number("temp0", celsius),
    model: psu.text("model") ?? psu.text(keys.model),
    serial: psu.text(keys.serial),
  };
}

/** A lamp that is just lit, or off, tells of no search. */
const steady = new Set(["auto", "on", "off"]);

/** Any other word was set by somebody who looks for it; what is set in detail has to blink for that. */
export function locateOf(reply: TolerantReader, key: "ledstat" | "ledstatus"): boolean | null {
  if (reply.isList(key))
    return reply.list(key).some((lamp) => (lamp.number("duration") ?? 0) < (lamp.number("period") ?? 0));
  const led = reply.text(key);
  return led === null ? null : !steady.has(led.toLowerCase());
}

const switchAdvice =
  "it only lets itself be read; give it a password other than the maker's, and switch its API on in WhatsMinerTool " +
  "(Remote Ctrl, Miner API Switch)";

export const readOnly = (at: string, what: string, words: string): RigbridgeError =>
  refusedWith("rig.read-only", `${at} refused "${what}"; ${switchAdvice}`, words);

export const wrongLogin = (at: string, what: string, words: string): RigbridgeError =>
  refusedWith("rig.login", `${at} refused "${what}"; its API wants another password or account`, words);

export const refused = (at: string, what: string, words: string): RigbridgeError =>
  refusedWith("rig.refused", `${at} refused "${what}"`, words);

export const noPassword = (at: string): RigbridgeError =>
  new RigbridgeError("rig.login", `${at} takes no command without the password of its API, and none was given`);
