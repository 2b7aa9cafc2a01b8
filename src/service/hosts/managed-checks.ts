import { programOf } from "../../catalogue/mining-software.ts";
import { parameterMistakes } from "../../catalogue/parameters.ts";
import { type Mistake, mistake, thing } from "../../contract/problems.ts";
import type { Input } from "../../contract/service.ts";
import type { Detail } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, StoredManagedMiner } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { isDemo } from "../miners/declared-miner.ts";
import type { Coins } from "../money/coins.ts";
import { type ManagedMiners, mostPrograms } from "./managed-miners.ts";
import { algorithmsOf, poolsOf, takes } from "./program-of.ts";
import { isNone } from "./software.ts";

export interface CheckContext {
  readonly store: Store;
  readonly coins: Coins;
  readonly managed: ManagedMiners;
}

/** Every mistake that the service can find; the agent checks everything that only the host knows. */
export function mistakesIn(
  miner: StoredManagedMiner,
  body: Partial<Input<"saveManagedMiner">>,
  id: number | undefined,
  context: CheckContext,
): Mistake[] {
  const { store, coins, managed } = context;
  const { hostId, poolId, isPoolGroup, softwareType, algorithm, dualAlgorithm } = miner;
  const mistakes: Mistake[] = [];
  const add = (path: string, what: Detail): void => void mistakes.push(mistake(path, what));
  if (store.hosts.get(hostId)?.disabled !== false)
    add(
      "hostId",
      hostId === 0 ? detail("input.required") : detail("input.noThing", { thing: thing("host"), id: hostId }),
    );
  else if (isDemo(hostId) !== (id !== undefined && isDemo(id)))
    add("hostId", detail(isDemo(hostId) ? "input.demoHost" : "input.demoMiner"));
  const others = enabled(store.managedMiners).filter((each) => each.hostId === hostId && each.id !== id);
  if (others.length >= mostPrograms) add("hostId", detail("input.mostPrograms", { count: mostPrograms }));
  if (poolId !== 0 && (isPoolGroup ? store.poolGroups : store.pools).get(poolId)?.disabled !== false)
    add("poolId", detail("input.noThing", { thing: thing(isPoolGroup ? "pool group" : "pool"), id: poolId }));
  const software = managed.softwareOf(miner);
  if (softwareType !== "" && software === undefined)
    add("softwareType", detail("input.noSoftware", { name: softwareType }));
  for (const path of ["algorithm", "dualAlgorithm"] as const) {
    const name = body[path];
    const isOwn = name !== undefined && software?.algorithms.includes(name) === true;
    if (name !== undefined && !isNone(name) && !isOwn) mistakes.push(...coins.algorithmMistakes(path, name));
  }
  const program = programOf(softwareType);
  const wrongParameters = program === undefined ? [] : parameterMistakes(program, miner.commandLineParams);
  for (const message of wrongParameters) mistakes.push({ path: "commandLineParams", message });
  if (mistakes.length > 0) return mistakes;
  const pools = poolsOf(miner, store);
  const { first, second } = algorithmsOf(miner, pools, coins);
  if (software !== undefined && !isNone(algorithm) && !software.algorithms.includes(first))
    add("algorithm", detail("input.notMined", { software: software.name, algorithm }));
  if (software !== undefined && second !== null && software.dualsOf(first)?.includes(second) === false)
    add(
      "dualAlgorithm",
      detail("input.notMinedBeside", {
        software: software.name,
        second: dualAlgorithm,
        first: first || "an unknown algorithm",
      }),
    );
  const wrong = pools.filter(
    (pool) => first !== "" && !takes(pool, first, coins) && !(second !== null && takes(pool, second, coins)),
  );
  for (const { description, url, coinAlgorithm } of wrong)
    add("poolId", detail("input.notPaid", { pool: description || url, pays: coinAlgorithm, algorithm: first }));
  return mistakes;
}

/** Each choice must be a valid setting of the managed miner. */
export function choiceMistakes(miner: StoredManagedMiner, id: number | undefined, context: CheckContext): Mistake[] {
  if (miner.switching !== null && !isNone(miner.dualAlgorithm))
    return [{ path: "switching", message: "cannot be combined with dualAlgorithm: dual mining is not measured" }];
  const own = new Set(mistakesIn(miner, {}, id, context).map(({ message }) => message));
  return (miner.switching?.choices ?? []).flatMap(({ softwareType, ...choice }, index) => {
    const software = softwareType === "" ? {} : { softwareType };
    const chosen = { ...miner, ...choice, ...software, addedPools: [] };
    return mistakesIn(chosen, { algorithm: choice.algorithm }, id, context)
      .filter(({ message }) => !own.has(message))
      .map((each) => ({ ...each, path: `switching.choices[${index}].${each.path}` }));
  });
}
