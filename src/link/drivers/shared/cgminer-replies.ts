import type { AsicModel } from "../../../catalogue/asic-models.ts";
import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { DeviceReading, PoolReading } from "../../driver.ts";
import { printable, type TolerantReader } from "../../tolerant-reader.ts";
import { refusedWith } from "../../transports/limits.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { unknownDevice } from "./board-device.ts";
import { celsius, megahertz } from "./figures.ts";
import { type Units, unitsOf, usualUnits } from "./rate-units.ts";

/** The STATUS of an answer. */
export interface Status {
  /** S, I, W, E, F; or a whole word such as RESTART. */
  readonly letter: string;
  readonly code: number | null;
  readonly words: string;
  /** The program that answers, as it calls itself. */
  readonly program: string | null;
}

/** cgminer's STATUS is a list, WhatsMiner's is flat, and that of `restart` is one word. Null if there is none. */
export function statusOf(value: unknown): Status | null {
  if (!isRecord(value)) return null;
  const listed: unknown = Array.isArray(value.STATUS) ? value.STATUS[0] : value;
  if (!isRecord(listed) || typeof listed.STATUS !== "string") return null;
  const letter = printable(listed.STATUS.slice(0, 200)).slice(0, 20);
  const words = typeof listed.Msg === "string" ? printable(listed.Msg.slice(0, 1_000)).slice(0, 200) : letter;
  const program = typeof listed.Description === "string" ? printable(listed.Description.slice(0, 200)) : null;
  return { letter, code: typeof listed.Code === "number" ? listed.Code : null, words, program };
}

/** The first of a list, as the parts of a joined answer come; undefined when it is no list. */
export const firstOf = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined);

/**
 * The rig's `check` result for a command: whether it exists, and whether this address may use it. `lacking`: the
 * firmware has no `check`; `denied`: it does not answer it to this address. Throws `rig.garbled` for any other answer.
 */
export async function checkOf(
  rpc: RpcTransport,
  command: string,
  signal: AbortSignal,
): Promise<{ readonly exists: boolean; readonly access: boolean } | "lacking" | "denied"> {
  const { value } = await rpc.send("check", command, signal);
  const checked = isRecord(value) ? firstOf(value.CHECK) : undefined;
  if (lacks(value)) return "lacking";
  if (isRefused(value)) return "denied";
  if (!isRecord(checked)) throw new RigbridgeError("rig.garbled", `${rpc.at} answered "check" without a CHECK`);
  return { exists: checked.Exists === "Y", access: checked.Access === "Y" };
}

/** Whether the answer is that the firmware has no such command. */
export function lacks(answer: unknown): boolean {
  const status = statusOf(answer);
  return status !== null && isRefusal(status) && (status.code === 14 || /invalid command/i.test(status.words));
}

export const isRefusal = ({ letter }: Status): boolean => letter === "E" || letter === "F";

/** Whether an answer is an error; one without a STATUS is not. */
export function isRefused(answer: unknown): boolean {
  const status = statusOf(answer);
  return status !== null && isRefusal(status);
}

/** The answer's own words. Throws `rig.refused` with them when it is an error. */
export function accepted(at: string, command: string, value: unknown): string {
  const status = statusOf(value);
  if (status === null) throw new RigbridgeError("rig.garbled", `${at} answered "${command}" without a STATUS`);
  if (isRefusal(status)) throw refusedWith("rig.refused", `${at} refused "${command}"`, status.words);
  return status.words;
}

const rateKey = /^([KMGTP]?)HS (?:(\d+)s|(av)|RT)$/;
const longestRateKey = "MHS 3600s".length;

export interface Rates {
  /** H/s. */
  readonly now: number | null;
  readonly average: number | null;
  /** Seconds over which `now` is averaged. */
  readonly seconds: number | null;
}

/**
 * Hash rates under the names of every dialect: `MHS 5s`, `GHS 5s`, `KHS 30s`, `MHS 20s`, `MHS av`, and WhatsMiner's
 * `HS RT`, which is in MH/s.
 */
export function ratesOf(reply: TolerantReader, units: Units = usualUnits): Rates {
  let now: number | null = null;
  let seconds: number | null = null;
  let average: number | null = null;
  for (const { key, prefix, over } of rateKeysOf(reply.keys())) {
    if (over === "RT") {
      now ??= reply.number(key, { times: 1e6 });
      continue;
    }
    const rate = reply.number(key, { times: units[prefix] ?? 1 });
    if (rate === null) continue;
    if (over === "av") {
      average ??= rate;
    } else if (seconds === null || over < seconds) {
      now = rate;
      seconds = over;
    }
  }
  return { now: now ?? average, average, seconds };
}

interface RateKey {
  readonly key: string;
  readonly prefix: string;
  /** Seconds. */
  readonly over: number | "av" | "RT";
}

/** Far more kinds of replies than there are; the oldest is forgotten. */
const mostLayouts = 32;
const longestLayout = 500;
/** The keys of replies seen so far with the rates among them: a rig replies with the same keys each time. */
const layouts: { readonly keys: readonly string[]; readonly rates: readonly RateKey[] }[] = [];

function rateKeysOf(keys: readonly string[]): readonly RateKey[] {
  const known = layouts.find((layout) => layout.keys.length === keys.length && isEqual(layout.keys, keys));
  if (known !== undefined) return known.rates;
  const rates = keys.flatMap(rateKeyOf);
  if (keys.length > longestLayout) return rates;
  if (layouts.length >= mostLayouts) layouts.shift();
  layouts.push({ keys, rates });
  return rates;
}

const isEqual = (some: readonly string[], others: readonly string[]): boolean =>
  some.every((key, index) => key === others[index]);

function rateKeyOf(key: string): RateKey[] {
  const match = key.length <= longestRateKey ? rateKey.exec(key) : null;
  if (match === null) return [];
  const [, prefix = "", over, av] = match;
  return [{ key, prefix, over: over === undefined ? (av === undefined ? "RT" : "av") : Number(over) }];
}

/** The hash rates of a reply of this model. */
export const ratesOfModel = (reply: TolerantReader, model: AsicModel | null): Rates =>
  ratesOf(
    reply,
    unitsOf(model, () => writtenRate(reply)),
  );

/** The rate as it is written: its average, which is steadier than the present one. */
function writtenRate(reply: TolerantReader): number | null {
  const keys = rateKeysOf(reply.keys()).filter(({ over }) => over !== "RT");
  const average = keys.find(({ over }) => over === "av") ?? keys[0];
  return average === undefined ? null : reply.number(average.key);
}

/** The pools in the rig's order; at most one is active. */
export function poolsOf(replies: readonly TolerantReader[]): PoolReading[] {
  const pools = replies.map((reply, position) => poolOf(reply, position));
  const live = pools.filter(({ active }) => active);
  const first = live.reduce<PoolReading | undefined>(
    (best, pool) => (best === undefined || pool.priority < best.priority ? pool : best),
    undefined,
  );
  return live.length < 2 ? pools : pools.map((pool) => ({ ...pool, active: pool === first }));
}

function poolOf(reply: TolerantReader, position: number): PoolReading {
  const url = reply.text("URL", 255) ?? "";
  const worker = reply.text("User", 255) ?? "";
  return {
    index: reply.integer("POOL") ?? position,
    url,
    worker,
    status: poolStatus(reply.text("Status")),
    active: reply.boolean("Stratum Active") ?? false,
    priority: reply.integer("Priority") ?? position,
    quota: reply.integer("Quota"),
    accepted: reply.integer("Accepted"),
    rejected: reply.integer("Rejected"),
    stale: reply.integer("Stale"),
    devFee: /devfee/i.test(url) || /devfee/i.test(worker),
  };
}

function poolStatus(status: string | null): PoolReading["status"] {
  if (status === "Disabled") return "disabled";
  return status === null || status === "Alive" || status === "Enabled" ? "enabled" : "dead";
}

/** The key of each kind of device in `devs`, and its prefix in commands. */
export const deviceKinds = [
  { key: "ASC", kind: "asic", command: "asc" },
  { key: "PGA", kind: "pga", command: "pga" },
  { key: "GPU", kind: "gpu", command: "gpu" },
] as const;

export interface NumberedDevice {
  readonly reading: DeviceReading;
  /** Its number within its kind. */
  readonly number: number;
  readonly command: "asc" | "pga" | "gpu";
  /** °C, of its hottest chip. */
  readonly chipTemperature: number | null;
  readonly chips: number | null;
  readonly serial: string | null;
}

export function devicesOf(replies: readonly TolerantReader[], model: AsicModel | null): NumberedDevice[] {
  return replies.map((reply, position) => {
    const { key, kind, command } = deviceKinds.find((each) => reply.has(each.key)) ?? deviceKinds[0];
    const number = reply.integer(key) ?? position;
    const { now, average } = ratesOfModel(reply, model);
    return {
      number,
      command,
      chipTemperature: reply.number("Chip Temp Max", celsius),
      chips: reply.integer("Effective Chips"),
      serial: reply.text("PCB SN"),
      reading: {
        ...unknownDevice,
        kind,
        name: `${reply.text("Name") ?? key} ${reply.integer("ID") ?? number}`,
        status: deviceStatus(reply),
        hashrate: now,
        hashrateAverage: average,
        // Bitmain's rigs spell it this way.
        temperature: reply.number("Temperature", celsius) ?? reply.number("Tenperature", celsius),
        fanRpm: reply.number("Fan Speed"),
        fanPercent: reply.number("Fan Percent"),
        clock: megahertz(reply, "GPU Clock") ?? megahertz(reply, "Chip Frequency") ?? megahertz(reply, "Frequency"),
        memoryClock: megahertz(reply, "Memory Clock"),
        voltage: reply.number("GPU Voltage", { max: 100 }),
        activity: reply.number("GPU Activity"),
        powertune: reply.number("Powertune", { min: -100 }),
        intensity: intensityOf(reply),
        accepted: reply.integer("Accepted"),
        rejected: reply.integer("Rejected"),
        hardwareErrors: reply.integer("Hardware Errors"),
        workUtility: reply.number("Work Utility"),
      },
    };
  });
}

/** "20", or "D" for a dynamic one; if it is 0, sgminer's finer scales count. */
function intensityOf(reply: TolerantReader): string | null {
  const scales = ["Intensity", "XIntensity", "RawIntensity"].map((key) => reply.text(key, 20));
  return scales.find((value) => value !== null && value !== "0") ?? scales[0] ?? null;
}

function deviceStatus(reply: TolerantReader): DeviceReading["status"] {
  if (reply.boolean("Enabled") === false) return "disabled";
  const status = reply.text("Status")?.toLowerCase() ?? "alive";
  if (status === "sick" || status === "dead" || status === "disabled") return status;
  return status === "nostart" ? "dead" : "enabled";
}
