import { expect, test } from "@jest/globals";
import { GpuReader } from "../../../src/agent/gpus/gpu-reader.ts";
import { limits, until } from "../../until.ts";
import { card, FakeNvidiaSmi, type NvidiaScenario } from "./fake-nvidia-smi.ts";

const reader = (scenario: NvidiaScenario, timeoutMs = limits.waitMs) => {
  const smi = new FakeNvidiaSmi(scenario);
  const problems: string[] = [];
  const gpus = new GpuReader({ env: smi.env, root: "/nowhere", timeoutMs, log: (text) => problems.push(text) });
  return { smi, gpus, problems };
};

test("nvidia-smi is asked once for all cards, which are counted by their PCI bus", async () => {
  const { smi, gpus } = reader({ cards: [card("41", { name: "NVIDIA GeForce RTX 3070" }), card("0A")] });
  const [first, second] = await gpus.read();
  expect(first).toEqual({
    id: 0,
    name: "NVIDIA GeForce RTX 3080",
    vendor: "nvidia",
    vendorId: 0,
    pciBusId: 10,
    lost: false,
    activity: 100,
    clock: 1_440e6,
    memoryClock: 10_251e6,
    voltage: null,
    powertune: -30,
    fanRpm: null,
    fanPercent: 70,
    temperature: 61,
    memoryTemperature: 88,
    power: 219.87,
    powerLimit: 224,
    memory: 10_240 * 2 ** 20,
  });
  expect(second).toMatchObject({ id: 1, vendorId: 1, pciBusId: 65, name: "NVIDIA GeForce RTX 3070" });
  expect(smi.calls()).toHaveLength(1);
  expect(smi.calls()[0]).toContain("--format=csv,noheader,nounits");
});

test("what a card does not say is null", async () => {
  const odd = {
    "temperature.memory": "[N/A]",
    "fan.speed": "[Not Supported]",
    "power.draw": "[Unknown Error]",
    "power.default_limit": "N/A",
    "clocks.mem": "ERR!",
    "utilization.gpu": "",
  };
  const [gpu] = await reader({ cards: [card("01", odd)] }).gpus.read();
  expect(gpu).toMatchObject({
    lost: false,
    temperature: 61,
    memoryTemperature: null,
    fanPercent: null,
    power: null,
    powertune: null,
    memoryClock: null,
    activity: null,
  });
});

test("a card that is split by MIG is one card, whose load is unknown", async () => {
  const mig = card("07", { name: "NVIDIA A100-SXM4-40GB", "utilization.gpu": "[N/A]", "fan.speed": "[N/A]" });
  expect(await reader({ cards: [mig] }).gpus.read()).toMatchObject([{ activity: null, temperature: 61, lost: false }]);
});

test("fields that a driver does not know are found once, and again after another driver came", async () => {
  const old = { unknownFields: ["temperature.memory", "clocks.gr"] };
  const { smi, gpus } = reader({ cards: [card("01")], ...old });
  expect(await gpus.read()).toMatchObject([{ memoryTemperature: null, clock: null, temperature: 61, power: 219.87 }]);
  expect(smi.calls()).toHaveLength(3);
  await gpus.read();
  expect(smi.calls()).toHaveLength(4);
  smi.now({ cards: [card("01", { driver_version: "570.10" })] });
  await gpus.read();
  expect(await gpus.read()).toMatchObject([{ memoryTemperature: 88, clock: 1_440e6 }]);
  expect(smi.calls()).toHaveLength(6);
});

test("a card that reports itself lost keeps its name and place", async () => {
  const { smi, gpus } = reader({ cards: [card("01"), card("02")] });
  await gpus.read();
  const gone = Object.fromEntries(Object.keys(card("01")).map((field) => [field, "[GPU is lost]"]));
  smi.now({ cards: [{ ...gone, "pci.bus_id": "00000000:01:00.0" }, card("02")] });
  expect(await gpus.read()).toMatchObject([
    { id: 0, pciBusId: 1, lost: true, temperature: null, power: null },
    { id: 1, pciBusId: 2, lost: false, temperature: 61 },
  ]);
});

test("a lost card that fails the whole call is named, and the others are read without it", async () => {
  const { smi, gpus, problems } = reader({ cards: [card("01"), card("0B")] });
  await gpus.read();
  const failure =
    "Unable to determine the device handle for GPU 0000:0B:00.0: GPU is lost.  Reboot the system to recover this GPU";
  smi.now({ cards: [card("01", { "temperature.gpu": "55" })], failure, code: 15 });
  expect(await gpus.read()).toMatchObject([
    { pciBusId: 1, lost: false, temperature: 55 },
    { pciBusId: 11, lost: true, temperature: null, name: "NVIDIA GeForce RTX 3080" },
  ]);
  expect(smi.calls().at(-1)).toContain("--id=0000:01:00.0");
  await gpus.read();
  expect(problems).toEqual([`nvidia-smi: ${failure}`]);
});

test("a card that was lost before the agent started is shown", async () => {
  const failure = "Unable to determine the device handle for GPU1: 0000:0B:00.0: Unknown Error";
  const { gpus } = reader({ cards: [], failure, code: 6 });
  expect(await gpus.read()).toMatchObject([{ name: "NVIDIA GPU", pciBusId: 11, lost: true }]);
});

test("a card that is no longer listed is lost, and found again once it is back", async () => {
  const { smi, gpus } = reader({ cards: [card("01"), card("02")] });
  await gpus.read();
  smi.now({ cards: [card("02")] });
  expect(await gpus.read()).toMatchObject([{ lost: true }, { lost: false, vendorId: 1 }]);
  smi.now({ cards: [card("01"), card("02")] });
  expect(await gpus.read()).toMatchObject([{ lost: false, temperature: 61 }, { lost: false }]);
});

test("without a driver all cards are lost; a driver of another version than its library only hides the figures", async () => {
  const { smi, gpus, problems } = reader({ cards: [card("01")] });
  await gpus.read();
  const mismatch = "Failed to initialize NVML: Driver/library version mismatch";
  smi.now({ cards: [], failure: mismatch, code: 18 });
  expect(await gpus.read()).toMatchObject([{ lost: false, temperature: null, memory: 10_240 * 2 ** 20 }]);
  const noDriver =
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.";
  smi.now({ cards: [], failure: noDriver, code: 9 });
  expect(await gpus.read()).toMatchObject([{ lost: true, temperature: null }]);
  expect(problems).toEqual([`nvidia-smi: ${mismatch}`, `nvidia-smi: ${noDriver}`]);
});

test("an nvidia-smi that hangs is killed; the cards are lost after three times in a row", async () => {
  const { smi, gpus, problems } = reader({ cards: [card("01")] }, 1000);
  await until(async () => (await gpus.read())[0]?.temperature === 61, "a first answer");
  problems.length = 0;
  smi.now({ cards: [], hangs: true });
  for (const lost of [false, false, true]) expect(await gpus.read()).toMatchObject([{ lost, temperature: null }]);
  expect(problems).toEqual(["nvidia-smi did not answer within 1 s; a card may be lost"]);
});

test("no cards, and no tool, is an empty list", async () => {
  const { gpus, problems } = reader({ cards: [], failure: "No devices were found", code: 6 });
  expect(await gpus.read()).toEqual([]);
  expect(await new GpuReader({ env: { PATH: "/nowhere" }, root: "/nowhere" }).read()).toEqual([]);
  expect(problems).toEqual([]);
});

test("reads at the same time share one call", async () => {
  const { smi, gpus } = reader({ cards: [card("01")] });
  const [one, other] = await Promise.all([gpus.read(), gpus.read()]);
  expect(one).toEqual(other);
  expect(smi.calls()).toHaveLength(1);
});
