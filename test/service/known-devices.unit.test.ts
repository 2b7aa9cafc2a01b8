import { hostname } from "node:os";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Config } from "../../src/config/index.ts";
import type { PlugSettings } from "../../src/contract/plug-settings.ts";
import { canonicalHost, hostIn, parseAddress, portIn } from "../../src/link/address.ts";
import { KnownDevices, type KnownDevicesOptions, type KnownRig } from "../../src/service/known-devices.ts";
import { isAddressOf } from "../../src/service/own-address.ts";
import { brokerPlace, openWebTargets } from "../../src/service/web-targets.ts";

interface Given {
  readonly address: string;
  /** The driver that has recognised it; absent: it was never read. */
  readonly driver?: string;
  readonly plug?: string;
  /** Notes of its last reading; absent: it does not answer now. */
  readonly notes?: readonly string[];
  readonly isOfFile?: boolean;
}

const plugAt = (address: string): PlugSettings => ({
  type: "tasmota",
  address,
  channel: 0,
  cutPower: false,
  delay: 10,
});

/** Why nothing is sent from a service with these miners, named rig 1, rig 2 and so on. */
function sender(given: readonly Given[], more: Partial<KnownDevicesOptions> = {}, mqtt?: object) {
  const place = brokerPlace(Config.parse(mqtt === undefined ? {} : { mqtt }).mqtt);
  const rigs = given.map(
    ({ address, driver = null, plug, notes }, index): KnownRig => ({
      id: index + 1,
      declared: { address: parseAddress(address), driver: null, supply: plug === undefined ? null : plugAt(plug) },
      state: {
        driver,
        ...(notes === undefined ? { at: null, missed: 3 } : { at: 1, missed: 0 }),
        reading: notes === undefined ? null : { readings: { notes } },
      },
    }),
  );
  const find = (id: number) => {
    const rig = rigs[id - 1];
    return rig && { rig };
  };
  const noFacility: [] = [];
  const devices = new KnownDevices({
    registry: { addressesAt: 1, all: () => rigs.map((rig) => ({ rig })), find },
    managed: { minerAt: () => undefined },
    isOfFile: (id) => given[id - 1]?.isOfFile === true,
    broker: () => place,
    facility: () => noFacility,
    resolve: (name) => {
      throw new Error(`${name} was resolved`);
    },
    ...more,
  });
  const targets = openWebTargets({
    devices,
    isOwnAddress: isAddressOf(() => ({ port: 17_790, hosts: [] })),
    nameOf: (id) => `rig ${id}`,
  });
  return {
    to: (url: string, all = true) => targets.refusal(new URL(url), { all }),
    /** As it is sent, with what its host stands for. */
    send: (url: string, addresses: readonly string[], all = true) =>
      targets.resolvedRefusal(new URL(url), addresses, { all }),
  };
}

const miner = (id: number): string =>
  `is the address of the miner rig ${id}; use a step for miners, such as action: restart`;
const ofPlug = "is the address of the plug of the miner rig 1; use the step plug";
const ofBroker = "is the address of the MQTT broker; use the step publish";

describe("nothing is sent to", () => {
  test("a rig, at any of its ports", () => {
    const { to } = sender([{ address: "10.0.0.5", driver: "axeos" }]);
    for (const url of ["http://10.0.0.5/", "https://10.0.0.5/", "http://10.0.0.5:4028/", "http://[::ffff:a00:5]:1/"])
      expect(to(url)).toBe(miner(1));
    expect(to("http://10.0.0.50/")).toBeNull();
  });

  test("a mining program, at its own port: a computer has other services", () => {
    const { to } = sender([
      { address: "10.0.0.6:18080", driver: "xmrig" },
      { address: "10.0.0.7", driver: "trex" },
    ]);
    expect(to("http://10.0.0.6:18080/")).toBe(miner(1));
    expect(to("http://10.0.0.7:4067/")).toBe(miner(2));
    for (const url of ["http://10.0.0.6:8123/", "http://10.0.0.7:8123/"]) expect(to(url)).toBeNull();
  });

  test("a program of this machine, at any of its addresses", () => {
    const { to } = sender([{ address: "127.0.0.1:18080", driver: "xmrig" }]);
    for (const host of ["127.0.0.1", "127.1.2.3", "localhost", "a.localhost", "[::1]", hostname(), "[::ffff:7f00:1]"]) {
      expect([host, to(`http://${host}:18080/`)]).toEqual([host, miner(1)]);
      expect(to(`http://${host}:8123/`)).toBeNull();
    }
  });

  test("a plug, or the port of the broker", () => {
    const { to } = sender(
      [{ address: "10.0.0.5", driver: "axeos", plug: "10.0.0.8", notes: [] }],
      {},
      { url: "mqtt://10.0.0.9" },
    );
    for (const url of ["http://10.0.0.8/cm?cmnd=Power%20off", "http://10.0.0.8:81/"]) expect(to(url)).toBe(ofPlug);
    expect(to("http://10.0.0.9:1883/")).toBe(ofBroker);
    expect(to("http://10.0.0.9:1880/")).toBeNull();
    const embedded = sender([], {}, { broker: "embedded" });
    for (const host of ["127.0.0.1", "localhost", "[::1]"]) expect(embedded.to(`http://${host}:1883/`)).toBe(ofBroker);
  });

  test("the program of a managed miner", () => {
    const minerAt = (host: string, port: number | null) => (host === "127.0.0.1" && port === 4001 ? 1 : undefined);
    const { to } = sender([], { managed: { minerAt } });
    for (const host of ["127.0.0.1", "127.9.9.9", "localhost", hostname()])
      expect([host, to(`http://${host}:4001/`)]).toEqual([host, miner(1)]);
    expect(to("http://127.0.0.1:4002/")).toBeNull();
  });

  test("a name that stands for a rig, or for a rig and something else", async () => {
    const { to, send } = sender([{ address: "10.0.0.5", driver: "axeos" }]);
    expect(to("http://rig.example/")).toBeNull();
    expect(await send("http://rig.example/", ["10.0.0.5"])).toBe(miner(1));
    expect(await send("http://rig.example/", ["127.0.0.1", "::ffff:10.0.0.5"])).toBe(miner(1));
    expect(await send("http://rig.example/", ["10.0.0.6"])).toBeNull();
    expect(await send("http://rig.example:17790/", ["10.0.0.6", "::1"])).toBe(
      "must not be the address of this service",
    );
  });

  test("the address of a rig that is declared by a name, which is resolved once for several requests", async () => {
    const resolved: string[] = [];
    const { to, send } = sender([{ address: "bitaxe.local", driver: "axeos", notes: [] }], {
      resolve: (name, _options, callback) => {
        resolved.push(name);
        callback(null, [{ address: "10.0.0.5", family: 4 }]);
      },
    });
    expect(to("http://BITAXE.local./")).toBe(miner(1));
    expect(await send("http://10.0.0.5/", ["10.0.0.5"])).toBe(miner(1));
    expect(await send("http://10.0.0.6/", ["10.0.0.6"])).toBeNull();
    expect(resolved).toEqual(["bitaxe.local"]);
  });
});

test("what is only said to be a miner or a plug stops nobody who has access to everything", () => {
  const { to } = sender([
    { address: "10.0.0.5" },
    { address: "10.0.0.6", isOfFile: true },
    { address: "10.0.0.7", driver: "axeos", plug: "10.0.0.8", notes: ["its plug cannot be read: it does not answer"] },
    { address: "bitaxe.local", driver: "axeos" },
  ]);
  for (const host of ["10.0.0.5", "10.0.0.8", "bitaxe.local"]) expect(to(`http://${host}/`)).toBeNull();
  expect([to("http://10.0.0.6/"), to("http://10.0.0.7/")]).toEqual([miner(2), miner(3)]);
  for (const host of ["10.0.0.5", "bitaxe.local"])
    expect(to(`http://${host}/`, false)).toBe(
      "is the address of a miner; use a step for miners, such as action: restart",
    );
  expect(to("http://10.0.0.8/", false)).toBe("is the address of the plug of a miner; use the step plug");
});

/** Often 0, which the short form of IPv6 leaves out. */
const octet = fc.oneof(fc.constantFrom(0, 255), fc.integer({ min: 0, max: 255 }));

test("every spelling of an IPv4 address is that address", () => {
  const inBase = fc.constantFrom(
    (number: number) => String(number),
    (number: number) => `0${number.toString(8)}`,
    (number: number) => `0X${number.toString(16)}`,
  );
  fc.assert(
    fc.property(
      fc.tuple(octet, octet, octet, octet),
      fc.tuple(inBase, inBase, inBase, inBase),
      fc.nat(3),
      (given, write, dots) => {
        const [a, b, c, d] = given;
        const plain = `${a}.${b}.${c}.${d}`;
        const last = [d, c * 256 + d, (b * 256 + c) * 256 + d, ((a * 256 + b) * 256 + c) * 256 + d][3 - dots] ?? 0;
        const parts = [...[a, b, c].slice(0, dots), last].map((part, index) => write[index]?.(part));
        const hex = (high: number, low: number) => (high * 256 + low).toString(16);
        const spellings = [
          parts.join("."),
          `${parts.join(".")}.`,
          ...["::ffff:", "0:0:0:0:0:FFFF:", "64:ff9b::", "::ffff:0:"].map((prefix) => `[${prefix}${plain}]`),
        ];
        for (const host of spellings) expect([host, hostIn(new URL(`http://${host}:80/`))]).toEqual([host, plain]);
        expect(canonicalHost(`::ffff:${hex(a, b)}:${hex(c, d)}`)).toBe(plain);
      },
    ),
  );
  expect(portIn(new URL("https://a/"))).toBe(443);
});
