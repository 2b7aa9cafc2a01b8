import { afterEach, describe, expect, test } from "@jest/globals";
import { parseAddress } from "../../../src/link/address.ts";
import type { Reading, Rig } from "../../../src/link/driver.ts";
import { identify } from "../../../src/link/identify.ts";
import type { Credentials } from "../../../src/link/link.ts";
import type { AntminerSpec } from "../../../src/simulator/index.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline } from "../rigs.ts";
import { serve } from "../servers.ts";

let rig: Rig | undefined;
afterEach(async () => {
  rig?.close();
});

/** Recognised as the service does, and read. */
async function readAt(address: string, credentials: Credentials = {}): Promise<Reading> {
  const found = await identify(parseAddress(address), credentials, deadline());
  rig = found.rig;
  return rig.read(deadline());
}

/** A rig that answers RPC with what is written for it, and knows nothing else. */
async function answering(answers: Record<string, object>): Promise<Reading> {
  const server = await serve((socket, request) => {
    const command: unknown = request.startsWith("{") ? JSON.parse(request).command : null;
    const answer = answers[String(command)] ?? { STATUS: [{ STATUS: "E", Code: 14, Msg: "Invalid command" }] };
    socket.end(`${JSON.stringify(answer)}\0`);
  });
  return readAt(`127.0.0.1:${server.port}`);
}

const ok = { STATUS: [{ STATUS: "S", Code: 1, Msg: "fine" }] };

const sum = ({ readings }: Reading): number => readings.boards.reduce((all, { hashrate }) => all + (hashrate ?? 0), 0);

describe("an Antminer for Ethash counts MH/s under names that say GH/s", () => {
  test.each<[string, Partial<AntminerSpec>, Credentials]>([
    ["over its web and RPC", {}, { username: "root", password: "root" }],
    ["over its RPC alone", { speaks: "rpc" }, {}],
    ["over its RPC with a login", {}, {}],
  ])("%s", async (_, spec, credentials) => {
    const simulated = await startRig({ kind: "antminer", model: "E9", warm: true, ...spec }, () => 1.8e12);
    const reading = await readAt(simulated.address, credentials);
    const { hashrate, hashrateAverage, hashrateExpected, notes } = reading.readings;
    for (const rate of [hashrate, hashrateAverage, hashrateExpected, sum(reading)]) {
      expect(rate).toBeGreaterThan(2.2e9);
      expect(rate).toBeLessThan(2.6e9);
    }
    expect(reading.readings.algorithm).toBe("ethash");
    expect(notes.join()).not.toContain("hash rates");
  });

  test("where only `version` says what it is", async () => {
    const reading = await answering({
      version: { ...ok, VERSION: [{ BMMiner: "2.0.0", Type: "Antminer E3" }] },
      summary: { ...ok, SUMMARY: [{ Elapsed: 5000, "GHS 5s": "190.5", "GHS av": 189 }] },
      stats: { ...ok, STATS: [{ chain_acn1: 6, chain_rate1: "95.2", chain_acn2: 6, chain_rate2: "95.3" }] },
    });
    expect(reading.readings).toMatchObject({ hashrate: 190_500_000, hashrateAverage: 189_000_000 });
    expect(sum(reading)).toBe(190_500_000);
  });

  test("and its own unit is used", async () => {
    const reading = await answering({
      version: { ...ok, VERSION: [{ BMMiner: "2.0.0", Type: "Antminer E9" }] },
      summary: { ...ok, SUMMARY: [{ "GHS 5s": 2.4 }] },
      stats: { ...ok, STATS: [{ rate_unit: "GH", chain_acn1: 6, chain_rate1: "2.4" }] },
    });
    expect(reading.readings.hashrate).toBe(2_400_000_000);
    expect(sum(reading)).toBe(2_400_000_000);
  });
});

describe("a rig for Scrypt with reports like an Antminer's", () => {
  test("counts its boards in MH/s where its statistics do", async () => {
    const reading = await answering({
      version: { ...ok, VERSION: [{ CGMiner: "2.3.3", Miner: "1.3", Type: "Lava L1" }] },
      summary: { ...ok, SUMMARY: [{ Elapsed: 900, "MHS 5s": "9450.50", "MHS av": "9400.10" }] },
      stats: {
        ...ok,
        STATS: [
          { CGMiner: "2.3.3", Type: "Lava L1" },
          { "MHS 5s": "9470.20", chain_acn1: 60, chain_rate1: "4720.25", chain_acn2: 60, chain_rate2: "4730.25" },
        ],
      },
    });
    expect(reading.readings).toMatchObject({ hashrate: 9_450_500_000, hashrateAverage: 9_400_100_000 });
    expect(reading.readings.notes.join()).not.toContain("hash rates");
    expect(sum(reading)).toBe(9_450_500_000);
  });

  test("is corrected and noted where it reports one in GH/s and the other in MH/s", async () => {
    const reading = await answering({
      version: { ...ok, VERSION: [{ BMMiner: "2.0.0", Type: "Antminer L7" }] },
      summary: { ...ok, SUMMARY: [{ Elapsed: 900, "GHS 5s": 9.1, "GHS av": 9 }] },
      stats: {
        ...ok,
        STATS: [
          { Type: "Antminer L7" },
          { chain_acn1: 120, chain_rate1: "4540.00", chain_acn2: 120, chain_rate2: "4550.00" },
        ],
      },
    });
    expect(reading.readings.hashrate).toBe(9_100_000_000);
    expect(reading.readings.boards.map(({ hashrate }) => hashrate)).toEqual([4_540_000_000, 4_550_000_000]);
    expect(reading.devices.map(({ hashrate }) => hashrate)).toEqual([4_540_000_000, 4_550_000_000]);
    expect(reading.readings.notes).toContainEqual(expect.stringContaining("factor of 1000"));
  });
});

describe("each generation of Antminers counts in its own unit", () => {
  const models = [
    ["L3+", "scrypt", 504e6],
    ["D3", "x11", 16.9e9],
    ["E3", "ethash", 190e6],
    ["Z11", "equihash", 138e3],
    ["Z15", "equihash", 420e3],
    ["K7", "eaglesong", 63.5e12],
    ["KA3", "blake2s-kadena", 166e12],
    ["KS3", "kheavyhash", 9.4e12],
    ["KS5", "kheavyhash", 20e12],
  ] as const;
  const ways: readonly [string, Partial<AntminerSpec>, Credentials][] = [
    ["its web and RPC", {}, { username: "root", password: "root" }],
    ["its RPC", { speaks: "rpc" }, {}],
  ];
  describe.each(ways)("over %s", (_, spec, credentials) => {
    test.each(models)("%s", async (model, algorithm, rated) => {
      const simulated = await startRig({ kind: "antminer", model, warm: true, ...spec }, () => 1.8e12);
      const reading = await readAt(simulated.address, credentials);
      const { hashrate, hashrateAverage, notes } = reading.readings;
      for (const rate of [hashrate, hashrateAverage, sum(reading)]) {
        expect(rate).toBeGreaterThan(0.9 * rated);
        expect(rate).toBeLessThan(1.1 * rated);
      }
      expect(reading.readings.algorithm).toBe(algorithm);
      expect(notes.join()).not.toContain("hash rate");
    });
  });

  test.each(["E3", "L3+", "D3"] as const)("the frequency of %s is in Hz", async (model) => {
    const simulated = await startRig({ kind: "antminer", model, warm: true });
    const { readings } = await readAt(simulated.address);
    const frequency = { E3: 1_600e6, "L3+": 384e6, D3: 450e6 }[model];
    expect(readings.boards.map((board) => board.frequency)).toEqual(readings.boards.map(() => frequency));
  });
});

describe("the rates of recorded rigs", () => {
  const old = (model: string, rates: Record<string, unknown>, boards: readonly string[]): Record<string, object> => ({
    version: { ...ok, VERSION: [{ CGMiner: "4.9.0", Miner: "1.0.1.3", Type: model }] },
    summary: { ...ok, SUMMARY: [{ Elapsed: 393_983, ...rates }] },
    stats: {
      ...ok,
      STATS: [
        { Type: model },
        Object.fromEntries(
          boards.flatMap((rate, at) => [[`chain_acn${at + 1}`, 9] as const, [`chain_rate${at + 1}`, rate] as const]),
        ),
      ],
    },
  });

  test.each([
    [
      "Antminer L3+",
      { "GHS 5s": "504.56", "GHS av": 500.28 },
      ["126.12", "125.79", "126.06", "126.59"],
      504.56e6,
      504.56e6,
    ],
    [
      "Antminer D3",
      { "GHS 5s": "16346.64", "GHS av": 16868.38 },
      ["5287.83", "5631.41", "5427.41"],
      16_346.64e6,
      16_346.65e6,
    ],
    ["Antminer Z11", { "GHS 5s": "141.54", "GHS av": 140.9 }, ["47.1", "47.2", "47.24"], 141_540, 141_540],
    ["Antminer Z11", { "GHS 5s": "145474.39", "GHS av": 138_000 }, ["42.59", "48.4", "50.9"], 145_474.39, 141_890],
    ["Antminer D9", { "GHS 5s": "1800", "GHS av": 1790 }, ["600", "600", "600"], 1_800e9, 1_800e9],
  ])("%s with %o", async (model, rates, boards, hashrate, ofBoards) => {
    const reading = await answering(old(model, rates, boards));
    expect(reading.readings.hashrate).toBe(hashrate);
    expect(sum(reading)).toBeCloseTo(ofBoards, 0);
    expect(reading.readings.notes.join()).not.toContain("hash rates");
  });

  test("a Z11 whose statistics state the unit of its boards only: its own rate is the one that is corrected", async () => {
    const answers = old("Antminer Z11", { "GHS 5s": "145474.39", "GHS av": 144_000 }, ["42.59", "48.4", "50.9"]);
    const stats = {
      ...ok,
      STATS: [{ Type: "Antminer Z11" }, { rate_unit: "KSol/s", chain_acn1: 9, chain_rate1: "142.59" }],
    };
    const reading = await answering({ ...answers, stats });
    expect(reading.readings.hashrate).toBe(145_474.39);
    expect(sum(reading)).toBe(142_590);
    expect(reading.readings.notes).toContainEqual(expect.stringContaining("the rig's was divided by it"));
  });

  test("an Innosilicon A9 counts solutions in fields named MHS", async () => {
    const simulated = await startRig({ kind: "cgminer", dialect: "innosilicon", warm: true }, () => 1.8e12);
    const reading = await readAt(simulated.address);
    expect(reading.identity).toMatchObject({ make: "Innosilicon", model: "A9" });
    expect(reading.readings.algorithm).toBe("equihash");
    for (const rate of [reading.readings.hashrate, reading.readings.hashrateAverage, sum(reading)]) {
      expect(rate).toBeGreaterThan(48e3);
      expect(rate).toBeLessThan(55e3);
    }
  });
});

test("the statistics stand in for a summary without rates, as an S19j Pro has it", async () => {
  const reading = await answering({
    version: { ...ok, VERSION: [{ BMMiner: "2.0.0", Type: "Antminer S19j Pro" }] },
    summary: { ...ok, SUMMARY: [{ Elapsed: 9000, Accepted: 12 }] },
    stats: {
      ...ok,
      STATS: [
        { Type: "Antminer S19j Pro" },
        { "GHS 5s": "100123.45", "GHS av": 99_000, chain_acn1: 126, chain_rate1: "100123.45" },
      ],
    },
  });
  expect(reading.readings).toMatchObject({
    hashrate: 100_123.45e9,
    hashrateAverage: 99_000e9,
    uptime: 9000,
    mining: true,
  });
});

test("a joined answer that refuses everything is a refusal, not a rig without figures", async () => {
  const refused = [{ STATUS: [{ STATUS: "E", Code: 45, Msg: "Access denied to 'summary' command" }], id: 1 }];
  const server = await serve((socket, request) => {
    const command = String(JSON.parse(request).command);
    const parts = command.split("+").map((name) => [name, refused]);
    const version = { ...ok, VERSION: [{ CGMiner: "4.11.1", API: "3.7" }] };
    const answer = command === "version" ? version : command.includes("+") ? Object.fromEntries(parts) : refused[0];
    socket.end(`${JSON.stringify(answer)}\0`);
  });
  await expect(readAt(`127.0.0.1:${server.port}`)).rejects.toMatchObject({
    code: "rig.refused",
    message: expect.stringContaining("Access denied"),
  });
});

test("a rate that the model cannot reach is noted and not shown, for every make", async () => {
  const reading = await answering({
    version: { ...ok, VERSION: [{ BMMiner: "2.0.0", Type: "Antminer S19" }] },
    summary: { ...ok, SUMMARY: [{ Elapsed: 9000, "GHS 5s": 95e6, "GHS av": 94e6 }] },
    stats: { ...ok, STATS: [{ chain_acn1: 76, chain_rate1: "47500000" }, {}] },
  });
  expect(reading.readings).toMatchObject({ hashrate: null, hashrateAverage: null, boards: [{ hashrate: null }] });
  expect(reading.devices).toMatchObject([{ hashrate: null }]);
  expect(reading.readings.notes).toContainEqual(
    "a reported hash rate is 950 times the nameplate of the Antminer S19, so its unit is unclear and it is not shown",
  );
});

test("boards with half of the rig's rate are noted, for every make", async () => {
  const reading = await answering({
    version: { ...ok, VERSION: [{ CGMiner: "4.11.1" }] },
    summary: { ...ok, SUMMARY: [{ Elapsed: 9000, "MHS 5s": 2e6, "MHS av": 2e6 }] },
    devs: { ...ok, DEVS: [{ ASC: 0, "MHS 5s": 1e6 }] },
  });
  expect(reading.readings.notes).toContain("the boards' hash rates add up to 50 % of the rig's");
});
