import { RigbridgeError } from "../../../contract/problems.ts";
import type { Identity, RigReadings } from "../../../contract/readings.ts";
import { detail } from "../../../messages/detail.ts";
import type { DeviceReading, Halt, PoolLogin, PoolReading } from "../../driver.ts";
import type { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { refusedWith } from "../../transports/limits.ts";
import { celsius } from "../shared/figures.ts";

/** What one read of a WhatsMiner brings, over either API. */
export interface Snapshot {
  readonly identity: Identity;
  /** Without notes. */
  readonly readings: RigReadings;
  readonly pools: PoolReading[];
  readonly devices: DeviceReading[];
  /** Why it does not hash, where it reports that it is switched off. */
  readonly halt: Halt | undefined;
  /** % of its power that it is limited to; null where it is not reported. */
  readonly throttle: number | null;
  /** Whether it has finished ramping up, so that its power matches its hash rate. */
  readonly settled: boolean;
  /** Whether it has a throttle. */
  readonly throttles: boolean;
  /** Seconds over which the hash rate is averaged. */
  readonly logInterval: number | null;
}

export const modes = ["low", "normal", "high"] as const;
export type Mode = (typeof modes)[number];

/** One of WhatsMiner's APIs: v1 and v2 over RPC, v3 over frames. Writes resolve with the device's own words. */
export interface Dialect {
  read(notes: Notes, signal: AbortSignal): Promise<Snapshot>;
  /** Only the pools, as they are now. */
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
  /** The next read reads the identity again. */
  doubt(): void;
}

/** From this value on there is no limit. Source: the vendor's API, 0 to 99999. */
const noLimit = 99_999;

export const realLimit = (watts: number | null): number | null =>
  watts === null || watts <= 0 || watts >= noLimit ? null : watts;

/** "Low" in one API and "low" in the other; null for anything else, such as "sleep". */
export const modeOf = (word: string | null): Mode | null => modes.find((mode) => mode === word?.toLowerCase()) ?? null;

/** All of them are for SHA-256 except the D-series. */
export const algorithmOf = (model: string | null): string | null => (model?.startsWith("D") ? null : "sha256");

/**
 * Inlet and outlet fan. Rigs cooled by water or oil (M33, M56, M64 ...) have no fans and report 0 for both.
 */
export function fansOf(speeds: readonly (number | null)[], model: string | null): RigReadings["fans"] {
  if (/^M\d[346]/.test(model ?? "") && speeds.every((rpm) => rpm === null || rpm === 0)) return [];
  return speeds.flatMap((rpm) => (rpm === null ? [] : [{ rpm, percent: null }]));
}

/** V, or hundredths of a volt in other firmware; no supply has more than 1,000 V. */
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

/** Words for a lamp that is steadily lit, or off. */
const steady = new Set(["auto", "on", "off"]);

/** Any other word means locating; a detailed setting does when the lamp blinks. */
export function locateOf(reply: TolerantReader, key: "ledstat" | "ledstatus"): boolean | null {
  if (reply.isList(key))
    return reply.list(key).some((lamp) => (lamp.number("duration") ?? 0) < (lamp.number("period") ?? 0));
  const led = reply.text(key);
  return led === null ? null : !steady.has(led.toLowerCase());
}

const switchAdvice =
  "it can only be read; set a password other than the maker's and switch its API on in WhatsMinerTool " +
  "(Remote Ctrl, Miner API Switch)";

export const readOnly = (at: string, what: string, words: string): RigbridgeError =>
  refusedWith("rig.read-only", `${at} refused "${what}"; ${switchAdvice}`, words);

export const wrongLogin = (at: string, what: string, words: string): RigbridgeError =>
  refusedWith("rig.login", `${at} refused "${what}"; its API requires another password or account`, words);

export const refused = (at: string, what: string, words: string): RigbridgeError =>
  refusedWith("rig.refused", `${at} refused "${what}"`, words);

export const noPassword = (at: string): RigbridgeError =>
  new RigbridgeError("rig.login", detail("link.commandPassword", { at }));
