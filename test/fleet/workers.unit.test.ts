import { describe, expect, test } from "@jest/globals";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { unknownReadings } from "../../src/contract/readings.ts";
import { beforeFirstRead, type RigState, unknownRig } from "../../src/fleet/state.ts";
import { receivedError, sentError } from "../../src/fleet/workers/messages.ts";
import { pack, unpack } from "../../src/fleet/workers/packet.ts";
import { bodyOf, RemoteState, readShape, shapeOf, writeShape } from "../../src/fleet/workers/remote-state.ts";
import { workerCount } from "../../src/fleet/workers/worker-count.ts";
import type { Reading } from "../../src/link/driver.ts";
import { unknownIdentity } from "../../src/link/identity.ts";
import { SessionEnded } from "../../src/link/session-ended.ts";

const reading: Reading = {
  identity: { ...unknownIdentity, hostname: "Grüße 漢字 \ud800" },
  readings: { ...unknownReadings(), hashrate: 1.5e12, power: 0, mining: false, uptime: 77, algorithm: "sha256" },
  pools: [],
  devices: [],
  controls: [],
  poolActions: ["add"],
  software: null,
  logInterval: null,
  workUtility: null,
  starting: true,
};
const state: RigState = {
  ...beforeFirstRead(unknownRig),
  uid: "a",
  reading,
  at: 1_800_000_000_123,
  missed: 2,
  energy: 12.25,
};

describe("a batch of reads", () => {
  test("brings every figure, and readings with any text, in their order", () => {
    const away = { ...state, uid: "b", reading: null, energy: null };
    const packet = pack([
      { rig: 7, changed: true, keys: 5, hasShape: true, state, body: bodyOf(reading) },
      { rig: 8, changed: false, keys: 0, hasShape: false, state: away, body: null },
      { rig: 4_000_000_000, changed: true, keys: 2 ** 27, hasShape: true, state, body: bodyOf(reading) },
    ]);
    const reads = [...unpack(packet, 3)];
    expect(
      reads.map(({ rig, changed, keys, hasShape, hasReading }) => [rig, changed, keys, hasShape, hasReading]),
    ).toEqual([
      [7, true, 5, true, true],
      [8, false, 0, false, false],
      [4_000_000_000, true, 2 ** 27, true, true],
    ]);
    for (const [index, sent] of [state, away, state].entries()) {
      const read = reads[index];
      if (read === undefined) throw new Error("a read");
      const shape = readShape(writeShape(shapeOf(sent)));
      const received = new RemoteState(shape, read.body, read.figures, read.offset);
      const { reading: decoded, brief, ...rest } = { ...received, reading: received.reading };
      expect({ ...rest, reading: decoded }).toEqual(sent);
      expect(brief?.readings.hashrate ?? null).toBe(sent.reading?.readings.hashrate ?? null);
      expect(brief?.readings.mining ?? null).toBe(sent.reading?.readings.mining ?? null);
    }
  });

  test("of which only the time has passed keeps the reading, with its new uptime", () => {
    const [first] = unpack(pack([{ rig: 1, changed: true, keys: 0, hasShape: true, state, body: bodyOf(reading) }]), 1);
    const later = { ...state, reading: { ...reading, readings: { ...reading.readings, uptime: 87 } } };
    const [second] = unpack(pack([{ rig: 1, changed: false, keys: 0, hasShape: false, state: later, body: null }]), 1);
    if (first === undefined || second === undefined) throw new Error("two reads");
    const received = new RemoteState(shapeOf(state), first.body, second.figures, second.offset);
    expect(received.reading).toEqual(later.reading);
  });
});

test("errors keep their code, their words and whether the device only ended a session", () => {
  const refused = new RigbridgeError("rig.refused", 'It said "no"', { unquoted: "It refused" });
  expect(receivedError(sentError(refused))).toMatchObject({
    code: "rig.refused",
    message: 'It said "no"',
    unquoted: "It refused",
  });
  expect(receivedError(sentError(refused))).not.toBeInstanceOf(SessionEnded);
  expect(receivedError(sentError(new SessionEnded(refused)))).toBeInstanceOf(SessionEnded);
  const fault = new TypeError("x is not a function");
  expect(receivedError(sentError(fault))).toMatchObject({ message: "x is not a function", stack: fault.stack });
});

test("auto takes a worker for each 10,000 rigs at 10 s, and leaves a core to the main thread", () => {
  expect(workerCount(3, 0, 1)).toBe(3);
  expect(workerCount(0, 10_000, 8)).toBe(0);
  const auto = (reads: number, cores: number) => workerCount("auto", reads, cores);
  expect([auto(100, 8), auto(1_499, 8), auto(1_500, 8), auto(4_000, 8), auto(20_000, 8)]).toEqual([0, 0, 1, 4, 7]);
  expect([auto(4_000, 1), auto(4_000, 2), auto(4_000, 4)]).toEqual([0, 2, 3]);
});
