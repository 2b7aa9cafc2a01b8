import { BlockList, isIP } from "node:net";

/** RFC 1918, RFC 4193, loopback and link-local. */
const nearby = new BlockList();
for (const [network, prefix] of [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
] as const)
  nearby.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of [
  ["::1", 128],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  nearby.addSubnet(network, prefix, "ipv6");

/** Whether an IP address belongs to this machine or a private network. */
export const isNearby = (address: string): boolean => nearby.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

/** Whether a token would be sent there in the clear beyond private networks. Names are checked later, by their addresses. */
export function isUnprotected({ protocol, hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  return protocol === "http:" && isIP(host) !== 0 && !isNearby(host);
}
