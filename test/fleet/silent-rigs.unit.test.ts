import { expect, jest, test } from "@jest/globals";
import { Fleet } from "../../src/fleet/fleet.ts";
import { beforeFirstRead, type RigState, unknownRig } from "../../src/fleet/state.ts";
import { declaredRig } from "../declared-rig.ts";
import { fakeTimers } from "../fake-timers.ts";
import { onTestFinished } from "../finished.ts";

// The same over sockets: npm run torture -- silent-rigs.

const interval = 3_000;
const rig = { address: "127.0.0.1:4028", kind: "cgminer" };

const known: RigState = { ...beforeFirstRead(unknownRig), at: 0 };

/** A fleet of which nothing reaches a network: the reads of these rigs are the test's. */
function openFleet() {
  fakeTimers();
  const ignore = () => undefined;
  const fleet = new Fleet({
    listener: { read: ignore, disconnected: ignore, refused: ignore, failed: ignore },
    timeout: 60_000,
    remember: async () => undefined,
    now: Date.now,
  });
  onTestFinished(() => fleet.close());
  const reads = new Map<number, number>();
  const add = (count: number, state: RigState, read: () => Promise<void>): number[] =>
    Array.from({ length: count }, () => {
      const id = 1_000_000_001 + reads.size;
      reads.set(id, 0);
      const counted = (): Promise<void> => {
        reads.set(id, (reads.get(id) ?? 0) + 1);
        return read();
      };
      Object.assign(fleet.put(declaredRig(rig, id, interval), unknownRig, state), { read: counted });
      return id;
    });
  return { add, reads };
}

const answer = async (): Promise<void> => undefined;
const hang = (): Promise<void> => new Promise(() => undefined);

test("two thousand rigs that were silent last time never delay the reads of a hundred others", async () => {
  const { add, reads } = openFleet();
  const silent = add(2_000, { ...known, missed: 3 }, hang);
  const others = add(100, known, answer);
  await jest.advanceTimersByTimeAsync(15 * interval);
  expect(Math.min(...others.map((id) => reads.get(id) ?? 0))).toBeGreaterThanOrEqual(14);
  // As many at once as there are places for them.
  expect(silent.filter((id) => reads.get(id) === 1)).toHaveLength(512);
});

test("a rig that has fallen silent frees its place after a second", async () => {
  const { add, reads } = openFleet();
  add(1_000, known, hang);
  const others = add(100, known, answer);
  await jest.advanceTimersByTimeAsync(15 * interval);
  expect(Math.min(...others.map((id) => reads.get(id) ?? 0))).toBeGreaterThanOrEqual(14);
});
