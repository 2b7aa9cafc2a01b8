import { isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import type { HttpSettings } from "../config/schema.ts";
import { isForbidden } from "../link/forbidden-addresses.ts";

/** Whether an address is one at which the service itself listens: its own port, and a name or address of this machine. */
export const isAddressOf =
  ({ port, hosts }: Pick<HttpSettings, "port" | "hosts">) =>
  ({ hostname: name, port: given, protocol }: URL): boolean => {
    if (Number(given || (protocol === "https:" ? 443 : 80)) !== port) return false;
    const host = name
      .replace(/^\[|\]$/g, "")
      .replace(/\.$/, "")
      .toLowerCase();
    const own = hostname().toLowerCase();
    if (["localhost", own, `${own}.local`, ...hosts].includes(host) || host.endsWith(".localhost")) return true;
    if (isIP(host) === 0) return false;
    if (/^(127\.|::1$|::$|0\.0\.0\.0$|::ffff:7f)/.test(host)) return true;
    return Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === host));
  };

/** Why an address is forbidden; null if it is allowed. */
export function addressRefusal(url: URL, isOwnAddress: (url: URL) => boolean): string | null {
  if (isOwnAddress(url)) return "must not be the address of this service";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return isIP(host) !== 0 && isForbidden(host) ? "is an address that nothing is ever sent to" : null;
}
