import type { RigFaults } from "rigbridge/farm";
import type { Farm } from "./farm-view.ts";

/**
 * What is shown of a farm. Where the program fails over one of its rigs, that one is hidden and the others are planned
 * without it; only then is each rig tried alone, for that takes longer. Throws what is no rig's fault.
 */
export function planned<T extends object>(farm: Farm, faults: RigFaults, plan: (farm: Farm) => T): T & { farm: Farm } {
  try {
    return { ...plan(farm), farm };
  } catch {
    const alone = { ...farm, groups: [], rules: [] };
    const isSound = farm.miners.map((miner) =>
      faults.run(
        miner.id,
        () => plan({ ...alone, miners: [miner] }) !== null,
        () => false,
      ),
    );
    const miners = farm.miners.filter((_, index) => isSound[index]);
    const hosts = farm.miners.filter((_, index) => !isSound[index]).map(({ hostDescription }) => hostDescription);
    const sound = { ...farm, miners, hidden: new Set(hosts) };
    return { ...plan(sound), farm: sound };
  }
}
