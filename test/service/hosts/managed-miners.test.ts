import { afterEach, describe, expect, test } from "@jest/globals";
import type { Program, ProgramState } from "../../../src/contract/agent.ts";
import type { ManagedMiner } from "../../../src/contract/resources.ts";
import { problem, refusal } from "../../errors.ts";
import { until } from "../../until.ts";
import { type Bench, caller, closeBenches } from "../bench.ts";
import { gpu } from "./agent-double.ts";
import { apiAt, noFields, openHosts, pools, programToken, xmrigRig } from "./hosts-bench.ts";

afterEach(closeBenches);

const status = async (bench: Bench, id = 1) => (await bench.get(id)).statusInfo.statusDisplay;
const shows = (bench: Bench, wanted: string, id = 1) =>
  until(async () => (await status(bench, id)) === wanted, `the miner to be ${wanted}`);
const managedMiner = (bench: Bench, id = 1): Promise<ManagedMiner> => bench.service.getManagedMiner({ id }, caller);

/** A managed miner that mines. */
async function mining(options: Parameters<typeof openHosts>[0] = {}) {
  const hosts = await openHosts({ rigs: [xmrigRig], ...options });
  // First, as a miner that misses its first read is read again soon.
  const agent = await hosts.agent();
  await hosts.manage();
  await shows(hosts.bench, "Stopped");
  await hosts.bench.act(1, { action: "start" });
  await shows(hosts.bench, "Mining");
  return { hosts, bench: hosts.bench, manage: hosts.manage, agent };
}

describe("a managed miner", () => {
  test("is a real one: the demo leaves with the first", async () => {
    let left = 0;
    const demo = [{ address: "127.0.0.1:9", name: "demo" }];
    const { bench, manage } = await openHosts({ rigs: [xmrigRig], demo, demoLeft: () => (left += 1) });
    await manage();
    await manage();
    const { groupList } = await bench.service.listMiners({}, caller);
    expect(groupList.flatMap(({ minerList }) => minerList.map(({ id }) => id))).toEqual([1, 2]);
    expect([left, (await bench.service.about(caller)).demo]).toEqual([1, false]);
  });

  test("is a miner with its own id and name, stopped until somebody starts it", async () => {
    const { bench, manage, agent } = await openHosts({ rigs: [xmrigRig] });
    const saved = await manage({ description: "attic" });
    expect(saved).toMatchObject({ id: 1, uid: "rig-3-m1", running: false, status: null, groupId: 0 });
    const double = await agent();
    await shows(bench, "Stopped");
    expect(double.programs).toEqual([
      expect.objectContaining({ id: 1, software: "XmrigMiner", algorithm: "randomx", running: false }),
    ]);
    const miner = await bench.get(1);
    expect(miner).toMatchObject({ id: 1, uid: "rig-3-m1", name: "attic", hostname: "rig-3", canStart: true });
    const { groupList } = await bench.service.listMiners({}, caller);
    expect(groupList.flatMap(({ minerList }) => minerList.map(({ id }) => id))).toEqual([1]);
    expect((await bench.service.getSummary({}, caller)).totalCount).toBe(1);
  });

  test("is read through its agent once it runs, and its program gets its pool", async () => {
    const { bench, agent } = await mining();
    const [program] = agent.programs;
    expect(program).toMatchObject({
      running: true,
      pools: [
        { url: "stratum+tcp://xmr.example.com:3333", wallet: "4Invented", worker: "rig", password: "hidden-word" },
      ],
      files: { from: "path", path: "/opt/xmrig" },
    } satisfies Partial<Program>);
    const { readings } = await bench.get(1);
    expect(readings.hashrate).toBeGreaterThan(0);
    expect([readings.mining, readings.algorithm]).toEqual([true, expect.any(String)]);
    expect(await managedMiner(bench)).toMatchObject({ running: true, status: "running", note: null });
  });

  test("is stopped, started and restarted by the agent, and the host reboots only if allowed", async () => {
    const { bench, agent } = await mining();
    expect(await bench.act(1, { action: "stop" })).toMatchObject({ success: true, state: "done" });
    expect([await status(bench), (await managedMiner(bench)).running]).toEqual(["Stopped", false]);
    expect(await refusal(bench.act(1, { action: "stop" }))).toBe("not.possible");
    await bench.act(1, { action: "start" });
    await bench.act(1, { action: "restart" });
    expect(agent.received.map(({ t }) => t).filter((t) => ["start", "stop", "restart"].includes(t))).toEqual([
      "start",
      "stop",
      "start",
      "restart",
    ]);
    expect(agent.states.get(1)?.starts).toBeGreaterThan(2);
    await bench.act(1, { action: "reboot" });
    expect(agent.received.at(-1)?.t === "reboot" || agent.received.some(({ t }) => t === "reboot")).toBe(true);
  });

  test("has no reboot where the agent's own configuration forbids it", async () => {
    const { bench, manage, agent } = await openHosts({ rigs: [xmrigRig] });
    await manage();
    const double = await agent({ permissions: { reboot: false } });
    await shows(bench, "Stopped");
    expect((await bench.get(1)).canReboot).toBe(false);
    expect(await refusal(bench.act(1, { action: "reboot" }))).toBe("control.absent");
    expect(double.received.some(({ t }) => t === "reboot")).toBe(false);
  });

  test("is disconnected once its agent has been away for a moment, and is as it was when the agent is back", async () => {
    const { bench, agent, hosts } = await mining({ agentGraceMs: 1_500 });
    agent.cut();
    await until(async () => (await bench.get(1)).readings.stale, "the readings to be stale");
    // Reads are an hour apart here: a lost connection alone leads to this.
    await shows(bench, "Disconnected");
    expect(await bench.notifications()).toEqual([expect.stringContaining("is not connected")]);
    expect(await problem(bench.act(1, { action: "stop" }))).toMatchObject({
      code: "rig.unreachable",
      message: "The agent of the host rig-3 is not connected",
    });
    await hosts.agent({ programs: [...agent.states.values()] });
    await shows(bench, "Mining");
  });

  test("is not disconnected by an agent that connects again within a moment", async () => {
    const { bench, agent, hosts } = await mining({ agentGraceMs: 3_600_000 });
    agent.cut();
    await until(async () => (await bench.get(1)).readings.stale, "the readings to be stale");
    const second = await hosts.agent({ programs: [...agent.states.values()] });
    await until(async () => !(await bench.get(1)).readings.stale, "a read");
    second.cut();
    await until(async () => (await bench.get(1)).readings.stale, "the readings to be stale again");
    expect([await status(bench), await bench.notifications()]).toEqual(["Mining", []]);
    await hosts.agent({ programs: [...agent.states.values()] });
    // Without its token it cannot come back, so nothing waits for it.
    await bench.service.deleteAgent({ id: hosts.tokenId }, caller);
    await shows(bench, "Disconnected");
  });

  test("of a host whose agent never connects is disconnected, also after a restart of the service", async () => {
    const { bench, manage, restart } = await openHosts({ agentGraceMs: 500 });
    await manage({ poolId: 0, isPoolGroup: false });
    // Reads are an hour apart here: that the agent is away is known without them.
    await shows(bench, "Disconnected");
    await restart();
    await shows(bench, "Disconnected");
  });

  test("goes on as it was after a restart of the service", async () => {
    const { bench, agent, hosts } = await mining();
    await hosts.restart();
    await until(() => agent.ended !== null, "the agent to lose its connection");
    await hosts.agent({ programs: [...agent.states.values()] });
    await shows(bench, "Mining");
    expect((await bench.get(1)).uid).toBe("rig-3-m1");
  });

  test("keeps its id, its uid and its name in the audit over a change of software", async () => {
    const { bench, manage } = await mining();
    const { uid } = await bench.get(1);
    await manage({ id: 1, softwareType: "VerthashMiner", algorithm: "verthash", poolId: 0 });
    await until(async () => (await bench.get(1)).readings.hashrate === null || true, "a read");
    expect((await bench.get(1)).uid).toBe(uid);
    expect((await bench.commands(1)).map(({ action }) => action)).toContain("start");
  });

  test("shows its host's figures of the GPUs that its program reports without them", async () => {
    const { bench, manage, agent } = await openHosts();
    await manage({ softwareType: "VerthashMiner", algorithm: "verthash", poolId: 0 });
    await agent({ gpus: [gpu(0, 1, { temperature: 61, power: 120 })] });
    const { gpuStatusList, stale } = await bench.service.getHostSystemInfo({ id: 1 }, caller);
    expect(gpuStatusList).toMatchObject([{ id: 0, vendorId: 0, pciBusId: 1, temperature: 61, power: 120 }]);
    expect(stale).toBe(false);
  });

  test("that was given up is notified of with its last lines, until it runs again", async () => {
    const { bench, agent } = await mining();
    agent.change(1, {
      status: "failed",
      message: "It ended 5 times within 60 s",
      lastLines: ["CUDA error 999"],
      apiPort: null,
    });
    await until(async () => (await bench.notifications()).length > 0, "a notification");
    expect(await bench.notifications()).toEqual([
      expect.stringMatching(/^Given up: It ended 5 times.*CUDA error 999/s),
    ]);
    await shows(bench, "Stopped");
    expect((await bench.get(1)).readings.reason?.text).toBe("It ended 5 times within 60 s");
    await bench.act(1, { action: "start" });
    await shows(bench, "Mining");
    const { notificationList } = await bench.service.listNotifications({}, caller);
    expect(notificationList.find(({ title }) => title === "Given up")?.closedUtc).not.toBeNull();
  });

  test("that was given up is still to run until it is stopped, and stays stopped then", async () => {
    const { bench, agent, hosts, manage } = await mining();
    const failed = {
      status: "failed" as const,
      message: "It ended 5 times",
      lastLines: ["no"],
      apiPort: null,
    } satisfies Partial<ProgramState>;
    const isGivenUp = async () =>
      (await managedMiner(bench)).status === "failed" && (await status(bench)) === "Stopped";
    agent.change(1, failed);
    await until(isGivenUp, "the miner to be given up");
    expect(await bench.get(1)).toMatchObject({ canStart: true, canStop: true, canRestart: false, isRunning: false });
    expect((await managedMiner(bench)).running).toBe(true);
    await hosts.restart();
    await until(() => agent.ended !== null, "the agent to lose its connection");
    const next = await hosts.agent({ programs: [...agent.states.values()], keepsFailed: true });
    await until(isGivenUp, "the miner to be as it was");
    expect(await bench.act(1, { action: "stop" })).toMatchObject({ success: true, state: "done" });
    expect(await managedMiner(bench)).toMatchObject({ running: false, status: "stopped", note: null });
    expect((await bench.get(1)).readings.reason).toMatchObject({ code: "user" });
    expect(await refusal(bench.act(1, { action: "stop" }))).toBe("not.possible");
    const { notificationList } = await bench.service.listNotifications({}, caller);
    expect(notificationList.filter(({ closedUtc }) => closedUtc === null)).toEqual([]);
    await manage({ id: 1, commandLineParams: "--threads 2" });
    await until(() => next.programs[0]?.parameters === "--threads 2", "the agent to get the change");
    expect(next.states.get(1)?.status).toBe("stopped");
  });

  test("is not changed or removed as a miner, and its API's address is known", async () => {
    const { bench, hosts } = await mining();
    expect(await problem(bench.service.deleteMiner({ id: 1 }, caller))).toMatchObject({ code: "not.possible" });
    const change = { id: 1, name: "x" } as const;
    expect(await problem(bench.service.changeMiner(change, caller))).toMatchObject({ code: "not.possible" });
    const port = bench.rig(0).address.split(":").at(-1);
    const added = await problem(bench.service.addMiner({ address: `rig-3:${port}` }, caller));
    expect([added.code, added.message]).toEqual([
      "address.known",
      expect.stringContaining("is already the address of miner 1"),
    ]);
    await bench.service.deleteManagedMiner({ id: 1 }, caller);
    expect(await refusal(bench.get(1))).toBe("not.found");
    await bench.service.deleteHost({ id: hosts.hostId }, caller);
  });

  test("of an earlier release is stopped", async () => {
    const { bench, agent, restart } = await openHosts({ rigs: [xmrigRig] });
    const { groupId, running, addedPools, gpuSettings, idle, ...earlier } = {
      ...(await bench.service.saveManagedMiner({ ...noFields, hostId: 1, poolId: 1 }, caller)),
    };
    expect([groupId, running, addedPools, gpuSettings, idle]).toEqual([0, false, [], [], null]);
    expect(earlier.note).toContain("a mining program");
    await restart();
    const double = await agent();
    expect(double.programs).toEqual([]);
    await shows(bench, "Stopped");
    expect(await problem(bench.act(1, { action: "start" }))).toMatchObject({
      message: expect.stringContaining("It cannot run without a mining program"),
    });
  });
});

describe("the pools of a managed miner", () => {
  test("are changed and added to with its program, which is started anew", async () => {
    const { bench, agent } = await mining();
    await bench.act(1, { action: "add_pool", pool_id: 2, pool_type: "single" });
    await until(() => agent.programs[0]?.pools.length === 2, "the program to get the pool");
    expect(agent.programs[0]?.pools.map(({ url }) => url)).toEqual([
      "stratum+tcp://xmr.example.com:3333",
      "stratum+tcp://spare.example.com:3333",
    ]);
    expect(await managedMiner(bench)).toMatchObject({ poolId: 1, addedPools: [2] });
    const { starts } = agent.states.get(1) ?? { starts: 0 };
    expect(starts).toBeGreaterThan(1);
    await bench.act(1, { action: "stop" });
    await bench.act(1, { action: "change_pool", pool_id: 2, pool_type: "single" });
    expect(agent.programs[0]?.pools.map(({ url }) => url)).toEqual(["stratum+tcp://spare.example.com:3333"]);
    expect(await managedMiner(bench)).toMatchObject({ poolId: 2, addedPools: [], running: false });
  });

  test("of another coin are refused", async () => {
    const { bench, manage } = await mining();
    expect(await problem(bench.act(1, { action: "change_pool", pool_id: 3, pool_type: "single" }))).toMatchObject({
      code: "not.possible",
      message: "The pool bitcoin pays for sha256, not for randomx",
    });
    expect(await problem(manage({ id: 1, poolId: 3 }))).toMatchObject({
      code: "input.invalid",
      errors: [{ path: "poolId", message: "the pool bitcoin pays for sha256, not for randomx" }],
    });
    expect((await managedMiner(bench)).poolId).toBe(1);
  });

  test("reach its program when their definition changes", async () => {
    const { bench, agent, manage } = await openHosts();
    const url = "stratum+tcp://own.example.com:1";
    const pool = { ...noPool, id: 0, url, coinShortName: "XMR" };
    const { id: poolId } = await bench.service.savePool(pool, caller);
    await manage({ poolId });
    const double = await agent();
    expect(double.programs[0]?.pools).toMatchObject([{ url, password: "" }]);
    await bench.service.savePool({ ...noPool, id: poolId, plainWorkerPassword: "new-word" }, caller);
    await until(() => double.programs[0]?.pools[0]?.password === "new-word", "the agent to get the password");
  });
});

const noPool = {
  coinClass: undefined,
  description: undefined,
  coinShortName: undefined,
  coinAlgorithm: undefined,
  workerName: undefined,
  walletAddress: undefined,
  plainWorkerPassword: undefined,
};

describe("what cannot run", () => {
  test("is refused with every mistake, and what was stored stays", async () => {
    const { bench, manage } = await openHosts();
    await manage();
    const stored = await managedMiner(bench);
    const wrong: Parameters<typeof manage>[0][] = [
      { hostId: 9, poolId: 9, softwareType: "no" },
      { algorithm: "nonsense" },
      { algorithm: "sha256" },
      { dualAlgorithm: "kheavyhash" },
    ];
    const refusals = await Promise.all(wrong.map((fields) => refusal(manage({ id: 1, ...fields }))));
    expect(refusals).toEqual([
      "input.invalid hostId poolId softwareType",
      "input.invalid algorithm",
      "input.invalid algorithm poolId",
      "input.invalid dualAlgorithm",
    ]);
    expect(await managedMiner(bench)).toEqual(stored);
  });

  test("is refused by its host, as a path that is no program there", async () => {
    const { bench, manage, agent } = await openHosts();
    await agent({
      refuses: ({ files }) =>
        files.from === "path" && files.path === "/bin/sh"
          ? { code: "input.invalid", message: "/bin/sh is outside the folders that the agent's configuration allows" }
          : null,
    });
    expect(await problem(manage({ softwarePath: "/bin/sh" }))).toMatchObject({
      code: "input.invalid",
      message: "/bin/sh is outside the folders that the agent's configuration allows",
    });
    expect(await bench.service.listManagedMiners({}, caller)).toEqual([]);
    expect((await manage()).id).toBe(1);
  });

  test("without a known download names softwarePath", async () => {
    const { bench, manage, agent } = await openHosts();
    await manage({
      softwareType: "ClaymoreEthereum",
      algorithm: "ethash",
      poolId: 0,
      softwareAutoDownload: true,
      softwarePath: "",
    });
    await bench.service.savePool({ ...noPool, id: 0, url: "stratum+tcp://eth.example.com:1" }, caller);
    await manage({
      id: 1,
      softwareType: "ClaymoreEthereum",
      algorithm: "ethash",
      poolId: 4,
      softwareAutoDownload: true,
    });
    await agent();
    const started = await problem(bench.act(1, { action: "start" }));
    expect([started.code, started.status, started.message]).toEqual([
      "no.download",
      409,
      expect.stringContaining("softwarePath"),
    ]);
    expect(await refusal(bench.service.getManagedMinerCommand({ id: 1 }, caller))).toBe("no.download");
    expect((await managedMiner(bench)).running).toBe(false);
  });

  test("is not left to run when the agent refuses to start it", async () => {
    const { bench, manage, agent } = await openHosts({ rigs: [xmrigRig] });
    await manage();
    const double = await agent({ refusesStart: "The port 4067 is taken" });
    await shows(bench, "Stopped");
    expect(await problem(bench.act(1, { action: "start" }))).toMatchObject({
      code: "rig.refused",
      message: "The port 4067 is taken",
    });
    expect((await managedMiner(bench)).running).toBe(false);
    await until(() => double.programs[0]?.running === false, "the agent to be told");
  });

  test("shows the command line as the agent builds it", async () => {
    const { bench, manage, agent } = await openHosts();
    await manage();
    const command = () => bench.service.getManagedMinerCommand({ id: 1 }, caller);
    expect(await problem(command())).toMatchObject({ code: "host.away", status: 504 });
    await agent();
    expect(await command()).toEqual({ command: ["/opt/program", "randomx", "***"] });
  });
});

describe("a download", () => {
  const sha256 = "a".repeat(64);

  test("without a known sum runs only once an administrator has confirmed it, then for every host", async () => {
    const { bench, manage, agent } = await openHosts({ rigs: [xmrigRig] });
    await manage({ softwareAutoDownload: true, softwarePath: "" });
    const double = await agent();
    const { files } = double.programs[0] ?? {};
    if (files?.from !== "download") throw new Error("it is not downloaded");
    expect(files.sha256).toBeNull();
    const download = { url: files.url, bytes: 4_000_000, sha256 };
    double.change(1, { status: "confirming", download });
    await until(async () => (await bench.notifications()).length === 1, "a notification");
    const shown = () => bench.service.getManagedMinerDownload({ id: 1 }, caller);
    expect(await shown()).toEqual({ state: "confirming", ...download });
    const confirm = (sum: string) => bench.service.confirmManagedMinerDownload({ id: 1, sha256: sum }, caller);
    expect(await problem(confirm("b".repeat(64)))).toMatchObject({ code: "input.invalid" });
    expect(double.programs[0]?.files).toMatchObject({ sha256: null });
    await confirm(sha256);
    expect(double.programs[0]?.files).toMatchObject({ sha256 });
    expect((await shown()).state).toBe("done");
    expect(await refusal(confirm(sha256))).toBe("nothing.to.do");
  });
});

describe("groups", () => {
  test("show their hosts and managed miners to those who see them", async () => {
    const { bench, manage } = await openHosts({
      config: {
        groups: [{ name: "attic" }, { name: "cellar" }],
        users: [{ name: "anna", groups: ["attic"], privilege: "control" }],
      },
    });
    const anna = { ...caller, userId: (await bench.service.getUser({ username: "anna" }, caller)).userId };
    await manage({ poolId: 0, commandLineParams: "--secret" });
    const seen = async () => [
      (await bench.service.listHosts({}, anna)).length,
      (await bench.service.listManagedMiners({}, anna)).length,
      (await bench.service.listMiners({}, anna)).groupList.flatMap(({ minerList }) => minerList).length,
    ];
    expect(await seen()).toEqual([0, 0, 0]);
    await bench.service.saveHost({ id: 1, groupId: "attic", hostname: undefined, description: undefined }, caller);
    expect(await seen()).toEqual([1, 1, 1]);
    expect((await bench.service.getManagedMiner({ id: 1 }, anna)).commandLineParams).toBe("");
    await manage({ id: 1, poolId: 0, groupId: "cellar" });
    expect(await seen()).toEqual([1, 0, 0]);
    expect(await refusal(bench.service.saveManagedMiner({ ...noFields, id: 1 }, anna))).toBe("user.forbidden");
    expect(await refusal(bench.service.addAgent({ hostId: 1 }, anna))).toBe("user.forbidden");
  });
});

test("a host without an agent has no list of GPUs, one whose agent is away its last", async () => {
  const { bench, tokenId, agent, restart } = await openHosts();
  const info = () => bench.service.getHostSystemInfo({ id: 1 }, caller);
  expect(await problem(info())).toMatchObject({ code: "host.no.agent", status: 409 });
  const double = await agent({ gpus: [gpu(0, 1), gpu(1, 2, { temperature: 70 })] });
  expect((await info()).gpuStatusList.map(({ pciBusId }) => pciBusId)).toEqual([1, 2]);
  double.cut();
  await until(async () => (await info()).stale, "the list to be stale");
  expect((await info()).gpuStatusList).toMatchObject([{}, { temperature: 70 }]);
  await restart();
  expect(await info()).toMatchObject({ stale: true, gpuStatusList: [{ pciBusId: 1 }, { temperature: null }] });
  await bench.service.deleteAgent({ id: tokenId }, caller);
  expect(await problem(info())).toMatchObject({ code: "host.no.agent", status: 409 });
});

test("no answer shows the token of a program's API or the password of its pool", async () => {
  const { bench } = await mining();
  const { service } = bench;
  const answers = await Promise.all([
    service.getMiner({ id: 1 }, caller),
    service.listManagedMiners({}, caller),
    service.listHosts({}, caller),
    service.listCommands({}, caller),
    service.listNotifications({}, caller),
  ]);
  for (const secret of [programToken, "hidden-word"]) expect(JSON.stringify(answers)).not.toContain(secret);
});

describe("a template", () => {
  test("sets the software of a managed miner, and leaves that of other miners", async () => {
    const { bench, manage, agent } = await openHosts({ rigs: [xmrigRig] });
    await manage({ poolId: 0 });
    const double = await agent();
    const { id } = await bench.service.saveManagedTemplate(
      { id: 0, name: "Night", algorithm: "rx/wow", commandLineParams: "--threads 2" },
      caller,
    );
    const other = await bench.add(bench.rig(0).address, { driver: "xmrig", token: programToken });
    await bench.act(1, { action: "apply_template", template_id: id });
    expect(await managedMiner(bench)).toMatchObject({
      softwareType: "XmrigMiner",
      algorithm: "rx/wow",
      commandLineParams: "--threads 2",
    });
    const applied = await bench.act(other, { action: "apply_template", template_id: id });
    expect(applied.message).toContain("It is not a managed miner");
    await manage({ id: 1, poolId: 1, algorithm: "randomx" });
    expect(await problem(bench.act(1, { action: "apply_template", template_id: id }))).toMatchObject({
      message: expect.stringContaining("the pool monero pays for randomx"),
    });
    expect(double.received.some(({ t }) => t === "start")).toBe(false);
  });
});

test.each([
  ["TrexMiner", "kawpow", { kind: "trex" }],
  ["CcMiner", "lyra2rev3", { kind: "ccminer" }],
  ["EthMiner", "ethash", { kind: "ethminer" }],
  ["TeamRedMiner", "kawpow", { kind: "cgminer", dialect: "cgminer" }],
] as const)("%s is read through the agent by the driver of its API", async (softwareType, algorithm, spec) => {
  const { bench, manage, agent } = await openHosts({ rigs: [{ ...spec, warm: true }] });
  await bench.service.savePool({ ...noPool, id: 0, url: "stratum+tcp://any.example.com:1" }, caller);
  await manage({ softwareType, algorithm, poolId: 4 });
  await agent({ api: () => ({ ...apiAt(bench.rig(0).address), token: null }) });
  await shows(bench, "Stopped");
  await bench.act(1, { action: "start" });
  await shows(bench, "Mining");
  expect((await bench.get(1)).readings.hashrate).toBeGreaterThan(0);
});

describe("a managed miner that is only checked", () => {
  const check = (hosts: Awaited<ReturnType<typeof openHosts>>, fields: Parameters<typeof hosts.manage>[0] = {}) =>
    hosts.manage({ dryRun: true, ...fields });
  const downloaded = { softwareAutoDownload: true, softwarePath: "" };
  const withNothingSaved = async ({ service }: Bench, saved: readonly string[] = []): Promise<void> => {
    const list = await service.listManagedMiners({}, caller);
    expect(list.map(({ description }) => description)).toEqual(saved);
  };

  test("is answered as it would be, is not saved, and reaches no agent", async () => {
    const hosts = await openHosts();
    const agent = await hosts.agent();
    const asked = await check(hosts, { description: "attic", groupId: null });
    expect(asked).toMatchObject({ id: 0, uid: null, description: "attic", softwareType: "XmrigMiner", note: null });
    await withNothingSaved(hosts.bench);
    const saved = await hosts.manage({ description: "attic", groupId: null });
    expect({ ...saved, id: 0, uid: null, status: null }).toEqual(asked);
    const changed = await check(hosts, { id: saved.id, description: "cellar", poolId: 2 });
    expect(changed).toMatchObject({ id: saved.id, uid: saved.uid, description: "cellar", poolId: 2 });
    await withNothingSaved(hosts.bench, ["attic"]);
    expect(agent.programs.map(({ name }) => name)).toEqual(["attic"]);
  });

  test("is refused as it would be if it were saved", async () => {
    const hosts = await openHosts();
    await hosts.agent({
      permissions: { gpuSettings: false },
      refuses: ({ files, gpuSettings }) =>
        files.from === "path" && files.path === "/bin/sh"
          ? { code: "input.invalid", message: "/bin/sh is outside the folders" }
          : files.from === "download"
            ? { code: "rig.refused", message: "downloads of programs are forbidden" }
            : gpuSettings.length > 0
              ? { code: "rig.refused", message: "settings of GPUs are forbidden" }
              : null,
    });
    const tuning = { algorithm: null, bus: null, powerLimit: 120, coreClock: null, memoryClock: null, fan: null };
    const wrong: Parameters<typeof hosts.manage>[0][] = [
      { hostId: 99 },
      { softwareType: "no" },
      { algorithm: "nonsense" },
      { algorithm: "sha256" },
      { dualAlgorithm: "kheavyhash" },
      { poolId: 99 },
      { poolId: 3 },
      { groupId: 99 },
      { commandLineParams: "--config=elsewhere.json" },
      { softwarePath: "/bin/sh" },
      downloaded,
      { gpuSettings: [tuning] },
      { id: 77 },
    ];
    for (const fields of wrong) {
      const asked = await problem(check(hosts, fields));
      const saved = await problem(hosts.manage(fields));
      expect([fields, asked.code, asked.message]).toEqual([fields, saved.code, saved.message]);
    }
    await withNothingSaved(hosts.bench);
  });

  test.each([
    { why: "no known download", fields: { ...downloaded, softwareType: "ClaymoreEthereum", algorithm: "ethash" } },
    { why: "no card", fields: { softwareType: "TrexMiner", algorithm: "kawpow" } },
    { why: "a pool", fields: { poolId: 0 } },
  ])("says that it could not run where $why", async ({ why, fields }) => {
    const any = { name: "any", url: "stratum+tcp://any.example.com:3333", worker: "rig" };
    const hosts = await openHosts({ config: { pools: [...pools, any] } });
    await hosts.agent({ gpus: [gpu(0, 1, { vendor: "amd" })] });
    const { note } = await check(hosts, { poolId: 4, ...fields });
    expect(note).toContain(why);
    expect((await hosts.manage({ poolId: 4, ...fields })).note).toBe(note);
  });

  test("says so, too, where the host's agent is away, and where there is none", async () => {
    const hosts = await openHosts();
    expect((await check(hosts)).note).toBe("The agent of its host is not connected");
    await hosts.bench.service.deleteAgent({ id: hosts.tokenId }, caller);
    expect((await check(hosts)).note).toBe("Its host has no agent");
  });
});
