import { expect, test } from "@jest/globals";
import { slotOf } from "../../../src/agent/gpus/card.ts";
import { splitSettings } from "../../../src/agent/gpus/settings.ts";
import type { GpuSettings, HostGpu } from "../../../src/contract/agent.ts";

const none: GpuSettings = { bus: null, powerLimit: null, coreClock: null, memoryClock: null, fan: null };

const gpu = (id: number, vendor: HostGpu["vendor"], pciBusId: number): HostGpu => ({
  id,
  name: "GPU",
  vendor,
  vendorId: id,
  pciBusId,
  lost: false,
  activity: null,
  clock: null,
  memoryClock: null,
  voltage: null,
  powertune: null,
  fanRpm: null,
  fanPercent: null,
  temperature: null,
  memoryTemperature: null,
  power: null,
  powerLimit: null,
  memory: null,
});
const gpus = [gpu(0, "nvidia", 1), gpu(1, "amd", 2), gpu(2, "nvidia", 10)];
const flagOfCoreClock = { tuning: { coreClock: {} }, devices: ["nvidia"] };

test("what the program can set itself becomes its options, the rest is left for the agent", () => {
  const settings = [
    { ...none, powerLimit: 220, coreClock: 1_500e6 },
    { ...none, bus: 10, coreClock: 1_200e6 },
  ];
  expect(splitSettings(settings, gpus, flagOfCoreClock)).toEqual({
    tuning: [
      { powerLimit: null, coreClock: 1500, memoryClock: null, fan: null },
      { powerLimit: null, coreClock: 1200, memoryClock: null, fan: null },
    ],
    host: [{ ...none, powerLimit: 220 }],
  });
});

test("a program without such options leaves all of them to the agent", () => {
  const settings = [{ ...none, bus: 1, fan: 80 }];
  expect(splitSettings(settings, gpus, { tuning: {}, devices: ["nvidia"] })).toEqual({ host: settings });
});

test("PCI addresses have one spelling", () => {
  expect(slotOf("00000000:0A:00.0")).toBe("0000:0a:00.0");
  expect(slotOf("0000:0a:00.0")).toBe("0000:0a:00.0");
  expect(slotOf("10000:E1:00.0")).toBe("10000:e1:00.0");
  expect(slotOf("[GPU is lost]")).toBeNull();
});
