import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import { pairAgent } from "../../src/cli/pair-agent.ts";
import { minersIn } from "../../src/contract/miners-in.ts";
import type { Input } from "../../src/contract/service.ts";
import { openDemo, type RunningService, startService } from "../../src/service/index.ts";
import { DemoHost, demoHostName, demoProgram } from "../../src/simulator/demo-host.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { caller, configOf } from "../service/bench.ts";
import { noFields } from "../service/hosts/hosts-bench.ts";
import { until } from "../until.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Managed miners and other miners share their ids. */
const id = 1_950_000_001;

/** A demo of one rig and the host, and a real rig that is not added yet. */
async function started(): Promise<{ service: RunningService; store: Store; real: string }> {
  const farm = await startFarm({ rigs: [0, 1].map(() => ({ kind: "axeos", warm: true })) });
  const host = await DemoHost.start({ version: "1.2.3" });
  const store = await openStore({ file: ":memory:", now: Date.now });
  const [rig, real = ""] = farm.rigs.map(({ address }) => address);
  const demo = await openDemo({
    config: configOf({
      groups: [{ name: "Garage" }],
      miners: [{ address: rig, name: "desk" }],
      pools: [{ name: "Cards", url: "stratum+tcp://etc.example.com:4444", worker: "demo", coin: "ETC" }],
    }),
    host: {
      hostname: demoHostName,
      description: "Cards",
      digest: "d",
      group: "Garage",
      pool: "Cards",
      software: demoProgram.software,
      miner: "cards",
    },
    profits: { ETC: 7e-8 },
    over: store,
    hasPast: true,
    now: Date.now,
  });
  const service = await startService({ config: configOf(), store, log: pino({ level: "silent" }), demo });
  ends.push(async () => {
    await service.close();
    await host.close();
    await store.close();
    await farm.close();
  });
  host.connect(id, (agent) => pairAgent(agent, (connection) => service.takeAgent?.("d", connection)));
  await service.pollMiner({ id: 1_900_000_001 }, caller);
  return { service, store, real };
}

/** Waits until the managed miner mines, or has stopped. */
async function mining(service: RunningService, wanted: boolean) {
  const read = async () => (await service.getMiner({ id }, caller)).readings;
  await until(async () => (await read()).mining === wanted, `mining to be ${wanted}`);
  return read();
}

test("the managed miner of the demo mines, can be steered, and its host shows what its cards do", async () => {
  const { service, store } = await started();
  await until(async () => (await mining(service, true)).hashrate !== null, "its program to be read");
  // It was running before: no read shows it as stopped.
  const read = (await service.getHistory({ id, step: 0, from: Date.now() - 60_000 }, caller)).points;
  expect(read.map(([, hashrate]) => hashrate)).not.toContain(0);
  expect(await service.getMiner({ id }, caller)).toMatchObject({ name: "cards", readings: { algorithm: "Etchash" } });
  const [host] = await service.listHosts({}, caller);
  expect(host).toMatchObject({ hostname: demoHostName, agent: { connected: true, report: { cores: 12 } } });
  const cards = async () => (await service.getHostSystemInfo({ id: host?.id ?? 0 }, caller)).gpuStatusList;
  expect((await cards()).map(({ vendor, activity }) => [vendor, activity])).toEqual(Array(4).fill(["amd", 99]));

  const past = async () => (await service.getHistory({ id }, caller)).points.length;
  await until(async () => (await past()) > 100, "its past");
  const money = (await service.getMoney({}, caller)).list.filter((row) => row.id === id);
  expect(money.length).toBeGreaterThan(10);

  await service.minerAction({ id, action: "stop" }, caller);
  expect(await mining(service, false)).toMatchObject({ hashrate: 0 });
  expect(await service.getManagedMiner({ id }, caller)).toMatchObject({ status: "stopped", running: false });
  await service.minerAction({ id, action: "start" }, caller);
  expect((await mining(service, true)).uptime).toBeLessThan(3_000);
  expect(await service.getManagedMiner({ id }, caller)).toMatchObject({ status: "running", running: true });

  // It starts again with the host.
  await service.minerAction({ id, action: "reboot" }, caller);
  const uptime = async () => (await service.getHost({ id: host?.id ?? 0 }, caller)).agent?.report?.uptime ?? null;
  await until(async () => ((await uptime()) ?? Number.POSITIVE_INFINITY) < 3_000, "its host to be back");
  await mining(service, true);

  const { command } = await service.getManagedMinerCommand({ id }, caller);
  expect(command).toEqual(expect.arrayContaining(["ETCHASH", "etc.example.com:4444"]));
  const change = (fields: Partial<Input<"saveManagedMiner">>) =>
    service.saveManagedMiner({ ...noFields, id, ...fields }, caller);
  await expect(change({ softwareType: "TrexMiner", softwareAutoDownload: true })).rejects.toThrow(
    "only its own lolMiner",
  );
  await expect(change({ commandLineParams: "--silence 3" })).rejects.toThrow("takes no parameters");
  await expect(change({ id: 0, hostId: host?.id ?? 0 })).rejects.toThrow("is virtual");
  await change({ description: "cards of the demo" });
  expect((await service.about(caller)).demo).toBe(true);

  const stored = [store.hosts, store.agents, store.managedMiners, store.pools, store.benchmarks];
  expect(stored.map((rows) => rows.all())).toEqual(stored.map(() => []));
});

test("with the first real rig the host leaves with its managed miner, and its agent is no longer connected", async () => {
  const { service, store, real } = await started();
  await mining(service, true);
  await service.addMiner({ address: real, name: "real" }, caller);
  expect(minersIn((await service.listMiners({}, caller)).groupList).map(({ name }) => name)).toEqual(["real"]);
  expect([await service.listHosts({}, caller), await service.listManagedMiners({}, caller)]).toEqual([[], []]);
  expect([await service.listAgents({}, caller), service.knowsAgent?.("d")]).toEqual([[], false]);
  expect(store.hosts.all()).toEqual([]);
});
