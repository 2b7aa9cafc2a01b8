import { describe, expect, test } from "@jest/globals";
import {
  addressSet,
  crossSite,
  hostAllowed,
  hostName,
  loopback,
  originAllowed,
  privateNetworks,
  targetHost,
} from "../../src/http/security.ts";

describe("a host", () => {
  test.each([
    ["127.0.0.1", true],
    ["127.0.0.1:17790", true],
    ["192.168.1.7:80", true],
    ["[::1]:17790", true],
    ["[fe80::1]", true],
    ["localhost", true],
    ["LocalHost:17790", true],
    ["localhost.", true],
    ["bitaxe.local", false],
    ["Rig.LOCAL:1", false],
    ["mining.example", true],
    ["mining.example.:8080", true],
    ["attacker.rebind.example", false],
    ["evil.mining.example", false],
    ["mining.example.evil", false],
    ["local", false],
    ["127.0.0.1.evil.example", false],
    ["127.0.0.1@evil.example", false],
    ["evil.example#.local", false],
    ["evil.example/.local", false],
    ["0x7f.1", false],
    ["localhost:99999", false],
    ["[::1", false],
    ["", false],
  ])("%s may pass: %s", (host, allowed) => {
    expect(hostAllowed(host, ["mining.example"])).toBe(allowed);
  });

  test("is named without port, brackets and case", () => {
    expect([hostName("A.Local.:80"), hostName("[::1]:80"), hostName("a b")]).toEqual(["a.local", "::1", undefined]);
  });

  test("stands in an absolute-form target too", () => {
    expect(targetHost("http://evil.example:80/api/miners?x=http://other/")).toBe("evil.example:80");
    expect(targetHost("/api/miners?x=http://other/")).toBeUndefined();
  });
});

describe("an origin", () => {
  const own = "http://127.0.0.1:17790";
  const listed = ["https://panel.example"];

  test.each([
    ["http://127.0.0.1:17790", true],
    ["https://panel.example", true],
    ["http://panel.example", false],
    ["https://panel.example:8443", false],
    ["https://panel.example.evil", false],
    ["http://127.0.0.1:80", false],
    ["https://127.0.0.1:17790", false],
    ["http://evil.example", false],
    ["null", false],
    ["", false],
    ["file://", false],
    ["garbage", false],
  ])("%s is this server's own or listed: %s", (origin, allowed) => {
    expect(originAllowed(origin, own, listed)).toBe(allowed);
  });

  test("may leave out the port that its scheme implies", () => {
    expect(originAllowed("http://rig.local", "http://rig.local:80", [])).toBe(true);
  });

  test.each([
    [undefined, undefined, false],
    [undefined, "none", false],
    [undefined, "same-origin", false],
    [undefined, "cross-site", true],
    [undefined, "same-site", true],
    ["http://127.0.0.1:17790", "same-origin", false],
    ["https://panel.example", "cross-site", false],
    ["http://evil.example", undefined, true],
    ["http://evil.example", "cross-site", true],
    ["null", "same-origin", true],
  ])("origin %s with Sec-Fetch-Site %s is cross-site: %s", (origin, fetchSite, refused) => {
    expect(crossSite({ origin, fetchSite, own }, listed)).toBe(refused);
  });
});

describe("an address", () => {
  test.each([
    ["127.0.0.1", true, true],
    ["127.9.8.7", true, true],
    ["::1", true, true],
    ["::ffff:127.0.0.1", true, true],
    ["10.1.2.3", false, true],
    ["172.16.0.1", false, true],
    ["172.32.0.1", false, false],
    ["192.168.255.1", false, true],
    ["::ffff:192.168.1.1", false, true],
    ["fd00::1", false, true],
    ["fe80::1", false, true],
    ["8.8.8.8", false, false],
    ["2001:db8::1", false, false],
    ["unknown", false, false],
    ["", false, false],
  ])("%s is loopback: %s, private: %s", (address, own, near) => {
    expect([loopback.has(address), privateNetworks.has(address)]).toEqual([own, near]);
  });

  test("belongs to a set of addresses and networks of both families", () => {
    const set = addressSet(["10.0.0.0/24", "192.168.1.1", "2001:db8::/32"]);
    expect(["10.0.0.9", "192.168.1.1", "2001:db8:1::1", "10.0.1.1", "192.168.1.2"].map(set.has)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});
