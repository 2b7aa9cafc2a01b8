import { isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import type { HttpSettings } from "../config/schema.ts";
import { canonicalHost, hostIn, portIn } from "../link/address.ts";
import { isForbidden } from "../link/forbidden-addresses.ts";

/** The names and addresses of this machine, without the many of loopback. */
export function ownHosts(): string[] {
  const own = hostname().toLowerCase();
  const addresses = Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address));
  return ["localhost", own, `${own}.local`, ...addresses.map(canonicalHost)];
}

/** Whether a host, as `canonicalHost` writes it, is this machine on any network. */
export const isLoopbackHost = (host: string): boolean =>
  host === "localhost" ||
  host.endsWith(".localhost") ||
  (isIP(host) !== 0 && /^(127\.|::1$|::$|0\.0\.0\.0$)/.test(host));

export const isThisMachine = (host: string): boolean => isLoopbackHost(host) || ownHosts().includes(host);

/**
 * Whether the service listens at an address: its own port at a name or address of this machine. `listening`: its port
 * if the settings leave it open; null before it listens.
 */
export const isAddressOf =
  (settings: () => Pick<HttpSettings, "port" | "hosts">, listening: () => number | null = () => null) =>
  (url: URL): boolean => {
    const { port, hosts } = settings();
    if (portIn(url) !== (port || listening())) return false;
    const host = hostIn(url);
    return hosts.map(canonicalHost).includes(host) || isThisMachine(host);
  };

/** Why an address is forbidden; null if it is allowed. */
export function addressRefusal(url: URL, isOwnAddress: (url: URL) => boolean): string | null {
  if (isOwnAddress(url)) return "must not be the address of this service";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return isIP(host) !== 0 && isForbidden(host) ? "is an address that nothing is ever sent to" : null;
}
