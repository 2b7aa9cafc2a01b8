import type { MatterAPI } from "homebridge";
import { expect, test } from "vitest";
import { DeviceBinding } from "../../homebridge/src/matter/device-binding.ts";
import { whatDevices } from "../../homebridge/src/matter/devices.ts";
import { until } from "../until.ts";
import { farmOf, miner, settings } from "./miners.ts";

interface Moments {
  /** s from which on it takes in what it is told of. */
  readonly takesFrom: number;
  /** Also what it was told of before, only later. */
  readonly late?: true;
  /** s until which it refuses at once, as while it starts. */
  readonly startsAt?: number;
}

const isMatter = (value: object): value is MatterAPI => "registerPlatformAccessories" in value;

/** A device at a Homebridge with a time of its own, which goes on as fast as it is waited for. */
function open({ takesFrom, late, startsAt = 0 }: Moments) {
  let seconds = 0;
  const tried: number[] = [];
  const warnings: string[] = [];
  const closing = new AbortController();
  const state = { isRegistered: false, isTold: false };
  const isThere = (): boolean => state.isRegistered && seconds >= takesFrom;
  const matter = {
    uuid: { generate: (text: string) => text },
    deviceTypes: {},
    registerPlatformAccessories: async () => {
      tried.push(Math.round(seconds));
      if (seconds < startsAt) throw new Error("it is starting");
      if (isThere()) throw new Error("it is registered already");
      state.isRegistered ||= late === true || seconds >= takesFrom;
    },
    getAccessoryState: async () => (isThere() ? {} : undefined),
    updateAccessoryState: async () => {
      state.isTold = true;
    },
  };
  if (!isMatter(matter)) throw new Error("not as Homebridge has it");
  const [plan] = whatDevices(farmOf([miner()]), settings(), () => undefined);
  if (plan === undefined) throw new Error("the rig has no device");
  const through = {
    matter,
    warn: (message: string) => warnings.push(message),
    inTurn: (work: () => Promise<void>) => work(),
    pause: async (ms: number) => {
      seconds += ms / 1000;
      if (seconds > 4_000) closing.abort();
    },
    closing: closing.signal,
  };
  const device = new DeviceBinding(plan, through, false);
  device.show(plan, async () => undefined);
  return { tried, warnings, closing, state, device, name: plan.name };
}

test("a device that Homebridge has not taken in within 30 s is tried again until it has, and warned of once", async () => {
  const { tried, warnings, state, name } = open({ takesFrom: 200 });
  await until(() => state.isTold, "the device to be shown");
  // Each try waits 30 s, and then 30, 60, 120 ... more.
  expect(tried).toEqual([0, 60, 150, 300]);
  expect(warnings).toEqual([
    expect.stringMatching(`^${name} is not shown in Matter: .* within 30 s; it is tried again`),
  ]);
});

test("one that Homebridge refuses while it starts is tried again", async () => {
  const { tried, state } = open({ takesFrom: 0, startsAt: 50 });
  await until(() => state.isTold, "the device to be shown");
  expect(tried).toEqual([0, 30, 90]);
});

test("one that was taken in late is shown without being registered twice", async () => {
  const { tried, state } = open({ takesFrom: 45, late: true });
  await until(() => state.isTold, "the device to be shown");
  expect(tried).toEqual([0]);
});

test("one that is never taken in is tried every ten minutes, until Homebridge ends", async () => {
  const { tried, closing } = open({ takesFrom: Number.POSITIVE_INFINITY });
  await until(() => closing.signal.aborted, "the end");
  const [before = 0, last = 0] = tried.slice(-2);
  expect(last - before).toBe(630);
});

test("one that is removed while it waits is not tried again", async () => {
  const { tried, closing, device } = open({ takesFrom: Number.POSITIVE_INFINITY });
  device.remove();
  await new Promise((resolve) => setImmediate(resolve));
  expect(tried).toEqual([0]);
  closing.abort();
});
