import type { Supply } from "../../contract/plug-settings.ts";
import { canonicalHost, hostAndPort, storedAddress } from "../address.ts";

/** One output of a plug, which powers one rig. */
export interface Outlet {
  /** Equal for the same output, however its address is written. */
  readonly id: string;
  /** Equal for all outputs of one device. */
  readonly device: string;
  /** For people. */
  readonly name: string;
}

/** Throws `input.invalid` for an address that is not valid. */
export function outletOf(settings: Supply): Outlet {
  if (settings.type === "outlet") {
    const device = `facility ${settings.device}`;
    return { id: `${device} ${settings.outlet}`, device, name: `Outlet ${settings.outlet} of ${settings.device}` };
  }
  if (settings.type === "mqtt") {
    const { set } = settings.topics;
    return { id: `topic ${set}`, device: `topic ${set}`, name: `The plug at ${set}` };
  }
  const { host, port, tls } = storedAddress(settings.address);
  const device = hostAndPort(canonicalHost(host), port ?? (tls ? 443 : 80));
  return {
    id: `${device} ${settings.channel}`,
    device,
    name: `Output ${settings.channel} of the plug ${settings.address}`,
  };
}
