import { afterEach, describe, expect, test } from "vitest";
import { parseAddress } from "../../../src/link/address.ts";
import type { Reading, Rig } from "../../../src/link/driver.ts";
import { identify } from "../../../src/link/identify.ts";
import type { Credentials } from "../../../src/link/link.ts";
import { type AntminerSpec, type Farm, startFarm } from "../../../src/simulator/index.ts";
import { deadline } from "../rigs.ts";
import { serve, type TinyServer } from "../servers.ts";

let farm: Farm | undefined;
let server: TinyServer | undefined;
let rig: Rig | undefined;
afterEach(async () => {
  rig?.close();
  await farm?.close();
  await server?.close();
});

/** Recognised as the service does, and read. */
async function readAt(address: string, credentials: Credentials = {}): Promise<Reading> {
  const found = await identify(parseAddress(address), credentials, deadline());
  rig = found.rig;
  return rig.read(deadline());
}

/** A rig that answers RPC with what is written for it, and knows nothing else. */
async function answering(answers: Record<string, object>): Promise<Reading> {
  server = await serve((socket, request) => {
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
    farm = await startFarm({ rigs: [{ kind: "antminer", model: "E9", warm: true, ...spec }], clock: () => 1.8e12 });
    const reading = await readAt(farm.rigs[0]?.address ?? "", credentials);
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

test("boards with half of the rig's rate are noted, for every make", async () => {
  const reading = await answering({
    version: { ...ok, VERSION: [{ CGMiner: "4.11.1" }] },
    summary: { ...ok, SUMMARY: [{ Elapsed: 9000, "MHS 5s": 2e6, "MHS av": 2e6 }] },
    devs: { ...ok, DEVS: [{ ASC: 0, "MHS 5s": 1e6 }] },
  });
  expect(reading.readings.notes).toContain("the boards' hash rates add up to 50 % of the rig's");
});
