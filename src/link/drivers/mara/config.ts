import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { PoolAction, PoolControls } from "../../driver.ts";
import { checkLogin } from "../../pool-login.ts";
import { lastPool, listedEntry } from "../shared/listed-pool.ts";

/** Its configuration, which is read and written whole. */
export type Config = Readonly<Record<string, unknown>>;

export type Change = (edit: (config: Config) => Config, signal: AbortSignal) => Promise<string>;

export const asleep = "Sleep";
export const workModes = ["Auto", "Fixed", "Stock"];

const partOf = (config: Config, key: string): Config => {
  const part = config[key];
  return isRecord(part) ? part : {};
};

export function workModeOf(config: Config): string | null {
  const mode = partOf(config, "mode")["work-mode-selector"];
  return typeof mode === "string" ? mode : null;
}

export const withWorkMode = (config: Config, mode: string): Config => ({
  ...config,
  mode: { ...partOf(config, "mode"), "work-mode-selector": mode },
});

/** The mode into which a rig wakes that was never seen awake. */
export function wakingModeOf(config: Config): string {
  const { "power-target": watts, "hash-target": rate } = partOf(partOf(config, "mode"), "concorde");
  return [watts, rate].some((target) => typeof target === "number" && target > 0) ? "Auto" : "Stock";
}

/** W, while it tunes itself to a power. */
export function powerTargetOf(config: Config): number | null {
  const tuner = partOf(partOf(config, "mode"), "concorde");
  const watts = tuner["power-target"];
  const isHeld = workModeOf(config) === "Auto" && tuner["mode-select"] === "PowerTarget";
  return isHeld && typeof watts === "number" && watts > 0 ? watts : null;
}

/** A fixed speed in %, or "auto"; null where it reports neither. */
export function fanOf(config: Config): number | "auto" | null {
  const { "override-fan-control": isFixed, "fan-fixed-percent": percent } = partOf(config, "advance-config");
  if (typeof isFixed !== "boolean") return null;
  if (!isFixed) return "auto";
  return typeof percent === "number" && percent >= 0 && percent <= 100 ? percent : null;
}

/** `percent`: null for automatic fans. */
export const withFan = (config: Config, percent: number | null): Config => ({
  ...config,
  "advance-config": {
    ...partOf(config, "advance-config"),
    "override-fan-control": percent !== null,
    ...(percent === null ? {} : { "fan-fixed-percent": percent }),
  },
});

interface Entry {
  readonly url: string;
  readonly worker: string;
  /** With all its fields, as the rig lists it. */
  readonly raw: Config;
}

/** Unused places have no URL. null where a field is missing or a password hidden: the list could not be written back. */
function entriesOf({ pools }: Config): Entry[] | null {
  if (!Array.isArray(pools)) return null;
  const entries: Entry[] = [];
  for (const raw of pools) {
    if (!isRecord(raw) || typeof raw.url !== "string" || typeof raw.user !== "string") return null;
    if (raw.url === "") continue;
    if (typeof raw.pass !== "string" || /^\*+$/.test(raw.pass)) return null;
    entries.push({ url: raw.url, worker: raw.user, raw });
  }
  return entries;
}

/** Pools in several groups share the work, so that their order means nothing. */
export function poolActionsOf(config: Config): PoolAction[] {
  const entries = entriesOf(config);
  if (entries === null) return [];
  const groups = new Set(entries.map(({ raw }) => raw.gid));
  const many: PoolAction[] = entries.length < 2 ? [] : groups.size > 1 ? ["remove"] : ["remove", "prioritize"];
  return ["add", ...many];
}

/** Each pool is written as it was read; a new one joins the group of the first. */
export const poolControls = (at: string, change: Change): PoolControls => ({
  add: async (login, signal) => {
    checkLogin(login);
    const { url, worker: user, password: pass } = login;
    return change((config) => {
      const entries = readable(at, config);
      const gid = entries[0]?.raw.gid ?? 0;
      return { ...config, pools: [...entries.map(({ raw }) => raw), { url, user, pass, gid }] };
    }, signal);
  },
  remove: (pool, signal) =>
    change((config) => {
      const entries = readable(at, config);
      const wanted = listedEntry(entries, pool, (entry) => entry);
      if (entries.length < 2) throw lastPool();
      return { ...config, pools: entries.filter((entry) => entry !== wanted).map(({ raw }) => raw) };
    }, signal),
  prioritize: (pool, signal) =>
    change((config) => {
      const entries = readable(at, config);
      const wanted = listedEntry(entries, pool, (entry) => entry);
      return { ...config, pools: [wanted, ...entries.filter((entry) => entry !== wanted)].map(({ raw }) => raw) };
    }, signal),
});

function readable(at: string, config: Config): Entry[] {
  const entries = entriesOf(config);
  if (entries !== null) return entries;
  throw new RigbridgeError("rig.read-only", `${at} does not show its whole list of pools, so that it is not changed`);
}
