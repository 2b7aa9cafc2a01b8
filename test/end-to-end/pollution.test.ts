import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { Config, readConfig } from "../../src/config/index.ts";
import { operationNames, operations } from "../../src/contract/operations.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { type HttpServer, startHttpServer } from "../../src/http/index.ts";
import { httpLimits } from "../../src/http/limits.ts";
import { startService } from "../../src/service/index.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../any-store.ts";
import { workers } from "../pollers.ts";
import { startProcess } from "../torture/process.ts";
import { limits } from "../until.ts";

/** The prototype of every object before the test. */
const kinds = [Object, Array, Function, String, Number, Map, Error, Promise];
const inherited = () => kinds.map(({ prototype }) => Reflect.ownKeys(prototype));
const before = inherited();

const bodies = [
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"name":"x","__proto__":{"polluted":1}}',
  '{"id":0,"url":"a:1","hostname":"h","address":"127.103.40.9:1","location":{"__proto__":{"polluted":1}}}',
  '{"name":"x","parameters":{"__proto__":"polluted","constructor":"polluted"},"action":"stop","all":true,"dryRun":true}',
  '{"\\u005f\\u005fproto\\u005f\\u005f":{"polluted":1}}',
  '[{"__proto__":{"polluted":1}}]',
];
const queries = [
  "__proto__=polluted&action=stop",
  "__proto__[polluted]=1&action=__proto__",
  "constructor[prototype][polluted]=1&user_id=__proto__",
  "constructor.prototype.polluted=1&action=constructor",
  "%5f%5fproto%5f%5f=1&after=constructor",
];
const words = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];

const log = pino({ level: "silent" });
let farm: Farm;
let store: Store;
let service: MiningService;
let server: HttpServer;

beforeAll(async () => {
  farm = await startFarm({
    rigs: [
      { kind: "cgminer", dialect: "bmminer", warm: true, host: "127.103.40.1" },
      { kind: "axeos", warm: true, host: "127.103.40.2" },
      { kind: "xmrig", warm: true, host: "127.103.40.3" },
    ],
  });
  for (const rig of farm.rigs) rig.fault = "prototype";
  store = await openStore({ file: ":memory:", now: Date.now });
  const config = Config.parse({
    http: { port: 0 },
    poll: { workers, interval: 1 },
    miners: farm.rigs.map(({ address }) => ({ address })),
    groups: words.map((name) => ({ name })),
    users: words.map((name) => ({ name })),
    scan: { networks: ["127.103.49.0/30"] },
  });
  service = await startService({ config, store, log });
  const unlimited = { ...httpLimits, changesAtOnce: Number.POSITIVE_INFINITY };
  server = await startHttpServer({ service, settings: config.http, log, version: "test", limits: unlimited });
});
afterAll(async () => {
  await server.close();
  await service.close();
  await store.close();
  await farm.close();
});

const send = async (method: string, target: string, body?: string): Promise<number> => {
  const signal = AbortSignal.timeout(limits.waitMs);
  const given = body === undefined ? {} : { body, headers: { "content-type": "application/json" } };
  const response = await fetch(`${server.url}${target}`, { method, signal, ...given });
  await response.body?.cancel();
  return response.status;
};

describe("no prototype is changed", () => {
  test("by bodies, queries and paths", async () => {
    for (const name of operationNames) {
      const { method, path } = operations[name];
      for (const word of ["1", "__proto__"]) {
        const target = path.replaceAll(/:\w+/g, word);
        for (const query of queries) expect(await send(method, `${target}?${query}`)).toBeLessThan(500);
        if (method === "GET" || !("body" in operations[name])) continue;
        for (const body of bodies) expect(await send(method, target, body)).toBeLessThan(500);
      }
    }
    expect(inherited()).toEqual(before);
  });

  test("by what rigs answer", async () => {
    for (const id of [1_000_000_001, 1_000_000_002, 1_000_000_003]) {
      expect(await send("POST", `/api/miners/${id}/poll`)).toBe(200);
      expect(await send("GET", `/api/miners/${id}`)).toBe(200);
    }
    expect(await send("GET", "/metrics")).toBe(200);
    expect(inherited()).toEqual(before);
  });

  test("by a configuration", async () => {
    const folder = await mkdtemp(join(tmpdir(), "rigbridge-pollution-"));
    const file = join(folder, "rigbridge.yaml");
    for (const text of [
      "__proto__:\n  polluted: 1\n",
      "http:\n  __proto__: { polluted: 1 }\n",
      "constructor: { prototype: { polluted: 1 } }\n",
      "a: &a { polluted: 1 }\n__proto__: *a\n",
      "<<: { __proto__: { polluted: 1 } }\n",
    ]) {
      await writeFile(file, text);
      await expect(readConfig(file)).rejects.toMatchObject({ code: "config.invalid" });
    }
    await rm(folder, { recursive: true });
    expect(inherited()).toEqual(before);
  });

  test("by a device that answers only with such keys", async () => {
    const words =
      '{"STATUS":[{"__proto__":{"polluted":1}}],"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}\0';
    const device: Server = createServer((socket) => socket.on("error", () => {}).end(words));
    device.listen(0, "127.103.40.7");
    await once(device, "listening");
    const address = device.address();
    const port = typeof address === "object" ? address?.port : 0;
    expect(await send("POST", "/api/miners", JSON.stringify({ address: `127.103.40.7:${port}` }))).toBe(201);
    const miner = store.miners.all().at(-1);
    await send("POST", `/api/miners/${miner?.id}/poll`);
    device.close();
    expect(inherited()).toEqual(before);
  });
});

const pages = ["/api/miners", "/api/summary", "/metrics", "/openapi.json", "/health", "/api/events"];

describe.each([
  ["--disable-proto=throw", [...pages, "/docs"]],
  // The package behind the documentation page changes what is frozen here.
  ["--frozen-intrinsics", pages],
])("under node %s", (option, pages) => {
  test("the service starts, reads rigs, serves and stops", async () => {
    const rigs = await startFarm({ rigs: [{ kind: "axeos", warm: true, host: "127.103.41.1" }] });
    const process = await startProcess({
      config: { http: { key: "the-key-of-the-service" }, miners: [{ address: rigs.rigs[0]?.address, name: "rig" }] },
      node: [option],
    });
    const polled = await process.ask("POST", "/api/miners/1000000001/poll");
    expect(polled.text).toContain('"statusDisplay":"Mining"');
    const gzip = { headers: { "accept-encoding": "gzip" } };
    for (const page of pages) expect([page, (await process.ask("GET", page, gzip)).status]).toEqual([page, 200]);
    expect(await process.stop()).toBe(0);
    expect(process.stderr().replaceAll(/^\(.*\n/gm, "")).not.toMatch(/TypeError|ERR_/);
    await process.close();
    await rigs.close();
  });
});
