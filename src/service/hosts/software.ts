import { downloadTargetFor, type MiningDevice, type MiningProgram } from "../../catalogue/mining-program.ts";
import { miningSoftware, programOf } from "../../catalogue/mining-software.ts";
import { parameterMistakes } from "../../catalogue/parameters.ts";
import type { HostReport, OwnSoftware } from "../../contract/agent.ts";
import { type Mistake, mistake } from "../../contract/problems.ts";
import type { HostSoftware, MiningSoftware } from "../../contract/resources.ts";
import type { TemplateProgram } from "../../contract/templates.ts";
import { detail } from "../../messages/detail.ts";
import type { Coins } from "../money/coins.ts";

const platforms = ["linux", "windows", "macos"] as const;

/** Properties of mining software that the service needs; the rest concerns only the agent. */
export interface Software {
  readonly id: string;
  readonly name: string;
  /** The driver that reads its API; null for none. */
  readonly api: string | null;
  /** Ids of the algorithms that it mines. */
  readonly algorithms: readonly string[];
  /** What it mines with; null = not known. */
  readonly devices: readonly MiningDevice[] | null;
  /** Whether the configuration of its host has a path or download for it. */
  readonly isDeclared: boolean;
  /** The second algorithms that it can mine together with this one; null: unknown. */
  dualsOf(algorithm: string): readonly string[] | null;
}

/** Software of the catalogue, or of the configuration of a host's agent. */
export function softwareOf(id: string, own: readonly OwnSoftware[]): Software | undefined {
  const isDeclared = own.some((each) => each.id === id);
  const known = programOf(id);
  if (known === undefined) {
    const ofHost = own.find((each) => each.id === id);
    return ofHost === undefined ? undefined : { ...ofHost, devices: null, isDeclared, dualsOf: () => null };
  }
  return {
    isDeclared,
    id,
    name: known.name,
    api: known.api,
    algorithms: Object.keys(known.algorithms),
    devices: known.devices,
    dualsOf: (algorithm) => Object.keys(known.dual[algorithm] ?? {}),
  };
}

/**
 * Where its files come from; null if no address is known. `system`: the operating system reported by the host's agent.
 */
export function downloadOf(
  id: string,
  system: string,
): { readonly url: string; readonly sha256: string | null } | null {
  const target = downloadTargetFor(system);
  const download = programOf(id)?.download;
  const url = target === null ? undefined : download?.url[target];
  return target === null || url === undefined ? null : { url, sha256: download?.sha256?.[target] ?? null };
}

/** The software that a host can run. `system`: the operating system reported by its agent. */
export function hostSoftware(own: readonly OwnSoftware[], system: string): HostSoftware {
  const [platform] = downloadTargetFor(system)?.split("-") ?? [];
  const known = miningSoftware.flatMap(({ id }) => programOf(id) ?? []);
  return {
    own: own.map(({ id }) => id),
    downloads: known.filter(({ id }) => downloadOf(id, system) !== null).map(({ id }) => id),
    unsuited: known
      .filter(({ executable }) => platforms.some((each) => each === platform && executable[each] === null))
      .map(({ id }) => id),
  };
}

/**
 * Why no card of a host suits a program; null if one does, or if that is not known: agents see NVIDIA's cards, and on Linux
 * also others.
 */
export function lackOfCards(
  { name, devices }: Pick<Software, "name" | "devices">,
  { system, gpus }: Pick<HostReport, "system" | "gpus">,
): string | null {
  const isSeen = (device: MiningDevice): boolean =>
    device === "nvidia" || (/^linux/i.test(system) && (device === "amd" || device === "intel"));
  if (
    devices === null ||
    devices.length === 0 ||
    !devices.every(isSeen) ||
    gpus.some(({ vendor }) => devices.includes(vendor))
  )
    return null;
  const makers = devices.map((device) => (device === "intel" ? "Intel" : device.toUpperCase()));
  return `The agent of its host reports no card that ${name} mines with (${makers.join(", ")})`;
}

/** GET /api/miningsoftware: the catalogue, and the programs of agents' own configurations. */
export function softwareList(own: Iterable<OwnSoftware>): MiningSoftware[] {
  const list = new Map(miningSoftware.map(({ id, name }) => [id, entryOf(id, name, programOf(id))]));
  for (const { id, name, api, algorithms } of own) {
    if (!list.has(id)) list.set(id, { ...entryOf(id, name, undefined), api, algorithms: [...algorithms] });
  }
  return [...list.values()];
}

function entryOf(id: string, name: string, program: MiningProgram | undefined): MiningSoftware {
  const { download = null, devices = [], api = null } = program ?? {};
  return {
    id,
    name,
    api,
    devices: [...devices],
    platforms: platforms.filter((platform) => (program?.executable[platform] ?? null) !== null),
    algorithms: Object.keys(program?.algorithms ?? {}),
    dualAlgorithms: Object.fromEntries(
      Object.entries(program?.dual ?? {}).map(([first, seconds]) => [first, Object.keys(seconds)]),
    ),
    command: program === undefined ? [] : templateOf(program),
    watchdogOff: program?.command.supervised.flatMap(({ args }) => args) ?? [],
    tuning: Object.fromEntries(Object.entries(program?.tuning ?? {}).map(([key, { flag }]) => [key, flag])),
    version: download?.version ?? null,
    downloads: Object.values(download?.url ?? {}),
  };
}

/** Its argv with all optional parts. */
const templateOf = ({ command: { api, supervised, start, pool, dual } }: MiningProgram): string[] =>
  [...api, ...supervised, ...start, ...pool, ...(dual ?? [])].flatMap(({ args }) => args);

/** Mistakes in the managed-miner settings of a template, alone and together. */
export function templateMistakes(
  { softwareType, algorithm, dualAlgorithm, commandLineParams }: TemplateProgram,
  own: Iterable<OwnSoftware>,
  coins: Coins,
): Mistake[] {
  const mistakes: Mistake[] = [];
  const software = softwareType === null ? undefined : softwareOf(softwareType, [...own]);
  if (softwareType !== null && software === undefined) {
    mistakes.push(mistake("softwareType", detail("input.noSoftware", { name: softwareType })));
  }
  const idOf = (name: string): string => coins.algorithm(name)?.id ?? name;
  const first = algorithm === null ? null : idOf(algorithm);
  const second = dualAlgorithm === null || isNone(dualAlgorithm) ? null : idOf(dualAlgorithm);
  for (const [path, id] of [["algorithm", first] as const, ["dualAlgorithm", second] as const]) {
    if (id === null || software?.algorithms.includes(id) === true) continue;
    const unknown = coins.algorithmMistakes(path, id);
    mistakes.push(...unknown);
    if (unknown.length === 0 && path === "algorithm" && software !== undefined) {
      mistakes.push(mistake(path, detail("input.notMined", { software: software.name, algorithm: id })));
    }
  }
  if (first !== null && second !== null && software?.dualsOf(first)?.includes(second) === false) {
    mistakes.push(mistake("dualAlgorithm", detail("input.notMinedBeside", { software: software.name, second, first })));
  }
  const program = softwareType === null ? undefined : programOf(softwareType);
  const parameters = program === undefined ? [] : parameterMistakes(program, commandLineParams ?? "");
  return [...mistakes, ...parameters.map((message) => ({ path: "commandLineParams", message }))];
}

/** Values that clients send for "no algorithm". */
export const isNone = (name: string): boolean => name === "" || name === "Unspecified";
