import { afterEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { PoolViewSettings } from "../../src/config/money.ts";
import { hashrateOf, poolViewSources } from "../../src/service/market/pool-view-sources.ts";
import { viewOf } from "../../src/service/market/pool-views.ts";
import { stoppedClock } from "../clock.ts";
import { closeLoopBenches, openLoopBench } from "./loop-bench.ts";
import { type Answer, openDouble } from "./source-double.ts";

afterEach(closeLoopBenches);

const time = Date.parse("2026-11-22T12:00:00Z");

/** A Bitaxe at its pool, whose own API is a double; the answer may name the rig's account and worker. */
async function openPool(
  view: Record<string, unknown>,
  answer: (rig: { account: string; worker: string; name: string }) => Answer,
) {
  const source = await openDouble();
  const clock = stoppedClock(time);
  const bench = await openLoopBench({
    rigs: [{ kind: "axeos", warm: true }],
    clock: clock.now,
    config: ([address]) => ({
      miners: [{ address, name: "rig" }],
      pools: [
        {
          name: "Solo",
          url: "stratum+tcp://pool.example.com:3333",
          view: { ...view, url: `${source.url}${String(view.url)}` },
        },
      ],
    }),
  });
  const worker = (await bench.miner(0)).poolList[0]?.additionalInfo.worker ?? "";
  const [account = "", ...rest] = worker.split(".");
  const rig = { account, worker, name: rest.join(".") };
  source.answers.set("/", answer(rig));
  const seen = async () => {
    await bench.turn();
    return (await bench.miner(0)).poolView;
  };
  return { bench, source, clock, rig, seen };
}

describe("a pool's own view of a miner", () => {
  test("is what ckpool says about its worker, with the balance of the account, its source and age", async () => {
    const { seen, source, rig, bench, clock } = await openPool(
      { type: "ckpool", url: "/users/{address}" },
      ({ account, worker }) => ({
        hashrate1m: "9T",
        hashrate5m: "9.5T",
        workers: 2,
        balance: "0.015",
        lastshare: time / 1000,
        worker: [
          { workername: `${account}.other`, hashrate5m: "8T" },
          { workername: worker, hashrate5m: "1.25T", lastshare: time / 1000 - 60, rejected: "3" },
        ],
      }),
    );
    expect((await bench.miner(0)).poolView).toBeNull();
    const view = {
      hashrate: 1.25e12,
      rejected: 3,
      balance: 0.015,
      lastShareUtc: "2026-11-22T11:59:00.000Z",
      source: source.host,
      at: "2026-11-22T12:00:00.000Z",
    };
    expect(await seen()).toEqual(view);
    expect(source.asked.map(({ line }) => line)).toEqual([`GET /users/${encodeURIComponent(rig.account)}`]);
    // A dead pool leaves the last view with its time.
    source.answers.set("/", (response) => response.writeHead(503).end());
    clock.pass(900);
    expect(await seen()).toEqual(view);
    expect(source.asked).toHaveLength(2);
  });

  test("is what public-pool says, with the sessions of a worker together", async () => {
    const session = (name: string, hashRate: number, lastSeen: string) => ({
      sessionId: "a",
      name,
      hashRate,
      lastSeen,
    });
    const { seen } = await openPool({ type: "public-pool", url: "/api/client/{address}" }, ({ name, account }) => ({
      bestDifficulty: "1.2G",
      workers: [
        session(name || account, 1e12, "2026-11-22T11:00:00.000Z"),
        session(name || account, 2e11, "2026-11-22T11:30:00.000Z"),
        session("desk 2", 9e12, "2026-11-22T11:30:00.000Z"),
      ],
    }));
    expect(await seen()).toMatchObject({
      hashrate: 1.2e12,
      rejected: null,
      balance: null,
      lastShareUtc: "2026-11-22T11:30:00.000Z",
    });
  });

  test("is read from any other pool by paths, with headers and units", async () => {
    const view = {
      type: "json",
      url: "/v1/{address}/{worker}?x=1",
      headers: { "X-Key": "pool-secret" },
      hashrate: "data.speed",
      unit: "GH/s",
      rejected: "data.bad",
      balance: "data.sat",
      balanceFactor: 1e-8,
      lastShare: "data.last",
    };
    const { seen, source, bench } = await openPool(view, () => ({
      data: { speed: "1250.5", bad: 2, sat: "150000", last: "2026-11-22T11:59:00Z" },
    }));
    expect(await seen()).toMatchObject({
      hashrate: 1.2505e12,
      rejected: 2,
      balance: 0.0015,
      lastShareUtc: "2026-11-22T11:59:00.000Z",
    });
    expect(source.asked[0]?.headers["x-key"]).toBe("pool-secret");
    expect(JSON.stringify(await bench.miner(0))).not.toContain("pool-secret");
  });

  test.each<[string, Answer]>([
    ["a web page", "<html>"],
    ["an error", { error: "no such user" }],
    ["a list", []],
    ["404", (response) => response.writeHead(404).end()],
  ])("is null after %s", async (_, answer) => {
    const { seen, source } = await openPool({ type: "ckpool", url: "/users/{address}" }, () => answer);
    expect(await seen()).toBeNull();
    expect(source.asked).toHaveLength(1);
  });
});

describe("a worker", () => {
  const row = (worker: string | null, hashrate = 1) => ({
    worker,
    hashrate,
    rejected: null,
    balance: null,
    lastShare: null,
  });

  test("is found with or without the account in front", () => {
    expect(viewOf([row(null), row("abc.desk", 5)], "abc.desk", false)?.hashrate).toBe(5);
    expect(viewOf([row(null), row("desk", 5)], "abc.desk", false)?.hashrate).toBe(5);
    expect(viewOf([row(null), row("desk", 5)], "abc.shelf", false)).toBeNull();
    expect(viewOf([row(null, 7)], "abc.desk", false)?.hashrate).toBe(7);
    expect(viewOf([row("anything", 7)], "abc.desk", true)?.hashrate).toBe(7);
    expect(viewOf([], "abc.desk", true)).toBeNull();
  });

  test.each([
    ["1.23T", 1.23e12],
    ["600G", 6e11],
    ["5 kH/s", 5000],
    ["12.5", 12.5],
    [7, 7],
    ["0", 0],
    ["-1", null],
    ["fast", null],
    [null, null],
    ["1.2.3T", null],
  ])("with the hash rate %j has %j H/s", (text, value) => {
    expect(hashrateOf(text)).toBe(value);
  });
});

test("whatever a pool answers, its figures are finite or null, and nothing throws", () => {
  const settings = PoolViewSettings.parse({
    type: "json",
    url: "http://127.0.0.1/",
    worker: "workers",
    name: "name",
    hashrate: "hashRate",
    balance: "balance",
  });
  const names = [
    "worker",
    "workers",
    "workername",
    "name",
    "hashRate",
    "hashrate5m",
    "balance",
    "rejected",
    "lastshare",
  ];
  const json = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(null, true, "", "NaN", "1e999", "-5", "1T", 1e308, -1, time),
      fc.array(tie("node"), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...names), tie("node"), { maxKeys: 5 }),
    ),
  })).node;
  fc.assert(
    fc.property(fc.constantFrom(...Object.values(poolViewSources)), json, (shape, answer) => {
      for (const { hashrate, rejected, balance, lastShare } of shape.read([answer], settings, () => undefined, time) ??
        [])
        for (const figure of [hashrate, rejected, balance, lastShare])
          if (figure !== null) expect(Number.isFinite(figure)).toBe(true);
    }),
  );
});
