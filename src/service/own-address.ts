import { isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import type { HttpSettings } from "../config/schema.ts";

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
