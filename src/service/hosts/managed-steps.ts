import { invalidAll, notFound, RigbridgeError } from "../../contract/problems.ts";
import { hostAndPortOf } from "../../link/pool-url.ts";
import type { Store, Stored, StoredManagedMiner, StoredTemplate } from "../../store/index.ts";
import type { ManagedSteps } from "../commands/actions.ts";
import type { Step } from "../commands/steps.ts";
import type { Coins } from "../money/coins.ts";
import { mistakesIn } from "./managed-checks.ts";
import type { ManagedMiners } from "./managed-miners.ts";
import { algorithmsOf, poolsOf, takes } from "./program-of.ts";

/** The settings of a template. */
const changeBy = ({ softwareType, algorithm, dualAlgorithm, commandLineParams }: StoredTemplate) => ({
  ...(softwareType === null ? {} : { softwareType }),
  ...(algorithm === null ? {} : { algorithm }),
  ...(dualAlgorithm === null ? {} : { dualAlgorithm }),
  ...(commandLineParams === null ? {} : { commandLineParams }),
});

/** Seconds for a program to restart with other pools. */
const restartSeconds = 300;

/** Changes of a managed miner's pools: they are stored, and its program is restarted. */
export function managedSteps(store: Store, coins: Coins, managed: ManagedMiners): ManagedSteps {
  const find = (id: number): Stored<StoredManagedMiner> => {
    const miner = store.managedMiners.get(id);
    if (miner === undefined || miner.disabled) throw notFound("managed miner", id);
    return miner;
  };
  /** Throws for pools of another coin. */
  const check = (miner: StoredManagedMiner): void => {
    const pools = poolsOf(miner, store);
    const { first, second } = algorithmsOf(miner, pools, coins);
    const wrong = pools.find(
      (pool) => first !== "" && !takes(pool, first, coins) && !(second !== null && takes(pool, second, coins)),
    );
    if (wrong === undefined) return;
    const name = wrong.description || wrong.url;
    throw new RigbridgeError("not.possible", `The pool ${name} pays for ${wrong.coinAlgorithm}, not for ${first}`);
  };
  const save = (id: number, change: Partial<StoredManagedMiner>, isDone: (url: string) => boolean): Step[] => {
    check({ ...find(id), ...change });
    return [
      ({ readings: { mining } }) => ({
        write: async () => {
          check({ ...find(id), ...change });
          managed.put(await store.managedMiners.change(id, change));
          return mining === false ? "Its pools are stored" : "Its pools are stored; its program is restarted";
        },
        seconds: restartSeconds,
        restarts: mining !== false,
        proof: {
          by: "read",
          isDone: (now) =>
            now.readings.mining === false || now.pools.some(({ active, url }) => active && isDone(hostAndPortOf(url))),
        },
      }),
    ];
  };
  return {
    isManaged: (id) => managed.isManaged(id),
    changePool: (id, poolId, type) => {
      const change = { poolId, isPoolGroup: type === "group", addedPools: [] };
      const urls = poolsOf(change, store).map(({ url }) => hostAndPortOf(url));
      return save(id, change, (url) => urls.includes(url));
    },
    addPool: (id, poolId, type) => {
      const miner = find(id);
      const has = poolsOf(miner, store).map((pool) => pool.id);
      const wanted = poolsOf({ poolId, isPoolGroup: type === "group", addedPools: [] }, store).map((pool) => pool.id);
      const added = wanted.filter((each) => !has.includes(each));
      if (added.length === 0) return [() => "It already has this pool"];
      return save(id, { addedPools: [...miner.addedPools, ...added] }, () => true);
    },
    applyTemplate: (id, templateId) => {
      if (!managed.isManaged(id)) return [() => "It is not a managed miner, so its software is not changed"];
      const template = store.templates.get(templateId);
      if (template === undefined || template.disabled) throw notFound("managed template", templateId);
      const change = changeBy(template);
      const mistakes = mistakesIn({ ...find(id), ...change }, change, id, { store, coins, managed });
      // The template's own steps choose other pools, and are refused if these do not fit.
      const choosesPool = template.do?.some((step) => "pool" in step || "poolGroup" in step) === true;
      const wrong = mistakes.filter(({ path }) => !choosesPool || path !== "poolId");
      if (wrong.length > 0) throw invalidAll(wrong);
      return [
        ({ readings: { mining } }) => ({
          write: async () => {
            managed.put(await store.managedMiners.change(id, change));
            return mining === false ? "Its software is set" : "Its software is set; its program is restarted";
          },
          seconds: restartSeconds,
          restarts: mining !== false,
          proof: { by: "answer" },
        }),
      ];
    },
  };
}
