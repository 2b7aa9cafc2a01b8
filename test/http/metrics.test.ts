import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Readings, unknownReadings } from "../../src/contract/readings.ts";
import { hasProgram } from "../has-program.ts";
import { until } from "../until.ts";
import { type Served, serve } from "./wire.ts";

const key = "correct-horse-battery";
let served: Served;
beforeAll(async () => {
  served = await serve({ key });
});
afterAll(() => served.server.close());
beforeEach(() => {
  served.answers.clear();
  served.calls.length = 0;
});

interface Facts {
  readonly id?: number;
  readonly uid?: string | null;
  readonly name?: string;
  readonly groupId?: number;
  readonly hardware?: string;
  readonly status?: string;
  readonly hasValidStatus?: boolean;
  readonly readings?: Partial<Readings>;
}

/** As much of a miner as figures are made of. */
const miner = ({ status = "Mining", hasValidStatus = true, readings = {}, ...facts }: Facts) => ({
  uid: "aabbccddeeff",
  name: "one",
  groupId: 0,
  hardware: "Antminer S19",
  ...facts,
  hasValidStatus,
  statusInfo: { statusDisplay: status },
  readings: {
    ...unknownReadings(),
    at: "2026-01-31T12:00:00.500Z",
    stale: false,
    energy: null,
    efficiency: null,
    startedAt: null,
    reason: null,
    ...readings,
  },
});

const show = (...miners: readonly Facts[]) =>
  served.answers.set("listMiners", { groupList: [{ id: 0, name: "Ungrouped", minerList: miners.map(miner) }] });

interface Line {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Scrape {
  readonly lines: readonly Line[];
  readonly types: ReadonlyMap<string, string>;
}

const unescaped: Readonly<Record<string, string>> = { "\\\\": "\\", '\\"': '"', "\\n": "\n" };

/** Reads the text format 0.0.4 strictly: each sample stands under its metric's HELP and TYPE. */
function parse(text: string): Scrape {
  const lines: Line[] = [];
  const types = new Map<string, string>();
  let described = "";
  expect(text.endsWith("\n")).toBe(true);
  for (const line of text.slice(0, -1).split("\n")) {
    const [, help] = /^# HELP ([a-z_:][a-z0-9_:]*) \S.*$/i.exec(line) ?? [];
    const [, typed, type = ""] = /^# TYPE (\S+) (counter|gauge)$/.exec(line) ?? [];
    if (help !== undefined) described = help;
    else if (typed !== undefined) {
      expect([typed, types.has(typed)]).toEqual([described, false]);
      types.set(typed, type);
    } else {
      const [, name = "", , inside = "", value = ""] = /^([a-z0-9_:]+)(\{(.*)\})? (\S+)$/i.exec(line) ?? [];
      expect([line, name, types.has(name)]).toEqual([line, described, true]);
      const pairs = [...inside.matchAll(/([a-z_]+)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/g)];
      expect(pairs.map(([pair]) => pair).join("")).toBe(inside);
      const labels = Object.fromEntries(
        pairs.map(([, label = "", raw = ""]) => [label, raw.replace(/\\./g, (each) => unescaped[each] ?? each)]),
      );
      lines.push({ name, labels, value: Number(value) });
    }
  }
  return { lines, types };
}

async function scrape(query = ""): Promise<Scrape> {
  const { status, text, headers } = await served.ask("GET", `/metrics?key=${key}${query}`);
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  return parse(text);
}

/** Of one miner: `name{labels beside its own}` and the value. */
const figures = ({ lines }: Scrape) =>
  Object.fromEntries(
    lines
      .filter(({ name }) => name.startsWith("rigbridge_miner_"))
      .map(({ name, labels: { uid, name: _, group, model, ...rest }, value }) => [
        [name.replace("rigbridge_miner_", ""), ...Object.values(rest)].join(" "),
        value,
      ]),
  );

const full: Partial<Readings> = {
  hashrate: 95e12,
  hashrateExpected: 96e12,
  algorithm: "SHA256",
  power: 3250.5,
  energy: 1000,
  efficiency: 34e-12,
  temperature: 61.5,
  temperatureIn: 25,
  temperatureOut: 48,
  boards: [0, 2].map((slot) => ({
    slot,
    hashrate: 48e12,
    temperature: slot === 0 ? 61.5 : null,
    chipTemperature: null,
    chips: null,
    chipsExpected: null,
    frequency: null,
    voltage: null,
    serial: null,
  })),
  fans: [
    { rpm: 4000, percent: null },
    { rpm: 0, percent: null },
  ],
  uptime: 3600,
  mining: true,
  shares: { accepted: 100, rejected: 2, hardwareErrors: 3 },
};

describe("the figures of a miner", () => {
  test("name the reason for which it does not hash, also when it is off", async () => {
    const reason = { code: "hot", text: "It is too hot", since: "2026-01-31T12:00:00.000Z" } as const;
    show(
      { readings: { reason } },
      { uid: "b", hasValidStatus: false, readings: { reason: { ...reason, code: "network" } } },
    );
    const { lines } = await scrape();
    const told = lines.filter(({ name }) => name === "rigbridge_miner_not_hashing");
    expect(told.map(({ labels: { uid, reason }, value }) => [uid, reason, value])).toEqual([
      ["aabbccddeeff", "hot", 1],
      ["b", "network", 1],
    ]);
  });

  test("are in base units, and name the parts they are of", async () => {
    show({ readings: full });
    expect(figures(await scrape())).toEqual({
      up: 1,
      mining: 1,
      stale: 0,
      last_read_timestamp_seconds: Date.parse("2026-01-31T12:00:00.500Z") / 1000,
      uptime_seconds: 3600,
      "hashrate_hashes_per_second SHA256": 95e12,
      "hashrate_expected_hashes_per_second SHA256": 96e12,
      power_watts: 3250.5,
      energy_joules_total: 3_600_000,
      "efficiency_joules_per_hash SHA256": 34e-12,
      temperature_celsius: 61.5,
      temperature_in_celsius: 25,
      temperature_out_celsius: 48,
      "fan_rpm 0": 4000,
      "fan_rpm 1": 0,
      "board_temperature_celsius 0": 61.5,
      "board_hashrate_hashes_per_second 0": 48e12,
      "board_hashrate_hashes_per_second 2": 48e12,
      "shares_total accepted": 100,
      "shares_total rejected": 2,
      hardware_errors_total: 3,
    });
  });

  test("are absent if the rig does not report them, and never 0 instead", async () => {
    show({ readings: { at: null } });
    expect(figures(await scrape())).toEqual({ up: 1, stale: 0 });
  });

  test("are down to its energy when it is off", async () => {
    show({ status: "Disconnected", hasValidStatus: false, readings: { ...full, stale: true } });
    expect(figures(await scrape())).toEqual({ up: 0, energy_joules_total: 3_600_000 });
  });

  test("carry uid, name, group and model, whatever stands in them", async () => {
    const name = 'back\\slash "quoted"\nsecond line, {brace} é';
    const inside = { id: 7, name: "Row 1", minerList: [miner({ name, uid: "a-1" })] };
    served.answers.set("listMiners", { groupList: [{ id: 5, name: "Hall", minerList: [], groupList: [inside] }] });
    const up = (await scrape()).lines.find((line) => line.name === "rigbridge_miner_up");
    expect(up?.labels).toEqual({ uid: "a-1", name, group: "Row 1", model: "Antminer S19" });
  });

  test("of a rig that was never identified carry its id; of one that is not known yet they do not say that it is down", async () => {
    const never = { uid: null, status: "Disconnected", hasValidStatus: false, name: "same", readings: { at: null } };
    show({ ...never, id: 11 }, { ...never, id: 12 }, { ...never, id: 13, status: "Starting" }, { uid: "b" });
    const scraped = await scrape();
    const ofMiners = scraped.lines.filter(({ labels }) => labels.uid !== undefined);
    expect(ofMiners.filter(({ labels }) => labels.uid === "").map(({ name }) => name)).toEqual([
      "rigbridge_miner_up",
      "rigbridge_miner_up",
    ]);
    const up = ofMiners.filter(({ name }) => name === "rigbridge_miner_up");
    expect(up.map(({ labels: { uid, id }, value }) => [uid, id, value])).toEqual([
      ["", "11", 0],
      ["", "12", 0],
      ["b", undefined, 1],
    ]);
    const count = (status: string) =>
      scraped.lines.find(({ name, labels }) => name === "rigbridge_miners" && labels.status === status)?.value;
    expect([count("Starting"), count("Mining"), count("Disconnected")]).toEqual([1, 1, 2]);
  });
});

describe("the service", () => {
  test("reports its version, its answers and the resources of its process", async () => {
    show();
    await served.ask("GET", "/nothing-here");
    const { lines, types } = await scrape();
    const value = (name: string) => lines.find((line) => line.name === name)?.value;
    expect(lines.find(({ name }) => name === "rigbridge_info")?.labels).toEqual({ version: "1.2.3" });
    expect(lines.find(({ labels }) => labels.class === "4xx")?.value).toBeGreaterThan(0);
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(1e6);
    expect(value("process_start_time_seconds")).toBeGreaterThan(1.7e9);
    for (const [name, type] of types)
      expect([name, type]).toEqual([name, name.endsWith("_total") ? "counter" : "gauge"]);
  });

  test("reports heap and lag of each worker thread that reads rigs", async () => {
    show();
    expect((await scrape()).lines.filter(({ name }) => name.startsWith("rigbridge_worker"))).toEqual([]);
    const workers = [
      { heap: 1e7, lagP99: 0.25, lagMax: 0.5 },
      { heap: 2e7, lagP99: 0, lagMax: 0.125 },
    ];
    Object.assign(served.service, { workers: () => workers });
    try {
      const { lines } = await scrape();
      const ofWorkers = lines.filter(({ name }) => name.startsWith("rigbridge_worker"));
      expect(ofWorkers.map(({ name, labels, value }) => [name.slice(17), labels.worker, value])).toEqual([
        ["heap_bytes", "1", 1e7],
        ["heap_bytes", "2", 2e7],
        ["eventloop_lag_p99_seconds", "1", 0.25],
        ["eventloop_lag_p99_seconds", "2", 0],
        ["eventloop_lag_max_seconds", "1", 0.5],
        ["eventloop_lag_max_seconds", "2", 0.125],
      ]);
    } finally {
      Object.assign(served.service, { workers: undefined });
    }
  });

  test("include the energy of all miners and of each group, in joules", async () => {
    show();
    const groupList = [
      { id: 3, name: "Hall", energy: 500 },
      { id: 4, name: "Shed", energy: null },
    ];
    served.answers.set("getSummary", { energy: 1000, groupList });
    const { lines } = await scrape();
    expect(lines.filter(({ name }) => name.includes("energy"))).toEqual([
      { name: "rigbridge_energy_joules_total", labels: {}, value: 3_600_000 },
      { name: "rigbridge_group_energy_joules_total", labels: { group: "Hall", id: "3" }, value: 1_800_000 },
    ]);
    served.answers.delete("getSummary");
  });

  test("reads miners in turn where the service can, and names their groups", async () => {
    served.answers.set("listGroups", [{ id: 3, name: "Hall", parentId: 0 }]);
    const callers: unknown[] = [];
    Object.assign(served.service, {
      *eachMiner(caller: unknown) {
        callers.push(caller);
        for (let id = 0; id < 1000; id += 1) yield miner({ uid: `m-${id}`, groupId: id === 0 ? 0 : 3 });
      },
    });
    try {
      const { lines } = await scrape("&user_id=4");
      const up = lines.filter(({ name }) => name === "rigbridge_miner_up");
      expect(up.map(({ labels }) => labels.group)).toEqual(["", ...Array(999).fill("Hall")]);
      expect(new Set(up.map(({ labels }) => labels.uid)).size).toBe(1000);
      expect(callers).toEqual([{ actor: "http", userId: 4 }]);
    } finally {
      Object.assign(served.service, { eachMiner: undefined });
    }
  });

  test("shares one read of the miners among concurrent scrapes of the same user", async () => {
    let answer = (_: unknown): void => {};
    served.answers.set(
      "listMiners",
      new Promise((resolve) => {
        answer = resolve;
      }),
    );
    const asked = [`/metrics?key=${key}`, `/metrics?key=${key}`, `/metrics?key=${key}&user_id=4`];
    const scrapes = asked.map((path) => served.ask("GET", path));
    const reads = () => served.calls.filter(({ name }) => name === "listMiners");
    await until(() => reads().length >= 2, "the miners of both users to be asked for");
    await served.ask("GET", "/health");
    answer({ groupList: [] });
    expect((await Promise.all(scrapes)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(reads().map(({ caller }) => caller)).toEqual([
      { actor: "http", userId: undefined },
      { actor: "http", userId: 4 },
    ]);
    await scrape();
    expect(reads()).toHaveLength(3);
  });

  test("requires the key, and reports mistakes as every operation does", async () => {
    expect((await served.ask("GET", "/metrics")).status).toBe(401);
    expect((await served.ask("GET", `/metrics?key=${key}&user_id=x`)).json.code).toBe("input.invalid");
    expect((await served.ask("POST", `/metrics?key=${key}`)).headers.allow).toBe("GET, HEAD, OPTIONS");
    show();
    const head = await served.ask("HEAD", `/metrics?key=${key}`);
    expect([head.status, head.text]).toEqual([200, ""]);
  });
});

const promtool = spawnSync("promtool", ["--version"]);
const hasPromtool = hasProgram("promtool", promtool.status === 0, "its check of the metrics");

(hasPromtool ? test : test.skip)("promtool accepts them", async () => {
  show({ readings: full });
  await served.ask("GET", `/metrics?key=${key}`);
  const { text } = await served.ask("GET", `/metrics?key=${key}`);
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  expect([status, stdout, stderr]).toEqual([0, "", ""]);
});
