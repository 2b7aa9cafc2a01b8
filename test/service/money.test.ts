import { afterEach, describe, expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { pino } from "pino";
import type { Messages, ReceivedMessage } from "../../src/contract/messages.ts";
import { minersIn } from "../../src/contract/miners-in.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { Ledger, type MoneyRead } from "../../src/service/money/ledger.ts";
import { localTimeIn } from "../../src/service/money/local-time.ts";
import { openStore } from "../any-store.ts";
import { stoppedClock } from "../clock.ts";
import { problem, refusal } from "../errors.ts";
import { fakeOnly } from "../fake-timers.ts";
import { onTestFinished } from "../finished.ts";
import { folders } from "../store/folder.ts";
import { limits, until } from "../until.ts";
import { caller, closeBenches, openBench } from "./bench.ts";
import { closeLoopBenches, type LoopBench, openLoopBench } from "./loop-bench.ts";
import { openDouble } from "./source-double.ts";

afterEach(closeLoopBenches);

const folder = folders();
const log = pino({ level: "silent" });
const hour = 3_600_000;
const bitaxe = { kind: "axeos", warm: true } as const;
const pools = [{ name: "Solo", url: "stratum+tcp://pool.example.com:3333", coin: "BTC" }];
const at = (text: string): number => Date.parse(text);

interface FarmOptions {
  readonly rigs?: number;
  readonly from?: string;
  readonly config?: Record<string, unknown>;
  readonly groups?: readonly string[];
  readonly messages?: Messages;
}

/** Rigs that mine BTC worth 5e-8 BTC per MH/s and day, at 90,000 USD. */
async function openFarm({
  rigs = 1,
  from = "2026-11-22T00:00:00Z",
  config = {},
  groups = [],
  messages,
}: FarmOptions = {}) {
  const clock = stoppedClock(at(from));
  const bench = await openLoopBench({
    rigs: Array.from({ length: rigs }, () => bitaxe),
    clock: clock.now,
    config: (addresses) => ({
      miners: addresses.map((address, index) => ({
        address,
        name: `rig ${index}`,
        ...(groups[index] === undefined ? {} : { group: groups[index] }),
      })),
      pools,
      rates: { btc: 90_000 },
      ...config,
    }),
    ...(messages === undefined ? {} : { messages }),
  });
  await bench.service.saveCoin({ shortName: "BTC", profit: 5e-8 }, caller);
  await bench.turn();
  /** So many hours go by, with a read in each. */
  const hours = async (count: number) => {
    for (let index = 0; index < count; index += 1) {
      clock.pass(3600);
      await bench.turn();
    }
  };
  const money = (asked: Parameters<typeof bench.service.getMoney>[0] = {}) => bench.service.getMoney(asked, caller);
  return { bench, clock, hours, money };
}

/** What is in the store of the first day, as after a kill. */
async function stored({ store }: Pick<LoopBench, "store">) {
  const [row] = await store.moneyDays.sums({
    from: "2026-11-22",
    to: "2026-11-22",
    letters: 10,
    of: "miner",
    currency: "USD",
  });
  return row && { ...row, hours: row.seconds / 3600 };
}

describe("what a miner earned and cost", () => {
  test("is added up by local date, each kWh at the price of its time", async () => {
    const list = Array.from({ length: 48 }, (_, index) => ({
      start: at("2026-11-21T23:00:00Z") + index * hour,
      end: at("2026-11-22T00:00:00Z") + index * hour,
      value: index % 2 === 0 ? -0.1 : 0.5,
    }));
    const source = await openDouble({ "/": list });
    const electricity = { source: { type: "list", url: source.url, currency: "USD", every: 86_400 } };
    const { hours, money, bench } = await openFarm({ config: { electricity, display: { timeZone: "Europe/Berlin" } } });
    await hours(30);
    const { list: days, totalList } = await money({ from: "2026-11-22", to: "2026-11-23" });
    const { id, readings, money: now } = await bench.miner(0);
    const [sunday, monday] = days;
    // From 1:00 to 24:00 in Berlin, 23 hours, of which 12 at 0.50 and 11 at -0.10: (12 × 0.50 - 11 × 0.10) / 23 a kWh.
    // The energy that a miner shows is that of the last write to the store, which a timer makes every five seconds.
    const { points } = await bench.service.getHistory({ id, from: at("2026-11-22T00:00:00Z"), step: 0 }, caller);
    const perHour = (points.at(-1)?.[4] ?? 0) / 30;
    expect(sunday).toMatchObject({ period: "2026-11-22", name: "rig 0", hours: 23, incomplete: false });
    expect(sunday?.energy).toBeCloseTo(23 * perHour, 0);
    expect(sunday?.cost).toBeCloseTo((perHour / 1000) * (12 * 0.5 - 11 * 0.1), 3);
    // Monday's first 7 hours: 4 at -0.10 and 3 at 0.50.
    expect(monday?.hours).toBe(7);
    expect(monday?.cost).toBeCloseTo((perHour / 1000) * (3 * 0.5 - 4 * 0.1), 3);
    for (const day of days) {
      // 5e-8 BTC per MH/s and day × 90,000 USD
      const revenue = ((readings.hashrate ?? 0) / 1e6) * 5e-8 * 90_000 * (day.hours / 24);
      expect((day.revenue ?? 0) / revenue).toBeCloseTo(1, 1);
      expect(day.revenueBtc).toBeCloseTo((day.revenue ?? 0) / 90_000, 12);
      expect(day.profit).toBeCloseTo((day.revenue ?? 0) - (day.cost ?? 0), 12);
      expect(day.profitBtc).toBeCloseTo((day.profit ?? 0) / 90_000, 12);
    }
    expect(totalList).toHaveLength(2);
    expect(now.energyCost).toBeCloseTo((sunday?.cost ?? 0) + (monday?.cost ?? 0), 6);
  });

  test("outlives a restart, and is neither lost nor counted twice", async () => {
    const { hours, money, bench } = await openFarm({ config: { electricity: { price: 0.3 } } });
    await hours(3);
    const [before] = (await money()).list;
    await bench.restart();
    const [after] = (await money()).list;
    expect(after).toEqual(before);
    expect((await bench.miner(0)).money.energyCost).toBeCloseTo(before?.cost ?? 0, 6);
    await hours(1);
    expect((await money()).list[0]?.hours).toBe(4);
  });

  test("includes the last minute when the service stops in order", async () => {
    const { bench, clock, hours, money } = await openFarm({ config: { electricity: { price: 0.3 } } });
    await hours(1);
    const [before] = (await money()).list;
    clock.pass(50);
    await bench.turn();
    expect((await stored(bench))?.hours).toBe(1);
    await bench.restart();
    const after = await stored(bench);
    expect([before?.hours, after?.hours]).toEqual([1, 1 + 50 / 3600]);
    for (const key of ["energy", "cost", "revenue"] as const)
      expect((after?.[key] ?? 0) / (before?.[key] ?? 0)).toBeCloseTo(3650 / 3600, 3);
  });

  test("is stored up to the last read once a minute, so that a kill costs a minute at most", async () => {
    fakeOnly("setInterval", "clearInterval");
    const { bench, clock, hours } = await openFarm({ config: { electricity: { price: 0.3 } } });
    await hours(1);
    clock.pass(50);
    await bench.turn();
    jest.advanceTimersByTime(60_000);
    await until(async () => (await stored(bench))?.hours === 1 + 50 / 3600, "the last read to be stored");
  });

  test("ends with the last read before a silence, not with the last that was counted", async () => {
    const { bench, clock, hours, money } = await openFarm({ config: { electricity: { price: 0.3 } } });
    await hours(1);
    clock.pass(50);
    await bench.turn();
    bench.farm.rigs[0]?.powerOff();
    for (let read = 0; read < 3; read += 1) {
      clock.pass(3600);
      await bench.turn();
    }
    expect((await bench.miner(0)).isOffline).toBe(true);
    expect((await money()).list).toMatchObject([{ hours: 1 + 50 / 3600, incomplete: false }]);
  });

  test("is known from the first read, also after a restart within a minute, so that front ends announce it once", async () => {
    const now = stoppedClock(at("2026-11-22T00:00:00Z"));
    const file = `${folder()}/a.db`;
    const ledgerOver = async (price: number | null) => {
      const store = await openStore({ file, now: now.now });
      const ledger = new Ledger({
        days: store.moneyDays,
        rates: { currency: "EUR" },
        localTime: localTimeIn("UTC"),
        now: now.now,
        log,
        settings: { history: { raw: 1, hourly: 1 } },
        tariffOf: () => ({ curve: null, at: () => ({ price, until: Infinity }) }),
        btc: () => undefined,
      });
      await ledger.start();
      const take = (energy: number | null) => {
        ledger.take(1, {
          at: now.now(),
          energy,
          revenuePerDay: 1,
          revenueBtcPerDay: null,
          groupId: 0,
          coin: "BTC",
          algorithm: "sha256",
          readEveryMs: 10_000,
        });
        return ledger.costOf(1);
      };
      const close = async () => {
        await ledger.close();
        await store.close();
      };
      return { take, close };
    };
    const cost = async (price: number | null, ...energies: readonly (number | null)[]) => {
      const { take, close } = await ledgerOver(price);
      const costs = energies.map((energy) => {
        const taken = take(energy);
        now.pass(60);
        return taken;
      });
      await close();
      return costs;
    };
    expect(await cost(null, 0)).toEqual([null]);
    expect(await cost(0.5, null)).toEqual([null]);
    expect(await cost(0.5, 0)).toEqual([0]);
    expect(await cost(0.5, 1_000)).toEqual([0]);
    expect(await cost(0.5, 1_000, 3_000)).toEqual([0, 1]);
    expect(await cost(0.5, 3_000)).toEqual([1]);
    expect(await cost(null, 3_000)).toEqual([1]);
  });

  test("is unknown while a price, a rate or a coin is, which is told and never 0", async () => {
    const source = await openDouble({ "/": "<html>" });
    const electricity = { source: { type: "list", url: source.url, currency: "USD" } };
    const { hours, money, bench } = await openFarm({ config: { electricity } });
    await hours(2);
    const [row] = (await money()).list;
    expect(row).toMatchObject({ cost: null, profit: null, profitBtc: null, incomplete: true, hours: 2 });
    expect(row?.revenue).toBeGreaterThan(0);
    const miner = await bench.miner(0);
    expect(miner.money).toMatchObject({
      costPerDay: null,
      profitPerDay: null,
      electricityPrice: null,
      energyCost: null,
    });
    expect(miner.metaData.warningList).toEqual([
      "The profit of 1 miner is unknown: the price of electricity is unknown now; see GET /api/prices",
    ]);
    await bench.restart({ pools: [], electricity: { price: 0.2 } });
    await hours(1);
    const [later] = (await money()).list.filter(({ cost }) => cost !== null);
    expect(later?.incomplete).toBe(true);
  });

  test("by miner, group, coin, algorithm, and all together are one sum; a group includes those inside", async () => {
    const { hours, money } = await openFarm({
      rigs: 3,
      groups: ["Hall", "Row"],
      config: { groups: [{ name: "Hall", groups: [{ name: "Row" }] }], electricity: { price: 0.3 } },
    });
    await hours(5);
    const [miners, groups, coins, algorithms] = [
      (await money({ of: "miner" })).list,
      (await money({ of: "group" })).list,
      (await money({ of: "coin", by: "month" })).list,
      (await money({ of: "algorithm", by: "month" })).list,
    ];
    const [farm] = (await money()).totalList;
    for (const key of ["energy", "cost", "revenue", "profit", "revenueBtc", "profitBtc", "hours"] as const) {
      const sum = miners.reduce((all, row) => all + (row[key] ?? 0), 0);
      expect(farm?.[key]).toBeCloseTo(sum, 9);
      expect(coins[0]?.[key]).toBeCloseTo(sum, 9);
      expect(algorithms[0]?.[key]).toBeCloseTo(sum, 9);
      const of = (name: string) => groups.find((row) => row.name === name)?.[key] ?? 0;
      expect(of("Hall")).toBeCloseTo((miners[0]?.[key] ?? 0) + (miners[1]?.[key] ?? 0), 9);
      expect(of("Row")).toBeCloseTo(miners[1]?.[key] ?? 0, 9);
      expect(of("")).toBeCloseTo(miners[2]?.[key] ?? 0, 9);
    }
    expect(coins).toMatchObject([{ period: "2026-11", name: "Bitcoin (BTC)", id: null }]);
    expect(algorithms).toMatchObject([{ period: "2026-11", name: "SHA-256", id: null }]);
  });

  test("of a miner that was removed stays in the sums, and users see that of their groups alone", async () => {
    const clock = stoppedClock(at("2026-11-22T00:00:00Z"));
    const bench = await openBench({
      rigs: [bitaxe, bitaxe],
      clock: clock.now,
      config: { groups: [{ name: "Hall" }], users: [{ name: "anna", groups: ["Hall"] }], electricity: { price: 0.3 } },
    });
    const ids = [await bench.add(bench.rig(0).address, { group: "Hall" }), await bench.add(bench.rig(1).address)];
    clock.pass(3600);
    for (const id of ids) await bench.poll(id);
    const { list } = await bench.service.getMoney({}, caller);
    expect(list.map(({ id, cost }) => [id, cost])).toEqual(ids.map((id) => [id, expect.any(Number)]));
    for (const id of ids) await bench.service.deleteMiner({ id }, caller);
    expect((await bench.service.getMoney({}, caller)).list.map(({ name, cost }) => [name, cost])).toEqual(
      list.map(({ id, cost }) => [`Miner ${id} (removed)`, cost]),
    );
    const { userId } = await bench.service.getUser({ username: "anna" }, caller);
    const seen = await bench.service.getMoney({}, { actor: "test", userId });
    expect(seen.list.map(({ id }) => id)).toEqual(ids.slice(0, 1));
    expect(seen.totalList[0]?.cost).toBeCloseTo(list[0]?.cost ?? 0, 12);
    await closeBenches();
  });

  test("is refused for a time that ends before it begins", async () => {
    const { money } = await openFarm();
    expect(await refusal(money({ from: "2026-11-23", to: "2026-11-22" }))).toBe("input.invalid from");
  });
});

describe("the totals of the farm", () => {
  test("are the sums of the miners, by group, coin and algorithm", async () => {
    const { bench } = await openFarm({
      rigs: 3,
      groups: ["Hall", "Row"],
      config: {
        groups: [{ name: "Hall", electricity: { price: 0.1 }, groups: [{ name: "Row" }] }],
        electricity: { price: 0.3 },
      },
    });
    const { groupList } = await bench.service.listMiners({}, caller);
    const miners = [...minersIn(groupList)];
    const summary = await bench.service.getSummary({}, caller);
    const sumOf = (names: readonly string[], key: "revenuePerDay" | "costPerDay" | "profitPerDay") =>
      miners.filter(({ name }) => names.includes(name)).reduce((sum, { money }) => sum + (money[key] ?? 0), 0);
    for (const key of ["revenuePerDay", "costPerDay", "profitPerDay"] as const) {
      const all = sumOf(["rig 0", "rig 1", "rig 2"], key);
      expect(summary.money?.[key]).toBeCloseTo(all, 9);
      expect(summary.coinList[0]?.money?.[key]).toBeCloseTo(all, 9);
      expect(summary.algorithmList[0]?.money?.[key]).toBeCloseTo(all, 9);
      const group = (name: string) => summary.groupList?.find((each) => each.name === name)?.money?.[key];
      expect(group("Hall")).toBeCloseTo(sumOf(["rig 0", "rig 1"], key), 9);
      expect(group("Row")).toBeCloseTo(sumOf(["rig 1"], key), 9);
    }
    // The group's price goes for the group inside, the general one for all others.
    expect(miners.map(({ name, money }) => [name, money.electricityPrice]).sort()).toEqual([
      ["rig 0", 0.1],
      ["rig 1", 0.1],
      ["rig 2", 0.3],
    ]);
  });
});

describe("the price of electricity", () => {
  test("of a miner, a group and the farm, with its curve", async () => {
    const zones = [{ from: "22:00", to: "06:00", price: 0.1 }];
    const { bench } = await openFarm({
      from: "2026-11-22T12:00:00Z",
      groups: ["Hall"],
      config: {
        groups: [{ name: "Hall", electricity: { price: 0.3, zones, timeZone: "UTC" } }],
        electricity: { price: 0.5 },
      },
    });
    const [id = 0] = bench.ids;
    const of = async (asked: Parameters<typeof bench.service.getPrices>[0]) => bench.service.getPrices(asked, caller);
    const [{ id: hall = 0 } = {}] = await bench.service.listGroups({}, caller);
    expect(await of({})).toMatchObject({ currency: "USD", now: 0.5, source: null, age: null, problem: null });
    for (const asked of [{ miner: id }, { group: hall }])
      expect(await of({ ...asked, to: at("2026-11-23T12:00:00Z") })).toMatchObject({
        now: 0.3,
        prices: [
          { start: "2026-11-22T12:00:00.000Z", end: "2026-11-22T22:00:00.000Z", value: 0.3 },
          { start: "2026-11-22T22:00:00.000Z", end: "2026-11-23T06:00:00.000Z", value: 0.1 },
          { start: "2026-11-23T06:00:00.000Z", end: "2026-11-23T12:00:00.000Z", value: 0.3 },
        ],
      });
    expect((await bench.miner(0)).money.electricityPrice).toBe(0.3);
    expect(await refusal(of({ miner: 7 }))).toBe("not.found");
    expect(await refusal(of({ group: 77 }))).toBe("not.found");
    expect(await refusal(of({ miner: id, group: hall, from: 2, to: 1 }))).toBe("input.invalid group from");
  });

  test("of a single miner is its own, also after a restart, and its token is not stored", async () => {
    const source = await openDouble({
      "/": [{ start: "2026-11-22T00:00:00Z", end: "2026-11-23T00:00:00Z", value: 0.7 }],
    });
    const headers = { Authorization: "Bearer word-of-the-tariff" };
    const electricity = { source: { type: "list", url: source.url, currency: "USD", headers } };
    const clock = stoppedClock(at("2026-11-22T00:00:00Z"));
    const bench = await openLoopBench({
      rigs: [bitaxe, bitaxe],
      clock: clock.now,
      config: ([one, two]) => ({
        miners: [{ address: one, electricity }, { address: two }],
        electricity: { price: 0.2 },
      }),
    });
    await bench.turn();
    const prices = async () =>
      [(await bench.miner(0)).money, (await bench.miner(1)).money].map((each) => each.electricityPrice);
    expect(await prices()).toEqual([0.7, 0.2]);
    expect(JSON.stringify(bench.store.miners.all())).not.toContain("word-of-the-tariff");
    await bench.restart();
    expect(await prices()).toEqual([0.7, 0.2]);
    expect(source.asked).toHaveLength(1);
  });

  test("changes a miner's cost when another begins, and the change is told to subscribers", async () => {
    const zones = [{ from: "13:00", to: "14:00", price: 1 }];
    const { bench, clock } = await openFarm({
      from: "2026-11-22T12:58:00Z",
      config: { electricity: { price: 0.1, zones, timeZone: "UTC" } },
    });
    // A summary may come before the rig has answered.
    const events = bench.service
      .watchEvents({ types: ["miner"] }, caller, AbortSignal.timeout(limits.waitMs))
      [Symbol.asyncIterator]();
    const next = events.next();
    clock.pass(180);
    await bench.turn();
    expect((await next).value).toMatchObject({ type: "miner", data: { id: bench.ids[0] } });
    expect((await bench.miner(0)).money.electricityPrice).toBe(1);
  });

  test("changes a row's cost and profit although no rig was read, in the list and for subscribers", async () => {
    const zones = [{ from: "13:00", to: "14:00", price: 1 }];
    onTestFinished(closeBenches);
    const turns: (() => Promise<void>)[] = [];
    const clock = stoppedClock(at("2026-11-22T12:58:00Z"));
    const bench = await openBench({
      rigs: [bitaxe],
      clock: clock.now,
      repeat: (work) => {
        turns.push(work);
        return () => undefined;
      },
      config: { pools, rates: { btc: 90_000 }, electricity: { price: 0.1, zones, timeZone: "UTC" } },
    });
    const id = await bench.add(bench.rig(0).address);
    await bench.service.saveCoin({ shortName: "BTC", profit: 5e-11 }, caller);
    const fields = ["cost", "profit", "revenue"] as const;
    const list = (since?: string) => bench.service.listMinerRows({ view: "list", fields: [...fields], since }, caller);
    const before = await list();
    const [row] = before.miners;
    const stop = new AbortController();
    const events = bench.service
      .watchMinerRows({ view: "list", fields: [...fields], after: before.version }, caller, stop.signal)
      [Symbol.asyncIterator]();
    const next = events.next();
    clock.pass(180);
    for (const turn of turns) await turn();
    const { value } = await next;
    expect(value).toMatchObject({ type: "miner", data: { id, revenue: row?.revenue } });
    const changed = value?.type === "miner" ? value.data : null;
    expect(changed?.cost).toBeCloseTo(10 * (row?.cost ?? Number.NaN), 2);
    expect(changed?.profit).toBeCloseTo((row?.revenue ?? Number.NaN) - (changed?.cost ?? Number.NaN), 2);
    expect((await list(before.version)).miners).toMatchObject([{ id, cost: changed?.cost, profit: changed?.profit }]);
    const coinAt = (await list()).version;
    await bench.service.saveCoin({ shortName: "BTC", profit: 1e-10 }, caller);
    expect((await list(coinAt)).miners[0]?.revenue).toBeCloseTo(2 * (row?.revenue ?? Number.NaN), 2);
    stop.abort();
  });

  test("from a source in another currency needs a rate", async () => {
    const rows = [{ start: "2026-11-22T00:00:00Z", end: "2026-11-23T00:00:00Z", value: 0.2 }];
    const source = await openDouble({ "/prices": rows });
    const electricity = {
      source: { type: "list", url: `${source.url}/prices?token=word-in-the-url`, currency: "EUR" },
    };
    const { bench } = await openFarm({ config: { electricity } });
    const asked = await bench.service.getPrices({}, caller);
    expect(asked).toMatchObject({
      currency: "USD",
      now: null,
      prices: [],
      source: source.host,
      age: 0,
      problem: "The rate of EUR is unknown; set rates.currencies.EUR in the configuration",
    });
    expect(JSON.stringify(asked)).not.toContain("word-in-the-url");
    await bench.restart({ rates: { currencies: { EUR: 1.5 } } });
    expect(await bench.service.getPrices({}, caller)).toMatchObject({ now: expect.closeTo(0.3, 12), problem: null });
  });

  test("comes by messages, as a list or as the price from now on", async () => {
    const heard: ((message: ReceivedMessage) => void)[] = [];
    const messages: Messages = {
      isConfigured: true,
      listen: (topic, handle) => {
        if (topic === "home/price") heard.push(handle);
        return () => undefined;
      },
      publish: () => true,
    };
    const say = (payload: string) => heard.at(-1)?.({ payload, at: 0, retained: false });
    const electricity = { source: { type: "list", topic: "home/price", currency: "USD" }, add: 0.01 };
    const { bench, clock } = await openFarm({ config: { electricity }, messages });
    const now = async () => (await bench.service.getPrices({}, caller)).now;
    expect(await now()).toBeNull();
    say("0.2");
    expect(await now()).toBeCloseTo(0.21, 12);
    clock.pass(60);
    say(JSON.stringify([{ start: "2026-11-22T00:00:00Z", end: "2026-11-22T01:00:00Z", value: -0.3 }]));
    expect(await now()).toBeCloseTo(-0.29, 12);
    say("unavailable");
    expect(await bench.service.getPrices({}, caller)).toMatchObject({
      now: expect.closeTo(-0.29, 12),
      source: "home/price",
      problem: "home/price has something other than JSON or a number",
    });
    await bench.restart();
    expect(await now()).toBeCloseTo(-0.29, 12);
  });
});

test("history and money are tables over HTTP, with names that are no formulas", async () => {
  const { bench, hours } = await openFarm({ config: { electricity: { price: 0.3 } } });
  const id = bench.ids[0] ?? 0;
  await hours(2);
  await bench.restart({
    miners: [{ address: bench.farm.rigs[0]?.address, name: '=HYPERLINK("http://x"),"a"' }],
    electricity: { price: 0.3 },
  });
  const server = await startHttpServer({ service: bench.service, settings: httpSettings(), log, version: "test" });
  onTestFinished(() => server.close());
  const ask = async (path: string) => {
    const response = await fetch(`http://${server.address.host}:${server.address.port}${path}`);
    return { headers: response.headers, text: await response.text(), status: response.status };
  };
  const money = await ask("/api/money?format=csv");
  expect(money.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
  expect(money.headers.get("content-disposition")).toBe('attachment; filename="money.csv"');
  const [header, row = "", ...rest] = money.text.split("\r\n");
  expect(header).toBe(
    "period,id,name,hours,energy,cost,revenue,profit,currency,revenueBtc,profitBtc,incomplete,profitHours",
  );
  expect(row.startsWith(`2026-11-22,${id},"'=HYPERLINK(""http://x""),""a""",2,`)).toBe(true);
  expect(rest).toEqual([""]);
  const atItsPath = await ask("/api/money.csv");
  expect([atItsPath.text, atItsPath.headers.get("content-disposition")]).toEqual([
    money.text,
    'attachment; filename="money.csv"',
  ]);
  const read = await fetch(
    `http://${server.address.host}:${server.address.port}/api/money.csv?units=true&bom=true&by=month`,
  );
  const people = Buffer.from(await read.arrayBuffer());
  expect(people.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
  const [head = "", line = ""] = people.subarray(3).toString("utf8").split("\r\n");
  expect(head).toBe(
    "period,id,name,hours (h),energy (kWh),cost (USD),revenue (USD),profit (USD),currency,revenueBtc (BTC),profitBtc (BTC),incomplete,profitHours (h)",
  );
  const [energy, cost] = line
    .replace(/"(?:[^"]|"")*"/, "name")
    .split(",")
    .slice(4, 6)
    .map(Number);
  const { list } = await bench.service.getMoney({ by: "month" }, caller);
  expect(energy).toBe(Number(((list[0]?.energy ?? 0) / 1000).toFixed(3)));
  expect(cost).toBe(Number((list[0]?.cost ?? 0).toFixed(4)));
  const history = await ask(
    `/api/miners/${id}/history?format=csv&step=3600&from=2026-11-22T00:00:00Z&to=2026-11-22T02:00:00Z`,
  );
  expect(history.text.split("\r\n").slice(0, 2)).toEqual([
    "time,hashrate,power,temperature,energy",
    expect.stringMatching(/^2026-11-22T00:00:00\.000Z,[\d.]+,[\d.]+,[\d.]+,[\d.]+$/),
  ]);
  expect(history.headers.get("content-disposition")).toBe(`attachment; filename="miners-${id}-history.csv"`);
  expect((await ask("/api/money?format=xml")).status).toBe(400);
  expect(JSON.parse((await ask("/api/money?format=json")).text)).toHaveProperty("list");
});

const httpSettings = () => ({
  host: "127.0.0.1",
  port: 0,
  origins: [],
  hosts: [],
  trustedProxies: [],
  open: false,
  keylessRead: false,
  mcp: false,
  announce: false,
});

describe("the ledger", () => {
  test("has all of a random history in its sums, whatever dates, prices and gaps it crosses", async () => {
    const step = fc.record({
      minutes: fc.integer({ min: 1, max: 600 }),
      wattHours: fc.option(fc.integer({ min: 0, max: 5_000 })),
      revenue: fc.option(fc.integer({ min: 0, max: 100 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const start = at("2026-03-28T05:00:00Z");
        const store = await openStore({ file: ":memory:", now: () => start });
        const price = (time: number) => (Math.floor(time / hour) % 3 === 0 ? -0.1 : 0.25);
        const tariff = {
          curve: null,
          at: (time: number) => ({ price: price(time), until: (Math.floor(time / hour) + 1) * hour }),
        };
        const ledger = new Ledger({
          days: store.moneyDays,
          rates: { currency: "EUR" },
          localTime: localTimeIn("Europe/Berlin"),
          now: () => start,
          log,
          tariffOf: () => tariff,
          btc: () => 50_000,
          settings: { history: { raw: 2, hourly: 730 } },
        });
        let [time, energy] = [start, 0];
        let before: MoneyRead | undefined;
        const expected = { energy: 0, cost: 0, revenue: 0, profit: 0 };
        for (const { minutes, wattHours, revenue } of steps) {
          time += minutes * 60_000;
          energy += wattHours ?? 0;
          const read: MoneyRead = {
            at: time,
            energy: wattHours === null ? null : energy,
            revenuePerDay: revenue,
            revenueBtcPerDay: null,
            groupId: 0,
            coin: "BTC",
            algorithm: "sha256",
            readEveryMs: 60_000,
          };
          ledger.take(1, read);
          const isGap = before !== undefined && time - before.at > 240_000;
          const sums = { ...expected };
          if (before?.energy != null && read.energy !== null) {
            const drawn = read.energy - before.energy;
            if (!isGap || drawn > 0) expected.energy += drawn;
            for (let minute = 0; minute < minutes; minute += 1)
              expected.cost += (drawn / minutes / 1000) * price(before.at + minute * 60_000);
          }
          if (!isGap && before?.revenuePerDay != null && revenue !== null)
            expected.revenue += ((before.revenuePerDay + revenue) / 2) * (minutes / 1440);
          // Only where both are known.
          if (
            !isGap &&
            before?.energy != null &&
            read.energy !== null &&
            before.revenuePerDay !== null &&
            revenue !== null
          )
            expected.profit += expected.revenue - sums.revenue - (expected.cost - sums.cost);
          before = read;
        }
        await ledger.close();
        const rows = await store.moneyDays.sums({
          from: "0000-00-00",
          to: "9999-99-99",
          letters: 10,
          of: "miner",
          currency: "EUR",
        });
        const sum = (key: keyof typeof expected) => rows.reduce((all, row) => all + (row[key] ?? 0), 0);
        expect(sum("energy")).toBeCloseTo(expected.energy, 6);
        expect(sum("cost")).toBeCloseTo(expected.cost, 6);
        expect(sum("revenue")).toBeCloseTo(expected.revenue, 6);
        expect(sum("profit")).toBeCloseTo(expected.profit, 6);
        expect(ledger.costOf(1) ?? 0).toBeCloseTo(expected.cost, 6);
        await store.close();
      }),
      { numRuns: 40 },
    );
  });

  test("keeps what it could not write, and drops what is too old", async () => {
    const file = folder();
    const now = at("2026-11-22T12:00:00Z");
    const store = await openStore({ file: `${file}/a.db`, now: () => now });
    let isFull = true;
    const ledger = new Ledger({
      days: {
        ...store.moneyDays,
        add: async (batch) => {
          if (isFull) throw new Error("full");
          await store.moneyDays.add(batch);
        },
      },
      rates: { currency: "EUR" },
      localTime: localTimeIn("UTC"),
      now: () => now,
      log,
      tariffOf: () => undefined,
      btc: () => undefined,
      settings: { history: { raw: 1, hourly: 1 } },
    });
    const read = (time: number): MoneyRead => ({
      at: time,
      energy: 1,
      revenuePerDay: 24,
      revenueBtcPerDay: null,
      groupId: 0,
      coin: "BTC",
      algorithm: "sha256",
      readEveryMs: hour,
    });
    for (const time of [now - 50 * hour, now - 49 * hour, now - hour, now]) ledger.take(1, read(time));
    await expect(ledger.save()).rejects.toThrow("full");
    isFull = false;
    await ledger.save();
    const rows = await store.moneyDays.sums({
      from: "2026-01-01",
      to: "2026-12-31",
      letters: 10,
      of: "miner",
      currency: "EUR",
    });
    expect(rows.map(({ period, revenue }) => [period, revenue])).toEqual([["2026-11-22", 1]]);
    await ledger.close();
    await store.close();
  });
});

test("a rule of money: a negative or infinite number is refused with a sentence, and the old state stays", async () => {
  const { bench } = await openFarm();
  expect(
    await problem(bench.service.saveCoin({ shortName: "BTC", difficulty: 0, reward: 1, btc: 1, usd: 1 }, caller)),
  ).toMatchObject({
    code: "input.invalid",
    errors: [
      { path: "difficulty", message: "must be given and above 0" },
      { path: "btc", message: "exactly one of btc and usd is required" },
    ],
  });
  const { coins } = await bench.service.getMarket({}, caller);
  expect(coins).toMatchObject([{ shortName: "BTC", profit: 5e-8, setBy: "hand" }]);
});
