import { expect, jest, test } from "@jest/globals";
import type { ReadSettings } from "../../src/fleet/declared.ts";
import { Fleet } from "../../src/fleet/fleet.ts";
import { beforeFirstRead, unknownRig } from "../../src/fleet/state.ts";
import { declaredRig } from "../declared-rig.ts";
import { fakeTimers } from "../fake-timers.ts";
import { onTestFinished } from "../finished.ts";

const rig = { address: "127.0.0.1:4028", kind: "cgminer" };

const readEvery = (interval: number): ReadSettings => ({
  interval,
  timeout: 60_000,
  modelNameplate: true,
  makersLogin: false,
});

/** One rig whose reads are counted, and end when the test says so. */
function openFleet(interval: number) {
  fakeTimers();
  const ignore = () => undefined;
  const fleet = new Fleet({
    listener: { read: ignore, disconnected: ignore, refused: ignore, failed: ignore },
    timeout: 60_000,
    remember: async () => undefined,
    now: Date.now,
  });
  onTestFinished(() => fleet.close());
  const put = fleet.put(declaredRig(rig, 1, interval), unknownRig, { ...beforeFirstRead(unknownRig), at: 0 });
  const counted = { reads: 0, lasts: async (): Promise<void> => undefined };
  Object.assign(put, {
    read: () => {
      counted.reads += 1;
      return counted.lasts();
    },
  });
  const readsIn = async (ms: number): Promise<number> => {
    const before = counted.reads;
    await jest.advanceTimersByTimeAsync(ms);
    return counted.reads - before;
  };
  return { fleet, put, counted, readsIn };
}

test("a shorter interval holds at once, and a longer one too: each time is read once", async () => {
  const { fleet, put, readsIn } = openFleet(3_600_000);
  expect(await readsIn(60_000)).toBeLessThanOrEqual(1);
  for (let turn = 0; turn < 20; turn += 1) {
    fleet.adjust(1, readEvery(1_000));
    fleet.adjust(1, readEvery(60_000));
    fleet.adjust(1, readEvery(1_000));
  }
  expect(put.declared.interval).toBe(1_000);
  expect(await readsIn(1_000)).toBe(1);
  expect(await readsIn(10_000)).toBe(10);
  fleet.adjust(1, readEvery(60_000));
  expect(await readsIn(600_000)).toBe(10);
});

test("a rig that is being read is read at the new interval after it", async () => {
  const { fleet, counted, readsIn } = openFleet(1_000);
  let end = (): void => undefined;
  counted.lasts = () =>
    new Promise((resolve) => {
      end = resolve;
    });
  expect(await readsIn(1_000)).toBe(1);
  fleet.adjust(1, readEvery(500));
  expect(await readsIn(2_000)).toBe(0);
  counted.lasts = async () => undefined;
  end();
  expect(await readsIn(5_000)).toBe(10);
});

test("a rig that is not read stays so", async () => {
  const { fleet, readsIn } = openFleet(3_600_000);
  const disabled = fleet.put({ ...declaredRig(rig, 1), disabled: true });
  fleet.adjust(1, readEvery(1_000));
  fleet.adjust(2, readEvery(1_000));
  expect(disabled.declared.interval).toBe(1_000);
  expect(await readsIn(10_000)).toBe(0);
});
