import { z } from "zod";
import { jsonOf } from "../json.ts";
import type { Pool, RigModel } from "../model.ts";
import type { RigBody } from "../rig.ts";

/** A pool as AxeOS stores it; its host has no scheme. */
export interface StratumSetting {
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

/** The settings that survive a restart; MHz, mV, %, °C. */
export interface Settings {
  readonly hostname: string;
  readonly frequency: number;
  readonly coreVoltage: number;
  readonly autoFan: boolean;
  readonly manualFan: number;
  readonly minFan: number;
  readonly temperatureTarget: number;
  readonly primary: StratumSetting;
  readonly fallback: StratumSetting;
  readonly useFallback: boolean;
}

/** The state of a rig in AxeOS. */
export interface AxeosRig {
  readonly body: RigBody;
  readonly model: RigModel;
  settings: Settings;
}

const noPool: StratumSetting = { url: "", user: "", password: "" };

const settingOf = (pool: Pool | undefined): StratumSetting =>
  pool === undefined ? noPool : { url: pool.url, user: pool.user, password: pool.password };

/** Factory settings, with the initial pools. */
export function fresh(body: RigBody): AxeosRig {
  const { model, name } = body;
  const [primary, fallback] = model.pools;
  const settings = {
    hostname: name,
    frequency: model.frequency / 1e6,
    coreVoltage: Math.round(model.voltage * 1000),
    autoFan: true,
    manualFan: 100,
    minFan: 25,
    temperatureTarget: Math.round(model.temperatureTarget),
    primary: settingOf(primary),
    fallback: settingOf(fallback),
    useFallback: false,
  };
  return { body, model, settings };
}

const flag = z.union([z.literal(0), z.literal(1), z.boolean().transform(Number)]);
const host = z
  .string()
  .max(255)
  .regex(/^[^/:\s]*$/);
const port = z.int().min(1).max(65_535);
const login = z.string().max(255);
const percent = z.int().min(0).max(100);

/** The fields that PATCH accepts; like the firmware, it ignores others. */
const Patch = z
  .object({
    hostname: z.string().regex(/^[A-Za-z0-9-]{1,32}$/),
    frequency: z.number().min(50).max(1200),
    coreVoltage: z.int().min(500).max(1500),
    autofanspeed: flag,
    manualFanSpeed: percent,
    fanspeed: percent,
    minFanSpeed: percent,
    temptarget: z.int().min(35).max(66),
    overheat_mode: flag,
    stratumURL: host,
    stratumPort: port,
    stratumUser: login,
    stratumPassword: login,
    fallbackStratumURL: host,
    fallbackStratumPort: port,
    fallbackStratumUser: login,
    fallbackStratumPassword: login,
    useFallbackStratum: flag,
  })
  .partial();

/** Host and port of a pool URL. */
export function endpointOf(url: string): { host: string; port: number } {
  const [host = "", port = "3333"] = url.replace(/^[a-z0-9+]+:\/\//, "").split(":");
  return { host, port: Number(port) };
}

/** The settings after a PATCH with this body, or the firmware's message if it refuses. */
export function patched(settings: Settings, body: string): Settings | string {
  const value = jsonOf(body);
  if (value === undefined) return "Invalid JSON";
  const patch = Patch.safeParse(value);
  if (!patch.success) return "Wrong API input";
  const wanted = patch.data;
  return {
    hostname: wanted.hostname ?? settings.hostname,
    frequency: wanted.frequency ?? settings.frequency,
    coreVoltage: wanted.coreVoltage ?? settings.coreVoltage,
    autoFan: wanted.autofanspeed === undefined ? settings.autoFan : wanted.autofanspeed !== 0,
    manualFan: wanted.manualFanSpeed ?? wanted.fanspeed ?? settings.manualFan,
    minFan: wanted.minFanSpeed ?? settings.minFan,
    temperatureTarget: wanted.temptarget ?? settings.temperatureTarget,
    primary: stratum(
      settings.primary,
      wanted.stratumURL,
      wanted.stratumPort,
      wanted.stratumUser,
      wanted.stratumPassword,
    ),
    fallback: stratum(
      settings.fallback,
      wanted.fallbackStratumURL,
      wanted.fallbackStratumPort,
      wanted.fallbackStratumUser,
      wanted.fallbackStratumPassword,
    ),
    useFallback: wanted.useFallbackStratum === undefined ? settings.useFallback : wanted.useFallbackStratum !== 0,
  };
}

/** Frequency, voltage and fan take effect at once, pools with the next restart. */
export function applySettings(rig: AxeosRig, settings: Settings): void {
  rig.settings = settings;
  rig.model.change((model) => {
    model.frequency = settings.frequency * 1e6;
    model.voltage = settings.coreVoltage / 1000;
    model.temperatureTarget = settings.temperatureTarget;
    model.fanSetting = settings.autoFan ? null : settings.manualFan / 100;
  });
}

function stratum(
  now: StratumSetting,
  host: string | undefined,
  port: number | undefined,
  user: string | undefined,
  password: string | undefined,
): StratumSetting {
  const endpoint = endpointOf(now.url);
  return {
    url: `stratum+tcp://${host ?? endpoint.host}:${port ?? endpoint.port}`,
    user: user ?? now.user,
    password: password ?? now.password,
  };
}
