import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import { LeaseFiles } from "../../src/service/discovery/lease-files.ts";
import { antminerReport, delivered, sendReport } from "../discovery/reporting.ts";
import { refusal } from "../errors.ts";
import { onTestFinished } from "../finished.ts";
import { freePort, freeUdpPort } from "../free-port.ts";
import { until } from "../until.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const macOf = (n: number): string => `02:00:00:AA:BB:0${n}`;

/** A service that listens for reports at one port, with rigs at another; `leases` has it read a file with this text. */
async function farm(rigs: readonly { readonly host: string; readonly mac: string }[]) {
  const port = await freePort();
  const reportPort = await freeUdpPort();
  const folder = mkdtempSync(join(tmpdir(), "leases-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "dnsmasq.leases");
  const clock = { now: 1_800_000_000_000 };
  const scan = { networks: [`127.76.0.0/17:${port}`] };
  const bench = await openBench({
    rigs: rigs.map((rig) => ({ kind: "axeos", port, ...rig })),
    config: { scan: { ...scan, reports: true } },
    clock: () => clock.now,
    reportPorts: [reportPort],
  });
  const list = () => bench.service.listSightings({}, caller);
  return {
    bench,
    clock,
    port,
    reportPort,
    list,
    leases: async (text: string) => {
      writeFileSync(file, text);
      // Otherwise it is read every minute.
      clock.now += 60_000;
      for (const leases of [[], [file]])
        await bench.service.saveSettings({ section: "scan", value: { ...scan, leases } }, caller);
    },
    sighted: (host: string, again = async () => {}) =>
      until(async () => {
        await again();
        return (await list()).some(({ address }) => address === `${host}:${port}`);
      }, `${host} to be sighted`),
    report: (host: string) => sendReport(antminerReport(host), host, reportPort),
  };
}

const rackOf = async ({ service }: Bench) =>
  (await service.addPlace({ kind: "rack", name: "R1", parentId: null, order: 0, rows: 2, columns: 2 }, caller)).id;

test("a rig whose button is pressed is offered, and put into its place and position; so is one that is a miner already", async () => {
  const [first, second] = ["127.76.1.1", "127.76.1.2"];
  const { bench, port, list, sighted, report } = await farm([
    { host: first, mac: macOf(1) },
    { host: second, mac: macOf(2) },
  ]);
  const rack = await rackOf(bench);
  await sighted(first, () => report(first));
  const [sighting] = await list();
  expect(sighting).toMatchObject({ source: "report", driver: "axeos", miner: null, movedFrom: null });
  const at = { placeId: rack, position: { row: 1, column: 2 } };
  const { id } = await bench.service.placeSighting({ id: sighting?.id ?? 0, ...at }, caller);
  expect(await bench.get(id)).toMatchObject(at);
  expect(await list()).toEqual([]);
  await bench.add(`${second}:${port}`, { name: "Second" });
  await sighted(second, () => report(second));
  const [known] = await list();
  expect(known).toMatchObject({ name: "Second", movedFrom: null });
  // A position that is taken leaves the sighting.
  expect(await refusal(bench.service.placeSighting({ id: known?.id ?? 0, ...at }, caller))).toBe(
    "input.invalid position",
  );
  expect(await refusal(bench.service.placeSighting({ id: 99 }, caller))).toBe("not.found");
  await bench.service.placeSighting({ id: known?.id ?? 0, placeId: rack, position: { row: 2, column: 2 } }, caller);
  expect(bench.store.miners.all().map(({ position }) => position)).toEqual([at.position, { row: 2, column: 2 }]);
});

test("a known rig at the address of another lease is offered, and moves only when somebody says so; sightings end after a day", async () => {
  const [old, next, unknown] = ["127.76.2.1", "127.76.2.2", "127.76.2.3"];
  const { bench, port, list, leases, sighted, clock } = await farm([
    { host: old, mac: macOf(1) },
    { host: next, mac: macOf(1) },
    { host: unknown, mac: macOf(3) },
  ]);
  const id = await bench.add(`${old}:${port}`, { name: "Moving" });
  const addressNow = async () => (await bench.service.getMinerSettings({ id }, caller)).address;
  const lease = (n: number, host: string): string => `0 ${macOf(n).toLowerCase()} ${host} * *\n`;
  const requests = bench.rig(0).requests.count;
  await leases(`${lease(1, old)}${lease(3, unknown)}${lease(4, "127.76.200.1")}`);
  await sighted(unknown);
  // The lease of a rig at its own address is not even asked.
  expect([(await list()).length, bench.rig(0).requests.count]).toEqual([1, requests]);
  await leases(lease(1, next));
  await sighted(next);
  const [first, moved] = await list();
  expect(first).toMatchObject({ address: `${unknown}:${port}`, miner: null });
  expect(moved).toMatchObject({ source: "lease", miner: id, name: "Moving", movedFrom: `${old}:${port}` });
  expect(await addressNow()).toBe(`${old}:${port}`);
  await bench.service.placeSighting({ id: moved?.id ?? 0 }, caller);
  expect(await addressNow()).toBe(`${next}:${port}`);
  expect((await list()).map(({ address }) => address)).toEqual([`${unknown}:${port}`]);
  clock.now += 86_400_001;
  expect(await list()).toEqual([]);
});

test("what is no file of leases, or has no end, is not read, and the log says so once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "leases-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [pipe, missing, leases] = ["pipe", "missing", "leases"].map((name) => join(folder, name));
  execFileSync("mkfifo", [pipe ?? ""]);
  writeFileSync(leases ?? "", "0 02:00:00:aa:bb:01 10.1.0.1 * *\n");
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const files = new LeaseFiles(Date.now, log);
  const wanted = [pipe, missing, "/dev/zero", leases, "/proc/net/arp"].map(String);
  for (const _ of [1, 2]) expect((await files.read(wanted)).map(({ source }) => source)).toEqual(["lease", "arp"]);
  expect(lines).toEqual(wanted.slice(0, 3).map((file) => `The addresses in ${file} cannot be read`));
});

test("in a flood of reports the service answers, a rig is asked no more often, and nothing else is sighted", async () => {
  const host = "127.76.3.1";
  const { bench, list, sighted, report, reportPort } = await farm([{ host, mac: macOf(1) }]);
  await sighted(host, () => report(host));
  await bench.idle();
  const requests = bench.rig(0).requests.count;
  const sockets = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const from = n === 0 ? host : `127.76.4.${n}`;
      const socket = createSocket("udp4").bind(0, from);
      await once(socket, "listening");
      return { socket, datagram: antminerReport(from) };
    }),
  );
  for (let sent = 0; sent < 20_000; sent += 20) {
    for (const { socket, datagram } of sockets) socket.send(datagram, reportPort, "127.0.0.1");
    if (sent % 1_000 === 0) expect(await list()).toHaveLength(1);
  }
  await delivered();
  for (const { socket } of sockets) socket.close();
  expect([(await list()).length, bench.rig(0).requests.count]).toEqual([1, requests]);
});
