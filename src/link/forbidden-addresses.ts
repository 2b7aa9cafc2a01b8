import { type LookupAddress, type LookupAllOptions, lookup } from "node:dns";
import { BlockList, isIPv4, type LookupFunction } from "node:net";

/**
 * Addresses that are never a rig: "this host", link-local (where clouds keep their metadata), multicast and broadcast.
 * An IPv4-mapped IPv6 address counts as the IPv4 address.
 */
const forbidden = new BlockList();
forbidden.addSubnet("0.0.0.0", 8, "ipv4");
forbidden.addSubnet("169.254.0.0", 16, "ipv4");
forbidden.addSubnet("224.0.0.0", 4, "ipv4");
forbidden.addAddress("255.255.255.255", "ipv4");
forbidden.addAddress("::", "ipv6");
forbidden.addSubnet("fe80::", 10, "ipv6");
forbidden.addSubnet("ff00::", 8, "ipv6");
// Metadata services of clouds, like 169.254.169.254.
forbidden.addAddress("100.100.100.200", "ipv4");
forbidden.addAddress("192.0.0.192", "ipv4");
forbidden.addAddress("fd00:ec2::254", "ipv6");
forbidden.addAddress("fd20:ce::254", "ipv6");
// Link-local and multicast IPv4 addresses behind a translator (RFC 6052, RFC 2765), in the old compatible form, and 6to4.
for (const prefix of ["64:ff9b::", "::ffff:0:", "::"]) {
  forbidden.addSubnet(`${prefix}169.254.0.0`, 112, "ipv6");
  forbidden.addSubnet(`${prefix}224.0.0.0`, 100, "ipv6");
}
forbidden.addSubnet("64:ff9b::", 104, "ipv6");
// A local translator (RFC 8215) may put the IPv4 address anywhere in this prefix.
forbidden.addSubnet("64:ff9b:1::", 48, "ipv6");
forbidden.addSubnet("2002:a9fe::", 32, "ipv6");
forbidden.addSubnet("2002:e000::", 20, "ipv6");

export const isForbidden = (ip: string): boolean => forbidden.check(ip, isIPv4(ip) ? "ipv4" : "ipv6");

/** `resolve` without forbidden addresses. */
export const lookupThrough =
  (resolve: LookupAll): LookupFunction =>
  (name, options, callback) => {
    resolve(name, { ...options, all: true }, (error, found) => {
      const allowed = error === null ? found.filter(({ address }) => !isForbidden(address)) : [];
      const [first] = allowed;
      if (error !== null) callback(error, []);
      else if (first === undefined) callback(Object.assign(new Error("forbidden address"), { code: "EFORBIDDEN" }), []);
      else if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };

/** As `dns.lookup` with `all`. */
export type LookupAll = (
  name: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/** The system's resolver without forbidden addresses, so that a name cannot lead to one. */
export const rigLookup = lookupThrough(lookup);
