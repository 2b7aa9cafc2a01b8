import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { hostname } from "node:os";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { type HttpServer, startHttpServer } from "../../src/http/index.ts";
import { startService } from "../../src/service/index.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../any-store.ts";
import { ownHost } from "../own-host.ts";
import { workers } from "../pollers.ts";
import { until } from "../until.ts";

/**
 * Two farms: abby administers the one called alpha, and the rigs of bravo are none of hers. Both have a rig that takes
 * `POST /api/system/restart` from anybody.
 */
const key = { owner: "key-of-the-service", abby: "key-of-abby-1234567" };
const [alphaRig, bravoRig] = [1_000_000_001, 1_000_000_002];
const abby = 1;

const log = pino({ level: "silent" });
let farm: Farm;
let store: Store;
let service: MiningService;
let server: HttpServer;
/** Answers with the status in the path; anything else there is left unanswered. */
let receiver: Server;
let received: string[] = [];
let listed: number;
let unlisted: Server;
/** A port that the owner has listed and at which nothing listens. */
let silent: number;

const portOf = (listening: Server): number => {
  const address = listening.address();
  if (address === null || typeof address === "string") throw new Error("it listens on a port");
  return address.port;
};

async function listen(answer: (path: string) => number | null): Promise<Server> {
  const listening = createServer((request, response) => {
    const path = request.url ?? "";
    received.push(`${request.method} ${path}`);
    const status = answer(path);
    if (status !== null) response.writeHead(status, { location: urlOf(bravoRig) }).end();
  });
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  return listening;
}

const addressOf = (id: number): string => farm.rigs[id - alphaRig]?.address ?? "";
const urlOf = (id: number): string => `http://${addressOf(id)}/api/system/restart`;
const portOfRig = (): number => Number(new URL(urlOf(bravoRig)).port);

const answerIn = (path: string): number | null => Number(/^\/(\d{3})/.exec(path)?.[1] ?? 0) || null;

async function start(): Promise<void> {
  const config = Config.parse({
    http: { port: 0, key: key.owner },
    poll: { workers, interval: 3600 },
    groups: [{ name: "alpha" }, { name: "bravo" }],
    miners: [
      { name: "alpha bitaxe", address: addressOf(alphaRig), group: "alpha" },
      { name: "bravo bitaxe", address: addressOf(bravoRig), group: "bravo" },
    ],
    users: [{ name: "abby", key: key.abby, privilege: "administrator", groups: ["alpha"] }],
    automation: {
      webhookHosts: [`127.0.0.1:${listed}`, `127.0.0.1:${silent}`, "localhost", addressOf(bravoRig)],
    },
  });
  let port: number | null = null;
  service = await startService({ config, store, log, ownPort: () => port });
  server = await startHttpServer({ service, settings: config.http, log, version: "test" });
  port = server.address.port;
  for (const id of [alphaRig, bravoRig]) await service.pollMiner({ id }, { actor: "test" });
}

beforeAll(async () => {
  const host = ownHost();
  farm = await startFarm({
    rigs: [
      { kind: "axeos", warm: true, host },
      { kind: "axeos", warm: true, host },
    ],
  });
  receiver = await listen(answerIn);
  unlisted = await listen(() => 200);
  const gone = await listen(() => 200);
  [listed, silent] = [portOf(receiver), portOf(gone)];
  gone.close();
  store = await openStore({ file: ":memory:", now: Date.now });
  await start();
});

afterAll(async () => {
  await server.close();
  await service.close();
  await store.close();
  await farm.close();
  for (const each of [receiver, unlisted]) {
    each.closeAllConnections();
    each.close();
  }
});

beforeEach(() => {
  received = [];
});

async function ask(who: keyof typeof key, method: string, path: string, body?: object) {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { "x-api-key": key[who], ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

let rules = 0;

/** What the last rule has done in a bulk action of abby. */
async function bulkResults(): Promise<string> {
  const body = { action: "rule", parameters: { rule_id: `rule-${rules}` }, miners: [alphaRig] };
  const started: unknown = JSON.parse((await ask("abby", "POST", "/api/actions", body)).text);
  const path = `/api/actions/${Reflect.get(Object(started), "id")}`;
  let job: unknown;
  await until(async () => {
    job = JSON.parse((await ask("abby", "GET", path)).text);
    return Reflect.get(Object(job), "state") !== "running";
  }, "the bulk action to end");
  return JSON.stringify(Reflect.get(Object(job), "results"));
}

/** The answer to a manual rule with this step, added and run; the answer to adding it where that is refused. */
async function hook(who: keyof typeof key, webhook: string, miner = alphaRig) {
  rules += 1;
  const step = { webhook, method: "POST", body: "{}" };
  const added = await ask(who, "POST", "/api/rules", { key: `rule-${rules}`, do: [step] });
  return added.status === 201
    ? ask(who, "POST", `/api/miners/${miner}?action=rule&rule_id=rule-${rules}`)
    : { ...added, text: added.text };
}

/** A rule of abby as an earlier version stored it: without any of the checks. */
async function storedHook(webhook: string): Promise<number> {
  rules += 1;
  const step = { webhook, method: "POST" as const, headers: {}, body: "{}" };
  const added = { key: `rule-${rules}`, do: [{ ...step, webhook: "http://localhost:1/" }] };
  const { id } = await service.addRule(added, { actor: "abby", userId: abby });
  const row = store.rules.get(id);
  if (row === undefined) throw new Error("the rule is stored");
  await store.rules.change(id, { do: [step], definition: { ...row.definition, do: [step] } });
  return id;
}

const run = (rule: number) => ask("abby", "POST", `/api/miners/${alphaRig}?action=rule&rule_id=${rule}`);

/** The rig of bravo since it was started. */
async function uptime(): Promise<number> {
  const response = await fetch(`http://${addressOf(bravoRig)}/api/system/info`);
  const info: unknown = await response.json();
  return Number(Reflect.get(Object(info), "uptimeSeconds"));
}

describe("what an administrator of one group sends", () => {
  test("reaches no rig of another group, however its address is written and although the host is listed", async () => {
    const before = await uptime();
    const port = portOfRig();
    const octets = new URL(urlOf(bravoRig)).hostname.split(".").map(Number);
    const [a = 0, b = 0, c = 0, d = 0] = octets;
    const number = ((a * 256 + b) * 256 + c) * 256 + d;
    const hex = octets.map((octet) => octet.toString(16).padStart(2, "0"));
    const hosts = [
      octets.join("."),
      `${octets.join(".")}.`,
      String(number),
      `0x${number.toString(16)}`,
      `0${number.toString(8)}`,
      octets.map((octet) => `0x${octet.toString(16)}`).join("."),
      octets.map((octet) => `0${octet.toString(8)}`).join("."),
      `${a}.${b}.${c * 256 + d}`,
      [...octets.join(".")]
        .map((char) => (char === "." ? "。" : String.fromCodePoint(char.charCodeAt(0) + 0xfee0)))
        .join(""),
      `[::ffff:${octets.join(".")}]`,
      `[0:0:0:0:0:FFFF:${hex.slice(0, 2).join("")}:${hex.slice(2).join("")}]`,
      `[64:ff9b::${octets.join(".")}]`,
      // The rig listens at one address of this machine; a program would listen at all of them.
      ...["localhost", "LocalHost", "localhost.", "rig.localhost", "127.0.0.1", "127.1", "[::1]", hostname()],
    ];
    for (const host of hosts)
      for (const url of [`http://${host}:${port}/api/system/restart`, `HTTP://${host}:0${port}/api/system/restart`]) {
        const { status, text } = await hook("abby", url);
        expect([url, status]).toEqual([url, status === 409 ? 409 : 400]);
        expect(text).not.toContain("bravo");
        expect((await run(await storedHook(url))).text).not.toContain("bravo");
      }
    expect(farm.rigs[1]?.requests.writes).toEqual([]);
    expect(await uptime()).toBeGreaterThanOrEqual(before);
  });

  test("goes to the listed hosts only, also from rules that an earlier version stored", async () => {
    const url = `http://127.0.0.1:${portOf(unlisted)}/`;
    const { status, text } = await hook("abby", url);
    expect([status, text]).toEqual([400, expect.stringContaining("automation.webhookHosts")]);
    const stored = await run(await storedHook(url));
    expect([stored.status, stored.text]).toEqual([409, expect.stringContaining("automation.webhookHosts")]);
    expect(received).toEqual([]);
    expect((await hook("owner", url)).status).toBe(200);
    expect(received).toEqual(["POST /"]);
  });

  test("is sent or not sent, whatever answers", async () => {
    const answers: string[] = [];
    const bulk: string[] = [];
    for (const [port, path] of [
      ...["/200", "/204", "/302", "/401", "/500", "/unanswered"].map((each) => [listed, each] as const),
      [silent, "/"] as const,
    ]) {
      const { status, text } = await hook("abby", `http://127.0.0.1:${port}${path}`);
      answers.push(`${status} ${text}`);
      bulk.push(await bulkResults());
    }
    expect(new Set(answers).size).toBe(1);
    expect(new Set(bulk).size).toBe(1);
    expect(bulk[0]).toContain('"state":"done","message":"Sent"');
    expect(answers[0]).toContain("webhook: Sent");
    await until(() => received.length === 12, "both requests of the six paths that are answered or left open");
    expect(received).not.toContain("POST /api/system/restart");
    // The owner reads what answered.
    expect((await hook("owner", `http://127.0.0.1:${listed}/500`)).text).toContain("answered 500");
  });
});

test("an administrator of one group names no other address to which the service sends something", async () => {
  const channel = { key: "mine", type: "webhook", url: urlOf(bravoRig), secret: "a-secret-of-16-characters" };
  const managed = { hostId: 1, softwareType: "XmrigMiner", softwarePath: urlOf(bravoRig) };
  for (const [method, path, body] of [
    ["POST", "/api/channels", channel],
    ["PATCH", "/api/channels/mine", { url: urlOf(bravoRig) }],
    ["POST", "/api/channels/mine/test", {}],
    ["POST", "/api/hosts", { hostname: "127.0.0.1" }],
    ["POST", "/api/managedminers", managed],
    ["POST", "/api/managedminers/1/download", {}],
    ["POST", "/api/discovery", { networks: ["127.0.0.1/32"] }],
    ["POST", "/api/pools", { description: "mine", url: `stratum+tcp://${addressOf(bravoRig)}` }],
  ] as const)
    expect([path, (await ask("abby", method, path, body)).status]).toEqual([path, 403]);
  // A template starts mining software by its id and parameters; its steps are those of miners.
  const template = { id: 0, name: "mine", do: [{ webhook: `http://127.0.0.1:${listed}/` }] };
  expect((await ask("abby", "POST", "/api/managedtemplates", template)).status).toBe(400);
});

describe("what the owner sends", () => {
  test("goes to no rig either; the refusal names it and the step to use", async () => {
    const { status, text } = await hook("owner", urlOf(bravoRig));
    expect([status, text]).toEqual([400, expect.stringContaining("the miner bravo bitaxe; use a step for miners")]);
    const byName = await hook("owner", urlOf(bravoRig).replace(/\/\/[^/:]+/, "//rig.localhost"));
    expect([byName.status, byName.text]).toEqual([400, expect.stringContaining("the miner bravo bitaxe")]);
    expect(farm.rigs[1]?.requests.writes).toEqual([]);
  });

  test("does not go to the service itself, at whichever free port it listens", async () => {
    for (const host of ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]", hostname()]) {
      const { status, text } = await hook("owner", `http://${host}:${server.address.port}/api/miners`);
      expect([host, status, text]).toEqual([host, 400, expect.stringContaining("the address of this service")]);
    }
  });
});
