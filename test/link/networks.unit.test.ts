import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { RigbridgeError } from "../../src/contract/problems.ts";
import {
  type Interfaces,
  isPrivateAddress,
  ownNetworks,
  parseNetwork,
  placesOf,
  plannedPorts,
  planSearch,
} from "../../src/link/networks.ts";

const plan = (texts: readonly string[], { ports = [80], yes = false } = {}) =>
  planSearch(texts.map(parseNetwork), { ports, yes });
const hosts = (...texts: string[]): string[] => [...placesOf(plan(texts))].map(({ host }) => host);

const refusal = (attempt: () => unknown): string => {
  try {
    attempt();
  } catch (error) {
    if (error instanceof RigbridgeError) return `${error.code} ${error.message}`;
    throw error;
  }
  throw new Error("it was taken");
};

describe("a network", () => {
  test.each<[string, string[]]>([
    ["10.0.0.0/30", ["10.0.0.1", "10.0.0.2"]],
    ["10.0.0.3/30", ["10.0.0.1", "10.0.0.2"]],
    ["10.0.0.6/31", ["10.0.0.6", "10.0.0.7"]],
    ["10.0.0.7/32", ["10.0.0.7"]],
    ["10.0.0.255", ["10.0.0.255"]],
    ["10.0.0.254-10.0.1.1", ["10.0.0.254", "10.0.0.255", "10.0.1.0", "10.0.1.1"]],
    [" 10.0.0.9:8080 ", ["10.0.0.9"]],
  ])("%s has these addresses", (text, addresses) => {
    expect(hosts(text)).toEqual(addresses);
  });

  test("leaves out its own address and the broadcast address", () => {
    const all = hosts("192.168.1.77/24");
    expect(all).toHaveLength(254);
    expect([all[0], all.at(-1)]).toEqual(["192.168.1.1", "192.168.1.254"]);
  });

  test.each([
    ["", "is not written as"],
    ["192.168.1", "is not written as"],
    ["192.168.1.0/", "is not written as"],
    ["192.168.1.256/24", "is not written as"],
    ["192.168.1.10-80", "is not written as"],
    ["rig.local", "is not written as"],
    ["192.168.1.0/33", "a prefix above 32"],
    ["192.168.1.9-192.168.1.8", "ends before it starts"],
    ["192.168.1.0/24:0", "a port that is not between 1 and 65535"],
    ["192.168.1.0/24:65536", "a port that is not between 1 and 65535"],
    ["fe80::1", "is IPv6"],
    ["fd00::/64", "is IPv6"],
    ["[::1]", "is IPv6"],
    ["169.254.1.1", "no rig can have"],
    ["169.0.0.0/8", "no rig can have"],
    ["0.0.0.0/0", "no rig can have"],
    ["255.255.255.255", "no rig can have"],
    ["223.255.255.0-224.0.0.1", "no rig can have"],
  ])("%j is refused", (text, words) => {
    expect(refusal(() => parseNetwork(text))).toMatch(`input.invalid networks: ${JSON.stringify(text)} `);
    expect(refusal(() => parseNetwork(text))).toContain(words);
  });

  test("any text is accepted or refused with a sentence", () => {
    const part = fc.constantFrom("192.168.1.0", "10.0.0.1", "/", "24", "-", ":", "8080", ".", "255", "::", " ", "x");
    const text = fc.oneof(
      fc.string(),
      fc.array(part, { maxLength: 8 }).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, (written) => {
        try {
          const { first, last, port } = parseNetwork(written);
          return first <= last && last < 2 ** 32 && (port === null || (port > 0 && port < 65_536));
        } catch (error) {
          return error instanceof RigbridgeError && error.code === "input.invalid";
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

const octet = fc.integer({ min: 0, max: 255 });
/** In 10.0.0.0/16, so that they overlap often. */
const inside = fc.tuple(octet, octet).map(([third, fourth]) => `10.0.${third}.${fourth}`);
const network = fc.oneof(
  inside,
  fc.tuple(inside, fc.integer({ min: 22, max: 32 })).map(([ip, prefix]) => `${ip}/${prefix}`),
  fc.tuple(inside, fc.integer({ min: 22, max: 32 }), fc.integer({ min: 1000, max: 1003 })).map((all) => {
    const [ip, prefix, port] = all;
    return `${ip}/${prefix}:${port}`;
  }),
);
const networks = fc.array(network, { minLength: 1, maxLength: 6 });

describe("a plan", () => {
  test("has exactly the addresses of its networks, each once, and counts them", () => {
    fc.assert(
      fc.property(networks, (texts) => {
        const each = new Set(texts.flatMap((text) => hosts(text)));
        const together = hosts(...texts);
        expect(together).toHaveLength(each.size);
        expect(new Set(together)).toEqual(each);
        expect(plan(texts).total).toBe(each.size);
      }),
      { numRuns: 60 },
    );
  });

  test("tries the usual ports and those of all its networks at each address", () => {
    fc.assert(
      fc.property(networks, (texts) => {
        const wanted = new Map<string, Set<number>>();
        for (const text of texts) {
          const { port } = parseNetwork(text);
          for (const host of hosts(text)) {
            const ports = wanted.get(host) ?? new Set([80, 4028]);
            wanted.set(host, port === null ? ports : ports.add(port));
          }
        }
        const planned = plan(texts, { ports: [80, 4028] });
        for (const { host, ports } of placesOf(planned)) {
          expect(new Set(ports)).toEqual(wanted.get(host));
          expect(ports).toHaveLength(new Set(ports).size);
        }
      }),
      { numRuns: 30 },
    );
  });

  test("knows which ports it tries where", () => {
    const planned = plan(["10.0.0.0/24", "10.0.0.7:8080"]);
    expect(plannedPorts(planned, "10.0.0.7")).toEqual([80, 8080]);
    expect(plannedPorts(planned, "10.0.0.8")).toEqual([80]);
    expect(plannedPorts(planned, "10.0.1.8")).toEqual([]);
    expect(plannedPorts(planned, "rig.local")).toEqual([]);
  });

  test("as large as a /16 needs no confirmation", () => {
    expect(plan(["10.1.0.0/16"]).total).toBe(65_534);
    expect(plan(["10.1.0.0-10.1.255.255"]).total).toBe(65_536);
  });

  test.each([
    [
      ["10.1.0.0-10.2.0.0"],
      "have 65,537 addresses, more than the 65,536 of a /16; confirm the search with --yes, or `yes: true` in the API",
    ],
    [["10.1.0.0/16", "10.2.0.0/24"], "have 65,788 addresses"],
    [["8.8.8.8"], "8.8.8.8 is not private (1 address in all); confirm the search with --yes"],
    [["172.15.255.255"], "is not private"],
    [["172.31.255.0-172.32.0.3"], "are not all private"],
    [["10.0.0.1", "100.64.0.0/30"], "not all private (3 addresses in all)"],
  ])("of %j needs a confirmation, and says how", (texts, words) => {
    expect(refusal(() => plan(texts))).toContain(words);
    expect(plan(texts, { yes: true }).total).toBeGreaterThan(0);
  });

  test("that is too large is refused even with a confirmation", () => {
    const refused = refusal(() => plan(["10.0.0.0/8"], { yes: true }));
    expect(refused).toBe("input.invalid networks: have 16,777,214 addresses; at most 4,194,304 are searched at once");
    expect(plan(["10.0.0.0/10"], { yes: true }).total).toBe(2 ** 22 - 2);
  });
});

describe("the machine's own networks", () => {
  const at = (cidr: string, more: { family?: string; internal?: boolean } = {}): Interfaces => ({
    eth0: [{ address: cidr.split("/")[0] ?? "", family: "IPv4", internal: false, cidr, ...more }],
  });
  const own = (interfaces: Interfaces): string[] => {
    const { networks: found } = ownNetworks(interfaces);
    return [...placesOf(planSearch(found, { ports: [80], yes: false }))].map(({ host }) => host);
  };

  test("are those of its private addresses", () => {
    expect(own(at("192.168.7.9/29"))).toEqual(hosts("192.168.7.9/29"));
    expect(ownNetworks(at("192.168.7.9/29"))).toMatchObject({ addresses: ["192.168.7.9"], notes: [] });
    expect(own(at("10.4.0.1/17"))).toHaveLength(32_766);
  });

  test.each([
    ["a public one", at("8.8.8.8/24")],
    ["loopback", at("127.0.0.1/8", { internal: true })],
    ["IPv6", at("fd00::2/64", { family: "IPv6" })],
    ["link-local", at("169.254.3.4/16")],
    ["one without an address", { eth0: undefined }],
  ])("are none for %s", (_, interfaces) => {
    expect(ownNetworks(interfaces)).toEqual({ networks: [], addresses: [], notes: [] });
  });

  test.each(["10.9.8.7/8", "172.17.0.2/16"])("of a network as large as %s are the /24 around the machine", (cidr) => {
    const [address = ""] = cidr.split("/");
    expect(own(at(cidr))).toEqual(hosts(`${address}/24`));
    expect(ownNetworks(at(cidr)).notes).toEqual([expect.stringContaining(cidr)]);
  });
});

test.each([
  ["10.255.255.255", true],
  ["11.0.0.0", false],
  ["172.16.0.1", true],
  ["172.32.0.1", false],
  ["192.168.0.1", true],
  ["127.0.0.1", true],
  ["::1", false],
  ["rig", false],
])("%s is private: %s", (ip, expected) => {
  expect(isPrivateAddress(ip)).toBe(expected);
});
