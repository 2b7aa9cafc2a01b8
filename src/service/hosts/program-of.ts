import type { GpuSettings, Program, ProgramFiles } from "../../contract/agent.ts";
import type { GpuTuning } from "../../contract/resources.ts";
import type { Store, Stored, StoredManagedMiner, StoredPool } from "../../store/index.ts";
import type { Coins } from "../money/coins.ts";
import { type ModelSettings, withModelSettings } from "./gpu-settings.ts";
import { downloadOf, isNone, type Software } from "./software.ts";

/** Its pools in failover order: the pool or pool group, then added ones. */
export function poolsOf(
  { isPoolGroup, poolId, addedPools }: Pick<StoredManagedMiner, "isPoolGroup" | "poolId" | "addedPools">,
  { pools, poolGroups }: Pick<Store, "pools" | "poolGroups">,
): Stored<StoredPool>[] {
  const group = isPoolGroup ? poolGroups.get(poolId) : undefined;
  const own = isPoolGroup ? (group?.disabled === false ? group.pools : []) : [poolId];
  return [...new Set([...own, ...addedPools])].flatMap((id) => {
    const pool = pools.get(id);
    return pool === undefined || pool.disabled ? [] : [pool];
  });
}

/** The algorithms of a managed miner, by id; the first is that of its pool where the miner names none. */
export function algorithmsOf(
  { algorithm, dualAlgorithm }: Pick<StoredManagedMiner, "algorithm" | "dualAlgorithm">,
  pools: readonly StoredPool[],
  coins: Coins,
): { readonly first: string; readonly second: string | null } {
  const idOf = (name: string): string => coins.algorithm(name)?.id ?? name;
  const first = isNone(algorithm) ? (pools[0]?.coinAlgorithm ?? "") : algorithm;
  return { first: idOf(first), second: isNone(dualAlgorithm) ? null : idOf(dualAlgorithm) };
}

/** Whether a pool pays for this algorithm. A pool without an algorithm counts as paying. */
export const takes = ({ coinAlgorithm }: StoredPool, algorithm: string, coins: Coins): boolean =>
  coinAlgorithm === "" || coins.isSameAlgorithm(coinAlgorithm, algorithm);

const programPool = ({
  url,
  workerName,
  walletAddress,
  plainWorkerPassword,
}: StoredPool): Program["pools"][number] => ({
  url,
  worker: workerName,
  wallet: walletAddress,
  password: plainWorkerPassword,
});

/** Inputs of a program. */
export interface Surroundings {
  readonly store: Pick<Store, "pools" | "poolGroups" | "downloads">;
  readonly coins: Coins;
  readonly software: Software | undefined;
  readonly name: string;
  readonly modelSettings: ModelSettings;
  /** The operating system of its host, as the agent reports it. */
  readonly system: string;
}

/** Why a managed miner cannot run, with a code for the API. */
export interface Lack {
  readonly code: "not.possible" | "no.download";
  readonly message: string;
}

const inWords = new Intl.ListFormat("en-GB");

/** The program of a managed miner, or why it cannot run. */
export function programOf(
  miner: Stored<StoredManagedMiner>,
  { store, coins, software, name, system, modelSettings }: Surroundings,
): Program | Lack {
  const pools = poolsOf(miner, store);
  const { first, second } = algorithmsOf(miner, pools, coins);
  const lacks = [
    ...(software === undefined ? ["a mining program"] : []),
    ...(pools.length === 0 ? ["a pool"] : []),
    ...(first === "" ? ["an algorithm"] : []),
    ...(!miner.softwareAutoDownload && miner.softwarePath === "" && software?.isDeclared !== true
      ? ["the path of the program on its host"]
      : []),
  ];
  if (software === undefined || lacks.length > 0)
    return { code: "not.possible", message: `It cannot run without ${inWords.format(lacks)}` };
  const files: ProgramFiles | null = software.isDeclared ? { from: "host" } : filesOf(miner, store, system);
  if (files === null)
    return {
      code: "no.download",
      message: `There is no known download of ${software.name}; install it on the host and give its path (softwarePath)`,
    };
  const isSecond = (pool: StoredPool): boolean =>
    second !== null && pool.coinAlgorithm !== "" && !takes(pool, first, coins) && takes(pool, second, coins);
  return {
    id: miner.id,
    name,
    software: software.id,
    files,
    algorithm: first,
    dualAlgorithm: second,
    pools: pools
      .filter((pool) => !isSecond(pool))
      .slice(0, mostPools)
      .map(programPool),
    dualPools: pools.filter(isSecond).slice(0, mostPools).map(programPool),
    parameters: miner.commandLineParams,
    running: miner.running,
    gpuSettings: withModelSettings(
      settingsFor(miner.gpuSettings, first, coins),
      modelSettingsFor(modelSettings, first, coins),
    ),
    idle: miner.idle,
  };
}

const mostPools = 20;

function filesOf(
  { softwareAutoDownload, softwareType, softwarePath }: StoredManagedMiner,
  { downloads }: Pick<Store, "downloads">,
  system: string,
): ProgramFiles | null {
  if (!softwareAutoDownload) return { from: "path", path: softwarePath };
  const download = downloadOf(softwareType, system);
  if (download === null) return null;
  const confirmed = downloads.all().find(({ url }) => url === download.url);
  return { from: "download", url: download.url, sha256: download.sha256 ?? confirmed?.sha256 ?? null };
}

const modelSettingsFor = ({ settings, gpus }: ModelSettings, algorithm: string, coins: Coins): ModelSettings => ({
  settings: settings.filter((each) => coins.isSameAlgorithm(each.algorithm, algorithm)),
  gpus,
});

/** Those for this algorithm, else those for any; one for each GPU. */
function settingsFor(tunings: readonly GpuTuning[], algorithm: string, coins: Coins): GpuSettings[] {
  const settings = new Map<number | null, GpuSettings>();
  const isFor = (tuning: GpuTuning): boolean =>
    tuning.algorithm !== null && coins.isSameAlgorithm(tuning.algorithm, algorithm);
  for (const tuning of [...tunings.filter((each) => each.algorithm === null), ...tunings.filter(isFor)]) {
    const { algorithm: _, ...rest } = tuning;
    settings.set(tuning.bus, rest);
  }
  return [...settings.values()];
}
