import { createSocket } from "node:dgram";
import { once } from "node:events";
import { afterEach, describe, expect, test } from "@jest/globals";
import multicastDns, { type MulticastDNS, type ResponseOutgoingPacket } from "multicast-dns";
import { announcedIn, listenForRigs } from "../../src/link/mdns.ts";

type Records = Parameters<typeof announcedIn>[0];

const pointer = { type: "PTR", name: "_http._tcp.local", data: "Bitaxe._http._tcp.local" } as const;
const service = {
  type: "SRV",
  name: "bitaxe._http._tcp.LOCAL",
  data: { port: 8080, target: "bitaxe.local" },
} as const;
const address = { type: "A", name: "Bitaxe.local", data: "192.168.1.5" } as const;

describe("what a packet announces", () => {
  test.each<[string, Records, object[]]>([
    [
      "the place that it names",
      { answers: [pointer], additionals: [service, address] },
      [{ host: "192.168.1.5", port: 8080 }],
    ],
    ["its sender, where it names no address", { answers: [pointer, service] }, [{ host: "10.0.0.9", port: 8080 }]],
    ["its sender's port 80, where it names nothing", { answers: [pointer] }, [{ host: "10.0.0.9", port: 80 }]],
    ["nothing when it is another service", { answers: [{ ...pointer, name: "_ipp._tcp.local" }] }, []],
    ["nothing without a service", { answers: [service, address] }, []],
    ["nothing that is not private", { answers: [pointer, service, { ...address, data: "8.8.8.8" }] }, []],
    ["nothing that no rig can have", { answers: [pointer, service, { ...address, data: "169.254.169.254" }] }, []],
    ["nothing at port 0", { answers: [pointer, { ...service, data: { port: 0, target: "bitaxe.local" } }] }, []],
    ["nothing when it is empty", {}, []],
  ])("is %s", (_, packet, places) => {
    expect(announcedIn(packet, "10.0.0.9")).toEqual(places);
  });
});

/** Whether this machine lets one socket hear on loopback what another says to a group there; and a port for it. */
async function loopbackPort(): Promise<number | null> {
  const socket = createSocket({ type: "udp4", reuseAddr: true });
  try {
    socket.bind(0, "0.0.0.0");
    await once(socket, "listening");
    const { port } = socket.address();
    socket.setMulticastInterface("127.0.0.1");
    socket.addMembership("224.0.0.251", "127.0.0.1");
    const heard = once(socket, "message", { signal: AbortSignal.timeout(1_000) });
    socket.send("heard?", port, "224.0.0.251");
    await heard;
    return port;
  } catch {
    return null;
  } finally {
    socket.close();
  }
}

describe("listening on loopback", () => {
  let responder: MulticastDNS | undefined;
  afterEach(() => responder?.destroy());

  /** Answers each question with these records. */
  async function respond(port: number, packet: ResponseOutgoingPacket): Promise<void> {
    const socket = createSocket({ type: "udp4", reuseAddr: true });
    socket.bind(port, "0.0.0.0");
    await once(socket, "listening");
    socket.setMulticastInterface("127.0.0.1");
    socket.addMembership("224.0.0.251", "127.0.0.1");
    const mdns = multicastDns({ socket, bind: false, multicast: false, port });
    mdns.on("query", ({ questions = [] }) => {
      if (questions.some(({ name, type }) => name === "_http._tcp.local" && type === "PTR")) mdns.respond(packet);
    });
    responder = mdns;
  }

  const never = new AbortController().signal;

  test("hears what announces itself, once however often it says so", async () => {
    const port = await loopbackPort();
    if (port === null) {
      process.stderr.write("Left out: this machine has no multicast on loopback.\n");
      return;
    }
    await respond(port, { answers: [pointer], additionals: [service, { ...address, data: "127.3.4.5" }] });
    const heard = await listenForRigs({ interfaces: ["127.0.0.1"], signal: never, patience: 200, port });
    expect(heard).toEqual({ announced: [{ host: "127.3.4.5", port: 8080 }], notes: [] });
  });

  test("hears nothing where nothing answers", async () => {
    const port = (await loopbackPort()) ?? 5353;
    const heard = await listenForRigs({ interfaces: ["127.0.0.1"], signal: never, patience: 50, port });
    expect(heard.announced).toEqual([]);
  });

  test("ends when it is told to", async () => {
    const stopping = new AbortController();
    const options = { interfaces: ["127.0.0.1"], signal: stopping.signal, patience: 3_600_000 };
    const heard = listenForRigs({ ...options, port: (await loopbackPort()) ?? 5353 });
    stopping.abort();
    expect((await heard).announced).toEqual([]);
  });

  test("says on which interface it could not ask, and asks nowhere else instead", async () => {
    const heard = await listenForRigs({ interfaces: ["198.51.100.7"], signal: never, patience: 50 });
    expect(heard).toEqual({
      announced: [],
      notes: [expect.stringMatching(/^mDNS could not be used on 198\.51\.100\.7: /)],
    });
  });
});
