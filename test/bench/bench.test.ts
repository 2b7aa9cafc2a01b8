import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { phaseOf } from "../../src/fleet/schedule.ts";
import { listen, type Published, withMosquitto } from "./broker.ts";
import { Child } from "./child.ts";
import { choiceOf } from "./choice.ts";
import { type Figure, figures, partNames, reached, shown } from "./figures.ts";
import { inFolder } from "./folder.ts";
import { latenessOf } from "./lateness.ts";
import { paced } from "./pace.ts";
import { json, markdown, table } from "./report.ts";
import { measured, median, quantile, ratios } from "./statistics.ts";

// depends on: src/**, test/bench/*.ts

const bench = fileURLToPath(new URL("bench.ts", import.meta.url));
const node = (...args: string[]) =>
  promisify(execFile)(process.execPath, ["--disable-warning=ExperimentalWarning", bench, ...args]);

describe("the command", () => {
  test("prints one object of figures on stdout, and says on stderr how far it is", async () => {
    const { stdout, stderr } = await node("store", "--quick", "--json");
    const printed: Record<string, unknown> = JSON.parse(stdout);
    expect(Object.keys(printed)).toEqual(["store.samples", "store.history.ms"]);
    for (const figure of Object.values(printed)) expect(figure).toBeGreaterThan(0);
    expect(stderr).toMatch(/^1\/1 store .*, store\.samples \d.*, store\.history\.ms \d/s);
  });

  test("names the parts that there are when asked for another", async () => {
    await expect(node("poll", "speed")).rejects.toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(
        /^There is no part speed; the parts are poll, http, .*web, .*events, mqtt, rules, settings, mcp, sites, scan, curtailment, pair, large-pair\.\n/,
      ),
    });
  });

  test("measures all parts in their order, unless some are named", () => {
    expect(choiceOf([])).toEqual({ parts: partNames, output: "table", quick: false, help: false });
    expect(choiceOf(["list", "poll", "--json"])).toMatchObject({ parts: ["poll", "list"], output: "json" });
    expect(() => choiceOf(["--fast"])).toThrow(/--fast/);
  });
});

describe("the report", () => {
  const results = [
    measured("poll.ratio", [0.5, 0.4, 0.6], "200 µs of CPU a read"),
    measured("memory.perMiner", [12_345.6], "12 MB"),
    measured("events.p99.ms", [40], "2,000 events a second"),
  ];

  test("the JSON has the names that others follow, and null for what could not be measured", () => {
    const object: Record<string, unknown> = JSON.parse(json(partNames, results));
    expect(Object.keys(object)).toEqual([
      "poll.ratio",
      "poll.ratio.batched",
      "poll.peer",
      "poll.http.ratio",
      "poll.http.ratio.batched",
      "fleet.5000at10.cpu",
      "fleet.5000at10.multiple",
      "fleet.40000at10.firstReads",
      "fleet.40000at10.steered",
      "fleet.40000at10.lateness.p99",
      "fleet.100000at30.lateness.p99",
      "fleet.100000at30.memory",
      "fleet.deadShare30.duePolls",
      "list.10000.ratio",
      "list.10000.changed",
      "list.10000.peer",
      "miner.us",
      "summary.ratio",
      "web.rows.cpu.ms",
      "web.rows.bytes",
      "web.delta.cpu.ms",
      "web.paint.ms",
      "web.letter.ms",
      "web.scroll.frame.ms",
      "web.events.frame.ms",
      "web.memory.mb",
      "web.growth.mb",
      "web.idle.bytes",
      "web.idle.cpu.us",
      "bodies.worst.ms",
      "bodies.others.p99.ms",
      "memory.perMiner",
      "start.seconds",
      "store.samples",
      "store.history.ms",
      "events.p99.ms",
      "mqtt.p99.ms",
      "mqtt.1000.p99.ms",
      "mqtt.workers.p99.ms",
      "mqtt.ratio",
      "rules.1000.cpu.ms",
      "rules.reads.ratio",
      "rules.10000.bytes",
      "rules.start.ms",
      "settings.10000.ms",
      "mcp.10000.cpu.ms",
      "sites.100000.list.ms",
      "sites.100000.summary.ms",
      "sites.100000.event.p99.ms",
      "sites.100000.cores",
      "sites.100000.memory.gb",
      "sites.growth",
      "scan.24.seconds",
      "scan.22.seconds",
      "curtailment.preview.us",
      "curtailment.first.ms",
      "curtailment.most.seconds",
      "pair.cpu.ratio",
      "pair.write.p99.ms",
      "pair.standby.cpu",
      "pair.standby.memory.mb",
      "pair.100000at30.lateness.p99",
      "pair.100000at30.sqlite.p99",
      "pair.100000at30.memory",
    ]);
    expect(object).toMatchObject({ "poll.ratio": 0.5, "poll.peer": null, "memory.perMiner": 12_345.6 });
    expect(Object.keys(JSON.parse(json(["start"], results)))).toEqual(["start.seconds"]);
  });

  test("the table has name, figure, aim, unit and spread, and what else was seen", () => {
    const lines = table(results).split("\n");
    expect(lines.map((line) => line.trim().split(/ {2,}/))).toEqual([
      ["name", "figure", "aim", "unit", "reached", "rounds"],
      ["poll.ratio", "0.5", "≥ 1", "ratio", "no", "3: 0.4 to 0.6"],
      ["200 µs of CPU a read"],
      ["memory.perMiner", "12,346", "≤ 9,000", "bytes", "no", "1"],
      ["12 MB"],
      ["events.p99.ms", "40", "ms", "1"],
      ["2,000 events a second"],
    ]);
  });

  test("as Markdown each row has as many cells as the head", () => {
    const [first, , ...rows] = markdown(results, "npm run bench").split("\n");
    expect(first).toMatch(/^\d{4}-\d{2}-\d{2}, \d+ cores.*, Node \d+.*, `npm run bench`:$/);
    expect(new Set(rows.map((row) => row.split("|").length))).toEqual(new Set([9]));
    expect(rows[2]).toBe("| `poll.ratio` | 0.5 | ≥ 1 | ratio | no | 3: 0.4 to 0.6 | 200 µs of CPU a read |");
  });

  test("every part has a figure", () => {
    expect(new Set(figures.map(({ part }) => part))).toEqual(new Set(partNames));
  });

  test("figures are shown with three digits, and whole from 1,000 on", () => {
    expect([0.012_345, 0.4, 1, 120, 999.4, 1234.5, 2_000_000].map(shown)).toEqual([
      "0.0123",
      "0.4",
      "1",
      "120",
      "999",
      "1,235",
      "2,000,000",
    ]);
  });

  test("an aim is reached from the side that is better, and none is neither reached nor missed", () => {
    const figure: Figure = { name: "", part: "poll", meaning: "", unit: "", aim: 2, better: "more" };
    expect([1, 2, 3].map((value) => reached(figure, value))).toEqual([false, true, true]);
    expect([1, 2, 3].map((value) => reached({ ...figure, better: "less" }, value))).toEqual([true, true, false]);
    expect(reached({ ...figure, aim: null }, 1)).toBeNull();
  });
});

describe("the statistics", () => {
  test("the median of an even number of values is between the middle two", () => {
    expect(median([5, 1, 3])).toBe(3);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeNaN();
  });

  test("a quantile is a value that was seen", () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect([0, 0.5, 0.99, 1].map((share) => quantile(values, share))).toEqual([1, 51, 100, 100]);
    expect(quantile([], 0.5)).toBeNaN();
  });

  test("a figure is the median of its rounds, with the least and the most", () => {
    expect(measured("a", [3, 1, 2], "seen")).toEqual({ name: "a", value: 2, least: 1, most: 3, runs: 3, note: "seen" });
  });

  test("ratios are taken round by round", () => {
    expect(ratios([1, 4], [2, 2])).toEqual([0.5, 2]);
  });
});

describe("lateness", () => {
  const idOf = (place: number): number => place + 1;
  const interval = 1000;
  const offset = phaseOf(1) * interval;
  const window = { places: [0], idOf, interval, clock: 0, from: 10_000, to: 13_000 };

  test("is the time from each due poll to the next read", () => {
    const reads = [10_030, 11_005, 12_400].map((time) => ({ place: 0, time: time + offset }));
    expect(latenessOf(reads, window).map(Math.round)).toEqual([30, 5, 400]);
  });

  test("of a poll that was left out counts until the next, and has no end where none came", () => {
    const reads = [{ place: 0, time: 11_005 + offset }];
    expect(latenessOf(reads, window).map(Math.round)).toEqual([1005, 5, Number.POSITIVE_INFINITY]);
  });

  test("is not that of other rigs", () => {
    expect(latenessOf([{ place: 1, time: 12_999 }], window)).toEqual(new Array(3).fill(Number.POSITIVE_INFINITY));
  });
});

describe("a pace", () => {
  test("starts as often as asked, in turn, and counts what failed", async () => {
    const turns: number[] = [];
    const work = async (turn: number): Promise<void> => {
      turns.push(turn);
      if (turn % 10 === 0) throw new Error("no");
    };
    expect(await paced(work, { perSecond: 1000, places: 100, seconds: 0.1, batchMs: 0 })).toEqual({
      done: 90,
      failed: 10,
    });
    expect(turns).toEqual(Array.from({ length: 100 }, (_, index) => index));
  });

  test("starts as often in batches, and wakes once for each", async () => {
    let wakes = 0;
    let isAwake = false;
    const work = async (): Promise<void> => {
      if (isAwake) return;
      wakes += 1;
      isAwake = true;
      setImmediate(() => {
        isAwake = false;
      });
    };
    expect(await paced(work, { perSecond: 1000, places: 1000, seconds: 0.5, batchMs: 50 })).toMatchObject({
      done: 500,
    });
    // Ten batches, one at the start and one at the end; timers may ring a little early, which makes further ones.
    expect(wakes).toBeLessThanOrEqual(15);
  });

  test("has no more under way than there are places, and waits for the last", async () => {
    const ends: (() => void)[] = [];
    let most = 0;
    const work = (): Promise<void> => {
      const ended = new Promise<void>((resolve) => ends.push(resolve));
      most = Math.max(most, ends.length);
      setImmediate(() => ends.shift()?.());
      return ended;
    };
    const { done, failed } = await paced(work, { perSecond: 100_000, places: 3, seconds: 0.05, batchMs: 0 });
    expect(most).toBe(3);
    expect(done).toBeGreaterThanOrEqual(3);
    expect([failed, ends.length]).toEqual([0, 0]);
  });
});

test("a folder of the benchmark is gone afterwards, also when the work failed", async () => {
  let folder = "";
  const work = inFolder(async (made) => {
    folder = made;
    writeFileSync(join(made, "file"), "");
    throw new Error("no");
  });
  await expect(work).rejects.toThrow("no");
  expect(folder).not.toBe("");
  expect(existsSync(folder)).toBe(false);
});

test("the bare loop publishes to a real broker just what it was given", async () => {
  const messages: Published[] = Array.from({ length: 450 }, (_, index) => ({
    topic: `home/${index}`,
    payload: `${index} °C`,
    qos: index % 2 === 0 ? 0 : 1,
    retain: index % 3 === 0,
    expiry: index % 5 === 0 ? null : 180,
  }));
  await withMosquitto(async ({ url }) => {
    const heard: Published[] = [];
    const { promise: all, resolve } = Promise.withResolvers<void>();
    const subscriber = await listen(url, { filter: "home/+", qos: 1 }, (message) => {
      // The broker takes off the seconds that it had a message.
      const expiry = message.expiry !== null && message.expiry > 60 ? 180 : message.expiry;
      if (heard.push({ ...message, expiry }) === messages.length) resolve();
    });
    const bare = new Child("bare-publish.ts");
    await bare.tell("connect", url);
    await bare.tell("messages", messages);
    await Promise.all([all, bare.tell("publish")]);
    await Promise.all([bare.end(), subscriber.endAsync(true)]);
    const place = ({ topic }: Published): number => Number(topic.slice(5));
    expect(heard.toSorted((a, b) => place(a) - place(b))).toEqual(messages);
  });
});

test("what goes wrong in a process of the benchmark fails what was asked of it, and the process goes on", async () => {
  const child = new Child("history.ts");
  await expect(child.tell("append", { file: "" })).rejects.toThrow(/^history\.ts: .*miners/s);
  expect(await child.cpu()).toBeGreaterThan(0);
  await child.end();
});
