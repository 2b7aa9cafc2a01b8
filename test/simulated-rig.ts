import { type RigSpec, type SimulatedRig, startFarm } from "../src/simulator/index.ts";
import { onTestFinished } from "./finished.ts";

/** A simulated rig on a socket of its own, until the end of the test. `clock`: epoch ms. */
export async function startRig(spec: RigSpec, clock?: () => number): Promise<SimulatedRig> {
  const farm = await startFarm({ rigs: [spec], ...(clock === undefined ? {} : { clock }) });
  onTestFinished(() => farm.close());
  const [rig] = farm.rigs;
  if (rig === undefined) throw new Error("a farm of one rig has none");
  return rig;
}
