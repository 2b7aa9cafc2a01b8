import { RigbridgeError } from "../contract/problems.ts";
import { parseAddress } from "./address.ts";
import type { Driver } from "./driver.ts";
import { identify } from "./identify.ts";
import type { Credentials } from "./link.ts";

/**
 * Reads a recognised rig once with a login; false if it rejects the login. Some firmware checks a login only with a command:
 * there it counts as accepted. Throws if the rig cannot be read for another reason.
 */
export async function acceptsLogin(
  address: string,
  driver: Driver,
  login: Credentials,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { rig } = await identify(parseAddress(address), login, signal, driver);
    try {
      const { locked } = await rig.read(signal);
      return locked?.why !== "login wrong" && locked?.why !== "login missing";
    } finally {
      rig.close();
    }
  } catch (error) {
    if (error instanceof RigbridgeError && error.code === "rig.login") return false;
    throw error;
  }
}
