import { type Miner, properties } from "rigbridge";

/** Whether the rig says that something is wrong with it, or is not what it should be. */
export const hasProblem = (miner: Miner): boolean => properties.problem.read(miner, 0) !== null;
