import { describe, expect, test } from "@jest/globals";
import { announcementsIn, type Records } from "../../src/discovery/announcements.ts";
import { type AnnouncedEndpoint, asksFor, recordsOf, rigbridgeType } from "../../src/discovery/records.ts";

const offer: AnnouncedEndpoint = { id: "0a1b2c3d", address: "192.168.1.5", port: 17790, version: "1.2.3" };

/** As a neighbour receives it: texts are bytes on the wire. */
function heard(records = recordsOf(offer)): Records {
  const answers = records.answers.map((each) =>
    each.type === "TXT" ? { ...each, data: [each.data].flat().map((text) => Buffer.from(text)) } : each,
  );
  return { answers };
}

describe("the announcement of a Rigbridge", () => {
  const { answers } = recordsOf(offer);

  test("is read back correctly", () => {
    const [announcement, ...more] = announcementsIn(heard(), "192.168.1.5", rigbridgeType);
    expect(more).toEqual([]);
    expect(announcement).toMatchObject({ hosts: ["192.168.1.5"], port: 17790 });
    expect(announcement?.label).toMatch(/ 0a1b2c3d$/);
    expect(announcement?.text.get("version")).toBe("1.2.3");
  });

  test("contains its name, version and path, and nothing else", () => {
    const text = answers.find(({ type }) => type === "TXT");
    expect(text).toMatchObject({ data: [expect.stringMatching(/^name=./), "version=1.2.3", "path=/api"] });
  });

  test("uses valid DNS names", () => {
    const labels = answers.flatMap(({ name }) => name.split("."));
    expect(labels.filter((each) => each === "" || Buffer.byteLength(each) > 63)).toEqual([]);
  });

  test("is withdrawn with records of TTL 0", () => {
    expect(announcementsIn(heard(recordsOf(offer, 0)), "192.168.1.5", rigbridgeType)).toEqual([]);
  });

  const instance = answers.find(({ type }) => type === "SRV")?.name ?? "";
  test.each<[string, string, boolean]>([
    ["_rigbridge._tcp.local", "PTR", true],
    ["_RIGBRIDGE._tcp.local", "ANY", true],
    [instance, "SRV", true],
    [instance.toUpperCase(), "TXT", true],
    ["rigbridge-0a1b2c3d.local", "A", true],
    ["rigbridge-0a1b2c3d.local", "AAAA", false],
    ["_rigbridge._tcp.local", "A", false],
    ["_http._tcp.local", "PTR", false],
    ["__proto__", "PTR", false],
    ["", "PTR", false],
  ])("is queried by %s %s: %s", (name, type, isAsked) => {
    // As a packet has it, whatever number the type has there.
    const question = Object.assign({ name, type: "A" } as const, { type });
    expect(asksFor([question], offer)).toBe(isAsked);
  });
});

describe("an announcement", () => {
  const pointer = { type: "PTR", name: "_rigbridge._tcp.local", data: "Garage._rigbridge._tcp.local" } as const;
  const place = {
    type: "SRV",
    name: "garage._rigbridge._tcp.local",
    data: { port: 8080, target: "garage.local" },
  } as const;
  const at = (data: string) => ({ type: "A", name: "garage.local", data }) as const;
  const hostsIn = (answers: Records["answers"], sender = "192.168.1.9") =>
    announcementsIn({ ...(answers === undefined ? {} : { answers }) }, sender, rigbridgeType).flatMap(
      ({ hosts }) => hosts,
    );

  test.each<[string, Records["answers"], string, string[]]>([
    ["has the private addresses that it names", [pointer, place, at("10.1.2.3")], "192.168.1.9", ["10.1.2.3"]],
    ["has its sender's address if it names none", [pointer, place], "192.168.1.9", ["192.168.1.9"]],
    ["has no public address", [pointer, place, at("8.8.8.8")], "192.168.1.9", []],
    ["has no public sender", [pointer, place], "203.0.113.9", []],
    ["has no address of a cloud's metadata service", [pointer, place, at("169.254.169.254")], "192.168.1.9", []],
    ["has no multicast address", [pointer, place, at("224.0.0.251")], "192.168.1.9", []],
    ["is of no host by name", [pointer, place, at("intranet.example")], "192.168.1.9", []],
    ["does not lead others to their own loopback", [pointer, place, at("127.0.0.1")], "192.168.1.9", []],
    ["on loopback may be of loopback", [pointer, place, at("127.0.0.1")], "127.0.0.1", ["127.0.0.1"]],
  ])("%s", (_, answers, sender, hosts) => {
    expect(hostsIn(answers, sender)).toEqual(hosts);
  });

  test("counts the first of a repeated key", () => {
    const text = {
      type: "TXT",
      name: "garage._rigbridge._tcp.local",
      data: [Buffer.from("Name=a=b"), Buffer.from("name=other"), Buffer.from(""), Buffer.from("flag")],
    } as const;
    const [announcement] = announcementsIn(
      { answers: [pointer, place, { ...text, data: [...text.data] }] },
      "10.0.0.1",
      rigbridgeType,
    );
    expect(Object.fromEntries(announcement?.text ?? [])).toEqual({ name: "a=b", flag: "", "": "" });
    expect(announcement?.label).toBe("Garage");
  });

  test("is limited to four of a thousand addresses, and few records of a large packet are read", () => {
    const addresses = Array.from({ length: 1_000 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
    expect(hostsIn([pointer, place, ...addresses.map(at)])).toHaveLength(4);
    const pointers = Array.from({ length: 5_000 }, (_, each) => ({ ...pointer, data: `${each}.${rigbridgeType}` }));
    expect(announcementsIn({ answers: pointers }, "10.0.0.1", rigbridgeType)).toHaveLength(500);
  });
});
