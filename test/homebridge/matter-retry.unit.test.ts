import { expect, test } from "@jest/globals";
import type { MatterAPI } from "homebridge";
import { DeviceBinding } from "../../homebridge/src/matter/device-binding.ts";
import { planDevices } from "../../homebridge/src/matter/devices.ts";
import { until } from "../until.ts";
import { farmOf, miner, settings } from "./miners.ts";

interface Moments {
  /** s from which on it registers devices. */
  readonly registersFrom: number;
  /** Including devices that were requested earlier. */
  readonly late?: true;
  /** s until which it refuses immediately, as while it starts. */
  readonly startsAt?: number;
}

const isMatter = (value: object): value is MatterAPI => "registerPlatformAccessories" in value;

/** A device in a Homebridge with a clock of its own, which advances whenever something waits. */
function open({ registersFrom, late, startsAt = 0 }: Moments) {
  let seconds = 0;
  const tried: number[] = [];
  const warnings: string[] = [];
  const closing = new AbortController();
  const state = { isRegistered: false, isReported: false };
  const isThere = (): boolean => state.isRegistered && seconds >= registersFrom;
  const matter = {
    uuid: { generate: (text: string) => text },
    deviceTypes: {},
    registerPlatformAccessories: async () => {
      tried.push(Math.round(seconds));
      if (seconds < startsAt) throw new Error("it is starting");
      if (isThere()) throw new Error("it is registered already");
      state.isRegistered ||= late === true || seconds >= registersFrom;
    },
    getAccessoryState: async () => (isThere() ? {} : undefined),
    updateAccessoryState: async () => {
      state.isReported = true;
    },
  };
  if (!isMatter(matter)) throw new Error("unlike Homebridge's own");
  const [plan] = planDevices(farmOf([miner()]), settings(), () => undefined);
  if (plan === undefined) throw new Error("the rig has no device");
  const context = {
    matter,
    warn: (message: string) => warnings.push(message),
    info: () => undefined,
    inTurn: (work: () => Promise<void>) => work(),
    pause: async (ms: number) => {
      seconds += ms / 1000;
      if (seconds > 4_000) closing.abort();
    },
    closing: closing.signal,
  };
  const device = new DeviceBinding(plan, context, false);
  device.show(plan, async () => undefined);
  return { tried, warnings, closing, state, device, name: plan.name };
}

test("a device that Homebridge does not register within 30 s is retried until it does, with one warning", async () => {
  const { tried, warnings, state, name } = open({ registersFrom: 200 });
  await until(() => state.isReported, "the device to be shown");
  // Each attempt takes 30 s, and the next one waits 30, 60, 120 ... s more.
  expect(tried).toEqual([0, 60, 150, 300]);
  expect(warnings).toEqual([expect.stringMatching(`^${name} is not shown in Matter: .* within 30 s; retrying`)]);
});

test("a device that Homebridge refuses while it starts is retried", async () => {
  const { tried, state } = open({ registersFrom: 0, startsAt: 50 });
  await until(() => state.isReported, "the device to be shown");
  expect(tried).toEqual([0, 30, 90]);
});

test("a device that was registered late is shown without being registered twice", async () => {
  const { tried, state } = open({ registersFrom: 45, late: true });
  await until(() => state.isReported, "the device to be shown");
  expect(tried).toEqual([0]);
});

test("a device that is never registered is retried every ten minutes until Homebridge stops", async () => {
  const { tried, closing } = open({ registersFrom: Number.POSITIVE_INFINITY });
  await until(() => closing.signal.aborted, "the end");
  const [before = 0, last = 0] = tried.slice(-2);
  expect(last - before).toBe(630);
});

test("a device that is removed while it waits is not retried", async () => {
  const { tried, closing, device } = open({ registersFrom: Number.POSITIVE_INFINITY });
  device.remove();
  await new Promise((resolve) => setImmediate(resolve));
  expect(tried).toEqual([0]);
  closing.abort();
});
