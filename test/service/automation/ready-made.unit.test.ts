import { expect, test } from "@jest/globals";
import { readyMadeRules } from "../../../src/catalogue/ready-made-rules.ts";
import { ruleFindings } from "../../../src/config/rule-checks.ts";
import { RuleSettings } from "../../../src/contract/rules.ts";
import { unknownDevice } from "../../../src/link/drivers/shared/board-device.ts";
import { openRuleBench } from "./rule-bench.ts";

/** What every rig but the first does; with 20 rigs no guard holds one of them. */
const miners = 20;
const day = 86_400;
const plain = (_: number | null, text: string): string => text;

const opened = async (use: string, given: object = {}) => openRuleBench({ rules: [{ use, ...given }], miners });

test("every ready-made rule is right by itself, and off until it is used", async () => {
  const none = new Set<string>();
  const known = {
    groups: none,
    miners: none,
    channels: none,
    hooks: none,
    targets: { poolGroups: none, templates: none, rules: none },
  };
  for (const { key, values } of readyMadeRules) {
    const needed = Object.keys(values).filter((name) => values[name] === null);
    const settings = RuleSettings.parse({ use: key, with: Object.fromEntries(needed.map((name) => [name, "Main"])) });
    expect(
      ruleFindings(settings, [], {
        ...known,
        pools: new Set(["Main"]),
        plans: null,
        hasMessages: false,
        programs: false,
        places: null,
        sites: null,
      }),
    ).toEqual([]);
  }
  expect((await openRuleBench({})).automation.engine.rules).toEqual([]);
});

/** A day of a rig that hashes at this share, after an hour at full rate. */
async function dayWith(use: string, share: number) {
  const bench = await opened(use);
  for (let time = bench.clocks.now() - 3_600_000; time < bench.clocks.now(); time += 60_000)
    bench.history.push({ minerId: 1, time, hashrate: 1e12 });
  let wasCured = false;
  await bench.pass(day, 60, () => {
    if (bench.runs.told.length > 0) wasCured = true;
    bench.read(1, { hashrate: 1e12 * share, uptime: 10_000 });
    bench.history.push({ minerId: 1, time: bench.clocks.now(), hashrate: 1e12 * share });
    if (bench.history.length > 90) bench.history.shift();
  });
  return { told: bench.runs.told, wasCured };
}

test.each([
  ["restart-when-hashrate-drops", "action restart, notify all"],
  ["reboot-when-hashrate-stays-low", "action reboot, notify all"],
])("%s cures once in a day of a low hash rate, and nothing in a day of a good one", async (use, steps) => {
  expect((await dayWith(use, 0.4)).told).toEqual([`${use}: 1: ${steps}`]);
  expect((await dayWith(use, 0.9)).told).toEqual([]);
});

test("power-cycle-when-unreachable switches the plug once while a rig stays away, and again when it goes away another day", async () => {
  const bench = await opened("power-cycle-when-unreachable");
  bench.read(1, {});
  bench.read(1, null);
  await bench.pass(day, 60);
  expect(bench.runs.told).toEqual(["power-cycle-when-unreachable: 1: plug cycle, notify all"]);
  await bench.pass(600, 60, () => bench.read(1, {}));
  bench.read(1, null);
  await bench.pass(1_200, 60);
  expect(bench.runs.told).toHaveLength(2);
});

test("a rig that flaps is power-cycled at most twice a day", async () => {
  const bench = await opened("power-cycle-when-unreachable");
  for (let round = 0; round < 24; round += 1) {
    bench.read(1, null);
    await bench.pass(2_400, 60);
    await bench.pass(1_200, 60, () => bench.read(1, {}));
  }
  expect(bench.runs.told).toHaveLength(2);
});

test("sleep-when-too-hot stops a rig once, at the temperature that is given", async () => {
  const bench = await opened("sleep-when-too-hot", { with: { temperature: 80, channel: "phone" } });
  await bench.pass(600, 10, () => bench.read(1, { temperature: 79 }));
  expect(bench.runs.told).toEqual([]);
  await bench.pass(600, 10, () => bench.read(1, { temperature: 81 }));
  await bench.pass(day, 60, () => bench.read(1, { temperature: 40, hashrate: 0 }));
  expect(bench.runs.told).toEqual(["sleep-when-too-hot: 1: action stop, notify phone"]);
});

test("back-to-the-wanted-pool brings a rig back once, and leaves wanted pools and unknown ones alone", async () => {
  const bench = await opened("back-to-the-wanted-pool", { with: { pool: "Main" } });
  await bench.store.pools.add({
    description: "Main",
    coinClass: "",
    coinShortName: "",
    coinAlgorithm: "",
    walletAddress: "",
    url: "stratum+tcp://main.example:3333",
    workerName: "me",
    plainWorkerPassword: "",
  });
  const at = (url: string, worker: string) => ({
    pools: [
      {
        index: 0,
        url,
        worker,
        status: "enabled" as const,
        active: true,
        priority: 0,
        quota: null,
        accepted: null,
        rejected: null,
        stale: null,
        devFee: false,
      },
    ],
  });
  await bench.pass(3_600, 60, () => bench.read(1, {}, at("stratum+tcp://main.example:3333", "me.rig1")));
  await bench.pass(3_600, 60, () => bench.read(1, {}));
  expect(bench.runs.told).toEqual([]);
  await bench.pass(day, 60, () => bench.read(1, {}, at("stratum+tcp://thief.example:3333", "me.rig1")));
  expect(bench.runs.told).toEqual(["back-to-the-wanted-pool: 1: pool Main, notify all"]);
});

test("tell-me-when-down tells once when a rig is down and once when it is back", async () => {
  const bench = await opened("tell-me-when-down");
  bench.read(1, {});
  bench.read(1, null);
  await bench.pass(day, 60);
  await bench.pass(day, 60, () => bench.read(1, {}));
  const texts = bench.runs.requests.map(({ steps, texts: fill = plain }) =>
    fill(1, String(Reflect.get(steps[0] ?? {}, "text"))),
  );
  expect(texts).toEqual(["rig 1 cannot be reached", "rig 1 is back"]);
});

test("daily-summary tells once a day", async () => {
  const bench = await opened("daily-summary");
  for (let id = 1; id <= 19; id += 1) bench.read(id, { hashrate: 1e12, power: 100 });
  bench.read(20, null);
  await bench.pass(3 * day, 60);
  const texts = bench.runs.requests.map(({ steps, minerIds, texts: fill = plain }) => [
    minerIds.length,
    fill(null, String(Reflect.get(steps[0] ?? {}, "text"))),
  ]);
  expect(texts).toEqual(Array.from({ length: 3 }, () => [0, "20 rigs, 1 away: 19.00 TH/s, 1900 W"]));
});

test("new-best-share tells of each share that is better than all before it", async () => {
  const bench = await opened("new-best-share");
  const share = async (bestShare: number) => {
    bench.read(1, { bestShare }, { records: { bestShare, foundBlocks: null } });
    await bench.pass(120, 60);
    return bench.runs.told.length;
  };
  expect([await share(100), await share(100), await share(250), await share(250), await share(300)]).toEqual([
    0, 0, 1, 1, 2,
  ]);
});

const silent = { code: "program" as const, text: "Its API does not answer", since: 0 };

test("restart-when-program-is-silent restarts a program whose API is silent, gives up and says so", async () => {
  const bench = await opened("restart-when-program-is-silent");
  await bench.pass(110, 10, () => bench.read(1, { hashrate: null }, { reason: silent }));
  expect(bench.runs.told).toEqual([]);
  await bench.pass(day, 60, () => bench.read(1, { hashrate: null }, { reason: silent }));
  expect(bench.runs.told).toEqual([
    ...Array.from({ length: 5 }, () => "restart-when-program-is-silent: 1: action restart"),
    "restart-when-program-is-silent: 1: notify all",
  ]);
  // Away is not silent: its host may be off.
  const other = await opened("restart-when-program-is-silent");
  other.read(1, {});
  other.read(1, null);
  await other.pass(3_600, 60);
  expect(other.runs.told).toEqual([]);
});

test("restart-when-hashrate-is-low leaves a program alone while it warms up, and one that hashes as expected", async () => {
  const low = { hashrate: 50e6, hashrateExpected: 100e6 };
  const bench = await opened("restart-when-hashrate-is-low", { with: { warmUp: 600 } });
  await bench.pass(3_600, 60, () => bench.read(1, { ...low, uptime: 590 }));
  await bench.pass(3_600, 60, () => bench.read(1, { ...low, hashrate: 81e6, uptime: 5_000 }));
  await bench.pass(3_600, 60, () => bench.read(1, { ...low, hashrateExpected: null, uptime: 5_000 }));
  expect(bench.runs.told).toEqual([]);
  await bench.pass(420, 60, () => bench.read(1, { ...low, uptime: 5_000 }));
  expect(bench.runs.told).toEqual(["restart-when-hashrate-is-low: 1: action restart"]);
});

test("a lost graphics card restarts mining, then reboots the host as often a day as allowed", async () => {
  const rules = [{ use: "restart-when-gpu-is-lost" }, { use: "reboot-when-gpu-is-lost", with: { rebootsPerDay: 1 } }];
  const bench = await openRuleBench({ rules, miners });
  const dead = {
    ...unknownDevice,
    kind: "gpu" as const,
    name: "GPU 0",
    status: "dead" as const,
    bus: 1,
  };
  const sick = async (hours: number) => bench.pass(hours * 3_600, 60, () => bench.read(1, {}, { devices: [dead] }));
  await sick(10);
  await bench.pass(3_600, 60, () => bench.read(1, {}, { devices: [{ ...dead, status: "enabled" }] }));
  await sick(10);
  const told = bench.runs.told.map((each) => each.split(": ").at(-1));
  expect(told.filter((each) => each === "action restart")).toHaveLength(6);
  expect(told.filter((each) => each === "action reboot, notify all")).toHaveLength(1);
});

test("pause-when-too-hot stops a rig until it has cooled down", async () => {
  const bench = await opened("pause-when-too-hot");
  await bench.pass(120, 10, () => bench.read(1, { temperature: 86 }));
  await bench.pass(600, 10, () => bench.read(1, { temperature: 70, hashrate: 0 }));
  expect(bench.runs.told).toEqual(["pause-when-too-hot: 1: action stop"]);
  await bench.pass(120, 10, () => bench.read(1, { temperature: 60, hashrate: 0 }));
  expect(bench.runs.told).toEqual(["pause-when-too-hot: 1: action stop", "pause-when-too-hot: 1: action start"]);
});
