import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { neighboursIn } from "../../src/discovery/leases.ts";

/** 2026-11-30 07:00 UTC. */
const now = Date.UTC(2026, 10, 30, 7);
const later = now / 1000 + 600;
const over = now / 1000 - 600;

const read = async (text: string) => {
  const { source, macs } = await neighboursIn(text, now);
  return [source, Object.fromEntries(macs)];
};

test("leases of dnsmasq: those that are valid, of Ethernet and IPv4", async () => {
  const lines = [
    `${later} 02:00:00:aa:bb:01 10.1.0.1 antminer 01:02:00:00:aa:bb:01`,
    `0 02:00:00:aa:bb:02 10.1.0.2 * *`,
    `${over} 02:00:00:aa:bb:03 10.1.0.3 * *`,
    // The remaining seconds, of a build for machines without a clock.
    `3600 02:00:00:aa:bb:04 10.1.0.4 * *`,
    `${later} 06-02:00:00:aa:bb:05 10.1.0.5 * *`,
    `duid 00:01:00:01:2c:6f:5a:61:02:00:00:aa:bb:ff`,
    `${later} 1234567 fd00::1 * 00:01:00:01:2c`,
    "",
  ];
  const expected = {
    "10.1.0.1": "02:00:00:AA:BB:01",
    "10.1.0.2": "02:00:00:AA:BB:02",
    "10.1.0.4": "02:00:00:AA:BB:04",
  };
  expect(await read(lines.join("\n"))).toEqual(["lease", expected]);
});

test("leases of ISC dhcpd: the last declaration of an address counts", async () => {
  const lease = (address: string, ...statements: string[]): string =>
    [`lease ${address} {`, ...statements.map((each) => `  ${each};`), "}"].join("\n");
  const mac = (last: number): string => `hardware ethernet 02:00:00:aa:bb:0${last}`;
  const text = [
    "# The format of this file is documented in the dhcpd.leases(5) manual page.",
    "authoring-byte-order little-endian;",
    lease("10.1.0.1", "starts 1 2026/11/30 06:00:00", "ends 1 2026/11/30 08:00:00", "binding state active", mac(1)),
    lease("10.1.0.2", "ends 1 2026/11/30 06:30:00", "binding state active", mac(2)),
    lease("10.1.0.3", "ends never", "next binding state free", mac(3), 'uid "\\001\\002}"', 'client-hostname "a"'),
    lease("10.1.0.4", "ends never", "binding state active", mac(4)),
    lease("10.1.0.4", "binding state free", mac(4)),
    lease("10.1.0.5", `ends epoch ${later}`, mac(5)),
    lease("10.1.0.6", "abandoned", mac(6)),
    lease("10.1.0.7", "ends never", "hardware token-ring 02:00:00:aa:bb:07"),
    'failover peer "dhcp" state {\n  my state normal;\n}',
  ].join("\n");
  const expected = {
    "10.1.0.1": "02:00:00:AA:BB:01",
    "10.1.0.3": "02:00:00:AA:BB:03",
    "10.1.0.5": "02:00:00:AA:BB:05",
  };
  expect(await read(text)).toEqual(["lease", expected]);
});

test("leases of Kea: assigned ones by the columns that the first line names", async () => {
  const text = [
    "address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context,pool_id",
    `10.1.0.1,02:00:00:aa:bb:01,01:02,3600,${later},1,0,0,antminer,0,,0`,
    `10.1.0.2,02:00:00:aa:bb:02,,3600,${over},1,0,0,,0,,0`,
    `10.1.0.3,02:00:00:aa:bb:03,,4294967295,${over},1,0,0,a&#x2cb,0,,0`,
    `10.1.0.4,02:00:00:aa:bb:04,,3600,${later},1,0,0,,0,,0`,
    `10.1.0.4,02:00:00:aa:bb:04,,0,${later},1,0,0,,0,,0`,
    `10.1.0.5,02:00:00:aa:bb:05,,3600,${later},1,0,0,,1,,0`,
    `10.1.0.6,,01:02,3600,${later},1,0,0,,0,,0`,
  ].join("\n");
  const expected = { "10.1.0.1": "02:00:00:AA:BB:01", "10.1.0.3": "02:00:00:AA:BB:03" };
  expect(await read(text)).toEqual(["lease", expected]);
});

test("complete entries of the ARP table", async () => {
  const text = [
    "IP address       HW type     Flags       HW address            Mask     Device",
    "10.1.0.1         0x1         0x2         02:00:00:aa:bb:01     *        eth0",
    "10.1.0.2         0x1         0x0         00:00:00:00:00:00     *        eth0",
    "10.1.0.3         0x1         0x6         02:00:00:aa:bb:03     *        eth0.2",
    "10.1.0.4         0x20        0x2         02:00:00:aa:bb:04     *        ib0",
    "",
  ].join("\n");
  expect(await read(text)).toEqual(["arp", { "10.1.0.1": "02:00:00:AA:BB:01", "10.1.0.3": "02:00:00:AA:BB:03" }]);
});

test("any other text has no addresses that are none, and is read in time", async () => {
  const heads = ["", "address,hwaddr,expire,state\n", "IP address       HW type\n", "lease 10.1.0.1 {\n"];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...heads),
      fc.string({ maxLength: 300, unit: "binary-ascii" }),
      async (head, rest) => {
        for (const [address, mac] of (await neighboursIn(head + rest, now)).macs) {
          expect(address).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
          expect(mac).toMatch(/^([0-9A-F]{2}:){5}[0-9A-F]{2}$/);
        }
      },
    ),
  );
  const many = Array.from(
    { length: 60_000 },
    (_, n) => `0 02:00:00:aa:bb:cc 10.${n >> 16}.${(n >> 8) & 255}.${n & 255} * *`,
  );
  expect((await neighboursIn(many.join("\n"), now)).macs.size).toBe(50_000);
});
