import { createSocket } from "node:dgram";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { Config } from "../../src/config/schema.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";
import type { Caller, Reply } from "../../src/contract/service.ts";
import type { FleetRig } from "../../src/fleet/fleet-rig.ts";
import type { Interfaces } from "../../src/link/networks.ts";
import { textOf } from "../../src/messages/service-texts.ts";
import { Discoveries } from "../../src/service/discovery/discovery.ts";
import type { Notice } from "../../src/service/notifications/notices.ts";
import { AccessBook } from "../../src/service/users/access.ts";
import { type AxeosSpec, type Farm, type RigSpec, startFarm } from "../../src/simulator/index.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../any-store.ts";
import { antminerReport, delivered, sendReport } from "../discovery/reporting.ts";
import { problem, refusal } from "../errors.ts";
import { freePort, freeUdpPort } from "../free-port.ts";
import { workers } from "../pollers.ts";
import { until } from "../until.ts";
import { caller, closeBenches, openBench } from "./bench.ts";

let store: Store;
const closing: (() => Promise<void>)[] = [];
beforeEach(async () => {
  store = await openStore({ file: ":memory:", now: Date.now });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await closeBenches();
  await store.close();
});

async function farmOf(...rigs: RigSpec[]): Promise<Farm> {
  const farm = await startFarm({ rigs });
  closing.push(() => farm.close());
  return farm;
}

interface Setting {
  readonly scan?: Record<string, unknown>;
  readonly interfaces?: Interfaces;
  readonly rigs?: FleetRig[];
  readonly add?: (miner: { readonly address: string; readonly login?: string }) => Promise<unknown>;
  readonly logins?: readonly object[];
  readonly reportPort?: number;
}

/** Searches with nothing around them; time passes when the test says so. */
function discoveriesOf(setting: Setting = {}) {
  const { scan, logins = [], interfaces = {}, rigs = [], add = async () => {}, reportPort } = setting;
  const clock = { now: 1_800_000_000_000 };
  const told: Notice[] = [];
  const over: string[] = [];
  const pauses: { ms: number; pass: () => void }[] = [];
  const settings = Config.parse({ scan, logins });
  const discoveries = new Discoveries({
    settings,
    accessBook: new AccessBook(store),
    rigs: () => rigs,
    add,
    nameOf: () => null,
    miners: { addMiner: unused, changeMiner: unused },
    notices: { raise: (notice) => told.push(notice), close: (key) => over.push(key) },
    interfaces: () => interfaces,
    now: () => clock.now,
    log: pino({ level: "silent" }),
    ...(reportPort === undefined ? {} : { reportPorts: [reportPort] }),
    pause: (ms, signal) =>
      new Promise<void>((pass, reject) => {
        pauses.push({ ms, pass });
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  });
  closing.push(() => discoveries.close());
  return { discoveries, settings, clock, told, over, pauses };
}

const unused = (): Promise<never> => Promise.reject(new Error("not used here"));

const own = (cidr: string): Interfaces => ({
  eth0: [{ address: cidr.split("/")[0] ?? "", family: "IPv4", internal: false, cidr }],
});

async function ended(discoveries: Discoveries, id: number): Promise<Reply<"getDiscovery">> {
  await until(async () => (await discoveries.getDiscovery({ id }, caller)).state !== "running", "the search to end");
  return discoveries.getDiscovery({ id }, caller);
}

const search = async (discoveries: Discoveries, ...networks: string[]): Promise<Reply<"getDiscovery">> => {
  const { id } = await discoveries.startDiscovery({ networks, yes: false }, caller);
  return ended(discoveries, id);
};

/** For rigs at their usual port. These tests run once more with worker threads, perhaps at the same time. */
const net = workers === 0 ? "127.71" : "127.97";

/** At a port of its own, so that no other test's rigs are in the way. */
const at = (host: string, more: Omit<AxeosSpec, "kind" | "host"> = {}): RigSpec => ({ kind: "axeos", host, ...more });

describe("a requested search", () => {
  test("searches the networks that it names, and reports rigs and progress", async () => {
    const farm = await farmOf(at("127.71.0.5"));
    const { discoveries } = discoveriesOf();
    const { id } = await discoveries.startDiscovery(
      { networks: [`127.71.0.0/28:${farm.rigs[0]?.port}`], yes: false },
      caller,
    );
    expect(await discoveries.getDiscovery({ id }, caller)).toMatchObject({ state: "running", total: 14, found: [] });
    expect(await ended(discoveries, id)).toMatchObject({
      state: "done",
      scanned: 14,
      total: 14,
      found: [
        { address: farm.rigs[0]?.address, driver: "axeos", identity: { make: "Bitaxe" }, known: false, note: null },
      ],
    });
  });

  test("without networks searches those of the configuration, without these the machine's own", async () => {
    const { discoveries } = discoveriesOf({ scan: { networks: ["127.71.1.0/29"] }, interfaces: own("127.71.2.1/30") });
    const { id } = await discoveries.startDiscovery({ yes: false }, caller);
    expect((await discoveries.getDiscovery({ id }, caller)).total).toBe(6);
    await ended(discoveries, id);
  });

  test("in the machine's own networks", async () => {
    await farmOf({ kind: "cgminer", host: `${net}.2.2`, port: 4028 });
    const { discoveries } = discoveriesOf({ interfaces: own(`${net}.2.1/30`) });
    const { id } = await discoveries.startDiscovery({ yes: false }, caller);
    expect((await discoveries.getDiscovery({ id }, caller)).total).toBe(2);
    await until(async () => (await discoveries.getDiscovery({ id }, caller)).found.length === 1, "the rig to be found");
    expect(await discoveries.cancelDiscovery({ id }, caller)).toMatchObject({ success: true });
  });

  test.each<[string, readonly string[] | undefined, string]>([
    ["no network", [], "input.invalid networks"],
    ["a network that is none", ["rig.local"], "input.invalid networks"],
    ["a network that is too large", ["10.0.0.0/15"], "input.invalid networks"],
    ["a network that is not private", ["8.8.8.0/30"], "input.invalid networks"],
    ["no network on a machine without one", undefined, "not.possible"],
  ])("for %s is refused", async (_, networks, code) => {
    const { discoveries } = discoveriesOf();
    const input = networks === undefined ? { yes: false } : { networks: [...networks], yes: false };
    expect(await refusal(discoveries.startDiscovery(input, caller))).toBe(code);
  });

  test("is cancelled, and keeps what it has found", async () => {
    await farmOf({ kind: "cgminer", host: `${net}.3.1`, port: 4028 });
    const { discoveries } = discoveriesOf();
    const { id } = await discoveries.startDiscovery({ networks: [`${net}.0.0/17`, `${net}.3.1`], yes: false }, caller);
    await until(async () => (await discoveries.getDiscovery({ id }, caller)).found.length === 1, "the rig to be found");
    expect((await discoveries.cancelDiscovery({ id }, caller)).message).toBe("Search 1 cancelled");
    const { state, scanned, total, found } = await discoveries.getDiscovery({ id }, caller);
    expect({ state, all: scanned === total, found: found.length }).toEqual({
      state: "cancelled",
      all: false,
      found: 1,
    });
    expect((await discoveries.cancelDiscovery({ id }, caller)).message).toBe("Search 1 has ended already");
  });

  test("waits for none: a second one beside it is refused with the first one's id", async () => {
    const { discoveries } = discoveriesOf();
    const { id } = await discoveries.startDiscovery({ networks: ["127.72.0.0/17"], yes: false }, caller);
    const second = await problem(discoveries.startDiscovery({ networks: ["127.0.0.1"], yes: false }, caller));
    expect(second).toMatchObject({
      code: "not.possible",
      message: expect.stringContaining(`Search ${id} is running`),
    });
    await discoveries.cancelDiscovery({ id }, caller);
    expect(await search(discoveries, "127.72.0.0/30")).toMatchObject({ state: "done" });
  });

  test("is forgotten an hour after its end, or when twenty others have ended since", async () => {
    const { discoveries, clock } = discoveriesOf();
    for (let round = 1; round <= 21; round += 1) await search(discoveries, "127.72.0.1");
    expect(await refusal(discoveries.getDiscovery({ id: 1 }, caller))).toBe("not.found");
    expect(await refusal(discoveries.getDiscovery({ id: 2 }, caller))).toBe("done");
    clock.now += 3_600_001;
    expect(await refusal(discoveries.getDiscovery({ id: 21 }, caller))).toBe("not.found");
    expect(await refusal(discoveries.cancelDiscovery({ id: 21 }, caller))).toBe("not.found");
  });

  test("needs access to everything", async () => {
    const row = { keyHash: null, privilege: "administrator" as const, pools: null };
    const some = await store.users.add({ name: "some", groups: [], ...row });
    const all = await store.users.add({ name: "all", groups: null, ...row });
    const { discoveries } = discoveriesOf();
    const access = ({ id }: { id: number }): Caller => ({ actor: "test", userId: id });
    const input = { networks: ["127.72.0.1"], yes: false };
    expect(await refusal(discoveries.startDiscovery(input, access(some)))).toBe("user.forbidden");
    const { id } = await discoveries.startDiscovery(input, access(all));
    expect(await refusal(discoveries.getDiscovery({ id }, access(some)))).toBe("user.forbidden");
    expect(await refusal(discoveries.cancelDiscovery({ id }, access(some)))).toBe("user.forbidden");
    await ended(discoveries, id);
  });

  test("ends with the service", async () => {
    const { discoveries } = discoveriesOf();
    const { id } = await discoveries.startDiscovery({ networks: ["127.72.0.0/17"], yes: false }, caller);
    await discoveries.close();
    expect((await discoveries.getDiscovery({ id }, caller)).state).toBe("cancelled");
    expect(await refusal(discoveries.startDiscovery({ networks: ["127.0.0.1"], yes: false }, caller))).toBe(
      "service.not-ready",
    );
  });
});

describe("what is known", () => {
  test("is a rig at a miner's address, or with its MAC at another", async () => {
    const mac = "02:51:00:00:00:0D";
    const bench = await openBench({ rigs: [at("127.73.0.1", { mac }), at("127.73.0.2", { mac }), at("127.73.0.3")] });
    const [first, moved, stranger] = bench.farm.rigs.map(({ host, port }) => `${host}:${port}`);
    await bench.add(first ?? "");
    const { id } = await bench.service.startDiscovery(
      { networks: [first, moved, stranger].map(String), yes: false },
      caller,
    );
    await bench.idle();
    const known = (await bench.service.getDiscovery({ id }, caller)).found.map((each) => [each.address, each.known]);
    expect(new Map(known.map(([address, is]) => [String(address), is]))).toEqual(
      new Map([
        [first, true],
        [moved, true],
        [stranger, false],
      ]),
    );
    await bench.service.addMiner({ address: String(stranger) }, caller);
    expect((await bench.service.getDiscovery({ id }, caller)).found.every((each) => each.known)).toBe(true);
  });

  test("is a rig whose miner was typed with its usual port, though it never answered", async () => {
    const bench = await openBench();
    const host = `${net}.4.9`;
    await bench.service.addMiner({ address: `${host}:4028` }, caller);
    await farmOf({ kind: "cgminer", host, port: 4028 });
    const { id } = await bench.service.startDiscovery({ networks: [host], yes: false }, caller);
    await bench.idle();
    expect(await bench.service.getDiscovery({ id }, caller)).toMatchObject({
      found: [{ address: host, known: true }],
    });
  });
});

const titles = (told: readonly Notice[]): string[] =>
  told.map(({ title, message }) => `${textOf(title ?? "", "en")}: ${textOf(message, "en")}`);

describe("a search every so often", () => {
  test("reports each new rig once, and no known one", async () => {
    const farm = await farmOf(at("127.74.0.1"), at("127.74.0.2"));
    const [one, other] = farm.rigs.map(({ address }) => address);
    const networks = farm.rigs.map(({ address }) => address);
    const { discoveries, told, pauses } = discoveriesOf({ scan: { networks, every: 600 } });
    discoveries.start();
    await until(() => pauses.length === 1, "the first search to end");
    expect(pauses[0]?.ms).toBe(600_000);
    expect(titles(told).sort()).toEqual(
      [one, other].map((address) => `New rig: Bitaxe Gamma 601 was found at ${address}; POST /api/miners adds it`),
    );
    pauses[0]?.pass();
    await until(() => pauses.length === 2, "the second search to end");
    expect(told).toHaveLength(2);
    expect((await discoveries.getDiscovery({ id: 2 }, caller)).found).toHaveLength(2);
  });

  test("with add: auto adds them, but not those that want credentials", async () => {
    const added: string[] = [];
    const farm = await farmOf(at("127.74.1.1"), { kind: "xmrig", host: "127.74.1.2", token: "geheim" });
    const [bitaxe, closed] = farm.rigs.map(({ address }) => address);
    const { discoveries, told, pauses } = discoveriesOf({
      scan: { networks: farm.rigs.map(({ address }) => address), every: 60, add: "auto" },
      add: async ({ address }) => added.push(address),
    });
    discoveries.start();
    await until(() => pauses.length === 1, "the search to end");
    expect(added).toEqual([bitaxe]);
    expect(titles(told).sort()).toEqual([
      `Miner added: Bitaxe Gamma 601 was found at ${bitaxe} and added`,
      `New rig: XMRig was found at ${closed}, but requires its access token, and none is configured`,
    ]);
  });

  test("with add: auto tries the logins for its kind of rig, three at most, and adds it with the one that it accepts", async () => {
    const added: object[] = [];
    const farm = await farmOf(
      { kind: "xmrig", host: "127.74.5.1", token: "third" },
      { kind: "xmrig", host: "127.74.5.2", token: "fourth" },
    );
    const [one, other] = farm.rigs.map(({ address }) => address);
    const names = ["first", "second", "ant", "third", "fourth"];
    const { discoveries, told, pauses } = discoveriesOf({
      scan: { networks: farm.rigs.map(({ address }) => address), every: 60, add: "auto", logins: names },
      logins: names.map((name) =>
        name === "ant" ? { name, driver: "antminer", password: "x" } : { name, driver: "xmrig", token: name },
      ),
      add: async (miner) => added.push(miner),
    });
    discoveries.start();
    await until(() => pauses.length === 1, "the search to end");
    expect(added).toEqual([{ address: one, login: "third" }]);
    expect(titles(told).sort()).toEqual([
      `Miner added: XMRig was found at ${one} and added`,
      `New rig: XMRig was found at ${other}, but requires its access token, and none is configured`,
    ]);
  });

  test("tries again what could not be added, and adds the others meanwhile", async () => {
    const farm = await farmOf(at("127.74.4.1"), at("127.74.4.2"));
    const [one, other] = farm.rigs.map(({ address }) => address);
    const tried: string[] = [];
    const { discoveries, told, pauses } = discoveriesOf({
      scan: { networks: farm.rigs.map(({ address }) => address), every: 60, add: "auto" },
      add: async ({ address }) => {
        tried.push(address);
        if (address === one && pauses.length === 0) throw new RigbridgeError("store.full", "The disk is full");
      },
    });
    discoveries.start();
    await until(() => pauses.length === 1, "the first search to end");
    expect(titles(told)).toEqual([expect.stringContaining(String(other))]);
    pauses[0]?.pass();
    await until(() => pauses.length === 2, "the second search to end");
    expect(tried.toSorted()).toEqual([one, one, other]);
    expect(told).toHaveLength(2);
  });

  test("adds to the service what can then be changed over the API", async () => {
    const farm = await farmOf(at("127.74.2.1", { name: "shelf" }));
    const address = farm.rigs[0]?.address ?? "";
    const bench = await openBench({ config: { scan: { networks: [address], every: 3600, add: "auto" } } });
    const miners = async () => (await bench.service.listMiners({}, caller)).groupList.flatMap((each) => each.minerList);
    await until(async () => (await miners()).length === 1, "the found rig to be added");
    const [miner] = await miners();
    await bench.poll(miner?.id ?? 0);
    expect(await bench.get(miner?.id ?? 0)).toMatchObject({ name: "shelf", hostDescription: address });
    await expect(bench.service.deleteMiner({ id: miner?.id ?? 0 }, caller)).resolves.toMatchObject({ success: true });
    await until(
      async () => (await bench.notifications()).some((text) => text.startsWith("Miner added: ")),
      "the notification of the added miner to come",
    );
  });

  test("that cannot be made is made the next time", async () => {
    const { discoveries, pauses } = discoveriesOf({ scan: { every: 60 } });
    discoveries.start();
    await until(() => pauses.length === 1, "the first search to fail");
    pauses[0]?.pass();
    await until(() => pauses.length === 2, "the second search to fail");
  });

  test("comes after a requested one", async () => {
    const { discoveries, pauses } = discoveriesOf({ scan: { networks: ["127.74.3.1"], every: 60 } });
    await discoveries.startDiscovery({ networks: ["127.74.3.0/29"], yes: false }, caller);
    discoveries.start();
    await until(() => pauses.length === 1, "the scheduled search to end");
    expect(await discoveries.getDiscovery({ id: 1 }, caller)).toMatchObject({ state: "done", total: 6 });
    expect(await discoveries.getDiscovery({ id: 2 }, caller)).toMatchObject({ state: "done", total: 1 });
  });

  test.each([[undefined], [{ networks: ["127.74.3.1"] }]])("runs only with `every`: %j", async (scan) => {
    const { discoveries, pauses } = discoveriesOf(scan === undefined ? {} : { scan });
    discoveries.start();
    await discoveries.close();
    expect(await refusal(discoveries.getDiscovery({ id: 1 }, caller))).toBe("not.found");
    expect(pauses).toEqual([]);
  });
});

describe("a rig that reports itself", () => {
  /** Rigs at these addresses of 127.74.x, all at the same port, and the settings by which they are found there. */
  async function reporters(hosts: readonly string[], more: Record<string, unknown> = {}) {
    const port = await freePort();
    const { rigs } = await farmOf(...hosts.map((host) => at(host, { port })));
    const added: string[] = [];
    const reportPort = await freeUdpPort();
    const scan = { networks: [`127.74.0.0/17:${port}`], add: "auto", reports: true, ...more };
    const setting = { scan, reportPort, add: async ({ address }: { address: string }) => added.push(address) };
    const report = (host: string, from = host): Promise<void> => sendReport(antminerReport(host), from, reportPort);
    /** A report that comes before the port is open is lost. */
    const firstReport = (host: string): Promise<void> =>
      until(async () => {
        await report(host);
        return added.some((address) => address.startsWith(`${host}:`));
      }, "the first rig to be found");
    return { rigs, setting, added, report, firstReport };
  }

  test("is asked, and added or reported as one that a search has found", async () => {
    const { rigs, setting, added, firstReport } = await reporters(["127.74.10.1"]);
    const { discoveries, told } = discoveriesOf(setting);
    discoveries.start();
    await firstReport("127.74.10.1");
    expect(added).toEqual(rigs.map(({ address }) => address));
    expect(titles(told)).toEqual([`Miner added: Bitaxe Gamma 601 was found at ${rigs[0]?.address} and added`]);
  });

  test("is asked again ten seconds later at the earliest", async () => {
    const { rigs, setting, added, report, firstReport } = await reporters(["127.74.11.1", "127.74.11.2"]);
    const { discoveries, clock, pauses } = discoveriesOf(setting);
    discoveries.start();
    await firstReport("127.74.11.1");
    const requests = (): number => rigs[0]?.requests.count ?? 0;
    const before = requests();
    clock.now += 9_000;
    await report("127.74.11.1");
    // Reports are received in order.
    await report("127.74.11.2");
    await until(() => {
      for (const pause of pauses) pause.pass();
      return added.length === 2;
    }, "the second rig to be found");
    expect(requests()).toBe(before);
    clock.now += 1_000;
    await until(async () => {
      await report("127.74.11.1");
      for (const pause of pauses) pause.pass();
      return requests() > before;
    }, "the first rig to be asked again");
  });

  test("has its turn when many report themselves: twenty a second are asked", async () => {
    const hosts = Array.from({ length: 45 }, (_, index) => `127.74.12.${index + 1}`);
    const { setting, added, report, firstReport } = await reporters(hosts);
    const { discoveries, pauses } = discoveriesOf(setting);
    const seconds = () => pauses.filter(({ ms }) => ms === 1_000);
    discoveries.start();
    await firstReport(hosts[0] ?? "");
    for (const host of hosts.slice(1)) await report(host);
    await delivered();
    for (const [second, count] of [1, 21, 41, 45].entries()) {
      await until(() => added.length === count && seconds().length === second + 1, `${count} rigs to be found`);
      seconds()[second]?.pass();
    }
  });

  test("is ignored beyond the configured networks, and where another one reports it", async () => {
    const inside = ["127.74.13.1", "127.74.13.2", "127.74.13.3"];
    const { rigs, setting, added, report, firstReport } = await reporters([...inside, "127.74.200.1"]);
    const { discoveries, pauses } = discoveriesOf(setting);
    discoveries.start();
    await firstReport("127.74.13.1");
    await report("127.74.200.1");
    await report("127.74.13.2", "127.74.200.1");
    await report("127.74.13.3");
    await until(() => {
      for (const pause of pauses) pause.pass();
      return added.length === 2;
    }, "the last rig to be found");
    expect(rigs.map(({ requests }) => requests.count > 0)).toEqual([true, false, true, false]);
  });

  test("is ignored outside of the machine's own networks where none are configured", async () => {
    const [inside, outside] = [`${net}.20.2`, `${net}.21.2`];
    const { rigs } = await farmOf(
      { kind: "cgminer", host: inside, port: 4028 },
      { kind: "cgminer", host: outside, port: 4028 },
    );
    const reportPort = await freeUdpPort();
    const { discoveries, told } = discoveriesOf({
      scan: { reports: true },
      interfaces: own(`${net}.20.1/24`),
      reportPort,
    });
    discoveries.start();
    await until(async () => {
      // In this order, so that the first has been received once the second is asked.
      for (const host of [outside, inside]) await sendReport(antminerReport(host), host, reportPort);
      return told.length > 0;
    }, "the rig inside to be found");
    await discoveries.close();
    expect(titles(told)).toEqual([expect.stringContaining(`was found at ${inside};`)]);
    expect(rigs.map(({ requests }) => requests.count > 0)).toEqual([true, false]);
  });

  test("is asked once the program that had the port has ended, and on networks that the machine has joined by then", async () => {
    const host = `${net}.22.2`;
    await farmOf({ kind: "cgminer", host, port: 4028 });
    const reportPort = await freeUdpPort();
    const taken = createSocket("udp4").bind(reportPort, "0.0.0.0");
    await once(taken, "listening");
    closing.push(() => taken[Symbol.asyncDispose]());
    const interfaces: Record<string, Interfaces[string]> = {};
    const { discoveries, told, pauses } = discoveriesOf({ scan: { reports: true }, interfaces, reportPort });
    discoveries.start();
    for (const minute of [1, 2]) {
      await until(() => pauses.length === minute, "the port to be tried and refused");
      expect(pauses[minute - 1]?.ms).toBe(60_000);
      if (minute === 1) pauses[0]?.pass();
    }
    await taken[Symbol.asyncDispose]();
    Object.assign(interfaces, own(`${net}.22.1/24`));
    pauses[1]?.pass();
    await until(async () => {
      await sendReport(antminerReport(host), host, reportPort);
      return told.length === 1;
    }, "the rig to be found");
  });

  test("is not asked unless reports are listened for, which a changed setting starts and ends", async () => {
    const { rigs, setting, added, report, firstReport } = await reporters(["127.74.14.1", "127.74.14.2"], {
      reports: false,
    });
    const { discoveries, settings } = discoveriesOf(setting);
    const listen = (reports: boolean): void => {
      if (settings.scan !== undefined) settings.scan.reports = reports;
      discoveries.renew();
    };
    discoveries.start();
    await report("127.74.14.1");
    listen(true);
    await firstReport("127.74.14.2");
    expect(rigs[0]?.requests.count).toBe(0);
    listen(false);
    await discoveries.close();
    await report("127.74.14.1");
    expect(added).toHaveLength(1);
  });
});
