import type { Driver, Rig } from "../../../src/link/driver.ts";
import type { Credentials } from "../../../src/link/link.ts";
import type { RigSpec, SimulatedRig } from "../../../src/simulator/index.ts";
import { onTestFinished } from "../../finished.ts";
import { startRig } from "../../simulated-rig.ts";
import { rigAt } from "../rigs.ts";

/** The rig, closed at the end of the test. */
export function closing<R extends Rig>(rig: R): R {
  onTestFinished(() => rig.close());
  return rig;
}

/** Starts virtual rigs of one family, as `usual` unless said otherwise, each with the driver's rig at its address. */
export const starterOf =
  <Spec extends RigSpec>(driver: Driver, usual: RigSpec, owner: Credentials, now: () => number) =>
  async (
    spec: Partial<Spec> = {},
    credentials: Credentials = owner,
  ): Promise<{ readonly rig: Rig; readonly simulated: SimulatedRig }> => {
    const simulated = await startRig(Object.assign({}, usual, spec), now);
    return { rig: closing(rigAt(driver, simulated.address, credentials)), simulated };
  };
