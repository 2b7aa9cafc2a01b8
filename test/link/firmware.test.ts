import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { parseAddress } from "../../src/link/address.ts";
import { connect } from "../../src/link/connect.ts";
import type { Rig } from "../../src/link/driver.ts";
import { cgminer } from "../../src/link/drivers/cgminer/index.ts";
import { FirmwareBook, RigFirmware } from "../../src/link/firmware.ts";
import { identify } from "../../src/link/identify.ts";
import { unknownIdentity } from "../../src/link/identity.ts";
import { type Credentials, openLink } from "../../src/link/link.ts";
import { type RigSpec, type SimulatedRig, startFarm } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { ownHost } from "../own-host.ts";
import { deadline, values } from "./rigs.ts";
import { serve } from "./servers.ts";

const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function openFarm(rigs: readonly RigSpec[]): Promise<readonly SimulatedRig[]> {
  const host = ownHost();
  const farm = await startFarm({ rigs: rigs.map((rig) => ({ host, warm: true, restartSeconds: 0, ...rig })) });
  closers.push(() => farm.close());
  return farm.rigs;
}

/** Rigs of one fleet: they share what is known of their firmware. */
class Rigs {
  // The first is waited for however slow this machine is.
  readonly #firmware = new FirmwareBook({ firstReadMs: 3_600_000 });

  async at({ address }: Pick<SimulatedRig, "address">, credentials: Credentials = {}): Promise<Rig> {
    const known = { identity: null, controls: [], firmware: this.#firmware };
    const { rig } = await identify(parseAddress(address), credentials, deadline(), undefined, known);
    closers.push(() => rig.close());
    return rig;
  }
}

/** Requests of one read. */
async function costOf(rig: Rig, simulated: SimulatedRig | undefined): Promise<number> {
  if (simulated === undefined) throw new Error("no such rig");
  const before = simulated.requests.count;
  await rig.read(deadline());
  return simulated.requests.count - before;
}

const cgminers = (count: number, more: Partial<RigSpec & { kind: "cgminer" }> = {}): RigSpec[] =>
  Array.from({ length: count }, () => ({ kind: "cgminer", ...more }));

describe("what a firmware has", () => {
  test("is asked of its first rig only, by all that are read at once", async () => {
    const simulated = await openFarm(cgminers(20));
    const rigs = new Rigs();
    const all = await Promise.all(simulated.map((each) => rigs.at(each)));
    const costs = await Promise.all(all.map((rig, index) => costOf(rig, simulated[index])));
    const [first = 0, ...others] = costs;
    expect(first).toBeGreaterThan(10);
    // The reports, what it is and its algorithm in one request, then whether this address is privileged.
    expect(others).toEqual(others.map(() => 2));
    for (const rig of all) {
      const reading = await rig.read(deadline());
      expect(values(reading)).toEqual({ restart: null, board_0: true, board_1: true, board_2: true });
      expect(reading.poolActions).toHaveLength(6);
      expect(reading.readings.algorithm).toBe("sha256");
    }
  });

  test("is asked anew of other firmware", async () => {
    const [first, second, other] = await openFarm([...cgminers(2), { kind: "cgminer", dialect: "bfgminer" }]);
    if (first === undefined || second === undefined || other === undefined) throw new Error("three rigs");
    const rigs = new Rigs();
    await costOf(await rigs.at(first), first);
    expect(await costOf(await rigs.at(second), second)).toBe(2);
    const rig = await rigs.at(other);
    expect(await costOf(rig, other)).toBeGreaterThan(10);
    expect(values(await rig.read(deadline()))).toEqual({ restart: null });
  });

  test("is asked anew of a rig that restarts with other firmware, and of one that has refused a command", async () => {
    const asked: string[] = [];
    const one = scripted(asked);
    const clock = stoppedClock();
    const book = new FirmwareBook();
    const open = async (): Promise<Rig> => {
      const { address } = await one.serve();
      const firmware = new RigFirmware({ book, driver: "cgminer", now: clock.now });
      const rig = connect(cgminer, openLink(parseAddress(address), {}, clock.now, [], firmware));
      firmware.recognise({ ...unknownIdentity, make: "cgminer", firmware: "cgminer 4.11.1" });
      closers.push(() => rig.close());
      return rig;
    };
    const [first, second] = [await open(), await open()];
    const askedBy = async (rig: Rig): Promise<string[]> => {
      asked.length = 0;
      clock.pass(10);
      await rig.read(deadline());
      return asked.filter((each) => !each.startsWith("summary+"));
    };
    expect(await askedBy(first)).toContain("check|restart");
    expect(await askedBy(second)).toEqual(["privileged"]);
    await expect(second.set("restart", true, deadline())).rejects.toMatchObject({ code: "rig.refused" });
    expect(await askedBy(second)).toEqual(expect.arrayContaining(["check|addpool", "check|restart"]));
    expect(await askedBy(first)).toEqual([]);
    one.firmware = "4.12.0";
    one.uptime = 15;
    expect(await askedBy(first)).toEqual(expect.arrayContaining(["version", "check|addpool", "check|restart"]));
    // The first has answered for it already.
    expect(await askedBy(second)).toEqual(["version", "coin", "privileged"]);
  });
});

describe("what a rig is", () => {
  test.each<[string, RigSpec, Credentials, { settings: number; identity: number }]>([
    ["a WhatsMiner", { kind: "whatsminer" }, { password: "admin" }, { settings: 2, identity: 4 }],
    ["a VNish", { kind: "vnish" }, { password: "admin" }, { settings: 2, identity: 3 }],
    ["an AxeOS", { kind: "axeos" }, {}, { settings: 0, identity: 1 }],
  ])("is asked of %s again only after a restart, however long it runs", async (_, spec, login, expected) => {
    const [simulated] = await openFarm([spec]);
    if (simulated === undefined) throw new Error("one rig");
    const rig = await new Rigs().at(simulated, login);
    let ahead = 0;
    const real = performance.now.bind(performance);
    const clock = jest.spyOn(performance, "now").mockImplementation(() => real() + ahead);
    closers.push(() => clock.mockRestore());
    await rig.read(deadline());
    const usual = await costOf(rig, simulated);
    ahead += 3_600_000;
    expect((await costOf(rig, simulated)) - usual).toBe(expected.settings);
    simulated.model.restart(0);
    ahead += 1_000;
    await rig.read(deadline());
    expect((await costOf(rig, simulated)) - usual).toBe(expected.identity);
    expect(await costOf(rig, simulated)).toBe(usual);
  });
});

describe("what an address may do", () => {
  test("is asked of every rig: none inherits it from another with its firmware", async () => {
    const simulated = await openFarm([
      ...cgminers(1),
      ...cgminers(1, { privileged: false }),
      ...cgminers(1, { privileged: false, grants: ["switchpool", "restart"] }),
      ...cgminers(1),
    ]);
    const read = async (order: readonly number[]): Promise<unknown[]> => {
      const rigs = new Rigs();
      const seen: unknown[] = [];
      for (const index of order) {
        const rig = simulated[index];
        if (rig === undefined) throw new Error(`no rig ${index}`);
        const { poolActions, locked, ...reading } = await (await rigs.at(rig)).read(deadline());
        seen[index] = [poolActions, reading.controls.map(({ key }) => key), locked?.why ?? null];
      }
      return seen;
    };
    const everything = [
      ["add", "switch", "enable", "disable", "remove", "prioritize"],
      ["restart", "board_0", "board_1", "board_2"],
      null,
    ];
    const expected = [everything, [[], [], "read-only"], [["switch"], ["restart"], null], everything];
    expect(await read([0, 1, 2, 3])).toEqual(expected);
    expect(await read([2, 1, 3, 0])).toEqual(expected);
  });

  test("is checked command by command where the firmware calls everybody privileged", async () => {
    const asked: string[] = [];
    const script = scripted(asked);
    const rigs = new Rigs();
    await (await rigs.at(await script.serve())).read(deadline());
    script.access = "N";
    const rig = await rigs.at(await script.serve());
    // Offered by what `privileged` says, until the rig refuses.
    expect((await rig.read(deadline())).controls).toHaveLength(1);
    await expect(rig.set("restart", true, deadline())).rejects.toMatchObject({ code: "rig.refused" });
    expect((await rig.read(deadline())).controls).toEqual([]);
    asked.length = 0;
    expect((await (await rigs.at(await script.serve())).read(deadline())).controls).toEqual([]);
    expect(asked).not.toContain("privileged");
  });
});

describe("the book of firmware", () => {
  const identity = (firmware: string | null) => ({ ...unknownIdentity, make: "Maker", model: "M1", firmware });

  function rigOf(book: FirmwareBook, firmware: string | null, more: { login?: boolean; now?: () => number } = {}) {
    const rig = new RigFirmware({ book, driver: "cgminer", ...more });
    rig.recognise(identity(firmware));
    return rig;
  }

  test("shares nothing between drivers, firmware without a name, and rigs with and without a login", () => {
    const book = new FirmwareBook();
    rigOf(book, "1").keep("page", true);
    rigOf(book, null).keep("page", true);
    expect(rigOf(book, "1").has("page")).toBe(true);
    const others = [rigOf(book, "2"), rigOf(book, null), rigOf(book, "1", { login: true })];
    expect(others.map((rig) => rig.has("page"))).toEqual([undefined, undefined, undefined]);
  });

  test("keeps what a rig answered before its firmware was known", () => {
    const book = new FirmwareBook();
    const rig = rigOf(book, null);
    rig.keep("page", true);
    rig.recognise(identity("1"));
    expect(rigOf(book, "1").has("page")).toBe(true);
  });

  test("asks one rig, now and then, whether something that was missing is still missing", () => {
    const clock = stoppedClock();
    const book = new FirmwareBook();
    const rigs = [rigOf(book, "1", clock), rigOf(book, "1", clock), rigOf(book, "1", clock)];
    rigs[0]?.keep("page", false);
    const has = (): unknown[] => rigs.map((rig) => rig.has("page"));
    clock.pass(599);
    expect(has()).toEqual([false, false, false]);
    clock.pass(1);
    expect(has()).toEqual([undefined, false, false]);
    rigs[0]?.keep("page", true);
    clock.pass(100_000);
    expect(has()).toEqual([true, true, true]);
  });

  test("asks a rig that is in doubt again, and believes its answer for all", () => {
    const clock = stoppedClock();
    const book = new FirmwareBook();
    const [one, other] = [rigOf(book, "1", clock), rigOf(book, "1", clock)];
    one.keep("page", true);
    clock.pass(1);
    other.doubt();
    expect([one.has("page"), other.has("page")]).toEqual([true, undefined]);
    other.keep("page", false);
    expect([one.has("page"), other.has("page")]).toEqual([false, false]);
  });

  test("does not grow without end", () => {
    const book = new FirmwareBook();
    for (let version = 0; version < 5_000; version += 1) rigOf(book, String(version)).keep("page", true);
    expect(book.size).toBe(500);
  });
});

/** Rigs that answer as scripted, each at a port of its own. */
function scripted(asked: string[]) {
  const answers = {
    firmware: "4.11.1",
    uptime: 100,
    access: "Y",
    serve: async (): Promise<{ readonly address: string }> => {
      const server = await serve((socket, request) => {
        const { command, parameter } = JSON.parse(request);
        asked.push(parameter === undefined ? command : `${command}|${parameter}`);
        const parts = String(command).split("+");
        const answer = parts.length === 1 ? one(command) : Object.fromEntries(parts.map((part) => [part, [one(part)]]));
        socket.end(`${JSON.stringify(answer)}\0`);
      });
      closers.push(() => server.close());
      return { address: `127.0.0.1:${server.port}` };
    },
  };
  const ok = { STATUS: [{ STATUS: "S", Code: 1, Msg: "fine" }] };
  const one = (command: string): object => {
    if (command === "version") return { ...ok, VERSION: [{ CGMiner: answers.firmware }] };
    if (command === "summary") return { ...ok, SUMMARY: [{ Elapsed: answers.uptime, "MHS 5s": 1 }] };
    if (command === "check") return { ...ok, CHECK: [{ Exists: "Y", Access: answers.access }] };
    if (command === "restart")
      return { STATUS: [{ STATUS: "E", Code: 45, Msg: "Access denied to 'restart' command" }] };
    return { ...ok, [command.toUpperCase()]: [] };
  };
  return answers;
}
