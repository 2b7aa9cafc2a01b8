import { afterEach, describe, expect, test } from "@jest/globals";
import { MinerDetail, Summary } from "../../src/contract/resources.ts";
import type { Input } from "../../src/contract/service.ts";
import { noTemplateProgram } from "../../src/contract/templates.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { problem, refusal } from "../errors.ts";
import { newNotification } from "../notification-rows.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

type PoolInput = Input<"savePool">;
const pool = (fields: Partial<PoolInput>): PoolInput => ({
  id: 0,
  description: undefined,
  coinClass: undefined,
  coinShortName: undefined,
  coinAlgorithm: undefined,
  workerName: undefined,
  walletAddress: undefined,
  plainWorkerPassword: undefined,
  ...fields,
});

describe("pool definitions", () => {
  test("are added with id 0, changed with theirs, and keep what was not named", async () => {
    const { service } = await openBench();
    const added = await service.savePool(
      pool({ description: "one", url: "stratum+tcp://one.example.com:3333", coinShortName: "btc", workerName: "w" }),
      caller,
    );
    expect(added).toEqual({
      id: 1,
      description: "one",
      coinClass: "PreDefined",
      coinShortName: "BTC",
      coinDisplayName: "Bitcoin (BTC)",
      coinAlgorithm: "sha256",
      url: "stratum+tcp://one.example.com:3333",
      workerName: "w",
      walletAddress: "",
      plainWorkerPassword: "",
    });
    const changed = await service.savePool(pool({ id: 1, workerName: "", plainWorkerPassword: "x" }), caller);
    expect(changed).toEqual({ ...added, workerName: "", plainWorkerPassword: "x" });
    expect(await service.getPool({ id: 1 }, caller)).toEqual(changed);
    expect(await service.listPools({}, caller)).toEqual({ canAction: true, list: [changed] });
  });

  test("take the algorithm of a new coin, unless one is named", async () => {
    const { service } = await openBench();
    const url = "stratum+tcp://one.example.com:3333";
    const save = async (fields: Partial<PoolInput>) => (await service.savePool(pool(fields), caller)).coinAlgorithm;
    expect(await save({ url, coinShortName: "BTC" })).toBe("sha256");
    expect(await save({ id: 1, coinShortName: "LTC" })).toBe("scrypt");
    expect(await save({ id: 1, coinShortName: "LTC", coinAlgorithm: "sha256" })).toBe("sha256");
    expect(await save({ id: 1, description: "x" })).toBe("sha256");
    expect(await save({ id: 1, coinShortName: "LTC" })).toBe("sha256");
  });

  test("are refused with an unknown coin or algorithm, each by name", async () => {
    const { service } = await openBench();
    const unknown = { coinShortName: "BTCC", coinAlgorithm: "sha-257" };
    expect(await problem(service.savePool(pool(unknown), caller))).toMatchObject({
      code: "input.invalid",
      status: 400,
      errors: [
        { path: "url", message: "is required" },
        { path: "coinShortName", message: 'there is no coin "BTCC"; POST /api/coins/BTCC adds one' },
        { path: "coinAlgorithm", message: '"sha-257" is not among GET /api/algorithms' },
      ],
    });
    expect(await service.listPools({}, caller)).toMatchObject({ list: [] });
    const url = "stratum+tcp://one.example.com:3333";
    await service.savePool(pool({ url, coinShortName: "BTC" }), caller);
    expect(await refusal(service.savePool(pool({ id: 1, ...unknown }), caller))).toBe(
      "input.invalid coinShortName coinAlgorithm",
    );
    expect((await service.getPool({ id: 1 }, caller)).coinShortName).toBe("BTC");
    await service.saveCoin({ shortName: "BTCC", name: "New", algorithm: "sha256", profit: 1 }, caller);
    expect(await refusal(service.savePool(pool({ id: 1, coinShortName: "btcc" }), caller))).toBe("done");
  });

  test("are refused without a URL, with an unknown id, and while in use", async () => {
    const { service } = await openBench();
    expect(await refusal(service.savePool(pool({ description: "x" }), caller))).toBe("input.invalid url");
    expect(await refusal(service.savePool(pool({ id: 9, description: "x" }), caller))).toBe("not.found");
    expect(await refusal(service.getPool({ id: 9 }, caller))).toBe("not.found");
    expect(await refusal(service.deletePool({ id: 9 }, caller))).toBe("not.found");
    await service.savePool(pool({ url: "one.example.com:1" }), caller);
    await service.savePoolGroup({ id: 0, name: "g", pools: [1] }, caller);
    expect(await refusal(service.savePoolGroup({ id: 0, name: "g", pools: [1, 5, 6] }, caller))).toBe(
      "input.invalid pools[1] pools[2]",
    );
    const used = await problem(service.deletePool({ id: 1 }, caller));
    expect([used.code, used.status]).toEqual(["in.use", 409]);
    expect(used.message).toContain("pool group g");
    await service.deletePoolGroup({ id: 1 }, caller);
    await service.deletePool({ id: 1 }, caller);
    expect(await service.listPools({}, caller)).toEqual({ canAction: true, list: [] });
  });

  test("of the file belong to it, and ids survive a run in which they were not declared", async () => {
    const config = {
      pools: [
        { name: "one", url: "stratum+tcp://one.example.com:1", coin: "BTC" },
        { name: "two", url: "two.example.com:1" },
      ],
      poolGroups: [{ name: "both", pools: ["two", "one"] }],
      templates: [{ name: "t" }],
    };
    const bench = await openBench({ config });
    expect(await bench.service.listPoolGroups({}, caller)).toEqual([{ id: "1", name: "both", pools: [2, 1] }]);
    expect(await refusal(bench.service.deletePool({ id: 1 }, caller))).toBe("owned.by-file");
    expect(await refusal(bench.service.savePool(pool({ id: 1, description: "x" }), caller))).toBe("owned.by-file");
    expect(await refusal(bench.service.deletePoolGroup({ id: 1 }, caller))).toBe("owned.by-file");
    expect(await refusal(bench.service.deleteManagedTemplate({ id: 1 }, caller))).toBe("owned.by-file");
    await bench.restart({});
    expect(await refusal(bench.service.getPool({ id: 1 }, caller))).toBe("not.found");
    await bench.restart({ pools: config.pools.toReversed() });
    expect((await bench.service.getPool({ id: 1 }, caller)).description).toBe("one");
  });
});

describe("hosts and managed miners", () => {
  const managed: Input<"saveManagedMiner"> = {
    id: 0,
    description: "gpu",
    commandLineParams: undefined,
    softwareType: undefined,
    softwarePath: undefined,
    algorithm: undefined,
    dualAlgorithm: undefined,
    hostId: 1,
  };

  test("are kept, and refer only to what is there", async () => {
    const { service } = await openBench();
    expect(await refusal(service.saveHost({ id: 0, description: "x" }, caller))).toBe("input.invalid hostname");
    const host = await service.saveHost({ id: 0, description: "garage", hostname: "garage.example" }, caller);
    expect(host).toEqual({
      id: 1,
      description: "garage",
      hostname: "garage.example",
      uid: "garage-example",
      groupId: 0,
      agent: null,
    });
    expect(await service.saveHost({ id: 1, description: "x" }, caller)).toEqual({ ...host, description: "x" });
    expect(await refusal(service.saveHost({ id: 1, description: "x", hostname: "" }, caller))).toBe(
      "input.invalid hostname",
    );
    expect(
      await refusal(
        service.saveManagedMiner({ ...managed, hostId: 5, poolId: 7, isPoolGroup: true, softwareType: "no" }, caller),
      ),
    ).toBe("input.invalid hostId poolId softwareType");
    const unknown = { ...managed, hostId: host.id, algorithm: "nonsense", dualAlgorithm: "more" };
    expect(await problem(service.saveManagedMiner(unknown, caller))).toMatchObject({
      code: "input.invalid",
      errors: [
        { path: "algorithm", message: '"nonsense" is not among GET /api/algorithms' },
        { path: "dualAlgorithm", message: '"more" is not among GET /api/algorithms' },
      ],
    });
    expect(await service.listManagedMiners({}, caller)).toEqual([]);
    const miner = await service.saveManagedMiner(managed, caller);
    expect(miner).toEqual({
      id: 1,
      description: "gpu",
      hostId: 1,
      isPoolGroup: false,
      poolId: 0,
      commandLineParams: "",
      softwareAutoDownload: true,
      softwareType: "",
      softwarePath: "",
      algorithm: "",
      dualAlgorithm: "",
      note: "It cannot run without a mining program, a pool and an algorithm",
      uid: "garage-example-m1",
      groupId: 0,
      running: false,
      status: null,
      addedPools: [],
      gpuSettings: [],
      idle: null,
      switching: null,
    });
    const { hostId: _, ...rest } = managed;
    expect(await service.saveManagedMiner({ ...rest, id: 1, commandLineParams: "-v" }, caller)).toEqual({
      ...miner,
      commandLineParams: "-v",
    });
    expect(await service.listManagedMiners({}, caller)).toHaveLength(1);
    expect(await refusal(service.deleteHost({ id: 1 }, caller))).toBe("in.use");
    await service.deleteManagedMiner({ id: 1 }, caller);
    await service.deleteHost({ id: 1 }, caller);
    expect(await service.listHosts({}, caller)).toEqual([]);
    expect(await refusal(service.getHost({ id: 1 }, caller))).toBe("not.found");
    expect(await refusal(service.getManagedMiner({ id: 1 }, caller))).toBe("not.found");
  });

  test("are miners that cannot be reached without an agent, and are gone once removed", async () => {
    const { service, act } = await openBench();
    const { id: hostId } = await service.saveHost({ id: 0, description: "", hostname: "h" }, caller);
    const known = { algorithm: "rx/0", dualAlgorithm: "Unspecified" };
    const { id } = await service.saveManagedMiner({ ...managed, ...known, hostId }, caller);
    for (const action of ["start", "stop", "restart", "reboot"] as const)
      expect([action, await refusal(act(id, { action }))]).toEqual([action, "rig.unreachable"]);
    expect((await service.pollMiner({ id }, caller)).readings.notes).toEqual([expect.stringContaining("has no agent")]);
    expect(await refusal(act(id + 1, { action: "stop" }))).toBe("not.found");
    await service.deleteManagedMiner({ id }, caller);
    expect(await refusal(act(id, { action: "stop" }))).toBe("not.found");
  });

  test("a host's graphics cards are read by its agent", async () => {
    const { service } = await openBench();
    await service.saveHost({ id: 0, description: "", hostname: "h" }, caller);
    expect(await refusal(service.getHostSystemInfo({ id: 1 }, caller))).toBe("host.no.agent");
    expect(await refusal(service.getHostSystemInfo({ id: 2 }, caller))).toBe("not.found");
  });
});

describe("what has only a name", () => {
  test("is listed, and running it is refused", async () => {
    const bench = await openBench({
      rigs: [{ kind: "axeos", warm: true }],
      config: { templates: [{ name: "t" }], rules: [{ name: "night" }] },
    });
    const { service } = bench;
    const id = await bench.add(bench.rig(0).address, { driver: "axeos" });
    const saved = await service.saveManagedTemplate({ id: 0, name: "mine" }, caller);
    await service.saveManagedTemplate({ ...saved, name: "renamed" }, caller);
    expect((await service.listManagedTemplates({}, caller)).managedTemplateList).toEqual([
      { id: 1, name: "t", do: null, ...noTemplateProgram },
      { id: 2, name: "renamed", do: null, ...noTemplateProgram },
    ]);
    const list = await service.listMiners({}, caller);
    expect(list).toMatchObject({
      hasManualAction: true,
      canManualAction: false,
      manualActionList: [{ id: 1, name: "night" }],
    });
    expect(await refusal(bench.act(id, { action: "apply_template", template_id: 1 }))).toBe("nothing.to.do");
    expect(await refusal(bench.act(id, { action: "rule", rule_id: 1 }))).toBe("nothing.to.do");
    expect(bench.rig(0).requests.writes).toEqual([]);
    await service.deleteManagedTemplate({ id: 2 }, caller);
    expect(await refusal(service.deleteManagedTemplate({ id: 2 }, caller))).toBe("not.found");
  });
});

describe("notifications", () => {
  test("are acknowledged and removed, one or all", async () => {
    const { service, store } = await openBench();
    for (const message of ["a", "b", "c"]) store.notifications.raise(newNotification({ minerName: "m", message }));
    const counts = async () => {
      const list = await service.listNotifications({}, caller);
      expect(list.notificationCount).toBe(list.notificationList.length);
      return [list.notificationCount, list.unacknowledgedNotificationCount];
    };
    const [first] = (await service.listNotifications({}, caller)).notificationList;
    expect(first).toMatchObject({ message: "c", isAcknowledged: false, timeUtc: expect.stringMatching(/Z$/) });
    expect(first?.time).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    const id = first?.id ?? 0;
    const later = async (since: number) =>
      (await service.listNotifications({ since }, caller)).notificationList.map(({ message }) => message);
    expect([await later(id - 2), await later(id - 1), await later(id)]).toEqual([["c", "b"], ["c"], []]);
    await service.notificationAction({ id, action: "ack" }, caller);
    expect(await counts()).toEqual([3, 2]);
    await service.notificationAction({ id, action: "clear" }, caller);
    expect(await counts()).toEqual([2, 2]);
    expect(await refusal(service.notificationAction({ id, action: "ack" }, caller))).toBe("not.found");
    expect(await refusal(service.notificationAction({ id, action: "clear" }, caller))).toBe("not.found");
    await service.allNotificationsAction({ action: "ack_all" }, caller);
    expect(await counts()).toEqual([2, 0]);
    await service.allNotificationsAction({ action: "clear_all" }, caller);
    expect(await counts()).toEqual([0, 0]);
  });
});

const perMegahash = (difficulty: number, reward: number, hashes: number) =>
  (1e6 * 86_400 * reward) / (difficulty * hashes);

describe("coins", () => {
  const profits = async (bench: Bench, shortName: string) => {
    const row = bench.store.coins.all().find((coin) => coin.shortName === shortName);
    return [row?.profit, row?.profitUsd];
  };

  test.each<[string, Partial<Input<"saveCoin">>, (number | null)[]]>([
    ["a profit", { profit: 1e-10 }, [1e-10, null]],
    [
      "difficulty, reward and BTC",
      { difficulty: 1e12, reward: 3.125, btc: 1 },
      [perMegahash(1e12, 3.125, 2 ** 32), null],
    ],
    [
      "difficulty, reward and USD",
      { difficulty: 1e12, reward: 3.125, usd: 60_000 },
      [null, perMegahash(1e12, 3.125, 2 ** 32) * 60_000],
    ],
  ])("known ones take %s; name and algorithm are ignored", async (_, worth, expected) => {
    const bench = await openBench();
    const reply = await bench.service.saveCoin(
      { shortName: "btc", name: "X", algorithm: "nonsense", ...worth },
      caller,
    );
    expect(reply.message).toContain("Bitcoin (BTC)");
    expect(await profits(bench, "BTC")).toEqual(expected);
    expect(bench.store.coins.all()).toMatchObject([{ name: "Bitcoin", algorithm: "sha256", coinClass: "PreDefined" }]);
  });

  test.each([
    ["sha256", 2 ** 32],
    ["Ethash", 1],
    ["rx/0", 1],
    ["Equihash", 2 ** 13],
    ["house", 7],
  ])("a block of %s takes so many hashes per unit of difficulty: %d", async (algorithm, hashes) => {
    const bench = await openBench({
      config: { algorithms: [{ id: "house", name: "House", hashesPerDifficulty: 7 }] },
    });
    const market = { difficulty: 5_000, reward: 2, btc: 0.5 };
    await bench.service.saveCoin({ shortName: "NEW", name: "New", algorithm, ...market }, caller);
    expect(await profits(bench, "NEW")).toEqual([perMegahash(5_000, 2, hashes) * 0.5, null]);
  });

  test.each<[string, Partial<Input<"saveCoin">>, string]>([
    ["nothing", {}, "input.invalid name algorithm profit"],
    ["no name and algorithm", { profit: 1 }, "input.invalid name algorithm"],
    ["an unknown algorithm", { name: "N", algorithm: "nonsense", profit: 1 }, "input.invalid algorithm"],
    ["profit and market data", { name: "N", algorithm: "sha256", profit: 1, reward: 2 }, "input.invalid reward"],
    ["both prices", { name: "N", algorithm: "sha256", difficulty: 1, reward: 2, btc: 1, usd: 1 }, "input.invalid btc"],
    ["no price", { name: "N", algorithm: "sha256", difficulty: 1, reward: 2 }, "input.invalid btc"],
    ["no reward", { name: "N", algorithm: "sha256", difficulty: 1, btc: 2 }, "input.invalid reward"],
    ["difficulty 0", { name: "N", algorithm: "sha256", difficulty: 0, reward: 1, btc: 2 }, "input.invalid difficulty"],
    ["an absurd profit", { name: "N", algorithm: "sha256", profit: 1e300 }, "input.invalid profit"],
    [
      "an absurd result",
      { name: "N", algorithm: "sha256", difficulty: 1e-300, reward: 1e300, btc: 1 },
      "input.invalid difficulty",
    ],
    [
      "difficulty where it says nothing",
      { name: "N", algorithm: "kheavyhash", difficulty: 1, reward: 1, btc: 1 },
      "input.invalid difficulty",
    ],
  ])("a new one is refused with %s, and not added", async (_, worth, refused) => {
    const bench = await openBench();
    expect(await refusal(bench.service.saveCoin({ shortName: "NEW", ...worth }, caller))).toBe(refused);
    expect(bench.store.coins.all()).toEqual([]);
  });

  test("of users can be removed, those known from the start not", async () => {
    const { service } = await openBench();
    await service.saveCoin({ shortName: "NEW", name: "New", algorithm: "sha256", profit: 1 }, caller);
    await service.deleteCoin({ shortName: "new" }, caller);
    expect(await refusal(service.deleteCoin({ shortName: "NEW" }, caller))).toBe("not.found");
    expect(await refusal(service.deleteCoin({ shortName: "BTC" }, caller))).toBe("not.possible");
  });

  test("of the file keep a profit that was set if the file has none", async () => {
    const coin = { shortName: "FIL", name: "File", algorithm: "sha256" };
    const bench = await openBench({ config: { coins: [coin] } });
    await bench.service.saveCoin({ shortName: "FIL", profit: 5 }, caller);
    expect(await refusal(bench.service.deleteCoin({ shortName: "FIL" }, caller))).toBe("owned.by-file");
    await bench.restart({ coins: [coin] });
    expect(await profits(bench, "FIL")).toEqual([5, null]);
    await bench.restart({ coins: [{ ...coin, profit: 6 }] });
    expect(await profits(bench, "FIL")).toEqual([6, null]);
    expect(await refusal(bench.service.saveCoin({ shortName: "FIL", profit: 7 }, caller))).toBe("owned.by-file");
  });
});

describe("money", () => {
  const spec: RigSpec = {
    kind: "axeos",
    warm: true,
    pools: [{ url: "stratum+tcp://one.example.com:3333", user: "w" }],
  };

  async function earning(config: Record<string, unknown>, worth: Partial<Input<"saveCoin">>) {
    const pools = [{ name: "one", url: "stratum+tcp://one.example.com:9999", coin: "BTC" }];
    const bench = await openBench({ rigs: [spec], config: { pools, ...config } });
    if (Object.keys(worth).length > 0) await bench.service.saveCoin({ shortName: "BTC", ...worth }, caller);
    const id = await bench.add(bench.rig(0).address, { driver: "axeos" });
    const shown = MinerDetail.parse(await bench.get(id));
    const summary = Summary.parse(await bench.service.getSummary({}, caller));
    return { ...shown.coinInfo, readings: shown.readings, summary };
  }

  test("is the hash rate times the coin's profit times the rate, less electricity", async () => {
    const { readings, summary, ...coin } = await earning(
      { rates: { btc: 60_000 }, electricity: { price: 0.25 } },
      { profit: 5e-11 },
    );
    const btc = ((readings.hashrate ?? 0) / 1e6) * 5e-11;
    const cost = ((readings.power ?? 0) / 1000) * 24 * 0.25;
    expect(coin).toMatchObject({
      shortName: "BTC",
      displayName: "Bitcoin (BTC)",
      coinClass: "PreDefined",
      algorithm: "SHA-256",
    });
    expect(coin.revenuePerDayValueBtc).toBeCloseTo(btc, 12);
    expect(coin.revenuePerDayValue).toBeCloseTo(btc * 60_000, 9);
    expect(coin.profitPerDayValue).toBeCloseTo(btc * 60_000 - cost, 9);
    expect(coin.revenuePerMonth).toBe(`$${(btc * 60_000 * 30.3).toFixed(2)}`);
    expect(coin.powerUsageValue).toBe(Math.round(readings.power ?? 0));
    expect(summary).toMatchObject({
      exchangeRate: "$60,000.00",
      revenuePerDay: coin.revenuePerDay,
      revenuePerMonth: coin.revenuePerMonth,
      coinList: [{ name: "Bitcoin (BTC)", activeCount: 1, revenue: coin.revenuePerDay }],
      algorithmList: [{ name: "SHA-256", activeCount: 1 }],
    });
  });

  test("without a rate is 0, whatever the coin earns in BTC", async () => {
    const { revenuePerDay, revenuePerDayValue, revenuePerDayValueBtc, summary } = await earning({}, { profit: 1e-9 });
    expect([revenuePerDay, revenuePerDayValue]).toEqual(["$0.00", 0]);
    expect(revenuePerDayValueBtc).toBeGreaterThan(0);
    expect(summary).toMatchObject({ exchangeRate: "$0.00", revenuePerDay: "$0.00" });
  });

  test("of a coin priced in USD needs no rate where money is USD", async () => {
    expect(await earning({}, { difficulty: 1e8, reward: 3, usd: 50_000 })).toMatchObject({
      revenuePerDayValue: expect.any(Number),
      revenuePerDayValueBtc: 0,
      revenuePerDay: expect.not.stringMatching(/^\$0\.00$/),
    });
  });

  test("of a pool that no definition names is unknown and 0", async () => {
    const coin = await earning({ pools: [], rates: { btc: 60_000 } }, { profit: 1 });
    expect(coin).toMatchObject({ displayName: "", shortName: "", revenuePerDayValue: 0, profitPerDayValue: 0 });
  });

  test("follows a changed coin without another read", async () => {
    const pools = [{ name: "one", url: "stratum+tcp://one.example.com:9999", coin: "BTC" }];
    const bench = await openBench({ rigs: [spec], config: { pools, rates: { btc: 1 } } });
    const id = await bench.add(bench.rig(0).address, { driver: "axeos" });
    const etag = () => bench.service.encoded?.("listMiners", {}, caller)?.etag;
    const before = etag();
    await bench.service.saveCoin({ shortName: "BTC", profit: 3 }, caller);
    expect((await bench.get(id)).coinInfo.revenuePerDayValue).toBeGreaterThan(0);
    expect(etag()).not.toBe(before);
  });

  test("is unknown if electricity has a price and the power is unknown, with a warning in the metadata", async () => {
    const silent: RigSpec = { ...spec, kind: "cgminer" };
    const pools = [{ name: "one", url: "stratum+tcp://one.example.com:3333", coin: "BTC" }];
    const prices = { pools, rates: { btc: 60_000 }, electricity: { price: 0.25 } };
    const bench = await openBench({ rigs: [silent, spec], config: prices });
    await bench.service.saveCoin({ shortName: "BTC", profit: 5e-11 }, caller);
    const id = await bench.add(bench.rig(0).address, { driver: "cgminer" });
    const told = await bench.add(bench.rig(1).address, { driver: "axeos" });
    const { coinInfo, money, readings, metaData } = await bench.get(id);
    expect(readings.power).toBeNull();
    expect(money).toMatchObject({
      revenuePerDay: coinInfo.revenuePerDayValue,
      costPerDay: null,
      profitPerDay: null,
      currency: "USD",
    });
    expect(coinInfo.revenuePerDayValue).toBeGreaterThan(0);
    expect(coinInfo).toMatchObject({
      profitPerDay: "$0.00",
      profitPerDayValue: 0,
      profitPerMonth: "$0.00",
      profitPerDayValueBtc: 0,
    });
    const warnings = [
      expect.stringMatching(/^The profit of 1 miner is unknown: .*supply.*powerNameplate.*poll\.nameplates$/),
    ];
    expect(metaData.warningList).toEqual(warnings);
    const known = await bench.get(told);
    expect(known.metaData.warningList).toEqual([]);
    expect(known.money.profitPerDay).toBe(known.coinInfo.profitPerDayValue);
    expect(known.money.costPerDay).toBeCloseTo(((known.readings.power ?? 0) / 1000) * 24 * 0.25, 12);
    const summary = await bench.service.getSummary({}, caller);
    expect(summary.metaData.warningList).toEqual(warnings);
    expect((await bench.service.listMiners({}, caller)).metaData.warningList).toEqual(warnings);
    const sum = coinInfo.revenuePerDayValue + known.coinInfo.revenuePerDayValue;
    expect(summary.revenuePerDay).toBe(`$${sum.toFixed(2)}`);
    // Without a price of electricity it costs nothing, and the profit is known.
    await bench.restart({ ...prices, electricity: {} });
    const free = await bench.poll(id);
    expect([free.money.costPerDay, free.money.profitPerDay]).toEqual([0, free.money.revenuePerDay]);
    expect(free.metaData.warningList).toEqual([]);
  });

  test("of a rig that is not reached is unknown, and not warned of", async () => {
    const bench = await openBench({ rigs: [spec], config: { electricity: { price: 0.25 } } });
    const { id } = await bench.service.addMiner({ address: bench.rig(0).address, driver: "axeos" }, caller);
    const { money, metaData } = await bench.get(id);
    expect(money).toMatchObject({ revenuePerDay: null, costPerDay: null, profitPerDay: null, currency: "USD" });
    expect(metaData.warningList).toEqual([]);
  });

  test("a price in USD is refused where money is another, and leaves the profit that was set", async () => {
    const bench = await openBench({ config: { display: { currency: "EUR" }, rates: { btc: 50_000 } } });
    await bench.service.saveCoin({ shortName: "BTC", profit: 5e-11 }, caller);
    const market = { difficulty: 1e8, reward: 3, usd: 50_000 };
    expect(await problem(bench.service.saveCoin({ shortName: "BTC", ...market }, caller))).toMatchObject({
      code: "input.invalid",
      errors: [
        {
          path: "usd",
          message:
            "cannot be converted into EUR, the display currency; give the price in BTC as btc, or set rates.currencies.USD in the configuration",
        },
      ],
    });
    expect(bench.store.coins.all()).toMatchObject([{ shortName: "BTC", profit: 5e-11, profitUsd: null }]);
    const added = { shortName: "NEW", name: "New", algorithm: "sha256", ...market };
    expect(await refusal(bench.service.saveCoin(added, caller))).toBe("input.invalid usd");
    expect(bench.store.coins.all()).toHaveLength(1);
  });

  test("set in USD is unknown once the display currency is another", async () => {
    const pools = [{ name: "one", url: "stratum+tcp://one.example.com:3333", coin: "BTC" }];
    const bench = await openBench({ rigs: [spec], config: { pools } });
    await bench.service.saveCoin({ shortName: "BTC", difficulty: 1e8, reward: 3, usd: 50_000 }, caller);
    const id = await bench.add(bench.rig(0).address, { driver: "axeos" });
    expect((await bench.get(id)).money.revenuePerDay).toBeGreaterThan(0);
    await bench.restart({ pools, display: { currency: "EUR" }, rates: { btc: 50_000 } });
    const { money, coinInfo } = await bench.poll(id);
    expect(money).toMatchObject({ revenuePerDay: null, costPerDay: 0, profitPerDay: null, currency: "EUR" });
    expect([coinInfo.revenuePerDay, coinInfo.revenuePerDayValueBtc]).toEqual(["€0.00", 0]);
  });
});

describe("which definition a rig's pool is", () => {
  const url = "stratum+tcp://pool.example.com:3333";
  const other = "stratum+tcp://pool.example.com:4444";
  const definition = (name: string, at: string, coin: string, worker = "") => ({ name, url: at, coin, worker });

  test.each([
    [
      "host, port and worker before host and port",
      [definition("a", url, "BCH"), definition("b", url, "BTC", "w")],
      "b",
    ],
    ["host and port before the host", [definition("a", other, "BCH"), definition("b", url, "BTC")], "b"],
    ["the only one with the host", [definition("b", other, "BTC")], "b"],
    [
      "none where two have the host and no port fits",
      [definition("a", other, "BTC"), definition("b", "pool.example.com:5", "BTC")],
      null,
    ],
    [
      "the one of the rig's algorithm, of two for one port",
      [definition("a", url, "LTC"), definition("b", url, "BTC")],
      "b",
    ],
    ["a worker of another name fits by host and port", [definition("b", url, "BTC", "somebody")], "b"],
  ])("%s", async (_, pools, expected) => {
    const rig: RigSpec = { kind: "axeos", warm: true, pools: [{ url, user: "w" }] };
    const bench = await openBench({ rigs: [rig], config: { pools } });
    const id = await bench.add(bench.rig(0).address, { driver: "axeos" });
    const { coinInfo, poolList } = await bench.get(id);
    const coin = expected === null ? "" : "Bitcoin (BTC)";
    expect([poolList[0]?.name, poolList[0]?.coinName, coinInfo.displayName]).toEqual([
      expected ?? "pool.example.com",
      coin,
      coin,
    ]);
  });

  test("a coin of another algorithm than the rig's is unknown and earns nothing", async () => {
    const rig: RigSpec = { kind: "axeos", warm: true, pools: [{ url, user: "w" }] };
    const config = { pools: [definition("a", url, "LTC")], rates: { btc: 60_000 } };
    const bench = await openBench({ rigs: [rig], config });
    await bench.service.saveCoin({ shortName: "LTC", profit: 1 }, caller);
    const id = await bench.add(bench.rig(0).address, { driver: "axeos" });
    const { coinInfo, money, poolList } = await bench.get(id);
    expect(coinInfo).toMatchObject({ displayName: "", shortName: "", coinClass: "", revenuePerDayValue: 0 });
    expect(money.revenuePerDay).toBeNull();
    expect(poolList[0]).toMatchObject({ name: "a", coinName: "" });
    expect((await bench.service.getSummary({}, caller)).coinList).toEqual([]);
  });
});
