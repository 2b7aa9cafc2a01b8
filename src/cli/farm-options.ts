import { didYouMean } from "../config/index.ts";
import { type Mistake, RigbridgeError } from "../contract/problems.ts";
import { type FarmLayout, type FarmOptions, type FaultName, farmOf, faults, type RigKind } from "../simulator/index.ts";

/** The options of `rigbridge simulate`, as typed. */
export interface SimulateOptions {
  readonly count?: string;
  readonly mix?: string;
  readonly basePort?: string;
  readonly addresses?: string | true;
  readonly fault?: string;
  readonly seed?: string;
}

const kinds: readonly RigKind[] = ["cgminer", "axeos", "xmrig"];
export const faultNames = Object.keys(faults);
export const usualMix = "cgminer=3,axeos=1,xmrig=1";
export const usualPort = 20_001;
export const mostRigs = 40_000;

/** The farm that the options describe. Throws `input.invalid` with every option that is wrong. */
export function farmFrom(options: SimulateOptions): FarmOptions {
  const mistakes: Mistake[] = [];
  const mix = kindNumbers(options.mix ?? usualMix, "--mix", mostRigs, mistakes);
  const all = Object.values(mix).reduce((total, number) => total + number, 0);
  const count = wholeNumber(options.count ?? `${all}`, "--count", 1, mostRigs, mistakes);
  const layout = layoutFrom(options, count, mistakes);
  const seed = wholeNumber(options.seed ?? "1", "--seed", 0, 2 ** 32 - 1, mistakes);
  const fault = faultFrom(options.fault, mistakes);
  if (mistakes.length > 0) throw new RigbridgeError("input.invalid", "No rig was started:", { errors: mistakes });
  const farm = farmOf(count, mix, layout);
  return { ...farm, seed, rigs: fault === null ? farm.rigs : farm.rigs.map((rig) => ({ ...rig, fault })) };
}

function layoutFrom({ addresses, basePort }: SimulateOptions, count: number, mistakes: Mistake[]): FarmLayout {
  if (addresses === undefined) {
    const last = 65_536 - count;
    return { basePort: wholeNumber(basePort ?? `${Math.min(usualPort, last)}`, "--base-port", 1, last, mistakes) };
  }
  if (basePort !== undefined) mistakes.push({ path: "--base-port", message: "does not go with --addresses" });
  return { ports: addresses === true ? {} : kindNumbers(addresses, "--addresses", 65_535, mistakes) };
}

function faultFrom(name: string | undefined, mistakes: Mistake[]): FaultName | null {
  if (name === undefined || isFault(name)) return name ?? null;
  mistakes.push({
    path: "--fault",
    message: `there is no "${name}"${didYouMean(name, faultNames) || "; --help lists them"}`,
  });
  return null;
}

const isFault = (name: string): name is FaultName => Object.hasOwn(faults, name);

/** `cgminer=3,axeos=1`. */
function kindNumbers(text: string, option: string, max: number, mistakes: Mistake[]): Partial<Record<RigKind, number>> {
  const numbers: Partial<Record<RigKind, number>> = {};
  for (const part of text.split(",")) {
    const [word = "", number = ""] = part.trim().split("=");
    const kind = kinds.find((known) => known === word);
    if (kind !== undefined) numbers[kind] = wholeNumber(number, `${option} ${kind}`, 1, max, mistakes);
    else mistakes.push({ path: option, message: `knows ${kinds.join(", ")}, not "${word}"${didYouMean(word, kinds)}` });
  }
  return numbers;
}

function wholeNumber(text: string, option: string, min: number, max: number, mistakes: Mistake[]): number {
  if (/^[0-9]{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
  mistakes.push({ path: option, message: `must be a whole number from ${min} to ${max}` });
  return min;
}
