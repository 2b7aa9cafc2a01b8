import { isIP, isIPv6 } from "node:net";
import { invalid, type RigbridgeError } from "../contract/problems.ts";
import { isForbidden } from "./forbidden-addresses.ts";

/** Where a rig is: host name or address, and a port when one was given. */
export interface RigAddress {
  readonly host: string;
  readonly port: number | null;
  readonly tls: boolean;
}

/**
 * Where a rig is, from what a person typed: host, host:port, [v6]:port, or either after http:// or https://.
 * Throws `input.invalid` at the path `address`.
 */
export function parseAddress(text: string): RigAddress {
  const address = storedAddress(text);
  if (isNoRig(address)) throw bad(text, "is an address that no rig can have (link-local, multicast or unspecified)");
  return address;
}

/** The same of what was written down already: an earlier version may have let in what is refused now. */
export function storedAddress(text: string): RigAddress {
  const match = /^(?:(https?):\/\/)?(\[[^[\]]*\]|[^:[\]/]*|[0-9A-Fa-f:.]*)(?::([^:[\]/]*))?\/?$/.exec(bare(text));
  const [, scheme, written = "", port] = match ?? [];
  if (match === null) throw bad(text, "is not written as host, host:port or [IPv6]:port");
  const unbracketed = written.startsWith("[");
  const host = (unbracketed ? written.slice(1, -1) : written).toLowerCase();
  if (unbracketed && !isIPv6(host)) throw bad(text, "has something in brackets that is no IPv6 address");
  checkHost(text, host);
  return { host, port: port === undefined ? null : parsePort(text, port), tls: scheme === "https" };
}

/** Whether nothing is ever sent there. */
export const isNoRig = ({ host }: RigAddress): boolean => isIP(host) !== 0 && isForbidden(host);

/** As it is typed: the opposite of `parseAddress`. */
export function formatAddress({ host, port, tls }: RigAddress): string {
  const written = isIPv6(host) ? `[${host}]` : host;
  return `${tls ? "https://" : ""}${written}${port === null ? "" : `:${port}`}`;
}

/** Whether both lead to the same place, however they are written. A port that is not given stands for several. */
export const isSameAddress = (one: RigAddress, other: RigAddress): boolean =>
  canonicalHost(one.host) === canonicalHost(other.host) && one.port === other.port && one.tls === other.tls;

/** A host in one spelling: no dot at its end, IPv6 shortened, IPv4 in IPv6 clothes as what it is. */
export function canonicalHost(host: string): string {
  if (!isIPv6(host)) return host.toLowerCase().replace(/\.$/, "");
  const [bare = ""] = host.split("%");
  const short = new URL(`http://[${bare}]/`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short) ?? [];
  if (high === undefined || low === undefined) return short;
  const octets = [high, low].flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 0xff]);
  return octets.join(".");
}

/** What is left after the refusals that deserve words of their own. */
function bare(text: string): string {
  if (text.trim() === "")
    throw invalid("address", "is empty; it is a host name or IP address, with :port where needed");
  if (text.length > 300) throw invalid("address", "is too long");
  // First of all, because the other refusals quote what was typed.
  if (text.includes("@")) throw invalid("address", "holds a user name; give it as username and password");
  if (/[\s\p{Cc}]/u.test(text)) throw bad(text, "has a blank in it");
  const rest = text.replace(/^https?:\/\//i, "");
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(rest)) throw bad(text, "has a scheme other than http:// and https://");
  if (/[/?#\\]/.test(rest.replace(/\/$/, ""))) throw bad(text, "has a path; only host and port are wanted");
  return text.replace(/^https?/i, (scheme) => scheme.toLowerCase());
}

function checkHost(text: string, host: string): void {
  if (host === "") throw bad(text, "has no host");
  if (isIP(host) !== 0) return;
  if (/(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/.test(host)) throw bad(text, "is no valid IP address");
  const labels = host.replace(/\.$/, "").split(".");
  if (host.length > 253 || !labels.every((label) => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label))) {
    throw bad(text, "is no valid host name");
  }
}

function parsePort(text: string, port: string): number {
  const number = /^[0-9]{1,5}$/.test(port) ? Number(port) : 0;
  if (number < 1 || number > 65_535) throw bad(text, "has a port that is not between 1 and 65535");
  return number;
}

const bad = (text: string, what: string): RigbridgeError =>
  invalid("address", `${JSON.stringify(text.slice(0, 80))} ${what}`);

/** host:port as messages name it. */
export const hostAndPort = (host: string, port: number): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
