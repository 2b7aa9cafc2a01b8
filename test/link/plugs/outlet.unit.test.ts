import { describe, expect, test } from "@jest/globals";
import { PlugSettings } from "../../../src/contract/plug-settings.ts";
import { isSameAddress, parseAddress } from "../../../src/link/address.ts";
import { outletOf } from "../../../src/link/plugs/outlet.ts";

const plugAt = (address: string, channel = 0, type = "shelly") =>
  outletOf(PlugSettings.parse({ type, address, channel }));

/** One place, as people and attackers write it. */
const spellings: readonly (readonly [string, string])[] = [
  ["Plug.LAN", "plug.lan"],
  ["plug.lan.", "plug.lan"],
  ["http://plug.lan", "plug.lan"],
  ["HTTP://plug.lan/", "plug.lan"],
  ["[::ffff:192.168.1.61]", "192.168.1.61"],
  ["[::FFFF:C0A8:13D]", "192.168.1.61"],
  ["[0:0:0:0:0:ffff:c0a8:013d]", "192.168.1.61"],
  ["[fd00:0:0:0:0:0:0:1]", "[fd00::1]"],
  ["FD00::1", "[fd00::1]"],
  ["[fd00::1%eth0]", "[fd00::1]"],
];

describe("a plug is the same plug", () => {
  test.each<readonly [string, string]>([
    ...spellings,
    ["192.168.1.61:80", "192.168.1.61"],
    ["https://plug.lan:443", "https://plug.lan"],
  ])("at %s as at %s", (written, plain) => {
    expect(plugAt(written).id).toBe(plugAt(plain).id);
  });

  test("whatever its configured type", () => {
    expect(plugAt("plug.lan", 1, "tasmota").id).toBe(plugAt("plug.lan", 1, "shelly").id);
  });

  test("at its topic", () => {
    const supply = (state: string) => PlugSettings.parse({ type: "mqtt", topics: { set: "plug/set", state } });
    expect(outletOf(supply("a")).id).toBe(outletOf(supply("b")).id);
  });
});

test("two outputs of one device are two plugs of one device", () => {
  const [first, second] = [plugAt("plug.lan", 0), plugAt("PLUG.lan.:80", 1)];
  expect(first.id).not.toBe(second.id);
  expect(first.device).toBe(second.device);
});

test.each([
  ["192.168.1.61", "192.168.1.62"],
  ["192.168.1.61:8080", "192.168.1.61"],
  ["a.lan", "b.lan"],
])("%s and %s are two devices", (one, other) => {
  expect(plugAt(one).device).not.toBe(plugAt(other).device);
});

describe("an address", () => {
  test.each(spellings)("%s is %s", (one, other) => {
    expect(isSameAddress(parseAddress(one), parseAddress(other))).toBe(true);
  });

  test.each([
    ["192.168.1.5", "192.168.1.6"],
    ["192.168.1.5", "192.168.1.5:80"],
    ["192.168.1.5:80", "192.168.1.5:8080"],
    ["https://rig.lan", "rig.lan"],
  ])("%s is not %s", (one, other) => {
    expect(isSameAddress(parseAddress(one), parseAddress(other))).toBe(false);
  });
});
