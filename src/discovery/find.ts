import { oneLine } from "../client/secrets.ts";
import { type Announcement, announcementsIn } from "./announcements.ts";
import { mdnsPort, queryService } from "./mdns.ts";
import { machineName, networkAddresses, ownAddresses } from "./own-machine.ts";
import { type ProbeResult, probeRigbridge, probeService } from "./probe.ts";
import { rigbridgeType } from "./records.ts";

export interface FoundService extends ProbeResult {
  /** Like http://192.168.1.5:17790. */
  readonly url: string;
  /** Its machine's name, as reported by the service: unreliable. */
  readonly name: string;
}

export interface FindOptions {
  /** Ends the search early; what was found so far is returned. */
  readonly signal: AbortSignal;
  /** For announcements; default 3,000. Probing the announced services takes up to ten seconds more. */
  readonly timeoutMs?: number;
  /** Ports of this machine to probe; default 17790. */
  readonly ports?: readonly number[];
  /** Own addresses of the interfaces to listen on; default: those in private networks. */
  readonly interfaces?: readonly string[];
  /** Default: 5353. */
  readonly udpPort?: number;
}

/**
 * Finds mining services: on this machine, a Rigbridge or a foreign server that requires no key; in its private networks,
 * each Rigbridge that announces itself as `_rigbridge._tcp`. The list has each service that answered by HTTP once, those
 * of this machine first. No key is sent. Never rejects for a fault of the network.
 */
export async function findServices(options: FindOptions): Promise<FoundService[]> {
  const { signal, ports = [defaultPort] } = options;
  const own = Promise.all(ports.map((port) => probeOwn(port, signal)));
  const [asked, announced] = await Promise.all([own, listen(options)]);
  const { here, elsewhere } = byMachine(announced, ownAddresses());
  const probed = await Promise.all([probeAll(here, signal), probeAll(elsewhere, signal)]);
  const found = [...asked.filter((each) => each !== null), ...probed.flat()];
  return found.filter(({ url }, index) => found.findIndex((other) => other.url === url) === index);
}

/** The default port of Rigbridge and of Awesome Miner. */
const defaultPort = 17_790;
const loopback = "127.0.0.1";
const maxServices = 50;

export interface Candidate {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly port: number;
}

/** Splits services into those on this machine, which are probed by loopback first, and those elsewhere. */
export function byMachine(
  announced: readonly Candidate[],
  own: ReadonlySet<string>,
): Readonly<Record<"here" | "elsewhere", Candidate[]>> {
  const isOwn = ({ hosts }: Candidate): boolean => hosts.some((host) => own.has(host));
  return {
    here: announced.filter(isOwn).map((each) => ({ ...each, hosts: [...new Set([loopback, ...each.hosts])] })),
    elsewhere: announced.filter((candidate) => !isOwn(candidate)),
  };
}

async function probeOwn(port: number, signal: AbortSignal): Promise<FoundService | null> {
  const url = urlOf(loopback, port);
  const probed = await probeService(url, signal);
  return probed === null ? null : { url, name: machineName(), ...probed };
}

/** The services that announce themselves, each once with all of its addresses. */
async function listen({ signal, timeoutMs, interfaces, udpPort = mdnsPort }: FindOptions): Promise<Candidate[]> {
  const candidates = new Map<string, Candidate>();
  const listening = { signal, port: udpPort, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const own = interfaces ?? networkAddresses();
  await queryService(rigbridgeType, { interfaces: own, ...listening }, (packet, sender) => {
    for (const announcement of announcementsIn(packet, sender, rigbridgeType)) {
      const { instance, hosts, port } = announcement;
      const before = candidates.get(instance);
      if (port === null || (before === undefined && candidates.size >= maxServices)) continue;
      const all = [...new Set([...(before?.hosts ?? []), ...hosts])].slice(0, maxHosts);
      candidates.set(instance, { name: nameOf(announcement), hosts: all, port });
    }
  });
  return [...candidates.values()];
}

/** Addresses of one service; each one that does not answer costs time. */
const maxHosts = 4;

const nameOf = ({ text, label }: Announcement): string => oneLine(text.get("name") || label, 64);

/** Sorted by name, then by URL. */
async function probeAll(candidates: readonly Candidate[], signal: AbortSignal): Promise<FoundService[]> {
  const found = await Promise.all(candidates.map((candidate) => probeFirst(candidate, signal)));
  return found.filter((each) => each !== null).toSorted((a, b) => compare(a.name, b.name) || compare(a.url, b.url));
}

const compare = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });

/** With the first of its addresses that answers. */
async function probeFirst({ name, hosts, port }: Candidate, signal: AbortSignal): Promise<FoundService | null> {
  for (const host of hosts) {
    const url = urlOf(host, port);
    const probed = await probeRigbridge(url, signal);
    if (probed !== null) return { url, name, ...probed };
  }
  return null;
}

const urlOf = (host: string, port: number): string => `http://${host}:${port}`;
