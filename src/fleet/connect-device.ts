import { ClosedRig, type Identified, identify, type Known } from "../link/identify.ts";
import type { Pace } from "../link/pace.ts";
import type { Declared, RigContext } from "./declared.ts";
import { driverNamed } from "./open-rig.ts";
import type { RigState } from "./state.ts";

export interface DeviceOptions {
  readonly declared: Declared;
  readonly context: Pick<RigContext, "closing" | "firmware">;
  readonly state: RigState;
  readonly pace: Pace;
  /** Identify the device instead of connecting with the remembered driver. */
  readonly mustIdentify: boolean;
}

/** Connects to the device at the address, with the declared or remembered driver, or by identifying it. */
export async function connectDevice(options: DeviceOptions, signal: AbortSignal): Promise<Identified> {
  const { declared, context, state, pace, mustIdentify } = options;
  const { address, credentials } = declared;
  const within = AbortSignal.any([signal, context.closing]);
  const known: Known = {
    identity: state.identity,
    controls: state.controls,
    fans: state.layout.fans,
    wasRead: state.at !== null,
    pace,
    firmware: context.firmware,
  };
  try {
    const driver = driverNamed(declared.driver ?? (mustIdentify ? null : state.driver));
    return await identify(address, credentials, within, driver, known);
  } catch (error) {
    // These credentials worked before, so others are not missing: the interface without credentials has failed.
    if (!(error instanceof ClosedRig) || !known.wasRead || error.driver.id !== state.driver) throw error;
    return identify(address, credentials, within, error.driver, known);
  }
}
