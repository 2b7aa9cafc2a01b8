import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import multicastDns, { type MulticastDNS, type ResponsePacket } from "multicast-dns";

export interface QueryOptions {
  /** Own addresses of the interfaces to query on; no packet is sent on any other. */
  readonly interfaces: readonly string[];
  readonly signal: AbortSignal;
  /** To wait for answers; default 3,000. */
  readonly timeoutMs?: number;
  /** UDP port; default 5353. */
  readonly port?: number;
}

/** Called with each answer and the address of its sender. Must not throw. */
export type OnAnswer = (packet: ResponsePacket, sender: string) => void;

/** RFC 6762. */
export const mdnsPort = 5353;
const group = "224.0.0.251";
/** The query is sent again after this, for devices that missed the first packet. */
const repeatMs = 1_000;

/**
 * Queries a service type, like `_http._tcp.local`, by multicast DNS. Resolves at the timeout or when the signal is aborted,
 * with a sentence for each interface that could not be used; never rejects.
 */
export async function queryService(service: string, options: QueryOptions, onAnswer: OnAnswer): Promise<string[]> {
  const notes: string[] = [];
  await Promise.all(
    options.interfaces.map(async (address) => {
      try {
        await queryOn(service, address, options, onAnswer);
      } catch (error) {
        notes.push(`mDNS could not be used on ${address}: ${reasonOf(error)}`);
      }
    }),
  );
  return notes;
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function queryOn(
  service: string,
  address: string,
  { signal, timeoutMs = 3_000, port = mdnsPort }: QueryOptions,
  onAnswer: OnAnswer,
): Promise<void> {
  const mdns = await openMulticast(address, port);
  mdns.on("response", (packet, { address: sender }) => onAnswer(packet, sender));
  try {
    await query(mdns, service);
    await delay(Math.min(repeatMs, timeoutMs / 2), undefined, { signal });
    await query(mdns, service);
    await delay(timeoutMs - Math.min(repeatMs, timeoutMs / 2), undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await new Promise<void>((resolve) => mdns.destroy(resolve));
  }
}

const query = (mdns: MulticastDNS, service: string): Promise<void> =>
  new Promise((resolve, reject) => {
    mdns.query({ questions: [{ name: service, type: "PTR" }] }, (error) => (error ? reject(error) : resolve()));
  });

/**
 * Sends and receives on the interface with this address. Rejects if that is not possible; later errors reach only the
 * callbacks of what is sent.
 */
export async function openMulticast(address: string, port: number): Promise<MulticastDNS> {
  const socket = await openSocket(address, port);
  const mdns = multicastDns({ socket, bind: false, multicast: false, port, ip: group });
  mdns.on("error", () => {});
  return mdns;
}

/** Sends only on this interface, and shares the port with other mDNS programs on this machine. */
async function openSocket(address: string, port: number): Promise<Socket> {
  const socket = createSocket({ type: "udp4", reuseAddr: true });
  try {
    // Bound to the interface's own address, it would not receive packets to the group.
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
