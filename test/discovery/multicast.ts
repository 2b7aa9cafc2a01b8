import { createSocket } from "node:dgram";
import { once } from "node:events";
import { test } from "@jest/globals";
import type { MulticastDNS, ResponseOutgoingPacket, ResponsePacket } from "multicast-dns";
import { openMulticast } from "../../src/discovery/mdns.ts";
import { onTestFinished } from "../finished.ts";
import { within } from "../until.ts";

/** Whether this machine supports multicast on loopback, and a port for it. */
async function loopbackPort(): Promise<number | null> {
  const socket = createSocket({ type: "udp4", reuseAddr: true });
  try {
    socket.bind(0, "0.0.0.0");
    await once(socket, "listening");
    const { port } = socket.address();
    socket.setMulticastInterface("127.0.0.1");
    socket.addMembership("224.0.0.251", "127.0.0.1");
    const heard = once(socket, "message", { signal: AbortSignal.timeout(60_000) });
    socket.send("heard?", port, "224.0.0.251");
    await heard;
    return port;
  } catch {
    return null;
  } finally {
    socket.close();
  }
}

const found = await loopbackPort();
if (found === null) process.stderr.write("Left out: this machine has no multicast on loopback.\n");

/** A UDP port of the tests' own. */
export const udpPort = found ?? 5353;
export const testWithMulticast = found === null ? test.skip : test;
/** ms for which a search listens: longer than a busy machine stands still. */
export const listensMs = 5_000;
export const onLoopback = { interfaces: ["127.0.0.1"], udpPort } as const;

/** Another device in the network; closed after the test. */
export async function neighbour(): Promise<MulticastDNS> {
  const mdns = await openMulticast("127.0.0.1", udpPort);
  onTestFinished(() => new Promise<void>((resolve) => mdns.destroy(resolve)));
  return mdns;
}

/** A neighbour that answers each question for a service with these records. */
export async function responder(service: string, packet: () => ResponseOutgoingPacket): Promise<void> {
  const mdns = await neighbour();
  mdns.on("query", ({ questions }) => {
    if ((questions ?? []).some(({ name, type }) => name === service && type === "PTR")) mdns.respond(packet());
  });
}

export interface Listener {
  readonly mdns: MulticastDNS;
  readonly heard: ResponsePacket[];
  /** Resolves once a matching answer has arrived, earlier ones included. `awaited` as for `until`. */
  hears(fits: (packet: ResponsePacket) => boolean, awaited: string): Promise<ResponsePacket>;
}

/** A neighbour that writes down what others answer. */
export async function listener(): Promise<Listener> {
  const mdns = await neighbour();
  const heard: ResponsePacket[] = [];
  let told = (): void => {};
  mdns.on("response", (packet) => {
    heard.push(packet);
    told();
  });
  return {
    mdns,
    heard,
    hears: (fits, awaited) => {
      const fitting = new Promise<ResponsePacket>((resolve) => {
        told = () => {
          const packet = heard.find(fits);
          if (packet !== undefined) resolve(packet);
        };
        told();
      });
      return within(fitting, awaited, { details: () => `${heard.length} answers were heard` });
    },
  };
}

/** Sends bytes that need be no packet at all. */
export async function send(...messages: readonly Buffer[]): Promise<void> {
  const socket = createSocket("udp4");
  try {
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    for (const message of messages) {
      await new Promise<void>((resolve, reject) => {
        socket.send(message, udpPort, "224.0.0.251", (error) => (error ? reject(error) : resolve()));
      });
    }
  } finally {
    socket.close();
  }
}
