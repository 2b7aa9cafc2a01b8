import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { parse } from "yaml";
import { z } from "zod";
import { Config } from "../../src/config/index.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { type HttpServer, startHttpServer } from "../../src/http/index.ts";
import { startService } from "../../src/service/index.ts";
import { demoFarm, type Farm, startFarm } from "../../src/simulator/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { freePort } from "../free-port.ts";
import { hasProgram } from "../has-program.ts";
import { until, within } from "../until.ts";

// depends on: examples/grafana/**

const example = (name: string) =>
  readFile(new URL(`../../examples/grafana/${name}`, import.meta.url), { encoding: "utf8" });

const Panel = z.object({
  title: z.string(),
  type: z.string(),
  repeat: z.string().optional(),
  datasource: z.object({ uid: z.string() }).optional(),
  gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
  targets: z.array(z.object({ refId: z.string(), expr: z.string() })).default([]),
});
const Dashboard = z.object({
  title: z.string(),
  schemaVersion: z.int().min(39),
  templating: z.object({
    list: z.array(z.object({ name: z.string(), type: z.string(), definition: z.string().optional() })),
  }),
  panels: z.array(Panel),
});
const ScrapeConfig = z.object({
  scrape_configs: z.tuple([z.object({ params: z.object({ key: z.tuple([z.string()]) }) })]),
});

const dashboard = Dashboard.parse(JSON.parse(await example("dashboard.json")));
const scrapeConfig = await example("prometheus.yml");

describe("the dashboard", () => {
  test("queries its selected data source, and uses only its own variables", () => {
    const own = dashboard.templating.list.map(({ name }) => name);
    const known = [...own, "__range", "__rate_interval"];
    for (const { title, datasource, targets, type, repeat } of dashboard.panels) {
      if (type !== "row") expect(datasource?.uid).toMatch(/^\$\{datasource\}$/);
      const used = [...targets.map(({ expr }) => expr), title].flatMap((text) =>
        [...text.matchAll(/\$(\w+)/g)].map(([, name = ""]) => name),
      );
      expect(known).toEqual(expect.arrayContaining(used));
      if (repeat !== undefined) expect(own).toContain(repeat);
    }
  });

  test("has no overlapping panels, and none beyond the edge", () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)}, ${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(dashboard.panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });
});

const prometheus = spawnSync("prometheus", ["--version"]);
const hasPrometheus = hasProgram("prometheus", prometheus.status === 0, "the dashboard's queries");

(hasPrometheus ? describe : describe.skip)("on the demo farm, read by a real Prometheus", () => {
  let farm: Farm;
  let store: Store;
  let service: MiningService;
  let server: HttpServer;
  let folder: string;
  let prometheus: ChildProcess;
  let api: string;
  /** The second of a complete scrape. Queries without a time would be empty for a moment if a later scrape came too late. */
  let scraped: string;

  beforeAll(async () => {
    const specs = demoFarm();
    farm = await startFarm({ rigs: specs });
    store = await openStore({ file: ":memory:", now: Date.now });
    const [{ params }] = ScrapeConfig.parse(parse(scrapeConfig)).scrape_configs;
    const config = Config.parse({
      http: { port: 0, key: "the-key-of-the-owner" },
      users: [{ name: "prometheus", privilege: "view", key: params.key[0] }],
      poll: { interval: 1 },
      groups: [{ name: "Garage" }],
      miners: farm.rigs.map(({ address, name }, index) => ({
        address,
        name,
        ...(index === 2 ? { group: "Garage" } : {}),
        ...(specs[index]?.kind === "xmrig" ? { token: "demo" } : {}),
      })),
    });
    const log = pino({ level: "silent" });
    service = await startService({ config, store, log });
    server = await startHttpServer({ service, settings: config.http, log, version: "test" });
    folder = await mkdtemp(join(tmpdir(), "rigbridge-prometheus-"));
    await writeFile(
      join(folder, "prometheus.yml"),
      scrapeConfig.replace("127.0.0.1:17790", new URL(server.url).host).replace("15s", "1s"),
    );
    const address = `127.0.0.1:${await freePort()}`;
    api = `http://${address}/api/v1`;
    prometheus = spawn(
      "prometheus",
      [
        `--config.file=${join(folder, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(folder, "data")}`,
        `--web.listen-address=${address}`,
      ],
      { stdio: "ignore" },
    );
    await until(hasValues("rigbridge_miner_up == 1", specs.length), "Prometheus to see every miner up");
    // One is off, so that the table of offline rigs has a row.
    farm.rigs.find(({ name }) => name === "usb-sticks")?.powerOff();
    await until(hasValues("rigbridge_miner_up == 0", 1), "Prometheus to see one miner down");
    await until(hasValues("count_over_time(rigbridge_info[1m]) >= 2", 1), "Prometheus to read the service twice");
    await until(async () => {
      const [at] = await values("timestamp(rigbridge_info)");
      if (at !== undefined) scraped = String(at);
      return at !== undefined;
    }, "Prometheus to know when it read the service");
  });

  afterAll(async () => {
    if (prometheus.exitCode === null && prometheus.kill()) await within(once(prometheus, "exit"), "Prometheus to end");
    await server.close();
    await service.close();
    await store.close();
    await farm.close();
    await rm(folder, { recursive: true, force: true });
  });

  const Answer = z.object({
    status: z.literal("success"),
    data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
  });

  /** The result of a query: the current one, or that of a time. */
  async function values(query: string, time?: string): Promise<number[]> {
    const body = new URLSearchParams(time === undefined ? { query } : { query, time });
    const response = await fetch(`${api}/query`, { method: "POST", body });
    const { data } = Answer.parse(await response.json());
    return data.result.map(({ value: [, text] }) => Number(text));
  }

  /** Whether a query has this many results; false while Prometheus does not answer yet. */
  const hasValues = (query: string, count: number) => (): Promise<boolean> =>
    values(query).then(
      ({ length }) => length === count,
      () => false,
    );

  const variables: Readonly<Record<string, string>> = {
    group: ".*",
    miner: "(garage-s19|bitaxe-desk)",
    __range: "1h",
    __rate_interval: "1m",
  };
  const filled = (text: string): string => text.replaceAll(/\$(\w+)/g, (_, name: string) => variables[name] ?? "");

  const queries = dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ refId, expr }) => ({ title, refId, expr })),
  );

  test.each(queries)("$title $refId has a result", async ({ expr }) => {
    const answer = await values(filled(expr), scraped);
    expect([expr, answer.some(Number.isFinite)]).toEqual([expr, true]);
  });

  const lists = dashboard.templating.list.filter(({ type }) => type === "query");

  test.each(lists)("the variable $name has values to choose from", async ({ name, definition = "" }) => {
    const [, selector = "", label] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
    const response = await fetch(
      `${api}/label/${label}/values?${new URLSearchParams({ "match[]": filled(selector) })}`,
    );
    const { data } = z.object({ data: z.array(z.string()) }).parse(await response.json());
    expect(data).toContain(name === "group" ? "Garage" : "garage-s19");
  });
});
