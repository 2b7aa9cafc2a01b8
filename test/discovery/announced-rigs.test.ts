import { describe, expect, test } from "@jest/globals";
import { announcedIn, listenForRigs } from "../../src/discovery/announced-rigs.ts";
import { within } from "../until.ts";
import { listensMs, responder, testWithMulticast, udpPort } from "./multicast.ts";

type Records = Parameters<typeof announcedIn>[0];

const pointer = { type: "PTR", name: "_http._tcp.local", ttl: 120, data: "Bitaxe._http._tcp.local" } as const;
const service = {
  type: "SRV",
  name: "bitaxe._http._tcp.LOCAL",
  ttl: 120,
  data: { port: 8080, target: "bitaxe.local" },
} as const;
const address = { type: "A", name: "Bitaxe.local", ttl: 120, data: "192.168.1.5" } as const;

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

describe("listening on loopback", () => {
  const never = new AbortController().signal;
  const onLoopback = { interfaces: ["127.0.0.1"], port: udpPort };

  testWithMulticast("hears what announces itself, once however often it says so", async () => {
    const records = [service, { ...address, data: "127.3.4.5" }];
    await responder("_http._tcp.local", () => ({ answers: [pointer], additionals: records }));
    const heard = await listenForRigs({ ...onLoopback, signal: never, timeoutMs: listensMs });
    expect(heard).toEqual({ announced: [{ host: "127.3.4.5", port: 8080 }], notes: [] });
  });

  test("hears nothing where nothing answers", async () => {
    const heard = await listenForRigs({ ...onLoopback, signal: never, timeoutMs: 50 });
    expect(heard.announced).toEqual([]);
  });

  test("ends when it is told to", async () => {
    const stopping = new AbortController();
    const heard = listenForRigs({ ...onLoopback, signal: stopping.signal, timeoutMs: 3_600_000 });
    stopping.abort();
    expect((await within(heard, "the listening to end")).announced).toEqual([]);
  });

  test("says on which interface it could not ask, and asks nowhere else instead", async () => {
    const heard = await listenForRigs({ interfaces: ["198.51.100.7"], signal: never, timeoutMs: 50 });
    expect(heard).toEqual({
      announced: [],
      notes: [expect.stringMatching(/^mDNS could not be used on 198\.51\.100\.7: /)],
    });
  });
});
