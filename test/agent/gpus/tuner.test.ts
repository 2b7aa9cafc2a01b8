import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { GpuReader } from "../../../src/agent/gpus/gpu-reader.ts";
import { GpuTuner } from "../../../src/agent/gpus/gpu-tuner.ts";
import type { GpuSettings } from "../../../src/contract/agent.ts";
import { onTestFinished } from "../../finished.ts";
import { limits, until } from "../../until.ts";
import { card, FakeNvidiaSmi, type NvidiaScenario } from "./fake-nvidia-smi.ts";
import { FakeSysfs, radeon } from "./fake-sysfs.ts";

// depends on: test/agent/gpus/tuner-child.ts

const none: GpuSettings = { bus: null, powerLimit: null, coreClock: null, memoryClock: null, fan: null };
const withClocks = { ...radeon, pp_od_clk_voltage: "OD_SCLK:\n0: 500Mhz\n1: 2105Mhz" };

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "gpu-tuner-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function tunerOf(env: NodeJS.ProcessEnv, root: string, journal = join(folder(), "gpus.json")) {
  const logged: string[] = [];
  const options = { env, root, timeoutMs: limits.waitMs, log: (text: string) => logged.push(text) };
  const make = () => new GpuTuner({ ...options, reader: new GpuReader(options), journal });
  return { tuner: make(), again: make, journal, logged };
}

const settingCalls = (smi: FakeNvidiaSmi) =>
  smi
    .calls()
    .filter((args) => !args.some((arg) => arg.startsWith("--query")))
    .map((args) => args.join(" "));

function nvidia(scenario: Partial<NvidiaScenario> = {}) {
  const smi = new FakeNvidiaSmi({ cards: [card("01"), card("0A")], ...scenario });
  return { smi, ...tunerOf(smi.env, folder()) };
}

test("an NVIDIA card is set by nvidia-smi and gets back what it had", async () => {
  const { smi, tuner } = nvidia();
  const settings = [{ ...none, bus: 10, powerLimit: 200, coreClock: 1_500e6, memoryClock: 5_001e6 }];
  expect(await tuner.apply(7, settings)).toEqual([]);
  expect(settingCalls(smi)).toEqual([
    "--id=0000:0a:00.0 --power-limit=200",
    "--id=0000:0a:00.0 --lock-gpu-clocks=1500,1500",
    "--id=0000:0a:00.0 --lock-memory-clocks=5001,5001",
  ]);
  await tuner.restore(7);
  expect(settingCalls(smi).slice(3)).toEqual([
    "--id=0000:0a:00.0 --power-limit=224",
    "--id=0000:0a:00.0 --reset-gpu-clocks",
    "--id=0000:0a:00.0 --reset-memory-clocks",
  ]);
  await tuner.restore(7);
  expect(settingCalls(smi)).toHaveLength(6);
});

test("an entry without a bus is for the cards that no other names", async () => {
  const { smi, tuner } = nvidia();
  await tuner.apply(1, [
    { ...none, powerLimit: 180 },
    { ...none, bus: 1, powerLimit: 200 },
  ]);
  expect(settingCalls(smi)).toEqual(["--id=0000:0a:00.0 --power-limit=180", "--id=0000:01:00.0 --power-limit=200"]);
});

test("a restart of the program with other settings still restores what was there before the first", async () => {
  const { smi, tuner } = nvidia();
  await tuner.apply(1, [{ ...none, bus: 1, powerLimit: 200, coreClock: 1_500e6 }]);
  await tuner.apply(1, [{ ...none, bus: 1, powerLimit: 150 }]);
  await tuner.restore(1);
  expect(settingCalls(smi)).toEqual([
    "--id=0000:01:00.0 --power-limit=200",
    "--id=0000:01:00.0 --lock-gpu-clocks=1500,1500",
    "--id=0000:01:00.0 --reset-gpu-clocks",
    "--id=0000:01:00.0 --power-limit=150",
    "--id=0000:01:00.0 --power-limit=224",
  ]);
});

(process.platform === "linux" ? test : test.skip)(
  "an AMD card is set by the kernel's files and gets back what it had",
  async () => {
    const sysfs = new FakeSysfs();
    sysfs.card(0, "0000:03:00.0", "0x1002", withClocks);
    const { tuner } = tunerOf({ PATH: "/nowhere" }, sysfs.root);
    expect(await tuner.apply(1, [{ ...none, bus: 3, powerLimit: 120, fan: 80, coreClock: 1_400e6 }])).toEqual([]);
    expect(sysfs.read(0, "hwmon/hwmon3/power1_cap")).toBe("120000000");
    expect(sysfs.read(0, "hwmon/hwmon3/pwm1_enable")).toBe("1");
    expect(sysfs.read(0, "hwmon/hwmon3/pwm1")).toMatch(/^204/);
    expect(sysfs.read(0, "power_dpm_force_performance_level")).toBe("manual");
    expect(sysfs.read(0, "pp_od_clk_voltage")).toMatch(/^c/);
    await tuner.restore(1);
    expect(sysfs.read(0, "hwmon/hwmon3/power1_cap")).toBe("150000000");
    expect(sysfs.read(0, "hwmon/hwmon3/pwm1_enable")).toMatch(/^2/);
    expect(sysfs.read(0, "power_dpm_force_performance_level")).toMatch(/^auto/);
  },
);

test("settings that cannot be made are listed with their reasons, and nothing is set", async () => {
  const { smi, tuner, journal } = nvidia();
  expect(
    await tuner.apply(1, [
      { ...none, bus: 1, powerLimit: 200, fan: 70 },
      { ...none, bus: 99, powerLimit: 100 },
    ]),
  ).toEqual([
    "There is no graphics card on bus 99",
    "The fan of NVIDIA GeForce RTX 3080 on bus 1 was not set: nvidia-smi cannot set fans; use the mining program's own option in the command line parameters",
  ]);
  expect(settingCalls(smi)).toEqual([]);
  expect(existsSync(journal)).toBe(false);
});

test("what a card refuses is said in its words, and what was set before is restored", async () => {
  const refusal =
    "Provided memory clocks are not supported for GPU 00000000:01:00.0. Treating as warning and moving on.";
  const { smi, tuner } = nvidia({ refuses: { "--lock-memory-clocks": refusal } });
  expect(await tuner.apply(1, [{ ...none, bus: 1, powerLimit: 200, memoryClock: 9_000e6 }])).toEqual([
    `The memory clock of NVIDIA GeForce RTX 3080 on bus 1 was not set: ${refusal}`,
  ]);
  expect(settingCalls(smi)).toContain("--id=0000:01:00.0 --power-limit=224");
});

test("after a crash the next agent restores the cards, but for programs that still run", async () => {
  const { smi, tuner, again } = nvidia();
  await tuner.apply(1, [{ ...none, bus: 1, powerLimit: 200 }]);
  await tuner.apply(2, [{ ...none, bus: 10, powerLimit: 210 }]);
  const later = again();
  await later.recover(new Set([2]));
  expect(settingCalls(smi).slice(2)).toEqual(["--id=0000:01:00.0 --power-limit=224"]);
  await later.restore(2);
  expect(settingCalls(smi).slice(3)).toEqual(["--id=0000:0a:00.0 --power-limit=224"]);
});

test.each(["between the journal and the first setting", "between two settings"])(
  "an agent killed %s leaves a journal that restores the cards",
  async (moment) => {
    const smi = new FakeNvidiaSmi({ cards: [card("01")] });
    const root = folder();
    const journal = join(folder(), "gpus.json");
    const reached = join(root, "reached");
    const stopAt = moment.startsWith("between the journal") ? 1 : 2;
    const child = fork(fileURLToPath(new URL("tuner-child.ts", import.meta.url)), [
      JSON.stringify({ path: smi.env.PATH, root, journal, reached, stopAt }),
    ]);
    onTestFinished(() => void child.kill("SIGKILL"));
    await until(() => existsSync(reached), "the agent to reach the moment");
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    expect(readFileSync(journal, "utf8")).toContain("--power-limit=224");
    expect(settingCalls(smi)).toHaveLength(stopAt - 1);
    const { tuner } = tunerOf(smi.env, root, journal);
    await tuner.recover(new Set());
    expect(settingCalls(smi)).toContain("--id=0000:01:00.0 --power-limit=224");
    expect(settingCalls(smi)).toContain("--id=0000:01:00.0 --reset-gpu-clocks");
    expect(JSON.parse(readFileSync(journal, "utf8"))).toMatchObject({ entries: [] });
  },
);

test("a card that cannot be restored is tried again later", async () => {
  const { smi, tuner, again, logged } = nvidia();
  await tuner.apply(1, [{ ...none, bus: 1, powerLimit: 200 }]);
  smi.now({ cards: [card("01")], refuses: { "--power-limit": "Insufficient permissions" } });
  await tuner.restore(1);
  expect(logged).toEqual([
    "The power limit of the graphics card at 0000:01:00.0 was not restored: Insufficient permissions",
  ]);
  smi.now({ cards: [card("01")] });
  await again().recover(new Set());
  expect(settingCalls(smi).at(-1)).toBe("--id=0000:01:00.0 --power-limit=224");
});

test("a restart of the machine resets the cards: an older journal restores nothing", async () => {
  const sysfs = new FakeSysfs();
  const bootId = "proc/sys/kernel/random/boot_id";
  sysfs.write(bootId, "one\n");
  const smi = new FakeNvidiaSmi({ cards: [card("01")] });
  const { tuner, again } = tunerOf(smi.env, sysfs.root);
  await tuner.apply(1, [{ ...none, bus: 1, powerLimit: 200 }]);
  sysfs.write(bootId, "two\n");
  await again().recover(new Set());
  expect(settingCalls(smi)).toHaveLength(1);
});

test("a journal that cannot be read, or names other files, restores nothing and is reported", async () => {
  const { smi, tuner, journal, logged } = nvidia();
  const entry = {
    slot: "0000:01:00.0",
    setting: "fan",
    program: 1,
    undo: [{ file: "../../../etc/passwd", value: "x" }],
  };
  writeFileSync(journal, JSON.stringify({ boot: "", entries: [entry] }));
  await tuner.recover(new Set());
  expect(logged).toEqual([`${journal} cannot be read; no GPU settings are restored`]);
  expect(smi.calls()).toEqual([]);
});
