import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import type { z } from "zod";
import { Config } from "../../src/config/index.ts";
import { type OperationName, operations } from "../../src/contract/operations.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { type HttpServer, startHttpServer } from "../../src/http/index.ts";
import { startService } from "../../src/service/index.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../any-store.ts";
import { hasProgram } from "../has-program.ts";
import { workers } from "../pollers.ts";

/** The whole program except the command line: virtual rigs, store, service and server, called by a client. */
let farm: Farm;
let store: Store;
let service: MiningService;
let server: HttpServer;
const log = pino({ level: "silent" });

beforeAll(async () => {
  farm = await startFarm({
    rigs: [
      { kind: "axeos", warm: true },
      { kind: "cgminer", dialect: "bmminer", warm: true },
      { kind: "xmrig", warm: true, token: "token-of-xmrig", restricted: false },
    ],
  });
  store = await openStore({ file: ":memory:", now: Date.now });
  const config = Config.parse({
    http: { port: 0 },
    display: { locale: "sv-SE", currency: "USD" },
    poll: { workers, interval: 1 },
    miners: farm.rigs.map(({ address, kind }) => ({
      address,
      name: kind,
      ...(kind === "xmrig" ? { token: "token-of-xmrig" } : {}),
    })),
    templates: [{ name: "Night" }],
    rules: [{ name: "Restart all" }],
    users: [{ name: "anna" }],
  });
  service = await startService({ config, store, log });
  server = await startHttpServer({ service, settings: config.http, log, version: "test" });
  for (const id of [1, 2, 3]) expect((await call("POST", `/api/miners/${1_000_000_000 + id}/poll`)).status).toBe(200);
});

afterAll(async () => {
  await server.close();
  await service.close();
  await store.close();
  await farm.close();
});

async function call(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const json =
    body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(`${server.url}${path}`, { method, ...json });
  return { status: response.status, body: await response.json() };
}

/** A call that succeeds, with its reply checked against the contract. */
async function answered<K extends OperationName>(
  name: K,
  path: string,
  body?: object,
): Promise<z.output<(typeof operations)[K]["reply"]>> {
  const operation = operations[name];
  const { status, body: reply } = await call(operation.method, path, body);
  expect([name, status, reply]).toEqual([name, "status" in operation ? operation.status : 200, reply]);
  return operation.reply.parse(reply) as z.output<(typeof operations)[K]["reply"]>;
}

const axeos = 1_000_000_001;
const antminer = 1_000_000_002;

test("there are the 28 documented operations, and the Rigbridge extensions", () => {
  const documented = Object.values(operations).filter((operation) => !("extension" in operation));
  expect(documented).toHaveLength(28);
});

describe("every documented operation answers as documented", () => {
  test("miners and their pools", async () => {
    const list = await answered("listMiners", "/api/miners");
    expect(list.groupList.flatMap(({ minerList }) => minerList.map(({ name }) => name))).toEqual([
      "axeos",
      "cgminer",
      "xmrig",
    ]);
    expect(list.totalHashrate5s).toMatch(/^\d+,\d\d TH\/s$/);
    const miner = await answered("getMiner", `/api/miners/${antminer}`);
    expect([miner.statusInfo.statusDisplay, miner.asicList.length, miner.temperature]).toEqual([
      "Mining",
      3,
      expect.stringMatching(/^\d+ \d+ \d+ °C$/),
    ]);
    const [first, second] = miner.poolList;
    const pool = await answered("getMinerPool", `/api/miners/${antminer}/pools/${first?.id}`);
    expect(pool).toMatchObject({ minerID: antminer, priorityInfo: { priority: 0 } });
    const said = await answered("minerPoolAction", `/api/miners/${antminer}/pools/${second?.id}?action=prioritize`);
    expect(said.message).toBe("Changed pool priorities");
    await answered("minerAction", `/api/miners/${axeos}?action=stop`);
    expect((await answered("getMiner", `/api/miners/${axeos}`)).statusInfo.statusDisplay).toBe("Stopped");
    await answered("minerAction", `/api/miners/${axeos}?action=start`);
  });

  test("pools and pool groups", async () => {
    const body = {
      description: "Mine",
      url: "stratum+tcp://solo.example.com:3333",
      workerName: "w",
      coinShortName: "BTC",
    };
    const added = await answered("savePool", "/api/pools", body);
    expect(added).toMatchObject({ ...body, coinDisplayName: "Bitcoin (BTC)", coinClass: "PreDefined" });
    const changed = await answered("savePool", "/api/pools", { id: added.id, walletAddress: "bc1q" });
    expect(changed).toEqual({ ...added, walletAddress: "bc1q" });
    expect(await answered("getPool", `/api/pools/${added.id}`)).toEqual(changed);
    expect((await answered("listPools", "/api/pools")).list).toEqual([changed]);
    const offered = await answered("listAddPools", `/api/miners/${axeos}/pools`);
    expect(offered.addPoolList).toEqual([{ name: "Mine", type: "single", id: String(added.id) }]);
    expect(await answered("listPoolGroups", "/api/poolgroups")).toEqual([]);
    await answered("deletePool", `/api/pools/${added.id}`);
    expect((await call("GET", `/api/pools/${added.id}`)).status).toBe(404);
  });

  test("hosts and managed miners", async () => {
    const host = await answered("saveHost", "/api/hosts", { hostname: "server.example", description: "Server" });
    expect(await answered("getHost", `/api/hosts/${host.id}`)).toEqual(host);
    expect(await answered("listHosts", "/api/hosts")).toEqual([host]);
    const [software] = await answered("listMiningSoftware", "/api/miningsoftware");
    const algorithms = await answered("listAlgorithms", "/api/algorithms");
    expect(algorithms.map(({ id }) => id)).toContain("sha256");
    const miner = await answered("saveManagedMiner", "/api/managedminers", {
      hostId: host.id,
      softwareType: software?.id,
      algorithm: "randomx",
      dualAlgorithm: "",
    });
    expect(await answered("getManagedMiner", `/api/managedminers/${miner.id}`)).toEqual(miner);
    expect(await answered("listManagedMiners", "/api/managedminers")).toEqual([miner]);
    expect((await call("GET", `/api/hosts/${host.id}/systeminfo`)).body).toMatchObject({
      status: 409,
      code: "host.no.agent",
    });
    expect((await call("DELETE", `/api/hosts/${host.id}`)).body).toMatchObject({ status: 409, code: "in.use" });
    await answered("deleteManagedMiner", `/api/managedminers/${miner.id}`);
    await answered("deleteHost", `/api/hosts/${host.id}`);
  });

  test("notifications, templates, summary, coins and users", async () => {
    // The managed miner's host had no agent, and the bmminer is an Antminer without its login.
    expect(await answered("listNotifications", "/api/notifications")).toMatchObject({
      notificationCount: 2,
      notificationList: [{ title: "Disconnected", minerId: 1 }, { title: "Login missing" }],
    });
    await answered("allNotificationsAction", "/api/notifications?action=ack_all");
    expect((await call("POST", "/api/notifications/77?action=ack")).status).toBe(404);
    const templates = await answered("listManagedTemplates", "/api/managedtemplates");
    expect(templates.managedTemplateList).toMatchObject([{ id: 1, name: "Night", do: null, softwareType: null }]);
    expect(await answered("getSummary", "/api/summary")).toMatchObject({ totalCount: 3, exchangeRate: "$0,00" });
    await answered("saveCoin", "/api/coins/BTC?profit=0.00000005");
    await answered("saveCoin", "/api/coins/MINE?name=My%20coin&algorithm=sha256&difficulty=1000&reward=50&btc=0.001");
    await answered("deleteCoin", "/api/coins/MINE");
    expect((await call("DELETE", "/api/coins/BTC")).body).toMatchObject({ status: 409 });
    expect(await answered("getUser", "/api/user/anna")).toEqual({ userId: 1 });
    expect((await call("GET", "/api/user/nobody")).status).toBe(404);
  });
});

describe("a template or rule with only a name is refused, and does nothing", () => {
  test.each([
    ["POST", `/api/miners/${axeos}?action=apply_template&template_id=1`],
    ["POST", `/api/miners/${axeos}?action=rule&rule_id=1`],
  ])("%s %s", async (method, path) => {
    expect((await call(method, path)).body).toMatchObject({ status: 409, code: "nothing.to.do" });
  });
});

const hasCurl = hasProgram("curl", spawnSync("curl", ["--version"]).status === 0, "its calls");

(hasCurl ? describe : describe.skip)("curl", () => {
  const curl = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)("curl", ["-s", "-w", " %{http_code}", ...args])).stdout;

  test("sends an action with a form body", async () => {
    expect(await curl("-d", "POST", `${server.url}/api/miners/${antminer}?action=restart`)).toMatch(/"RESTART".* 200$/);
  });

  test("adds a rig by its address, and gets the mistakes of another", async () => {
    const json = ["-H", "Content-Type: application/json", `${server.url}/api/miners`];
    expect(await curl("-d", '{"address": "127.0.0.1:9"}', ...json)).toMatch(/"id":1000000004,.* 201$/);
    expect(await curl("-d", '{"address": "127.0.0.1:9"}', ...json)).toMatch(/"address.known".* 409$/);
    expect(await curl("-d", '{"address": 5, "interval": "x"}', ...json)).toMatch(
      /"path":"address".*"path":"interval".* 400$/,
    );
    expect(await curl("-X", "DELETE", `${server.url}/api/miners/1000000004`)).toMatch(/ 200$/);
  });
});
