import { expect, test } from "@jest/globals";
import { GpuReader } from "../../../src/agent/gpus/gpu-reader.ts";
import { limits } from "../../until.ts";
import { card, FakeNvidiaSmi } from "./fake-nvidia-smi.ts";
import { FakeSysfs, radeon, radeonSensors } from "./fake-sysfs.ts";

const env = { PATH: "/nowhere" };

(process.platform === "linux" ? test : test.skip)("an AMD card is read from the kernel's files", async () => {
  const sysfs = new FakeSysfs();
  sysfs.card(1, "0000:0a:00.0", "0x1002", radeon);
  sysfs.write(
    "usr/share/libdrm/amdgpu.ids",
    "# List\n1.0.0\n73BF,\tC0,\tAMD Radeon RX 6900 XT\n73BF,\tC1,\tAMD Radeon RX 6800 XT\n",
  );
  expect(await new GpuReader({ env, timeoutMs: limits.waitMs, root: sysfs.root }).read()).toEqual([
    {
      id: 0,
      name: "AMD Radeon RX 6800 XT",
      vendor: "amd",
      vendorId: 0,
      pciBusId: 10,
      lost: false,
      activity: 99,
      clock: 1_250e6,
      memoryClock: 1_000e6,
      voltage: 0.806,
      powertune: -25,
      fanRpm: 1834,
      fanPercent: 50,
      temperature: 58,
      memoryTemperature: 82,
      power: 135,
      powerLimit: 150,
      memory: 17_163_091_968,
    },
  ]);
});

(process.platform === "linux" ? test : test.skip)(
  "older and newer kernels name the same figures otherwise",
  async () => {
    const sysfs = new FakeSysfs();
    sysfs.card(0, "0000:03:00.0", "0x1002", {
      device: "0x67df",
      "hwmon/hwmon0/temp1_input": "64000",
      "hwmon/hwmon0/power1_input": "90000000",
      pp_dpm_sclk: "0: 300Mhz\n1: 1145Mhz *\n2: 1266Mhz",
      pp_dpm_mclk: "0: 300Mhz\n1: 2000Mhz *",
      product_name: "Radeon RX 580 Nitro+",
    });
    expect(await new GpuReader({ env, timeoutMs: limits.waitMs, root: sysfs.root }).read()).toMatchObject([
      {
        name: "Radeon RX 580 Nitro+",
        temperature: 64,
        power: 90,
        clock: 1_145e6,
        memoryClock: 2_000e6,
        fanPercent: null,
        lost: false,
      },
    ]);
  },
);

(process.platform === "linux" ? test : test.skip)(
  "a card that fell off is lost, whether its files fail or are gone",
  async () => {
    const sysfs = new FakeSysfs();
    sysfs.card(0, "0000:03:00.0", "0x1002", { ...radeon, product_name: "A" });
    sysfs.card(1, "0000:06:00.0", "0x1002", { ...radeon, product_name: "B" });
    sysfs.card(2, "0000:09:00.0", "0x1002", { ...radeon, product_name: "C" });
    const gpus = new GpuReader({ env, timeoutMs: limits.waitMs, root: sysfs.root });
    expect((await gpus.read()).map(({ lost }) => lost)).toEqual([false, false, false]);
    const figures = Object.keys(radeonSensors).filter((path) => !/label|name|enable/.test(path));
    sysfs.fails(0, figures);
    sysfs.unplug(1);
    expect(await gpus.read()).toMatchObject([
      { name: "A", lost: true, temperature: null, memory: 17_163_091_968 },
      { name: "B", lost: true, power: null, vendorId: 1 },
      { name: "C", lost: false, temperature: 58, vendorId: 2 },
    ]);
  },
);

(process.platform === "linux" ? test : test.skip)("a card of which one sensor fails is not lost", async () => {
  const sysfs = new FakeSysfs();
  sysfs.card(0, "0000:03:00.0", "0x1002", radeon);
  sysfs.fails(0, ["hwmon/hwmon3/power1_average"]);
  expect(await new GpuReader({ env, timeoutMs: limits.waitMs, root: sysfs.root }).read()).toMatchObject([
    { lost: false, power: null, temperature: 58 },
  ]);
});

(process.platform === "linux" ? test : test.skip)(
  "an Intel card's power is the energy between two reads; the processor's graphics are no card",
  async () => {
    const sysfs = new FakeSysfs();
    const arc = (energy: string) => ({
      device: "0x56a0",
      "hwmon/hwmon5/energy1_input": energy,
      "hwmon/hwmon5/fan1_input": "900",
      "hwmon/hwmon5/power1_max": "190000000",
    });
    sysfs.card(0, "0000:00:02.0", "0x8086", { device: "0x4680" });
    sysfs.card(1, "0000:03:00.0", "0x8086", arc("5000000"));
    sysfs.write(
      "usr/share/misc/pci.ids",
      "1002  AMD\n\t56a0  Not this\n8086  Intel Corporation\n\t56a0  DG2 [Arc A770]\n",
    );
    let now = 0;
    const gpus = new GpuReader({ env, timeoutMs: limits.waitMs, root: sysfs.root, monotonicNow: () => now });
    expect(await gpus.read()).toMatchObject([
      { name: "Arc A770", vendor: "intel", pciBusId: 3, power: null, powerLimit: 190, fanRpm: 900 },
    ]);
    now = 10_000;
    sysfs.card(1, "0000:03:00.0", "0x8086", arc("1505000000"));
    expect(await gpus.read()).toMatchObject([{ power: 150 }]);
  },
);

(process.platform === "linux" ? test : test.skip)(
  "cards of all makers are counted together, and each maker's from 0",
  async () => {
    const sysfs = new FakeSysfs();
    sysfs.card(0, "0000:02:00.0", "0x1002", radeon);
    sysfs.card(1, "0000:81:00.0", "0x1002", radeon);
    sysfs.card(2, "0000:03:00.0", "0x8086", { device: "0x56a0", "hwmon/hwmon5/fan1_input": "900" });
    const smi = new FakeNvidiaSmi({ cards: [card("0A"), card("01")] });
    const gpus = await new GpuReader({ env: smi.env, root: sysfs.root, timeoutMs: limits.waitMs }).read();
    expect(gpus.map(({ id, vendor, vendorId, pciBusId }) => [id, vendor, vendorId, pciBusId])).toEqual([
      [0, "nvidia", 0, 1],
      [1, "amd", 0, 2],
      [2, "intel", 0, 3],
      [3, "nvidia", 1, 10],
      [4, "amd", 1, 129],
    ]);
  },
);
