import { afterEach, describe, expect, test } from "@jest/globals";
import { parseAddress } from "../../../src/link/address.ts";
import type { Reading, Rig } from "../../../src/link/driver.ts";
import { antminer } from "../../../src/link/drivers/antminer/index.ts";
import { vnish } from "../../../src/link/drivers/vnish/index.ts";
import { whatsminer } from "../../../src/link/drivers/whatsminer/index.ts";
import { type Identified, identify } from "../../../src/link/identify.ts";
import type { RigSpec } from "../../../src/simulator/index.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline, rigAt } from "../rigs.ts";
import { serve } from "../servers.ts";

/** What firmware in the field answers over RPC where the simulator's answers otherwise. */

let rig: Rig | undefined;
afterEach(async () => {
  rig?.close();
});

type Answers = Record<string, object>;

const ok = { STATUS: [{ STATUS: "S", Code: 1, Msg: "fine" }] };
const unknown = { STATUS: [{ STATUS: "E", Code: 14, Msg: "Invalid command" }] };
const denied = { STATUS: [{ STATUS: "E", Code: 45, Msg: "Access denied" }] };

/** A device that answers RPC with what is written for it, knows nothing else, and has no web. Resolves with its address. */
async function answering(answers: Answers, asked: string[] = []): Promise<string> {
  const server = await serve((socket, request) => {
    if (!request.startsWith("{")) return socket.end();
    const said: { command?: string; cmd?: string } = JSON.parse(request);
    const command = said.command ?? said.cmd ?? "";
    asked.push(command);
    return socket.end(`${JSON.stringify(answers[command] ?? unknown)}\0`);
  });
  return `127.0.0.1:${server.port}`;
}

/** Recognised as the service does. */
async function found(address: string): Promise<Identified> {
  const identified = await identify(parseAddress(address), {}, deadline());
  rig = identified.rig;
  return identified;
}

const readAt = async (address: string): Promise<Reading> => (await found(address)).rig.read(deadline());

async function simulated(spec: RigSpec): Promise<string> {
  const simulated = await startRig(spec, () => 1.8e12);
  return simulated.address;
}

const version = (fields: object): object => ({ ...ok, VERSION: [fields] });
const summary = { ...ok, SUMMARY: [{ Elapsed: 4000, "GHS 5s": 100_000, "GHS av": 99_000, "Hardware Errors": 12 }] };
const chains = (more: object = {}, type = "Antminer S21"): object => ({
  ...ok,
  STATS: [
    { Type: type },
    {
      chain_acn1: 108,
      chain_rate1: "50000",
      chain_hw1: 3,
      chain_acn2: 108,
      chain_rate2: "50000",
      chain_hw2: 4,
      ...more,
    },
  ],
});
const bitmain = { BMMiner: "1.0.0", API: "3.1", Miner: "uart_trans.1.3", CompileTime: "Tue Jun  4 10:00:00 CST 2024" };

describe("a cgminer with a group of its own", () => {
  test("gets the commands that `check` allows, though it is not privileged", async () => {
    const reading = await readAt(
      await simulated({ kind: "cgminer", warm: true, grants: ["addpool", "switchpool", "restart"] }),
    );
    expect(reading.poolActions).toEqual(["add", "switch"]);
    expect(reading.controls.map(({ key }) => key)).toEqual(["restart"]);
    expect(reading.readings.notes.join()).not.toContain("--api-allow");
  });

  test("that lacks `check` is asked for it once, and gets no command", async () => {
    const asked: string[] = [];
    const reading = await readAt(
      await answering({ version: version({ CGMiner: "4.11.1" }), summary, check: denied }, asked),
    );
    expect([reading.controls, reading.poolActions]).toEqual([[], []]);
    expect(asked.filter((command) => command === "check")).toHaveLength(1);
  });
});

describe("the advice to start a miner with --api-allow", () => {
  const advice = expect.stringContaining("--api-allow");
  const notesOf = async (fields: object): Promise<string[]> =>
    (await readAt(await answering({ version: version(fields), summary, check: denied }))).readings.notes;

  test.each([[{ CGMiner: "4.11.1", API: "3.7" }], [{ CGMiner: "bfgminer 5.5.0", Miner: "BFGMiner 5.5.0" }]])(
    "is given where a program of one's own runs: %j",
    async (fields) => {
      expect(await notesOf(fields)).toContainEqual(advice);
    },
  );

  test.each([
    [{ CGMiner: "2.3.3", Miner: "1.3", Type: "Lava L1" }],
    [{ CGMiner: "4.11.1", PROD: "Some Box", MODEL: "7" }],
    [{ ...bitmain, Type: "Antminer S21" }],
  ])("is not given to firmware: %j", async (fields) => {
    expect(await notesOf(fields)).not.toContainEqual(advice);
  });
});

describe("MSKMiner on Bitmain's hardware", () => {
  const msk = { BMMiner: "4.11.1 rwglr", Miner: "0.0.1.3", CompileTime: "1 Dec 2024", Type: "S19-88 v.2.6" };

  test("is not an Antminer, and has the algorithm of its hardware", async () => {
    const { driver, identity, rig } = await found(
      await answering({ version: version(msk), summary, stats: chains({}, "S19-88 v.2.6") }),
    );
    expect({ driver: driver.id, make: identity.make }).toEqual({ driver: "mskminer", make: "MSKMiner" });
    const reading = await rig.read(deadline());
    expect(reading.identity.make).toBe("MSKMiner");
    expect(reading.readings.algorithm).toBe("sha256");
  });
});

describe("an Antminer over RPC", () => {
  const s21 = version({ ...bitmain, Type: "Antminer S21" });

  test("has the time of its build for its firmware, not the name of a program", async () => {
    const { identity, rig } = await found(await answering({ version: s21, summary, stats: chains() }));
    expect(identity.firmware).toBe("Tue Jun 4 10:00:00 CST 2024");
    expect((await rig.read(deadline())).identity.firmware).toBe("Tue Jun 4 10:00:00 CST 2024");
  });

  test("that refuses its summary is read from its statistics", async () => {
    const stats = chains({ Elapsed: 4100, "GHS 5s": 99_500.5, "GHS av": 99_800.25 });
    const pools = { ...ok, POOLS: [{ POOL: 0, URL: "a:1", User: "w", Accepted: 40, Rejected: 2 }] };
    const reading = await readAt(await answering({ version: s21, stats, pools }));
    expect(reading.readings).toMatchObject({
      hashrate: 99_500_500_000_000,
      hashrateAverage: 99_800_250_000_000,
      uptime: 4100,
      algorithm: "sha256",
      shares: { accepted: 40, rejected: 2, hardwareErrors: 7 },
    });
    expect(reading.readings.notes).toContainEqual(expect.stringContaining("refuses its summary"));
  });

  test("with a login, and no web, likewise", async () => {
    const stats = chains({ Elapsed: 4100, "GHS 5s": 99_500.5 });
    const address = await answering({ version: s21, stats });
    rig = rigAt(antminer, address, { username: "root", password: "root" });
    const { readings } = await rig.read(deadline());
    expect(readings.hashrate).toBe(99_500_500_000_000);
    expect(readings.notes).toContainEqual(expect.stringContaining("refuses its summary"));
  });

  test("that refuses its statistics too cannot be read", async () => {
    const address = await answering({ version: s21 });
    await expect(readAt(address)).rejects.toMatchObject({ code: "rig.refused" });
  });

  test("takes its average and hardware errors from its statistics where its summary has none", async () => {
    const bare = { ...ok, SUMMARY: [{ Elapsed: 4000, "GHS 5s": 100_000 }] };
    const reading = await readAt(await answering({ version: s21, summary: bare, stats: chains({ "GHS av": 98_000 }) }));
    expect(reading.readings).toMatchObject({ hashrateAverage: 98e12, shares: { hardwareErrors: 7 } });
  });

  test.each(["Antminer S21 Hyd.", "Antminer S19 Pro+ Hyd", "Antminer S21 Imm."])(
    "that is an %s has no fans, though it lists four at 0 rpm",
    async (type) => {
      const stats = chains({ fan_num: 4, fan1: 0, fan2: 0, fan3: 0, fan4: 0 }, type);
      const reading = await readAt(await answering({ version: version({ ...bitmain, Type: type }), summary, stats }));
      expect(reading.readings.fans).toEqual([]);
    },
  );

  test("that is cooled by air keeps its fans, also those that stand still", async () => {
    const stats = chains({ fan_num: 2, fan1: 0, fan2: 0 });
    const reading = await readAt(await answering({ version: s21, summary, stats }));
    expect(reading.readings.fans.map(({ rpm }) => rpm)).toEqual([0, 0]);
  });
});

describe("VNish over RPC", () => {
  const type = "Antminer S19 XP (Vnish 1.3.4)";
  const live = { "GHS 5s": "140000.5", "GHS av": 141_000, Elapsed: 9000, state: "mining" };

  test.each<[string, Answers]>([
    ["with a summary", { summary: { ...ok, SUMMARY: [{ Elapsed: 9000, "GHS 5s": "140000.5" }] } }],
    ["that refuses it", {}],
  ])("reports its hardware errors, average and algorithm, %s", async (_, more) => {
    const address = await answering({ ...more, stats: chains(live, type) });
    rig = rigAt(vnish, address, {});
    const { readings, identity } = await rig.read(deadline());
    expect(identity).toMatchObject({ make: "VNish", model: "Antminer S19 XP" });
    expect(readings).toMatchObject({
      hashrate: 140_000_500_000_000,
      hashrateAverage: 141e12,
      algorithm: "sha256",
      shares: { hardwareErrors: 7 },
    });
  });
});

describe("a rig that lists its boards under `edevs` only", () => {
  const boards = {
    ...ok,
    DEVS: [
      { ASC: 0, "MHS 5s": 4e7 },
      { ASC: 1, "MHS 5s": 6e7 },
    ],
  };
  const slots = ({ readings }: Reading): number[] => readings.boards.map(({ slot }) => slot);

  test("is read by that, and from then on only by that", async () => {
    const asked: string[] = [];
    const address = await answering({ version: version({ CGMiner: "4.11.1" }), summary, edevs: boards }, asked);
    expect(slots(await readAt(address))).toEqual([0, 1]);
    asked.length = 0;
    expect(slots(await (rig ?? (await found(address)).rig).read(deadline()))).toEqual([0, 1]);
    expect(asked).toEqual(["summary", "pools", "edevs", "stats"]);
  });

  test("also where it joins reports", async () => {
    const joined = (name: string, list: object): object => ({
      summary: [summary],
      pools: [ok],
      [name]: [list],
      stats: [ok],
    });
    const asked: string[] = [];
    const address = await answering(
      {
        version: version({ CGMiner: "4.11.1" }),
        "summary+pools+devs+stats": joined("devs", unknown),
        "summary+pools+edevs+stats": joined("edevs", boards),
        edevs: boards,
      },
      asked,
    );
    expect(slots(await readAt(address))).toEqual([0, 1]);
    asked.length = 0;
    expect(slots(await (rig ?? (await found(address)).rig).read(deadline()))).toEqual([0, 1]);
    expect(asked).toEqual(["summary+pools+edevs+stats"]);
  });

  test("and one that has neither is not asked for both again", async () => {
    const asked: string[] = [];
    const address = await answering({ version: version({ CGMiner: "4.11.1" }), summary }, asked);
    expect(slots(await readAt(address))).toEqual([]);
    asked.length = 0;
    await (rig ?? (await found(address)).rig).read(deadline());
    expect(asked).toEqual(["summary", "pools", "devs", "stats"]);
  });

  test("also a WhatsMiner", async () => {
    const address = await answering({
      summary: { ...ok, SUMMARY: [{ Elapsed: 4000, "MHS av": 1e8, "HS RT": 1e8 }] },
      pools: { ...ok, POOLS: [] },
      edevs: boards,
    });
    rig = rigAt(whatsminer, address, {});
    expect(slots(await rig.read(deadline()))).toEqual([0, 1]);
    expect(slots(await rig.read(deadline()))).toEqual([0, 1]);
  });
});

describe("the light of a WhatsMiner", () => {
  test.each<[unknown, boolean]>([
    ["auto", false],
    ["on", false],
    ["off", false],
    ["manual", true],
    [[{ color: "red", period: 200, duration: 100, start: 0 }], true],
    [[{ color: "green", period: 200, duration: 200, start: 0 }], false],
  ])("reported as %j means locating: %j", async (ledstat, locate) => {
    const address = await answering({
      summary: { ...ok, SUMMARY: [{ Elapsed: 4000, "HS RT": 1e8 }] },
      pools: { ...ok, POOLS: [] },
      devs: { ...ok, DEVS: [] },
      get_miner_info: { STATUS: "S", Code: 131, Msg: { ledstat } },
    });
    rig = rigAt(whatsminer, address, {});
    const { readings } = await rig.read(deadline());
    expect(readings.locate).toBe(locate);
    expect(readings.notes.join()).not.toContain("ledstat");
  });
});
