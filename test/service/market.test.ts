import { afterEach, describe, expect, test } from "@jest/globals";
import { stoppedClock } from "../clock.ts";
import { problem } from "../errors.ts";
import { within } from "../until.ts";
import { caller } from "./bench.ts";
import { closeLoopBenches, type LoopBench, openLoopBench } from "./loop-bench.ts";
import { type Answer, openDouble } from "./source-double.ts";

afterEach(closeLoopBenches);

const pools = [{ name: "Solo", url: "stratum+tcp://pool.example.com:3333", coin: "BTC", worker: "x" }];
const time = Date.parse("2026-11-22T12:00:00Z");
const stamp = time / 1000;

/** 86400 × 3.125 / (1e14 × 2^32) × 1e6 coins per MH/s and day. */
const btcProfit = (86_400 * 3.125 * 1e6) / (1e14 * 2 ** 32);

const bitcoinRow = (changes: object = {}) => ({
  id: 1,
  tag: "BTC",
  algorithm: "SHA-256",
  block_time: "600",
  block_reward: 3.125,
  difficulty: 1e14,
  nethash: "715827882666666666666",
  exchange_rate: 90_000,
  exchange_rate_curr: "USD",
  lagging: false,
  timestamp: stamp,
  ...changes,
});
const coinsJson = (changes: object = {}) => ({
  coins: {
    Bitcoin: bitcoinRow(changes),
    "Nicehash-SHA256": { tag: "NICEHASH", algorithm: "SHA-256", difficulty: 1, nethash: 1, exchange_rate: 1.9 },
    Kaspa: {
      tag: "KAS",
      algorithm: "kHeavyHash",
      block_time: 0.1,
      block_reward: "4.0",
      difficulty: 3.2e16,
      nethash: 5e17,
      exchange_rate: 0.000_000_5,
      exchange_rate_curr: "BTC",
      lagging: false,
      timestamp: stamp,
    },
  },
});
const mempool = (price = 91_234, difficulty = 1e14): Record<string, Answer> => ({
  "/api/v1/prices": { time: stamp, USD: price, EUR: 80_000, GBP: 0 },
  "/api/v1/mining/hashrate/3d": {
    hashrates: [],
    currentHashrate: (difficulty * 2 ** 32) / 600,
    currentDifficulty: difficulty,
  },
  "/api/v1/mining/reward-stats/144": { startBlock: 1, endBlock: 144, totalReward: String(144 * 3.2e8), totalFee: "1" },
  "/api/v1/difficulty-adjustment": { timeAvg: 600_000 },
});

/** A farm of one rig that mines BTC, with these market sources. */
async function openMarket(sources: readonly object[], config: Record<string, unknown> = {}) {
  const clock = stoppedClock(time);
  const bench = await openLoopBench({
    rigs: [{ kind: "axeos", warm: true }],
    clock: clock.now,
    config: ([address]) => ({ miners: [{ address, name: "rig" }], pools, market: { sources }, ...config }),
  });
  const market = async () => bench.service.getMarket({}, caller);
  const coin = async (shortName: string) => (await market()).coins.find((each) => each.shortName === shortName);
  const pass = async (seconds: number) => {
    clock.pass(seconds);
    await bench.turn();
  };
  return { bench, clock, market, coin, pass };
}

describe("a coin's profitability from a source", () => {
  test("reaches the miner's money, with source and age", async () => {
    const source = await openDouble({ "/coins.json": coinsJson() });
    const { bench, coin, market, pass } = await openMarket([{ type: "whattomine", url: `${source.url}/coins.json` }]);
    expect((await bench.miner(0)).money.revenuePerDay).toBeNull();
    await bench.turn();
    expect((await coin("BTC"))?.profit).toBeCloseTo(btcProfit, 20);
    const { money, coinInfo, readings } = await bench.miner(0);
    // Its hash rate in MH/s × BTC per MH/s × 90,000 USD.
    const revenue = ((readings.hashrate ?? 0) / 1e6) * btcProfit * 90_000;
    expect(money.revenuePerDay).toBeCloseTo(revenue, 9);
    expect(coinInfo.revenuePerDayValue).toBeCloseTo(revenue, 9);
    await pass(300);
    expect(await coin("BTC")).toMatchObject({
      setBy: "market",
      difficulty: 1e14,
      reward: 3.125,
      blockTime: 600,
      workSource: source.host,
      workAge: 300,
      priceBtc: 1,
      priceUsd: 90_000,
      priceSource: source.host,
      priceAt: "2026-11-22T12:00:00.000Z",
      held: null,
    });
    expect((await market()).rates).toEqual({
      currency: "USD",
      btc: 90_000,
      source: source.host,
      at: "2026-11-22T12:00:00.000Z",
      age: 300,
    });
    expect((await bench.service.getSummary({}, caller)).exchangeRate).toBe("$90,000.00");
  });

  test("follows from the network's hash rate where the difficulty does not tell it", async () => {
    const source = await openDouble({ "/coins.json": coinsJson() });
    const { coin, bench } = await openMarket([{ type: "whattomine", url: `${source.url}/coins.json` }]);
    await bench.turn();
    // 864,000 blocks a day × 4 KAS / 5e17 H/s × 1e6 × 5e-7 BTC
    expect((await coin("KAS"))?.profit).toBeCloseTo(((864_000 * 4) / 5e17) * 1e6 * 5e-7, 22);
  });

  test("is computed from an own mempool, whose sums are texts", async () => {
    const source = await openDouble(mempool());
    const { coin, bench, market } = await openMarket([{ type: "mempool", url: source.url }], {
      display: { currency: "EUR" },
    });
    await bench.turn();
    expect((await coin("BTC"))?.profit).toBeCloseTo((86_400 * 3.2 * 1e6) / (1e14 * 2 ** 32), 20);
    expect((await market()).rates.btc).toBe(80_000);
  });

  test("is of the first source that has it; prices may come from another", async () => {
    const miner = [
      { id: "KAS", coin: "KAS", algorithm: "kHeavyHash", reward: 3e-15, reward_unit: "KAS", price: -1, updated: stamp },
    ];
    const [works, prices] = [
      await openDouble({ "/v2/coins": miner }),
      await openDouble({
        "/api/v3/simple/price": {
          bitcoin: { btc: 1, usd: 90_000, last_updated_at: stamp },
          kaspa: { btc: 4e-7, usd: 0.036, last_updated_at: stamp },
        },
      }),
    ];
    const { coin, bench } = await openMarket([
      { type: "coingecko", url: prices.url, coins: { KAS: "kaspa", ALPH: "alephium" } },
      { type: "minerstat", url: works.url, coins: { KAS: "KAS" }, token: "minerstat-token" },
    ]);
    await bench.turn();
    // 3e-15 KAS per H/s and hour × 24 × 1e6 × 4e-7 BTC
    expect((await coin("KAS"))?.profit).toBeCloseTo(3e-15 * 24 * 1e6 * 4e-7, 25);
    expect(await coin("KAS")).toMatchObject({ workSource: works.host, priceSource: prices.host });
    expect(works.asked[0]).toMatchObject({
      line: "GET /v2/coins?list=KAS",
      headers: { "x-api-key": "minerstat-token" },
    });
    expect(prices.asked[0]?.line).toBe(
      "GET /api/v3/simple/price?ids=bitcoin%2Ckaspa%2Calephium&vs_currencies=btc%2Cusd&include_last_updated_at=true",
    );
    const { sources } = await bench.service.getMarket({}, caller);
    expect(sources[0]?.problem).toBe(`${prices.host}: it has no present price of ALPH (alephium)`);
    expect(JSON.stringify(sources)).not.toContain("minerstat-token");
  });

  test("that is lagging, a day old, or of another algorithm is not used", async () => {
    const source = await openDouble({ "/coins.json": coinsJson({ lagging: true }) });
    const { bench, coin, market, pass } = await openMarket([{ type: "whattomine", url: `${source.url}/coins.json` }]);
    await bench.turn();
    expect(await coin("BTC")).toBeUndefined();
    expect((await market()).sources[0]?.problem).toContain("its node of BTC is stuck");
    for (const changes of [{ timestamp: stamp - 90_000 }, { algorithm: "Scrypt" }]) {
      source.answers.set("/coins.json", coinsJson(changes));
      await pass(600);
      expect((await coin("BTC"))?.profit ?? null).toBeNull();
    }
  });
});

describe("a value that is set by hand", () => {
  test("stays until it is removed, also that of a predefined coin", async () => {
    const source = await openDouble({ "/coins.json": coinsJson() });
    const { bench, coin } = await openMarket([{ type: "whattomine", url: `${source.url}/coins.json` }]);
    await bench.service.saveCoin({ shortName: "btc", profit: 7e-9 }, caller);
    await bench.turn();
    expect(await coin("BTC")).toMatchObject({ profit: 7e-9, setBy: "hand", difficulty: 1e14 });
    expect(await problem(bench.service.deleteCoin({ shortName: "BTC" }, caller))).toMatchObject({
      code: "not.possible",
      message: "Bitcoin (BTC) is predefined; only user-defined coins can be removed",
    });
    expect(await bench.service.saveCoin({ shortName: "BTC", reset: true }, caller)).toEqual({
      success: true,
      message: "The profitability of Bitcoin (BTC) that was set by hand is removed",
    });
    expect((await coin("BTC"))?.setBy).toBe("market");
    expect(await problem(bench.service.saveCoin({ shortName: "BTC", reset: true }, caller))).toMatchObject({
      code: "not.possible",
      message: "The profitability of Bitcoin (BTC) was not set by hand",
    });
    expect(await problem(bench.service.saveCoin({ shortName: "BTC", reset: true, profit: 1 }, caller))).toMatchObject({
      code: "input.invalid",
      message: "profit: cannot be given together with reset",
    });
    expect(await problem(bench.service.saveCoin({ shortName: "NIX", reset: true }, caller))).toMatchObject({
      code: "not.found",
    });
  });

  test("comes before the market also for the price of a BTC", async () => {
    const source = await openDouble(mempool());
    const { bench, market } = await openMarket([{ type: "mempool", url: source.url }], { rates: { btc: 50_000 } });
    await bench.turn();
    expect((await market()).rates).toEqual({ currency: "USD", btc: 50_000, source: null, at: null, age: null });
  });
});

/** Titles of what is open, or not acknowledged, of the service itself. */
const open = async ({ service }: LoopBench): Promise<(string | null)[]> =>
  (await service.listNotifications({}, caller)).notificationList
    .filter(({ severity, closedUtc, isAcknowledged }) => severity !== "info" && (closedUtc === null || !isAcknowledged))
    .map(({ title }) => title);

describe("a source that fails", () => {
  test.each<[string, Answer]>([
    ["a web page", "<html>"],
    ["429", (response) => response.writeHead(429, { "retry-after": "60" }).end()],
    ["204", (response) => response.writeHead(204).end()],
    ["empty coins", { coins: {} }],
    [
      "coins without numbers",
      { coins: { Bitcoin: { tag: "BTC", algorithm: "SHA-256", difficulty: "NaN", nethash: null } } },
    ],
    ["numbers that are 0 or below", coinsJson({ difficulty: 0, nethash: -1, exchange_rate: 0 })],
  ])("with %s keeps the last values and their age", async (_, answer) => {
    const source = await openDouble({ "/coins.json": coinsJson() });
    const { bench, coin, pass } = await openMarket([{ type: "whattomine", url: `${source.url}/coins.json` }]);
    await bench.turn();
    const revenue = (await bench.miner(0)).money.revenuePerDay;
    expect(revenue).toBeGreaterThan(0);
    source.answers.set("/coins.json", answer);
    await pass(7200);
    expect(source.asked).toHaveLength(2);
    expect(await coin("BTC")).toMatchObject({ setBy: "market", workAge: 7200, priceAge: 7200, difficulty: 1e14 });
    const { money, readings } = await bench.miner(0);
    expect(money.revenuePerDay).toBeCloseTo(((readings.hashrate ?? 0) / 1e6) * btcProfit * 90_000, 9);
  });

  test("by never answering delays no reply, and the others are used", async () => {
    const dead = await openDouble({ "/": () => undefined });
    const source = await openDouble({ "/coins.json": coinsJson() });
    const { bench, coin } = await openMarket([
      { type: "mempool", url: dead.url },
      { type: "whattomine", url: `${source.url}/coins.json` },
    ]);
    let isOver = false;
    const turn = bench.turn().then(() => {
      isOver = true;
    });
    await within(
      (async () => {
        while ((await coin("BTC"))?.setBy !== "market") await new Promise(setImmediate);
        await bench.service.listMiners({}, caller);
        await bench.service.getSummary({}, caller);
        await bench.service.getPrices({}, caller);
      })(),
      "replies while a source is silent",
    );
    expect([isOver, dead.asked.length > 0]).toEqual([false, true]);
    await bench.service.close();
    await within(turn, "the end of the turn once the service closes");
  });

  test("is used again by the next run with its last value and age, without a request", async () => {
    const source = await openDouble({ "/coins.json": coinsJson() });
    const { bench, clock, coin } = await openMarket([{ type: "whattomine", url: `${source.url}/coins.json` }]);
    await bench.turn();
    clock.pass(60);
    await bench.restart();
    expect(await coin("BTC")).toMatchObject({ setBy: "market", workAge: 60, priceUsd: 90_000 });
    expect((await bench.miner(0)).money.revenuePerDay).toBeGreaterThan(0);
    await bench.turn();
    expect(source.asked).toHaveLength(1);
  });

  test("for a day is one notification, which ends when it answers again", async () => {
    const source = await openDouble({ "/coins.json": "<html>" });
    const { bench, pass } = await openMarket([{ type: "whattomine", url: `${source.url}/coins.json` }]);
    await bench.turn();
    for (let day = 0; day < 3; day += 1) await pass(86_000);
    const title = `Market data of ${source.host} are old`;
    expect(await bench.notifications()).toEqual([`${title}: ${source.host} answers with a web page instead of data`]);
    // Also in the next run.
    await bench.restart();
    source.answers.set("/coins.json", coinsJson({ timestamp: stamp + 3 * 86_000 }));
    await pass(86_000);
    expect(await bench.notifications()).toHaveLength(1);
    expect(await open(bench)).toEqual([]);
  });
});

describe("a value is held back", () => {
  const asked = (source: { url: string }) => [{ type: "whattomine", url: `${source.url}/coins.json` }];

  test("if it is far from the last one, with a notification, until it was read three times", async () => {
    const source = await openDouble({ "/coins.json": coinsJson() });
    const { bench, coin, market, pass } = await openMarket(asked(source));
    await bench.turn();
    source.answers.set("/coins.json", coinsJson({ exchange_rate: 900_000 }));
    await pass(600);
    const sentence = `${source.host}: its price of a BTC in USD is 10.0 times the last one, so it is not used`;
    expect((await market()).rates).toMatchObject({ btc: 90_000, age: 600 });
    expect(await bench.notifications()).toEqual([`Market value of BTC in USD held back: ${sentence}`]);
    await pass(600);
    expect((await market()).rates.btc).toBe(90_000);
    await pass(600);
    expect((await market()).rates.btc).toBe(900_000);
    expect(await open(bench)).toEqual([]);
    expect((await coin("BTC"))?.held).toBeNull();
  });

  test("if another source contradicts it, for as long as it does", async () => {
    const [good, odd] = [
      await openDouble(mempool()),
      await openDouble({ "/coins.json": coinsJson({ exchange_rate: 9 }) }),
    ];
    const { market, pass } = await openMarket([{ type: "mempool", url: good.url }, ...asked(odd)]);
    for (let turn = 0; turn < 5; turn += 1) await pass(600);
    expect((await market()).rates.btc).toBe(91_234);
    good.answers.set("/api/v1/prices", "<html>");
    odd.answers.set("/coins.json", coinsJson({ exchange_rate: 90_500, timestamp: stamp + 6000 }));
    for (let turn = 0; turn < 10; turn += 1) await pass(600);
    expect((await market()).rates.btc).toBe(90_500);
  });

  test("if its difficulty and the network's hash rate contradict one another", async () => {
    const source = await openDouble({ "/coins.json": coinsJson({ nethash: "715827882666666666" }) });
    const { bench, coin } = await openMarket(asked(source));
    await bench.turn();
    expect(await coin("BTC")).toMatchObject({
      profit: null,
      difficulty: null,
      held: `${source.host}: the figures of BTC are not used: its difficulty and the network's hash rate differ by a factor of 0.00100`,
    });
  });
});

test("no source is asked for demo miners", async () => {
  const source = await openDouble({ "/coins.json": coinsJson() });
  const { bench, pass } = await openMarket([{ type: "whattomine", url: `${source.url}/coins.json` }]);
  const { openBench, closeBenches } = await import("./bench.ts");
  const turns: (() => Promise<void>)[] = [];
  const demo = await openBench({
    demo: [{ address: bench.farm.rigs[0]?.address ?? "", name: "demo" }],
    config: { market: { sources: [{ type: "whattomine", url: `${source.url}/coins.json` }] } },
    repeat: (work) => {
      turns.push(work);
      return () => undefined;
    },
  });
  for (const turn of turns) await turn();
  // One is that of the market; the others are those of the outbox, of loops, of curtailments, which may begin at any time, and of the
  // median efficiencies.
  expect([turns.length, source.asked.length]).toEqual([5, 0]);
  await demo.service.addMiner({ address: "127.0.0.1:9" }, caller);
  for (const turn of turns) await turn();
  expect(source.asked).toHaveLength(1);
  await closeBenches();
  await pass(1);
});
