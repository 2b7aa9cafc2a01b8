import { isIP, isIPv6 } from "node:net";
import { invalid, type RigbridgeError } from "../contract/problems.ts";
import { detail } from "../messages/detail.ts";
import { isForbidden } from "./forbidden-addresses.ts";

/** Where a rig is: host name or address, and a port when one was given. */
export interface RigAddress {
  readonly host: string;
  readonly port: number | null;
  readonly tls: boolean;
}

/**
 * An address as typed: host, host:port, [v6]:port, or either after http:// or https://. Throws `input.invalid` at the
 * path `address`.
 */
export function parseAddress(text: string): RigAddress {
  const address = storedAddress(text);
  if (isNoRig(address)) throw bad(text, "forbidden");
  return address;
}

/** Like `parseAddress`, for a stored address, which an earlier version may have accepted although it is refused now. */
export function storedAddress(text: string): RigAddress {
  const match = /^(?:(https?):\/\/)?(\[[^[\]]*\]|[^:[\]/]*|[0-9A-Fa-f:.]*)(?::([^:[\]/]*))?\/?$/.exec(bare(text));
  const [, scheme, written = "", port] = match ?? [];
  if (match === null) throw bad(text, "form");
  const unbracketed = written.startsWith("[");
  const host = (unbracketed ? written.slice(1, -1) : written).toLowerCase();
  if (unbracketed && !isIPv6(host)) throw bad(text, "brackets");
  checkHost(text, host);
  return { host, port: port === undefined ? null : parsePort(text, port), tls: scheme === "https" };
}

/** Whether the address can never be a rig, so that nothing is sent to it. */
export const isNoRig = ({ host }: RigAddress): boolean => isIP(host) !== 0 && isForbidden(host);

/** The inverse of `parseAddress`. */
export function formatAddress({ host, port, tls }: RigAddress): string {
  const written = isIPv6(host) ? `[${host}]` : host;
  return `${tls ? "https://" : ""}${written}${port === null ? "" : `:${port}`}`;
}

/** Whether both are the same address, however they are written. A missing port differs from any given one. */
export const isSameAddress = (one: RigAddress, other: RigAddress): boolean =>
  canonicalHost(one.host) === canonicalHost(other.host) && one.port === other.port && one.tls === other.tls;

/** A host in one spelling: no trailing dot, IPv6 shortened, an IPv4 address in an IPv6 one (RFC 4291, 6052, 2765) as IPv4. */
export function canonicalHost(host: string): string {
  if (!isIPv6(host)) return host.toLowerCase().replace(/\.$/, "");
  const [bare = ""] = host.split("%");
  const short = new URL(`http://[${bare}]/`).hostname.slice(1, -1);
  const words = wordsOf(short);
  const [high = 0, low = 0] = words.slice(6);
  const prefix = words
    .slice(0, 6)
    .map((word) => word.toString(16))
    .join(":");
  // `::` and `::1` have their own addresses.
  if (!ipv4Prefixes.has(prefix) || (prefix === compatible && high === 0)) return short;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

const compatible = "0:0:0:0:0:0";
/** Prefixes of IPv6 addresses that contain an IPv4 address: compatible, mapped, translated, NAT64. */
const ipv4Prefixes: ReadonlySet<string> = new Set([compatible, "0:0:0:0:0:ffff", "0:0:0:0:ffff:0", "64:ff9b:0:0:0:0"]);

/** The eight words of an IPv6 address without a dotted part. */
function wordsOf(address: string): number[] {
  const [left = [], right = []] = address
    .split("::")
    .map((half) => half.split(":").flatMap((word) => (word === "" ? [] : [Number.parseInt(word, 16)])));
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

/** The host of a web address in one spelling. */
export const hostIn = ({ hostname }: URL): string => canonicalHost(hostname.replace(/^\[|\]$/g, ""));

export const portIn = ({ port, protocol }: URL): number => Number(port) || (protocol === "https:" ? 443 : 80);

/** The address after the checks that have their own error messages. */
function bare(text: string): string {
  if (text.trim() === "") throw invalid("address", detail("address.empty"));
  if (text.length > 300) throw invalid("address", detail("address.long"));
  // Checked first, because the other errors quote the input.
  if (text.includes("@")) throw invalid("address", detail("address.user"));
  if (/[\s\p{Cc}]/u.test(text)) throw bad(text, "space");
  const rest = text.replace(/^https?:\/\//i, "");
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(rest)) throw bad(text, "scheme");
  if (/[/?#\\]/.test(rest.replace(/\/$/, ""))) throw bad(text, "path");
  return text.replace(/^https?/i, (scheme) => scheme.toLowerCase());
}

function checkHost(text: string, host: string): void {
  if (host === "") throw bad(text, "host");
  if (isIP(host) !== 0) return;
  if (/(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/.test(host)) throw bad(text, "ip");
  const labels = host.replace(/\.$/, "").split(".");
  if (host.length > 253 || !labels.every((label) => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label))) {
    throw bad(text, "name");
  }
}

function parsePort(text: string, port: string): number {
  const number = /^[0-9]{1,5}$/.test(port) ? Number(port) : 0;
  if (number < 1 || number > 65_535) throw bad(text, "port");
  return number;
}

type Flaw = "space" | "scheme" | "path" | "form" | "brackets" | "host" | "ip" | "name" | "port" | "forbidden";

const bad = (text: string, flaw: Flaw): RigbridgeError =>
  invalid("address", detail(`address.${flaw}`, { text: JSON.stringify(text.slice(0, 80)) }));

/** host:port, for messages. */
export const hostAndPort = (host: string, port: number): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
