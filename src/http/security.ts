import { BlockList, isIP } from "node:net";

/** A set of addresses and networks; IPv4 addresses in IPv6 form are the same as the plain ones. */
export interface AddressSet {
  has(address: string): boolean;
}

export function addressSet(entries: readonly string[]): AddressSet {
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

/** The name of `name:port`, lower case and without the root's dot; undefined where it is no host at all. */
export function hostName(host: string): string | undefined {
  const [, name, port = "1"] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/i.exec(host) ?? [];
  if (name === undefined || Number(port) > 65_535) return undefined;
  return name
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
}

/**
 * Against DNS rebinding: a web page under a name of its own that resolves to this machine. Addresses and names that no
 * stranger can give out pass: IP addresses, localhost, and the given names. Any device in the network can give itself
 * a name that ends with `.local`.
 */
export function hostAllowed(host: string, names: readonly string[]): boolean {
  const name = hostName(host);
  if (name === undefined) return false;
  return isIP(name) !== 0 || name === "localhost" || names.includes(name);
}

/** The host of an absolute-form target (`GET http://host/path`), undefined for the usual form. */
export const targetHost = (target: string): string | undefined => /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(target)?.[1];

/** What a browser says of where a request comes from; other clients say nothing. */
export interface Provenance {
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  /** The server's own origin, as the client addresses it. */
  readonly own: string;
}

/** Is it this server's own page, or a listed one? */
export function originAllowed(origin: string, own: string, origins: readonly string[]): boolean {
  if (!URL.canParse(origin) || !URL.canParse(own)) return false;
  const asked = new URL(origin).origin;
  return asked !== "null" && (asked === new URL(own).origin || origins.includes(asked));
}

/** A request that changes something and that another web site made a browser send. */
export function crossSite({ origin, fetchSite, own }: Provenance, origins: readonly string[]): boolean {
  if (origin !== undefined) return !originAllowed(origin, own, origins);
  return fetchSite !== undefined && fetchSite !== "none" && fetchSite !== "same-origin";
}
