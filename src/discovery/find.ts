import { oneLine } from "../client/secrets.ts";
import { type Announcement, announcementsIn } from "./announcements.ts";
import { mdnsPort, queryService } from "./mdns.ts";
import { machineName, networkAddresses, ownAddresses } from "./own-machine.ts";
import { type ProbeResult, probeRigbridge, probeService } from "./probe.ts";
import { rigbridgeType } from "./records.ts";

/** A service that has just answered. */
export interface FoundService extends ProbeResult {
  /** Like http://192.168.1.5:17790, to connect to. */
  readonly url: string;
  /** What its machine is called; as it says itself, so nothing to rely on. */
  readonly name: string;
}

export interface FindOptions {
  /** Ends the search early; what was found until then holds. */
  readonly signal: AbortSignal;
  /** ms to listen for announcements; 3,000 unless said. Asking what was heard of takes ten seconds more at worst. */
  readonly timeoutMs?: number;
  /** Ports of this machine to ask; 17790 unless said. */
  readonly ports?: readonly number[];
  /** Own addresses of the interfaces to listen on; those in private networks unless said. */
  readonly interfaces?: readonly string[];
  /** UDP port; 5353 unless a test needs its own. */
  readonly udpPort?: number;
}

/**
 * Looks for mining services: on this machine, a Rigbridge or a service of the reference product that asks for no key; in
 * its private networks, each Rigbridge that announces itself as `_rigbridge._tcp`. Listed is what has answered by HTTP,
 * this machine's first, each service once. No key is sent to anybody. Never rejects for what the network does.
 */
export async function findServices(options: FindOptions): Promise<FoundService[]> {
  const { signal, ports = [defaultPort] } = options;
  const [asked, announced] = await Promise.all([
    Promise.all(ports.map((port) => probeOwn(port, signal))),
    listen(options),
  ]);
  const { here, elsewhere } = byMachine(announced, ownAddresses());
  const answering = await Promise.all([probeAll(here, signal), probeAll(elsewhere, signal)]);
  const found = [...asked.filter((each) => each !== null), ...answering.flat()];
  return found.filter(({ url }, index) => found.findIndex((other) => other.url === url) === index);
}

/** The port that a service listens on unless told otherwise, Rigbridge and reference product alike. */
const defaultPort = 17_790;
const loopback = "127.0.0.1";
/** All of them are asked at once. */
const maxServices = 50;

export interface Candidate {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly port: number;
}

/** What announces itself on this machine, which is asked by loopback first, and what does elsewhere. */
export function byMachine(
  announced: readonly Candidate[],
  own: ReadonlySet<string>,
): Readonly<Record<"here" | "elsewhere", Candidate[]>> {
  const isOwn = ({ hosts }: Candidate): boolean => hosts.some((host) => own.has(host));
  return {
    here: announced
      .filter(isOwn)
      .map((candidate) => ({ ...candidate, hosts: [...new Set([loopback, ...candidate.hosts])] })),
    elsewhere: announced.filter((candidate) => !isOwn(candidate)),
  };
}

async function probeOwn(port: number, signal: AbortSignal): Promise<FoundService | null> {
  const url = urlOf(loopback, port);
  const answering = await probeService(url, signal);
  return answering === null ? null : { url, name: machineName(), ...answering };
}

/** What has announced itself, each service once, under all addresses that it has for us. */
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

/** Addresses of one service; each that does not answer costs time. */
const maxHosts = 4;

const nameOf = ({ text, label }: Announcement): string => oneLine(text.get("name") || label, 64);

/** In the order of their names, then of their addresses. */
async function probeAll(candidates: readonly Candidate[], signal: AbortSignal): Promise<FoundService[]> {
  const found = await Promise.all(candidates.map((candidate) => probeFirst(candidate, signal)));
  return found.filter((each) => each !== null).toSorted((a, b) => compare(a.name, b.name) || compare(a.url, b.url));
}

const compare = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });

/** By the first of its addresses at which it answers. */
async function probeFirst({ name, hosts, port }: Candidate, signal: AbortSignal): Promise<FoundService | null> {
  for (const host of hosts) {
    const url = urlOf(host, port);
    const answering = await probeRigbridge(url, signal);
    if (answering !== null) return { url, name, ...answering };
  }
  return null;
}

const urlOf = (host: string, port: number): string => `http://${host}:${port}`;
