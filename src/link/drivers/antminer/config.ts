import { invalid, RigbridgeError } from "../../../contract/problems.ts";
import type { PoolLogin, PoolReading } from "../../driver.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { isSameUrl, lastPool, listedEntry } from "../shared/listed-pool.ts";

/** A pool of the configuration. */
export interface ConfiguredPool {
  readonly url: string;
  readonly user: string;
  /** null where the rig hides it. */
  readonly pass: string | null;
}

/** The names of the configuration's fields, and the number of its mode for sleep. */
export interface FieldNames {
  readonly fanSwitch: string;
  readonly fanPercent: string;
  readonly mode: string;
  readonly level: string;
  /** The name under which the level is written. */
  readonly writtenLevel: string;
  readonly asleep: number;
}

export const asleep = 1;

export const bitmainNames: FieldNames = {
  fanSwitch: "bitmain-fan-ctrl",
  fanPercent: "bitmain-fan-pwm",
  mode: "bitmain-work-mode",
  level: "bitmain-freq-level",
  writtenLevel: "freq-level",
  asleep,
};

/** From get_miner_conf.cgi. The rig uses the first pool that answers. */
export interface MinerConfig {
  readonly names: FieldNames;
  /** Without empty places. */
  readonly pools: readonly ConfiguredPool[];
  /** 0 normal, 1 sleep, 2 high, 3 low; null where the rig has no modes. A text or a number, under either name. */
  readonly mode: number | null;
  /** It reports its mode as a text, and takes it as one. */
  readonly modeIsText: boolean;
  /** %; null for automatic. */
  readonly fan: number | null;
  /** Everything else, written back unchanged. */
  readonly rest: TolerantReader;
}

/** Places for pools. */
export const places = 3;

export const modes: Readonly<Record<number, string>> = { 0: "normal", 1: "sleep", 2: "high", 3: "low" };

/** Throws `rig.garbled` without a list of pools: such a configuration is never written back. */
export function configOf(at: string, rest: TolerantReader, names: FieldNames): MinerConfig {
  const pools = configuredPools(at, rest);
  const manual = rest.boolean(names.fanSwitch) ?? false;
  const least = { min: Math.min(0, names.asleep) };
  return {
    names,
    rest,
    pools,
    mode: rest.integer(names.mode, least) ?? rest.integer("miner-mode", least),
    modeIsText: rest.isText(rest.has(names.mode) ? names.mode : "miner-mode"),
    fan: manual ? rest.number(names.fanPercent, { max: 100 }) : null,
  };
}

/** Throws `rig.garbled` without a list of pools. */
export function configuredPools(at: string, config: TolerantReader): ConfiguredPool[] {
  if (!config.isList("pools")) throw new RigbridgeError("rig.garbled", `${at}: its configuration lists no pools`);
  return config.list("pools", places).flatMap((pool) => {
    const url = pool.text("url", 255);
    if (url === null) return [];
    return { url, user: pool.text("user", 255) ?? "", pass: passwordOf(pool) };
  });
}

/** A password of asterisks is hidden. */
function passwordOf(pool: TolerantReader): string | null {
  const pass = pool.has("pass") ? (pool.text("pass", 255) ?? "") : null;
  return pass !== null && /^\*+$/.test(pass) ? null : pass;
}

/** The body for set_miner_conf.cgi of newer firmware: exactly these fields, always with every place for a pool. */
export function documentOf(
  { names, pools, mode, fan, rest }: MinerConfig,
  modeAsText: boolean,
): Record<string, unknown> {
  const level = rest.text(names.level) ?? rest.text("freq-level");
  return {
    [names.fanSwitch]: fan !== null,
    [names.fanPercent]: String(fan ?? rest.text(names.fanPercent) ?? 100),
    [names.writtenLevel]: level ?? (rest.has(names.level) || rest.has("freq-level") ? "" : "100"),
    "miner-mode": modeAsText ? String(mode ?? 0) : (mode ?? 0),
    pools: inPlaces(pools),
  };
}

/**
 * The form for set_miner_conf.cgi of older firmware: a shell script that reads the fields in this order and writes the
 * whole configuration from them.
 */
export function formOf({ pools, mode, fan, rest }: MinerConfig): Record<string, string> {
  const form = poolFields("_ant_", pools);
  form._ant_nobeeper = String(rest.boolean("bitmain-nobeeper") ?? false);
  form._ant_notempoverctrl = String(rest.boolean("bitmain-notempoverctrl") ?? false);
  form._ant_fan_customize_switch = String(fan !== null);
  form._ant_fan_customize_value = fan === null ? "" : String(fan);
  form._ant_freq = rest.text("bitmain-freq") ?? "";
  form._ant_voltage = rest.text("bitmain-voltage") ?? "";
  if (mode !== null) form._ant_work_mode = String(mode);
  return scriptForm(form);
}

/** The fields of all places for pools: `_ant_pool1url`. */
export function poolFields(prefix: string, pools: readonly ConfiguredPool[]): Record<string, string> {
  const form: Record<string, string> = {};
  for (const [index, { url, user, pass }] of inPlaces(pools).entries()) {
    form[`${prefix}pool${index + 1}url`] = url;
    form[`${prefix}pool${index + 1}user`] = user;
    form[`${prefix}pool${index + 1}pw`] = pass;
  }
  return form;
}

/** The form unchanged. Throws `input.invalid` where a shell script would spoil it. */
export function scriptForm(form: Record<string, string>): Record<string, string> {
  if (Object.values(form).every((value) => survivesScript.test(value))) return form;
  throw invalid(
    "pool",
    "this rig's old firmware cannot store such characters; use A-Z, 0-9 and . _ - : / + @ # $ , ; = < > ? [ ] ^ |",
  );
}

/** The characters that the script decodes; any other would be stored as a %-code or end the value. */
const survivesScript = /^[A-Za-z0-9._*:/+@#$,;=<>?[\]^|-]*$/;

/** Throws where a password is hidden: writing the list would delete it. */
function inPlaces(pools: readonly ConfiguredPool[]): { url: string; user: string; pass: string }[] {
  const listed = pools.map(({ url, user, pass }) => {
    if (pass !== null) return { url, user, pass };
    throw new RigbridgeError(
      "not.possible",
      `The rig takes only whole lists of pools and hides the password of ${url}, which writing the list would delete`,
    );
  });
  const empty = { url: "", user: "", pass: "" };
  return Array.from({ length: places }, (_, index) => listed[index] ?? empty);
}

/** Changes of the list; each throws when it is not possible. */
export const edit = {
  add: (pools: readonly ConfiguredPool[], login: PoolLogin): ConfiguredPool[] => {
    if (pools.length < places) return [...pools, configured(login)];
    throw new RigbridgeError("not.possible", `This rig holds ${places} pools and all are set; remove one first`);
  },
  /** In place of the first. */
  use: (pools: readonly ConfiguredPool[], login: PoolLogin): ConfiguredPool[] => [configured(login), ...pools.slice(1)],
  first: (pools: readonly ConfiguredPool[], wanted: PoolReading): ConfiguredPool[] => {
    const found = listedEntry(pools, wanted, ({ url, user }) => ({ url, worker: user }));
    return [found, ...pools.filter((pool) => pool !== found)];
  },
  remove: (pools: readonly ConfiguredPool[], wanted: PoolReading): ConfiguredPool[] => {
    const found = listedEntry(pools, wanted, ({ url, user }) => ({ url, worker: user }));
    if (pools.length < 2) throw lastPool();
    return pools.filter((pool) => pool !== found);
  },
};

const configured = ({ url, worker, password }: PoolLogin): ConfiguredPool => ({ url, user: worker, pass: password });

/** Whether a later read shows the written values. */
export const sameConfig = (a: MinerConfig, b: MinerConfig): boolean =>
  a.fan === b.fan && JSON.stringify(a.pools) === JSON.stringify(b.pools);

/**
 * The configured pools with the counters of the running program: a change shows at once, although the program needs
 * minutes to restart with it. Pools of the firmware's maker, which only the program lists, come last. Where the program
 * reports none as active, the first that is not dead is.
 */
export function poolsOf(config: Pick<MinerConfig, "pools" | "mode">, running: readonly PoolReading[]): PoolReading[] {
  const left = [...running];
  const pools = config.pools.map(({ url, user }, index): PoolReading => {
    const at = left.findIndex((each) => isSameUrl(each.url, url) && each.worker === user);
    const [found] = at === -1 ? [] : left.splice(at, 1);
    return found === undefined
      ? { ...uncounted, index, priority: index, url, worker: user }
      : { ...found, index, priority: index };
  });
  const all = [...pools, ...left.filter(({ devFee }) => devFee)];
  if (config.mode === asleep || all.some(({ active }) => active)) return all;
  const first = pools.find(({ status }) => status !== "dead");
  return all.map((pool) => ({ ...pool, active: pool === first }));
}

const uncounted = {
  status: "enabled",
  active: false,
  quota: null,
  accepted: null,
  rejected: null,
  stale: null,
  devFee: false,
} as const;
