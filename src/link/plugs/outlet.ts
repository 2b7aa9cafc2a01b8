import type { PlugSettings } from "../../contract/plug-settings.ts";
import { canonicalHost, hostAndPort, storedAddress } from "../address.ts";

/** One output of a plug: what cuts the power of one rig. */
export interface Outlet {
  /** The same for the same output, however its address is written. */
  readonly id: string;
  /** The same for all outputs of one device. */
  readonly device: string;
  /** For people. */
  readonly name: string;
}

/** Throws `input.invalid` for an address that is none. */
export function outletOf(supply: PlugSettings): Outlet {
  if (supply.type === "mqtt") {
    const { set } = supply.topics;
    return { id: `topic ${set}`, device: `topic ${set}`, name: `The plug at ${set}` };
  }
  const { host, port, tls } = storedAddress(supply.address);
  const device = hostAndPort(canonicalHost(host), port ?? (tls ? 443 : 80));
  return { id: `${device} ${supply.channel}`, device, name: `Output ${supply.channel} of the plug ${supply.address}` };
}
