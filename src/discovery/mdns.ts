import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import multicastDns, { type MulticastDNS, type ResponsePacket } from "multicast-dns";

export interface QueryOptions {
  /** Own addresses of the interfaces to ask on; no packet leaves by another. */
  readonly interfaces: readonly string[];
  readonly signal: AbortSignal;
  /** ms to wait for answers. */
  readonly timeoutMs?: number;
  /** UDP port; 5353 unless a test needs its own. */
  readonly port?: number;
}

/** What is told of each answer, and of the address that it came from. Must not throw. */
export type OnAnswer = (packet: ResponsePacket, sender: string) => void;

/** Where mDNS speaks (RFC 6762). */
export const mdnsPort = 5353;
const group = "224.0.0.251";
/** ms after which the question is put a second time, for those that the first packet did not reach. */
const repeatMs = 1_000;

/**
 * Asks by multicast DNS who offers a service, like `_http._tcp.local`. Resolves when the time is over or the signal was
 * aborted, with the interfaces on which nothing could be asked, and why; never rejects.
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
 * Speaks and hears by the interface with this address. Rejects where that is not possible; what goes wrong later is
 * told only to who sends.
 */
export async function openMulticast(address: string, port: number): Promise<MulticastDNS> {
  const socket = await openSocket(address, port);
  const mdns = multicastDns({ socket, bind: false, multicast: false, port, ip: group });
  mdns.on("error", () => {});
  return mdns;
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
