import { BlockList, isIP } from "node:net";

/** A set of addresses and networks; IPv4 addresses in IPv6 form are the same as the plain ones. */
export interface AddressSet {
  has(address: string): boolean;
}

export function addressSet(entries: readonly string[]): AddressSet {
  // Without proxies, the usual case, every request is checked against an empty set.
  if (entries.length === 0) return { has: () => false };
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix] = entry.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return {
    has: (address) => {
      const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
      const family = isIP(plain);
      return family !== 0 && list.check(plain, family === 6 ? "ipv6" : "ipv4");
    },
  };
}

export const loopback = addressSet(["127.0.0.0/8", "::1"]);

/** Loopback, RFC 1918, link-local and unique local addresses. */
export const privateNetworks = addressSet([
  "127.0.0.0/8",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "169.254.0.0/16",
  "::1",
  "fc00::/7",
  "fe80::/10",
]);

/** The name of `name:port`, in lower case and without a trailing dot; undefined if it is not a host. */
export function hostName(host: string): string | undefined {
  const [, name, port = "1"] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/i.exec(host) ?? [];
  if (name === undefined || Number(port) > 65_535) return undefined;
  return name
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
}

/**
 * Against DNS rebinding, where an attacker's host name resolves to this machine. Allowed are IP addresses, localhost and
 * the given names; not `.local` in general, since any device in the network can claim such a name.
 */
export function hostAllowed(host: string, names: readonly string[]): boolean {
  const name = hostName(host);
  if (name === undefined) return false;
  return isIP(name) !== 0 || name === "localhost" || names.includes(name);
}

/** The host of an absolute-form target (`GET http://host/path`), undefined for the usual form. */
export const targetHost = (target: string): string | undefined => /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(target)?.[1];

/** The origin of a request according to the browser; other clients send nothing. */
export interface Provenance {
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  /** The server's own origin, as the client addresses it. */
  readonly own: string;
}

/** Whether an origin is this server's own or a listed one. */
export function originAllowed(origin: string, own: string, origins: readonly string[]): boolean {
  if (!URL.canParse(origin) || !URL.canParse(own)) return false;
  const asked = new URL(origin).origin;
  return asked !== "null" && (asked === new URL(own).origin || origins.includes(asked));
}

/** Whether another website made a browser send the request. */
export function crossSite({ origin, fetchSite, own }: Provenance, origins: readonly string[]): boolean {
  if (origin !== undefined) return !originAllowed(origin, own, origins);
  return fetchSite !== undefined && fetchSite !== "none" && fetchSite !== "same-origin";
}

/** The host of a URL for this machine's own clients, by the address that the service listens on. */
export function hostForUrl(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
