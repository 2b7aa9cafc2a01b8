import { afterEach, describe, expect, jest, test } from "@jest/globals";
import type { ResponsePacket } from "multicast-dns";
import {
  type AnnouncedService,
  type AnnounceOptions,
  announcedAddresses,
  announceService,
} from "../../src/discovery/announce.ts";
import { rigbridgeType } from "../../src/discovery/records.ts";
import { within } from "../until.ts";
import { garbage } from "./garbage.ts";
import { listener, onLoopback, send, testWithMulticast } from "./multicast.ts";

const open: AnnouncedService[] = [];
afterEach(async () => {
  for (const announcing of open.splice(0)) await announcing.close();
});

const port = 17790;
async function announce(options: Partial<AnnounceOptions> = {}) {
  const warn = jest.fn();
  const announcing = await announceService({
    address: { host: "0.0.0.0", port },
    version: "1.2.3",
    log: { warn },
    udpPort: onLoopback.udpPort,
    interfaces: () => onLoopback.interfaces,
    ...options,
  });
  open.push(announcing);
  return { announcing, warn };
}

const isAbout = ({ answers }: ResponsePacket): boolean => (answers ?? []).some(({ name }) => name === rigbridgeType);
const ttls = ({ answers }: ResponsePacket): number[] =>
  (answers ?? []).flatMap((each) => ("ttl" in each && each.ttl !== undefined ? [each.ttl] : []));
const isGoodbye = (packet: ResponsePacket): boolean => isAbout(packet) && ttls(packet).every((ttl) => ttl === 0);
const isThere = (packet: ResponsePacket): boolean => isAbout(packet) && !isGoodbye(packet);

describe("the addresses of a server in the network", () => {
  const own = ["192.168.1.5", "10.0.0.5"];
  test.each<[string, readonly string[]]>([
    ["0.0.0.0", own],
    ["::", own],
    ["192.168.1.5", ["192.168.1.5"]],
    ["127.0.0.1", []],
    ["127.3.4.5", []],
    ["::1", []],
    ["203.0.113.5", []],
    ["fd00::2", []],
  ])("when it listens at %s", (host, addresses) => {
    expect(announcedAddresses(host, own)).toEqual(addresses);
  });
});

describe("a service that announces itself", () => {
  testWithMulticast("sends its announcement at the start, and once more", async () => {
    const { heard, hears } = await listener();
    await announce();
    await hears(isThere, "the service to announce itself");
    await hears(() => heard.filter(isThere).length === 2, "the second announcement");
    expect(heard[0]?.answers).toMatchObject([
      { type: "PTR", name: "_rigbridge._tcp.local" },
      { type: "SRV", data: { port } },
      { type: "TXT" },
      { type: "A", data: "127.0.0.1" },
    ]);
  });

  testWithMulticast("withdraws it when it closes", async () => {
    const { heard, hears } = await listener();
    const { announcing } = await announce();
    await hears(isThere, "the service to announce itself");
    await announcing.close();
    const goodbye = await hears(isGoodbye, "the service to withdraw its announcement");
    expect(goodbye.answers).toMatchObject([{ type: "PTR" }, { type: "SRV" }, { type: "TXT" }, { type: "A" }]);
    expect(heard.at(-1)).toBe(goodbye);
  });

  testWithMulticast("answers queries at most once a second", async () => {
    const { mdns, heard, hears } = await listener();
    let time = 0;
    await announce({ now: () => time });
    for (let asked = 0; asked < 50; asked += 1) mdns.query(rigbridgeType, "PTR");
    // The announcement, its repetition, and the answer.
    await hears(() => heard.filter(isThere).length === 3, "the first answer after both announcements");
    time = 1_000;
    mdns.query(rigbridgeType, "PTR");
    await hears(() => heard.filter(isThere).length === 4, "the answer a second later");
    // What was still on its way would have come before.
    await send(Buffer.from("000084000000000000000000", "hex"));
    await hears((packet) => !isAbout(packet), "the answer that ends the wait");
    expect(heard.filter(isThere)).toHaveLength(4);
  });

  testWithMulticast("answers after garbage, too", async () => {
    const { mdns, heard, hears } = await listener();
    await announce();
    await hears(() => heard.filter(isThere).length === 2, "both announcements");
    await send(...garbage);
    mdns.query(rigbridgeType, "PTR");
    await hears(() => heard.filter(isThere).length === 3, "the answer after the garbage");
  });

  testWithMulticast("follows networks that come and go", async () => {
    const { heard, hears } = await listener();
    let interfaces: readonly string[] = [];
    await announce({ interfaces: () => interfaces, recheckMs: 10 });
    expect(heard).toEqual([]);
    interfaces = onLoopback.interfaces;
    await hears(isThere, "the service to announce itself");
    interfaces = [];
    await hears(isGoodbye, "the service to withdraw its announcement");
  });

  test("logs once where it cannot be announced, and continues", async () => {
    let looked = 0;
    const seen = Promise.withResolvers<void>();
    const { announcing, warn } = await announce({
      recheckMs: 5,
      interfaces: () => {
        looked += 1;
        if (looked === 4) seen.resolve();
        return ["198.51.100.7"];
      },
    });
    await within(seen.promise, "the service to look at its networks again");
    await announcing.close();
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/^This service is not announced on 198\.51\.100\.7: ./)]]);
  });
});
