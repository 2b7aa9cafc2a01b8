import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { formatAddress, parseAddress } from "../../src/link/address.ts";

test.each([
  ["rig-7", { host: "rig-7", port: null, tls: false }],
  ["Bitaxe.local", { host: "bitaxe.local", port: null, tls: false }],
  ["192.168.1.5:4029", { host: "192.168.1.5", port: 4029, tls: false }],
  ["http://10.0.0.2", { host: "10.0.0.2", port: null, tls: false }],
  ["http://10.0.0.2:8080/", { host: "10.0.0.2", port: 8080, tls: false }],
  ["HTTPS://rig.example:443", { host: "rig.example", port: 443, tls: true }],
  ["[fd00::7]:80", { host: "fd00::7", port: 80, tls: false }],
  ["fd00::7", { host: "fd00::7", port: null, tls: false }],
])("%s", (text, address) => {
  expect(parseAddress(text)).toEqual(address);
});

describe("refused with a sentence", () => {
  test.each([
    ["", "empty"],
    ["   ", "empty"],
    ["rig 7", "whitespace"],
    ["rig:0", "port"],
    ["rig:65536", "port"],
    ["rig:", "port"],
    ["rig:http", "port"],
    ["rig:-1", "port"],
    ["http://admin:geheim@rig", "user name"],
    ["http://rig/api", "path"],
    ["rig?x=1", "path"],
    ["ftp://rig", "scheme"],
    ["file:///etc/passwd", "scheme"],
    ["[fd00::7", "not written as"],
    ["[rig]:80", "not an IPv6"],
    ["169.254.169.254", "no rig can have"],
    ["[::ffff:169.254.169.254]:80", "no rig can have"],
    ["[::ffff:a9fe:a9fe]", "no rig can have"],
    ["[::169.254.169.254]", "no rig can have"],
    ["[::ffff:0:a9fe:a9fe]", "no rig can have"],
    ["[64:ff9b::169.254.169.254]", "no rig can have"],
    ["[64:ff9b::]", "no rig can have"],
    ["[64:ff9b::e000:1]", "no rig can have"],
    ["[2002:a9fe:a9fe::1]", "no rig can have"],
    ["[2002:efff:1::]", "no rig can have"],
    ["[fd00:ec2::254]", "no rig can have"],
    ["100.100.100.200", "no rig can have"],
    ["0.0.0.0", "no rig can have"],
    ["[::]:80", "no rig can have"],
    ["224.0.0.1", "no rig can have"],
    ["255.255.255.255", "no rig can have"],
    ["fe80::1", "no rig can have"],
    ["2130706433", "not a valid IP"],
    ["127.1", "not a valid IP"],
    ["0x7f.0.0.1", "not a valid IP"],
    ["192.168.1.256", "not a valid IP"],
    ["-rig", "not a valid host name"],
    ["rig..local", "not a valid host name"],
    ["a".repeat(400), "too long"],
  ])("%.40s", (text, words) => {
    expect(() => parseAddress(text)).toThrow(
      expect.objectContaining({ code: "input.invalid", message: expect.stringContaining(words) }),
    );
  });

  test("without repeating a password", () => {
    expect(() => parseAddress("admin:geheim@rig")).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("geheim") }),
    );
  });
});

test("what is written is read back", () => {
  const host = fc.oneof(
    fc.domain(),
    fc.ipV4().filter((ip) => /^(?:10|192)\./.test(ip)),
    fc.constant("fd00::7"),
  );
  const port = fc.option(fc.integer({ min: 1, max: 65_535 }));
  fc.assert(
    fc.property(host, port, fc.boolean(), (name, number, tls) => {
      const address = { host: name.toLowerCase(), port: number, tls };
      expect(parseAddress(formatAddress(address))).toEqual(address);
    }),
  );
});

test("any text gives an address or a clear error", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "1", ".", ":", "[", "]", "/", "@", "-", " ", "%") }), (text) => {
      try {
        expect(parseAddress(text).host).not.toBe("");
      } catch (error) {
        expect(error).toMatchObject({ code: "input.invalid" });
      }
    }),
    { numRuns: 1_000 },
  );
});
