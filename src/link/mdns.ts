import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import multicastDns, { type MulticastDNS, type ResponsePacket } from "multicast-dns";
import { isPrivateAddress } from "./networks.ts";
import type { Announced } from "./scan.ts";

export interface ListenOptions {
  /** Own addresses of the interfaces to ask on; no packet leaves by another. */
  readonly interfaces: readonly string[];
  readonly signal: AbortSignal;
  /** ms to wait for answers. */
  readonly patience?: number;
  /** UDP port; 5353 unless a test needs its own. */
  readonly port?: number;
}

export interface Heard {
  readonly announced: readonly Announced[];
  /** On which interfaces nothing could be asked, and why. */
  readonly notes: readonly string[];
}

const group = "224.0.0.251";
const service = "_http._tcp.local";
/** As many announcements are taken from one search; whoever sends more is no honest device. */
const mostAnnounced = 1_000;
/** ms after which the question is put a second time, for those that the first packet did not reach. */
const askAgainAfter = 1_000;

/**
 * Asks by multicast DNS (RFC 6762) which devices have a web interface, as AxeOS announces its own. Only private
 * addresses are taken from the answers. Resolves when the time is over or the signal was aborted; never rejects.
 */
export async function listenForRigs(options: ListenOptions): Promise<Heard> {
  const places = new Map<string, Announced>();
  const notes: string[] = [];
  const take = (packet: ResponsePacket, sender: string): void => {
    for (const place of announcedIn(packet, sender)) {
      if (places.size < mostAnnounced) places.set(`${place.host}:${place.port}`, place);
    }
  };
  await Promise.all(
    options.interfaces.map(async (address) => {
      try {
        await ask(address, options, take);
      } catch (error) {
        notes.push(`mDNS could not be used on ${address}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }),
  );
  return { announced: [...places.values()], notes };
}

async function ask(
  address: string,
  { signal, patience = 3_000, port = 5353 }: ListenOptions,
  take: (packet: ResponsePacket, sender: string) => void,
): Promise<void> {
  const socket = await openSocket(address, port);
  const mdns = multicastDns({ socket, bind: false, multicast: false, port, ip: group });
  mdns.on("error", () => {});
  mdns.on("response", (packet, { address: sender }) => take(packet, sender));
  try {
    await query(mdns);
    await delay(Math.min(askAgainAfter, patience / 2), undefined, { signal });
    await query(mdns);
    await delay(patience - Math.min(askAgainAfter, patience / 2), undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await new Promise<void>((resolve) => mdns.destroy(resolve));
  }
}

/** Sends by this interface and no other, and shares the port with whatever else speaks mDNS on this machine. */
async function openSocket(address: string, port: number): Promise<Socket> {
  const socket = createSocket({ type: "udp4", reuseAddr: true });
  try {
    // Bound to the interface's own address, it would not be given what is sent to the group.
    socket.bind(port, "0.0.0.0");
    await once(socket, "listening");
    socket.setMulticastInterface(address);
    socket.addMembership(group, address);
    socket.setMulticastTTL(255);
    return socket;
  } catch (error) {
    socket.close();
    throw error;
  }
}

const query = (mdns: MulticastDNS): Promise<void> =>
  new Promise((resolve, reject) => {
    mdns.query({ questions: [{ name: service, type: "PTR" }] }, (error) => (error ? reject(error) : resolve()));
  });

/** Where the web services that a packet tells of are; where it does not say, at its sender's port 80. */
export function announcedIn(
  packet: Partial<Pick<ResponsePacket, "answers" | "additionals">>,
  sender: string,
): Announced[] {
  const records = [...(packet.answers ?? []), ...(packet.additionals ?? [])];
  const instances = records.flatMap((each) => (each.type === "PTR" && same(each.name, service) ? [each.data] : []));
  return instances.flatMap((instance): Announced[] => {
    const place = records.find((each) => each.type === "SRV" && same(each.name, instance));
    const { port, target } = place?.type === "SRV" ? place.data : { port: 80, target: "" };
    const hosts = records.flatMap((each) => (each.type === "A" && same(each.name, target) ? [each.data] : []));
    return (hosts.length > 0 ? hosts : [sender])
      .filter((host) => isPrivateAddress(host) && port > 0)
      .map((host) => ({ host, port }));
  });
}

/** DNS names do not tell capitals from small letters. */
const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
