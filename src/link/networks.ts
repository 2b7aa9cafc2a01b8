import { isIPv4 } from "node:net";
import { invalid, invalidAll, type Mistake, RigbridgeError } from "../contract/problems.ts";
import { detail } from "../messages/detail.ts";
import { isForbidden } from "./forbidden-addresses.ts";

/** A range of addresses, first and last included; an address is a 32-bit number. */
export interface Network {
  readonly first: number;
  readonly last: number;
  /** One more port to try, where one was given. */
  readonly port: number | null;
}

/** What a scan covers: each address once, with all ports to try there. */
export interface SearchPlan {
  readonly ranges: readonly PlannedRange[];
  /** Addresses. */
  readonly total: number;
}

interface PlannedRange {
  readonly first: number;
  readonly last: number;
  readonly ports: readonly number[];
}

export interface Place {
  readonly host: string;
  readonly ports: readonly number[];
}

/** Searched without confirmation: as much as a /16. */
export const unconfirmedAddresses = 65_536;
/** The most that one search may cover. */
export const mostAddresses = 2 ** 22;

/**
 * A network as typed: 192.168.1.0/24, one address, or 192.168.1.10-192.168.1.80; a trailing `:8080` adds a port. The
 * network and broadcast addresses are left out. Throws `input.invalid`.
 */
export function parseNetwork(text: string): Network {
  const match = /^([\d.]+)(?:\/(\d{1,2})|-([\d.]+))?(?::(\d{1,5}))?$/.exec(text.trim());
  if (match === null && /^\[?[\da-f]*:[\da-f:.]*\]?(?:\/|-|$)/i.test(text.trim())) {
    throw bad(text, "is IPv6; only IPv4 networks can be searched, since no IPv6 network is small enough");
  }
  const [, start = "", prefix, end, port] = match ?? [];
  if (!isIPv4(start) || (end !== undefined && !isIPv4(end))) {
    throw invalid("networks", detail("input.notNetwork", { text: text.slice(0, 60) }));
  }
  const range = prefix === undefined ? rangeOf(text, start, end ?? start) : subnet(text, start, Number(prefix));
  if (touchesForbidden(range)) {
    throw bad(text, "contains addresses that no rig can have (link-local, multicast or unspecified)");
  }
  return { ...range, port: port === undefined ? null : portOf(text, port) };
}

/** Whether a host is an IPv4 address of a network. */
export const isWithin = ({ first, last }: Network, host: string): boolean =>
  isIPv4(host) && numberOf(host) >= first && numberOf(host) <= last;

/** Throws `input.invalid` with every invalid one. */
export function parseNetworks(texts: readonly string[]): Network[] {
  const mistakes: Mistake[] = [];
  const networks = texts.flatMap((text) => {
    try {
      return [parseNetwork(text)];
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      mistakes.push(...error.errors);
      return [];
    }
  });
  if (mistakes.length === 0) return networks;
  throw invalidAll(mistakes);
}

export interface PlanOptions {
  /** Ports to try at every address. */
  readonly ports: readonly number[];
  /** Confirms networks that are larger than a /16 or not private. */
  readonly yes: boolean;
}

/**
 * Joins networks, so that overlaps are scanned once. Throws `input.invalid` when together they are too large, or reach
 * beyond private networks, without confirmation.
 */
export function planSearch(networks: readonly Network[], { ports, yes }: PlanOptions): SearchPlan {
  const ranges = merged(networks, ports);
  const total = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  const size = `${total.toLocaleString("en-US")} address${total === 1 ? "" : "es"}`;
  if (total > mostAddresses) {
    throw invalid("networks", `have ${size}; at most ${mostAddresses.toLocaleString("en-US")} are searched at once`);
  }
  if (!yes && total > unconfirmedAddresses) {
    throw invalid("networks", `have ${size}, more than the 65,536 of a /16; ${howToConfirm}`);
  }
  const foreign = networks.find((network) => !isPrivate(network));
  if (!yes && foreign !== undefined) {
    const which = foreign.first === foreign.last ? "is not private" : "and what follows are not all private";
    throw invalid("networks", `${addressText(foreign.first)} ${which} (${size} in all); ${howToConfirm}`);
  }
  return { ranges, total };
}

const howToConfirm = "confirm the search with --yes, or `yes: true` in the API";

/** Each address of a plan in turn, generated on demand. */
export function* placesOf({ ranges }: SearchPlan): Generator<Place> {
  for (const { first, last, ports } of ranges) {
    for (let address = first; address <= last; address += 1) yield { host: addressText(address), ports };
  }
}

/** The ports that a plan tries at an address; none outside of it. */
export function plannedPorts({ ranges }: SearchPlan, host: string): readonly number[] {
  if (!isIPv4(host)) return [];
  const address = numberOf(host);
  return ranges.find(({ first, last }) => first <= address && address <= last)?.ports ?? [];
}

/** As `os.networkInterfaces` gives them. */
export type Interfaces = Readonly<Record<string, readonly InterfaceAddress[] | undefined>>;

interface InterfaceAddress {
  readonly address: string;
  readonly family: string;
  readonly internal: boolean;
  readonly cidr: string | null;
}

export interface OwnNetworks {
  readonly networks: readonly Network[];
  /** The machine's own addresses in them. */
  readonly addresses: readonly string[];
  /** What is left out, for people. */
  readonly notes: readonly string[];
}

/** The machine's private IPv4 networks; of large ones the /24 around its own address. */
export function ownNetworks(interfaces: Interfaces): OwnNetworks {
  const addresses: string[] = [];
  const networks: Network[] = [];
  const notes: string[] = [];
  for (const { address, family, internal, cidr } of Object.values(interfaces).flatMap((each) => each ?? [])) {
    if (family !== "IPv4" || internal || cidr === null || !isPrivateAddress(address)) continue;
    const prefix = Number(cidr.split("/")[1]);
    const near = parseNetwork(`${address}/${prefix <= 16 ? 24 : prefix}`);
    if (prefix <= 16) {
      notes.push(
        `Of ${cidr} only ${addressText(near.first)} to ${addressText(near.last)} are searched without being asked for`,
      );
    }
    addresses.push(address);
    networks.push(near);
  }
  return { networks, addresses, notes };
}

/** In a private network, or loopback. */
export const isPrivateAddress = (ip: string): boolean => {
  if (!isIPv4(ip)) return false;
  const address = numberOf(ip);
  return isPrivate({ first: address, last: address });
};

/** RFC 1918, and loopback. */
const privateBlocks = [block("10.0.0.0", 8), block("172.16.0.0", 12), block("192.168.0.0", 16), block("127.0.0.0", 8)];

type Span = Pick<Network, "first" | "last">;

/** Whether all its addresses are private. */
export const isPrivate = ({ first, last }: Span): boolean =>
  privateBlocks.some((block) => block.first <= first && last <= block.last);

/** Forbidden blocks are at least a /16 large, except for one address at the very end. */
function touchesForbidden({ first, last }: Span): boolean {
  for (let address = first; address < last; address += 65_536) if (isForbidden(addressText(address))) return true;
  return isForbidden(addressText(last));
}

function rangeOf(text: string, start: string, end: string): Span {
  const range = { first: numberOf(start), last: numberOf(end) };
  if (range.last < range.first) throw bad(text, "ends before it starts");
  return range;
}

function subnet(text: string, address: string, prefix: number): Span {
  if (prefix > 32) throw bad(text, "has a prefix above 32");
  const { first, last } = block(address, prefix);
  return prefix <= 30 ? { first: first + 1, last: last - 1 } : { first, last };
}

function block(address: string, prefix: number): Span {
  const size = 2 ** (32 - prefix);
  const first = Math.floor(numberOf(address) / size) * size;
  return { first, last: first + size - 1 };
}

function portOf(text: string, digits: string): number {
  const port = Number(digits);
  if (port < 1 || port > 65_535) throw bad(text, "has a port that is not between 1 and 65535");
  return port;
}

/** Split wherever one begins or ends, so that each piece has one set of ports. */
function merged(networks: readonly Network[], ports: readonly number[]): PlannedRange[] {
  const cuts = [...new Set(networks.flatMap(({ first, last }) => [first, last + 1]))].sort((a, b) => a - b);
  return cuts.slice(0, -1).flatMap((first, index): PlannedRange[] => {
    const last = (cuts[index + 1] ?? first) - 1;
    const here = networks.filter((network) => network.first <= first && last <= network.last);
    if (here.length === 0) return [];
    const extra = here.flatMap(({ port }) => port ?? []);
    return [{ first, last, ports: [...new Set([...ports, ...extra])] }];
  });
}

function numberOf(ip: string): number {
  return ip.split(".").reduce((number, octet) => number * 256 + Number(octet), 0);
}

const addressText = (address: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");

const bad = (text: string, what: string) => invalid("networks", `${JSON.stringify(text.slice(0, 60))} ${what}`);
