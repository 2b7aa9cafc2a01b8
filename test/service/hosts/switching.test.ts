import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import type { Input } from "../../../src/contract/service.ts";
import { problem, refusal } from "../../errors.ts";
import { onTestFinished } from "../../finished.ts";
import { until } from "../../until.ts";
import { caller, closeBenches } from "../bench.ts";
import type { AgentDouble } from "./agent-double.ts";
import { openHosts, pools } from "./hosts-bench.ts";

afterEach(closeBenches);

const raptor = { name: "raptor", url: "stratum+tcp://rtm.example.com:3333", coin: "RTM", wallet: "RInvented" };
const choices = [
  { algorithm: "randomx", poolId: 1 },
  { algorithm: "ghostrider", poolId: 4 },
];
type Body = Input<"saveManagedMiner">;
const switching = (more: object = {}): Body["switching"] => ({
  mode: "profit",
  hysteresis: 5,
  minimumStay: 1800,
  choices: choices.map((choice) => ({ ...choice, isPoolGroup: false, softwareType: "" })),
  ...more,
});

/** XMRig's API, as far as the driver asks: it mines what its command line said, at a rate of its own for each algorithm. */
async function miningProgram(
  rates: Readonly<Record<string, number>>,
  clock: () => number,
  agent: () => AgentDouble | undefined,
) {
  let [starts, startedAt] = [0, 0];
  const server = createServer((request, response) => {
    const program = agent()?.programs[0];
    const now = agent()?.states.get(1)?.starts ?? 0;
    if (now !== starts) [starts, startedAt] = [now, clock()];
    const algo = program?.algorithm ?? null;
    const rate = rates[algo ?? ""] ?? 0;
    const hashrate = [rate, rate, rate];
    const summary = {
      id: "1",
      worker_id: "rig",
      uptime: (clock() - startedAt) / 1000,
      restricted: true,
      kind: "miner",
      algo,
      version: "6.26.0",
      ua: "XMRig/6.26.0",
      paused: false,
      cpu: { brand: "Invented CPU", threads: 8, cores: 4 },
      hashrate: { total: hashrate, highest: rate },
      results: { shares_good: 1, shares_total: 1, hashes_total: 1 },
      connection: { pool: "xmr.example.com:3333", algo, accepted: 1, rejected: 0, uptime: 10 },
    };
    const backends = [{ type: "cpu", enabled: true, algo, hashrate, threads: [] }];
    const body = request.url === "/2/summary" ? summary : request.url === "/2/backends" ? backends : null;
    response.writeHead(body === null ? 403 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { status: 403, error: "FORBIDDEN" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { port, token: null };
}

/** A managed miner with choices, whose time passes when a test says so. */
async function switched(rates: Readonly<Record<string, number>>, body: Partial<Body>, running = true) {
  let now = Date.UTC(2026, 2, 2);
  const clock = () => now;
  let turn = async (): Promise<void> => undefined;
  let agent: AgentDouble | undefined;
  const hosts = await openHosts({
    clock,
    monotonicNow: clock,
    switchingTurns: (work) => {
      turn = work;
      return () => undefined;
    },
    config: { pools: [...pools, raptor], rates: { btc: 100_000 }, electricity: { price: 0.1 } },
  });
  const { bench } = hosts;
  const api = await miningProgram(rates, clock, () => agent);
  await hosts.manage({ algorithm: "randomx", ...body });
  agent = await hosts.agent({ api: () => api, now: clock });
  if (running) await bench.act(1, { action: "start" });
  const pass = async (minutes: number) => {
    for (let passed = 0; passed < minutes * 60; passed += 15) {
      now += 15_000;
      await bench.poll(1);
      await turn();
      const wanted = bench.store.managedMiners.get(1)?.algorithm;
      await until(() => agent?.programs[0]?.algorithm === wanted, "the agent to get the program");
    }
  };
  const earns = (shortName: string, profit: number) =>
    bench.service.saveCoin(
      { shortName, profit, name: undefined, algorithm: undefined, difficulty: undefined, reward: undefined },
      caller,
    );
  const state = () => bench.service.getManagedMinerSwitching({ id: 1 }, caller);
  const mines = () => agent?.programs[0]?.algorithm;
  return { ...hosts, pass, earns, state, mines, turn: () => turn() };
}

test("each choice is measured once, then the best is mined; a better one waits for the minimum stay", async () => {
  const { bench, pass, earns, state, mines } = await switched(
    { randomx: 10_000, ghostrider: 2_000 },
    { switching: switching() },
  );
  await earns("XMR", 1e-3);
  await earns("RTM", 1e-2);
  await pass(6);
  expect(await bench.service.listBenchmarks({}, caller)).toMatchObject([
    { model: "Invented CPU", software: "XmrigMiner", algorithm: "randomx", hashrate: 10_000, power: null },
  ]);
  expect([mines(), (await state()).measuring]).toEqual(["ghostrider", true]);
  await pass(7);
  expect(await bench.service.listBenchmarks({}, caller)).toHaveLength(2);
  // 2 kH/s at 0.01 BTC per MH/s are 2 a day, 10 kH/s at 0.001 BTC are 1.
  // The power of a processor is unknown, so they are compared by that, and what is left is unknown.
  expect(await state()).toMatchObject({
    choice: 1,
    measuring: false,
    why: "it earns most",
    options: [
      { algorithm: "randomx", hashrate: 10_000, revenue: 1, cost: null, profit: null },
      { algorithm: "ghostrider", hashrate: 2_000, revenue: 2, cost: null, profit: null },
    ],
  });
  await earns("XMR", 5e-3);
  await pass(2);
  expect([mines(), (await state()).why]).toEqual(["ghostrider", expect.stringContaining("but it stays for")]);
  await pass(30);
  expect([mines(), (await state()).choice]).toEqual(["randomx", 0]);
  const [program] = await bench.service.listManagedMiners({}, caller);
  expect(program).toMatchObject({ algorithm: "randomx", poolId: 1 });
  // What is known is not measured again, also after a restart of the service.
  await pass(10);
  expect(await bench.service.listBenchmarks({}, caller)).toHaveLength(2);
});

test("a measured rate is the expected one, which watchdog rules compare with", async () => {
  const { bench, pass } = await switched({ randomx: 10_000 }, {});
  expect((await bench.poll(1)).readings.hashrateExpected).toBeNull();
  await pass(6);
  expect((await bench.poll(1)).readings).toMatchObject({ hashrate: 10_000, hashrateExpected: 10_000 });
  const [benchmark] = await bench.service.listBenchmarks({}, caller);
  await bench.service.deleteBenchmark({ id: benchmark?.id ?? 0 }, caller);
  expect((await bench.poll(1)).readings.hashrateExpected).toBeNull();
});

test("a choice that cannot be measured is left out for a day", async () => {
  const { pass, earns, state, mines } = await switched({ randomx: 10_000, ghostrider: 0 }, { switching: switching() });
  await earns("XMR", 1e-3);
  await earns("RTM", 1);
  await pass(6);
  expect(mines()).toBe("ghostrider");
  await pass(18);
  expect(mines()).toBe("ghostrider");
  await pass(3);
  expect([mines(), (await state()).choice, (await state()).measuring]).toEqual(["randomx", 0, false]);
  await pass(60);
  expect(mines()).toBe("randomx");
});

test("a managed miner that is stopped is neither measured nor switched", async () => {
  const { pass, state, mines } = await switched({ randomx: 1, ghostrider: 1 }, { switching: switching() }, false);
  await pass(30);
  expect([mines(), (await state()).why]).toEqual(["randomx", "it is stopped"]);
});

test("a fault with one managed miner does not hold up the next", async () => {
  const { bench, pass, manage } = await switched(
    { randomx: 10_000, ghostrider: 2_000 },
    { poolId: 2, switching: switching() },
  );
  await manage({ algorithm: "randomx", switching: switching() });
  await bench.act(2, { action: "start" });
  const { managedMiners } = bench.store;
  const change = managedMiners.change.bind(managedMiners);
  managedMiners.change = (id, patch) => (id === 1 ? Promise.reject(new Error("an invented fault")) : change(id, patch));
  await bench.poll(2);
  await pass(0.25);
  const second = await bench.service.getManagedMinerSwitching({ id: 2 }, caller);
  expect([second.why, second.measuring]).toEqual(["this choice is being measured", true]);
});

test("nothing is kept of a managed miner that is gone", async () => {
  const { bench, pass, earns, state, turn } = await switched(
    { randomx: 10_000, ghostrider: 0 },
    { switching: switching() },
  );
  await earns("XMR", 1e-3);
  await pass(1);
  expect((await state()).why).toBe("this choice is being measured");
  const { managedMiners } = bench.store;
  const all = managedMiners.all.bind(managedMiners);
  managedMiners.all = () => [];
  await turn();
  managedMiners.all = all;
  expect([(await state()).why, (await state()).measuring]).toEqual(["no choice has been made yet", false]);
});

test("every mistake of the choices is named, and the stored miner stays", async () => {
  const { bench, manage } = await switched({ randomx: 1 }, { switching: switching() }, false);
  const bad = switching({
    choices: [
      { algorithm: "ghostrider", poolId: 1, isPoolGroup: false, softwareType: "" },
      { algorithm: "nothing", poolId: 99, isPoolGroup: false, softwareType: "NoMiner" },
    ],
  });
  const { errors } = await problem(manage({ id: 1, switching: bad }));
  expect(errors.map(({ path }) => path)).toEqual([
    "switching.choices[0].poolId",
    "switching.choices[1].poolId",
    "switching.choices[1].softwareType",
    "switching.choices[1].algorithm",
  ]);
  expect(bench.store.managedMiners.get(1)?.switching).toEqual(switching());
  expect(await refusal(manage({ id: 1, dualAlgorithm: "ghostrider" }))).toMatch(/^input.invalid .*switching/);
  await manage({ id: 1, switching: null });
  expect(bench.store.managedMiners.get(1)?.switching).toBeNull();
});
