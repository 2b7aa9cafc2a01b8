import { didYouMean } from "../config/index.ts";
import { type Mistake, RigbridgeError } from "../contract/problems.ts";
import {
  type FarmLayout,
  type FarmOptions,
  farmOf,
  knownLocale,
  type RigKind,
  type RigSpec,
  rigKinds,
  rigName,
  type TwinOptions,
} from "../simulator/index.ts";
import { chosenRigs, faultNamed } from "./fault-choice.ts";
import type { SitesOptions } from "./simulated-sites.ts";

/** The options of `rigbridge simulate`, as typed. */
export interface SimulateOptions {
  readonly count?: string;
  readonly mix?: string;
  readonly basePort?: string;
  readonly addresses?: string | true;
  readonly fault?: readonly string[];
  readonly seed?: string;
  readonly reference?: true;
  readonly locale?: string;
  readonly miners?: string;
  readonly key?: string;
  readonly port?: string;
  readonly sites?: string;
}

export const defaultMix = "cgminer=3,axeos=1,xmrig=1";
export const defaultPort = 20_001;
export const maxRigs = 40_000;
/** Different from 17790, so that the reference server and a Rigbridge can run on one machine. */
export const defaultTwinPort = 17_791;
export const defaultTwinMiners = 40;
export const maxTwinMiners = 10_000;
/** As many as a configuration may have. */
export const maxSites = 200;
export const maxSiteRigs = 100_000;
export const defaultSitePort = 17_801;

/** The farm of these options. Throws `input.invalid` with every option that is wrong. */
export function farmFrom(options: SimulateOptions): FarmOptions {
  const mistakes = misplaced(options, ["locale", "miners", "key", "port"], "requires --reference");
  return checkedFarm(options, 1, mistakes);
}

/** The sites of these options. Throws `input.invalid` with every option that is wrong. */
export function sitesFrom(options: SimulateOptions): SitesOptions {
  const mistakes = misplaced(options, ["locale", "miners", "key"], "requires --reference");
  const sites = wholeNumber(options.sites ?? "", "--sites", 1, maxSites, mistakes);
  const last = 65_536 - sites;
  const port = wholeNumber(options.port ?? `${defaultSitePort}`, "--port", 0, last, mistakes);
  return { sites, port, farm: checkedFarm(options, sites, mistakes) };
}

/** The rigs of so many sites. */
function checkedFarm(options: SimulateOptions, sites: number, mistakes: Mistake[]): FarmOptions {
  const mix = kindNumbers(options.mix ?? defaultMix, "--mix", maxRigs, mistakes);
  const total = Object.values(mix).reduce((sum, number) => sum + number, 0);
  const most = sites === 1 ? maxRigs : Math.min(maxRigs, Math.floor(maxSiteRigs / sites));
  const count = sites * wholeNumber(options.count ?? `${total || 1}`, "--count", 1, most, mistakes);
  const layout = layoutFrom(options, count, mistakes);
  const seed = seedFrom(options, mistakes);
  const farm = farmOf(count, mix, layout);
  const rigs = withFaults(farm.rigs, options.fault ?? [], mistakes);
  if (mistakes.length > 0) throw new RigbridgeError("input.invalid", "No rigs were started:", { errors: mistakes });
  return { ...farm, seed, rigs };
}

/** The reference server of these options. Throws `input.invalid` with every option that is wrong. */
export function twinFrom(options: SimulateOptions): TwinOptions {
  const farmOnly = ["sites", "count", "mix", "basePort", "addresses", "fault"] as const;
  const mistakes = misplaced(options, farmOnly, "cannot be combined with --reference");
  const { locale = "en-US", miners = `${defaultTwinMiners}`, port = `${defaultTwinPort}`, key } = options;
  if (!knownLocale(locale)) {
    mistakes.push({ path: "--locale", message: `"${locale}" is not a known locale; use one such as en-US or sv-SE` });
  }
  const count = wholeNumber(miners, "--miners", 1, maxTwinMiners, mistakes);
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
    mistakes.push({ path: "--key", message: "must be printable ASCII without spaces" });
  }
  const listensOn = wholeNumber(port, "--port", 0, 65_535, mistakes);
  const seed = seedFrom(options, mistakes);
  if (mistakes.length > 0) {
    throw new RigbridgeError("input.invalid", "The reference server was not started:", { errors: mistakes });
  }
  return { locale, miners: count, key, port: listensOn, seed };
}

/** Options that were given but do not apply. */
function misplaced(
  options: SimulateOptions,
  names: readonly Exclude<keyof SimulateOptions, "seed" | "reference">[],
  message: string,
): Mistake[] {
  return names
    .filter((name) => options[name] !== undefined)
    .map((name) => ({ path: name === "basePort" ? "--base-port" : `--${name}`, message }));
}

const seedFrom = ({ seed = "1" }: SimulateOptions, mistakes: Mistake[]): number =>
  wholeNumber(seed, "--seed", 0, 2 ** 32 - 1, mistakes);

function layoutFrom({ addresses, basePort }: SimulateOptions, count: number, mistakes: Mistake[]): FarmLayout {
  // More than the ports of one address.
  if (addresses === undefined && basePort === undefined && count > maxRigs)
    return { ports: Object.fromEntries(rigKinds.map((kind, at) => [kind, defaultPort + at])) };
  if (addresses === undefined) {
    const last = 65_536 - count;
    return { basePort: wholeNumber(basePort ?? `${Math.min(defaultPort, last)}`, "--base-port", 1, last, mistakes) };
  }
  if (basePort !== undefined) mistakes.push({ path: "--base-port", message: "cannot be combined with --addresses" });
  return { ports: addresses === true ? {} : kindNumbers(addresses, "--addresses", 65_535, mistakes) };
}

/** `silent` for all, `silent:30%`, `silent=cgminer-3,axeos-4`; the last one that applies to a rig wins. */
function withFaults(specs: readonly RigSpec[], options: readonly string[], mistakes: Mistake[]): RigSpec[] {
  const rigs = specs.map((spec, index) => ({ name: rigName(spec, index), spec }));
  for (const option of options) {
    const [, name = "", which = "all"] = /^([^:=]*)(?:[:=](.*))?$/s.exec(option) ?? [];
    const known = faultNamed(name);
    const picked = chosenRigs(which, rigs);
    for (const result of [known, picked]) {
      if ("mistake" in result) mistakes.push({ path: "--fault", message: result.mistake });
    }
    if ("mistake" in known || "mistake" in picked) continue;
    for (const rig of picked.chosen) rig.spec = { ...rig.spec, fault: known.fault };
  }
  return rigs.map(({ spec }) => spec);
}

/** `cgminer=3,axeos=1`. */
function kindNumbers(text: string, option: string, max: number, mistakes: Mistake[]): Partial<Record<RigKind, number>> {
  const numbers: Partial<Record<RigKind, number>> = {};
  for (const part of text.split(",")) {
    const [word = "", number = ""] = part.trim().split("=");
    const kind = rigKinds.find((known) => known === word);
    if (kind !== undefined && numbers[kind] !== undefined)
      mistakes.push({ path: `${option} ${kind}`, message: "is given twice" });
    else if (kind !== undefined) numbers[kind] = wholeNumber(number, `${option} ${kind}`, 1, max, mistakes);
    else
      mistakes.push({
        path: option,
        message: `"${word}" is not a kind of rig${didYouMean(word, rigKinds) || `; known kinds: ${rigKinds.join(", ")}`}`,
      });
  }
  return numbers;
}

function wholeNumber(text: string, option: string, min: number, max: number, mistakes: Mistake[]): number {
  if (/^[0-9]{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
  mistakes.push({ path: option, message: `must be a whole number from ${min} to ${max}` });
  return min;
}
