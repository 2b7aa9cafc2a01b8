import { writeFile } from "node:fs/promises";
import { get } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { pino } from "pino";
import { stringify } from "yaml";
import { z } from "zod";
import { editorLists } from "../../nodes/service/editor-lists.ts";
import { connectService } from "../../src/client/index.ts";
import { type Operation, type OperationName, operationNames, operations } from "../../src/contract/operations.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { rigbridge } from "../cli/command.ts";
import { callTool, mcpClient } from "../mcp/client.ts";
import { type Mosquitto, type Subscriber, startMosquitto, subscribeAt } from "../mqtt/mosquitto.ts";
import { type ServiceProcess, startProcess } from "../torture/process.ts";
import { until } from "../until.ts";
import { writings } from "./writings.ts";

/**
 * Where secrets are returned: every operation with every kind of credentials, with a unique word in every
 * secret field, and all output of every front end. The fields are those of test/contract/secrets.unit.test.ts.
 */
const words = {
  service: "service-Key/1+of=secrets",
  admin: "admin-Key/2+of=secrets",
  control: "control-Key/3+of=secrets",
  view: "view-Key/4+of=secrets",
  user: "user-Key/5+of=secrets",
  broker: "broker-Word/6+of=secrets",
  source: "source-Word/7+of=secrets",
  rig: "rig-Word/8+of=secrets",
  token: "token-Word/9+of=secrets",
  plug: "plug-Word/10+of=secrets",
  snmpAuthentication: "snmp-authentication-Word/16+of=secrets",
  snmpEncryption: "snmp-encryption-Word/17+of=secrets",
  pool: "pool-Word/11+of=secrets",
  laterPool: "pool-Word/12+of=secrets",
  line: "line-Word/13+of=secrets",
  hook: "hook-Word/14+of=secrets",
  channel: "channel-Word/15+of=secrets",
} as const;
/** Secrets returned over HTTP to users with control, as the API documents it. */
const shown: Readonly<Record<string, readonly (keyof typeof words)[]>> = {
  listPools: ["pool", "laterPool"],
  getPool: ["pool", "laterPool"],
  savePool: ["pool", "laterPool"],
  listManagedMiners: ["line"],
  getManagedMiner: ["line"],
  saveManagedMiner: ["line"],
  listManagedTemplates: ["line"],
  saveManagedTemplate: ["line"],
};

/** The callers over HTTP: a key and a query. Ids of users are in the order of the configuration. */
const callers = {
  "the service's key": { key: words.service, query: "", isTrusted: true },
  "an administrator": { key: words.admin, query: "", isTrusted: true },
  "a user with control": { key: words.control, query: "", isTrusted: true },
  "a user who may look": { key: words.view, query: "", isTrusted: false },
  "the service's key for one who may look": { key: words.service, query: "user_id=3", isTrusted: false },
  nobody: { key: "", query: "", isTrusted: false },
  "nobody for an administrator": { key: "", query: "user_id=1", isTrusted: false },
} as const;
type CallerName = keyof typeof callers;

const rigId = 1_000_000_001;
let farm: Farm;
let mosquitto: Mosquitto;
let service: ServiceProcess;
let listener: Subscriber;
/** All output: where, to whom, and by which operation. */
const came: { readonly where: string; readonly caller: string; readonly operation: string; readonly text: string }[] =
  [];
const note = (where: string, text: string, caller = "", operation = ""): void => {
  came.push({ where, caller, operation, text });
};

const webhookWithSecret = { webhook: "http://127.103.41.4:1/", headers: { authorization: `Bearer ${words.hook}` } };

/** The input of each operation, flat as over MQTT, with secrets in every secret field. */
const inputs: Readonly<Record<OperationName, object>> = {
  listMiners: {},
  getMiner: { id: rigId },
  minerAction: { id: rigId, action: "locate", on: true },
  listAddPools: { id: rigId },
  getMinerSettings: { id: rigId },
  exportMiners: {},
  previewImport: { csv: "address,name\n127.103.41.1:1,renamed\n" },
  listSites: {},
  admitSite: { id: 77 },
  revokeSite: { id: 77 },
  listOwned: {},
  replaceOwned: {
    version: "1",
    rules: [{ key: "pushed", do: [webhookWithSecret] }],
    pools: [{ description: "pushed", url: "stratum+tcp://pushed.example:1", plainWorkerPassword: words.laterPool }],
  },
  releaseOwned: { centre: "nobody", keep: true },
  commitImport: { id: 77 },
  getMinerPool: { id: rigId, poolId: 1 },
  minerPoolAction: { id: rigId, poolId: 1, action: "prioritize" },
  listPools: {},
  getPool: { id: 1 },
  savePool: { description: "later", url: "stratum+tcp://later.example:1", plainWorkerPassword: words.laterPool },
  deletePool: { id: 77 },
  listPoolGroups: {},
  listHosts: {},
  getHost: { id: 1 },
  saveHost: { hostname: "host.example" },
  getHostSystemInfo: { id: 1 },
  listManagedMiners: {},
  getManagedMiner: { id: 1 },
  saveManagedMiner: { hostId: 1, commandLineParams: `-p ${words.line}` },
  listMiningSoftware: {},
  listAlgorithms: {},
  listNotifications: {},
  notificationsAction: { action: "ack", ids: [77] },
  allNotificationsAction: { action: "ack_all" },
  notificationAction: { id: 1, action: "ack" },
  listManagedTemplates: {},
  getSummary: {},
  saveCoin: { shortName: "BTC", profit: 1 },
  deleteCoin: { shortName: "NONE" },
  getUser: { username: "ada" },
  addMiner: {
    address: "127.103.41.1:1",
    username: "root",
    password: words.rig,
    token: words.token,
    supply: { type: "shelly", address: "127.103.41.2:1", password: words.plug },
  },
  changeMiner: {
    id: 77,
    password: words.rig,
    token: words.token,
    supply: { type: "tasmota", address: "127.103.41.3:1", password: words.plug },
  },
  deleteMiner: { id: 77 },
  addMinerNote: { id: rigId, note: "new" },
  pollMiner: { id: rigId },
  listGroups: {},
  addGroup: { name: "new" },
  changeGroup: { id: 77, name: "newer" },
  deleteGroup: { id: 77 },
  listCommands: {},
  savePoolGroup: { name: "group", pools: [1] },
  deletePoolGroup: { id: 77 },
  deleteHost: { id: 77 },
  deleteManagedMiner: { id: 77 },
  saveManagedTemplate: { name: "template", commandLineParams: `-p ${words.line}` },
  deleteManagedTemplate: { id: 77 },
  listUsers: {},
  saveUser: { id: 4, key: words.user },
  deleteUser: { id: 77 },
  startDiscovery: { networks: ["127.103.49.0/30"] },
  getDiscovery: { id: 1 },
  cancelDiscovery: { id: 1 },
  listSightings: {},
  placeSighting: { id: 1 },
  listPlaces: {},
  addPlace: { kind: "site", name: "new" },
  changePlace: { id: 1, name: "newer" },
  deletePlace: { id: 1 },
  exportPlaces: {},
  locatePlace: { id: 1 },
  startBulkAction: { action: "change_pool", parameters: { pool_id: 1, pool_type: "single" }, miners: [rigId] },
  cancelCommand: { id: 1 },
  listBulkActions: {},
  getBulkAction: { id: 1 },
  cancelBulkAction: { id: 1 },
  watchEvents: {},
  listMinerRows: { view: "list" },
  watchMinerRows: { view: "list" },
  getHistory: { id: rigId },
  listRules: {},
  addRule: { key: "tell", do: [webhookWithSecret] },
  changeRule: { id: "tell", do: [webhookWithSecret, webhookWithSecret] },
  deleteRule: { id: "none" },
  listRuleRuns: { id: "tell" },
  listRuns: {},
  tryRule: { id: "tell" },
  listSchedules: {},
  addSchedule: { key: "tell", cron: "0 3 * * *", do: [webhookWithSecret] },
  upcomingSchedules: {},
  changeSchedule: { id: "tell", do: [webhookWithSecret, webhookWithSecret] },
  deleteSchedule: { id: "none" },
  listScheduleRuns: { id: "tell" },
  listMaintenance: {},
  addMaintenance: { name: "new", until: "2100-01-01T00:00:00Z" },
  deleteMaintenance: { id: 77 },
  listSettings: {},
  findBrokers: {},
  findTopics: {},
  reloadSettings: {},
  saveSettings: { section: "history", value: { raw: 1 } },
  resetSettings: { section: "history" },
  testSettings: { section: "scan" },
  undoSettings: { section: "power" },
  listChannels: {},
  testChannel: { key: "phone" },
  addChannel: {
    key: "program",
    type: "webhook",
    url: `http://127.103.41.5:1/${words.channel}`,
    secret: words.channel,
  },
  changeChannel: { key: "program", secret: words.channel },
  deleteChannel: { key: "none" },
  getMoney: {},
  getPrices: {},
  getMarket: {},
  listAgents: {},
  addAgent: { hostId: 1 },
  deleteAgent: { id: 77 },
  getManagedMinerCommand: { id: 1 },
  getManagedMinerDownload: { id: 1 },
  confirmManagedMinerDownload: { id: 1, sha256: "a".repeat(64) },
  listBenchmarks: {},
  deleteBenchmark: { id: 77 },
  getManagedMinerSwitching: { id: 1 },
  getSummaryHistory: {},
  getVersion: {},
  listRooms: {},
  listFacility: {},
  listSignals: {},
  listCurtailments: {},
  getCurtailment: { id: 1 },
  getCurtailmentReport: { id: 1 },
  previewCurtailment: { target: { all: true } },
  startCurtailment: { target: { all: true }, reason: "peak" },
  changeCurtailment: { id: 1, target: { share: 50 } },
  endCurtailment: { id: 1 },
  releaseCurtailment: { id: 1 },
  listCurtailmentPlans: {},
  addCurtailmentPlan: { key: "peak", target: { all: true } },
  changeCurtailmentPlan: { key: "peak", safety: true },
  deleteCurtailmentPlan: { key: "peak" },
  drillCurtailmentPlan: { key: "peak" },
  changeRoom: { key: "none", on: true },
};

beforeAll(async () => {
  [farm, mosquitto] = await Promise.all([
    startFarm({ rigs: [{ kind: "cgminer", dialect: "bmminer", warm: true, host: "127.103.40.1" }] }),
    startMosquitto({ users: { bridge: words.broker, listener: "any-password" } }),
  ]);
  listener = await subscribeAt(mosquitto.url, ["#"], { username: "listener", password: "any-password" });
  const login = { username: "root", password: words.rig, token: words.token };
  const supply = { type: "shelly", address: "127.103.41.9:1", password: words.plug };
  const surplus = { url: "http://127.103.41.8:1/", headers: { Authorization: `Bearer ${words.source}` } };
  const snmp = { username: "bridge", authPassword: words.snmpAuthentication, privPassword: words.snmpEncryption };
  const pdu = { key: "pdu", kind: "pdu", driver: "snmp", address: "127.103.41.7:1", preset: "apc-rpdu", ...snmp };
  service = await startProcess({
    config: {
      http: { key: words.service, keylessRead: true, mcp: true },
      poll: { interval: 1, timeout: 1 },
      groups: [{ name: "sun" }],
      miners: [{ address: farm.rigs[0]?.address, name: "ant", group: "sun", ...login, supply }],
      pools: [{ name: "pool", url: "stratum+tcp://pool.example:1", worker: "w", password: words.pool }],
      users: [
        { name: "ada", key: words.admin, privilege: "administrator" },
        { name: "carl", key: words.control, privilege: "control" },
        { name: "vera", key: words.view, privilege: "view" },
      ],
      follow: { name: "sun", group: "sun", surplus },
      facility: [pdu, { key: "hall", kind: "sensor", driver: "http-json", ...surplus, paths: { temperature: "t" } }],
      mqtt: { url: mosquitto.url, username: "bridge", password: words.broker, interval: 1 },
    },
    env: { LOG_LEVEL: "trace" },
  });
  await listener.until(({ topic, payload }) => topic === "rigbridge/bridge/state" && payload === "online");
  await service.ask("POST", `/api/users`, {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "bert" }),
  });
});
afterAll(async () => {
  await listener.close();
  await service.close();
  await mosquitto.stop();
  await farm.close();
});

/** The request of an operation: path, query and body from its flat input. */
function requestOf(name: OperationName): {
  readonly method: string;
  readonly target: string;
  readonly body: object | null;
} {
  const { method, path, params = {}, query, body }: Operation = operations[name];
  const given = Object.entries(inputs[name]);
  const inQuery = query instanceof z.ZodObject ? Object.keys(query.shape) : [];
  const inPath = Object.keys(params);
  const target = given.reduce((rest, [key, value]) => rest.replace(`:${key}`, String(value)), path);
  const texts = given
    .filter(([key]) => inQuery.includes(key))
    .map(([key, value]): [string, string] => [key, String(value)]);
  const rest = given.filter(([key]) => !inQuery.includes(key) && !inPath.includes(key));
  return {
    method,
    target: `${target}?${new URLSearchParams(texts)}`,
    body: body === undefined ? null : Object.fromEntries(rest),
  };
}

async function askAs(caller: CallerName, name: OperationName): Promise<number> {
  const { key, query } = callers[caller];
  const { method, target, body } = requestOf(name);
  const answer = await service.ask(method, `${target}&${query}`, {
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: body === null ? undefined : JSON.stringify(body),
  });
  note("HTTP", JSON.stringify(answer.headers) + answer.text, caller, name);
  return answer.status;
}

/** A stream of events from now on. */
function watch(caller: CallerName): { readonly text: () => string; readonly end: () => void } {
  const { key, query } = callers[caller];
  let text = "";
  const sent = get(
    {
      host: "127.0.0.1",
      port: service.port,
      path: `/api/events?${query}`,
      headers: { "x-api-key": key },
      agent: false,
    },
    (response) =>
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      }),
  );
  sent.on("error", () => undefined);
  return { text: () => text, end: () => sent.destroy() };
}

const callerNames = Object.keys(callers).filter((name): name is CallerName => Object.hasOwn(callers, name));
const calls = operationNames.filter((name) => operations[name].kind === "call");

async function askEverything(): Promise<void> {
  const streams = callerNames.map((caller) => [caller, watch(caller)] as const);
  await until(() => streams.every(([, { text }]) => text().includes("retry:")), "every stream of events to begin");
  for (const caller of callerNames) {
    const statuses = await Promise.all(calls.map(async (name) => [name, await askAs(caller, name)] as const));
    // Reads are repeated after the writes.
    for (const name of calls.filter((each) => operations[each].method === "GET")) await askAs(caller, name);
    const refused = statuses.filter(([, status]) => status === 401 || status === 403).map(([name]) => name);
    const isGuest = callers[caller].key === "";
    const writes = calls.filter((name) => operations[name].method !== "GET" && name !== "previewCurtailment");
    // A viewer changes nothing, and a caller without a key gets nothing.
    if (isGuest || !callers[caller].isTrusted) expect(refused).toEqual(expect.arrayContaining(writes));
    if (!callers[caller].isTrusted) expect(refused).toContain("listUsers");
  }
  await until(
    () => streams.every(([, { text }]) => text().includes("event: miner\n")),
    "every stream to tell of a miner",
  );
  for (const [caller, { text, end }] of streams) {
    note("events", text(), caller, "watchEvents");
    end();
  }
}

async function askByMqtt(): Promise<void> {
  for (const name of calls) {
    const from = listener.received.length;
    await listener.publish(`rigbridge/bridge/request/${name}`, JSON.stringify(inputs[name]));
    const { payload } = await listener.until(({ topic }) => topic === `rigbridge/bridge/response/${name}`, from);
    note("an answer over MQTT", payload, "MQTT", name);
  }
}

/** Every tool, with the service's key; those that act only say what they would do. */
async function askByMcp(): Promise<void> {
  const client = await mcpClient(`http://127.0.0.1:${service.port}`, { key: words.service });
  const targets = { rigs: [rigId], dryRun: true };
  const args: Readonly<Record<string, object>> = {
    rig_details: { rig: rigId },
    why_not_hashing: { rig: rigId },
    set_power: { ...targets, watts: 1000 },
    set_mode: { ...targets, mode: "low" },
    change_pool: { ...targets, pool: 1 },
    set_room: { room: "none", on: true, dryRun: true },
    acknowledge_notifications: { ids: [1], dryRun: true },
    job_status: { job: 1 },
  };
  for (const { name, annotations } of (await client.listTools()).tools) {
    const { text } = await callTool(client, name, args[name] ?? (annotations?.destructiveHint ? targets : {}));
    expect(text).not.toBe("");
    note("MCP", text, name);
  }
}

test("secrets are returned only where the API documents them, to users with control", async () => {
  await askEverything();
  // Messages of the test itself do not count.
  const asked = new Set(calls.map((name) => `rigbridge/bridge/request/${name}`));
  await askByMqtt();
  await askByMcp();
  for (const { topic, payload } of listener.received) if (!asked.has(topic)) note("MQTT", `${topic} ${payload}`);

  // The command line and the lists of Node-RED's editor, with the service's key.
  const url = `http://127.0.0.1:${service.port}`;
  const secretsOfRig = { RIGBRIDGE_PASSWORD: words.rig, RIGBRIDGE_TOKEN: words.token };
  const env = { RIGBRIDGE_SERVICE: url, RIGBRIDGE_KEY: words.service, ...secretsOfRig };
  await writeFile(
    join(service.folder, "bad.yaml"),
    stringify({ http: { key: `${words.service} ` }, pools: [{ password: words.pool }] }),
  );
  const commands = [
    ["act", "ant", "locate", "--on"],
    ["act", "ant", "change_pool", "--pool", "1", "--pool-type", "single"],
    ["read", farm.rigs[0]?.address ?? "", "--json"],
    ["read", farm.rigs[0]?.address ?? "", "--username", "root"],
    ["config", "check", join(service.folder, "rigbridge.yaml")],
    ["config", "check", join(service.folder, "bad.yaml")],
    ["mqtt", "--broker", "mqtt:/wrong", "--username", "bridge", "--password", words.broker],
  ];
  for (const args of commands) {
    const { stdout, stderr } = await rigbridge(args, { env, cwd: service.folder });
    expect(`${stdout}${stderr}`).not.toBe("");
    note("the command line", `${stdout}${stderr}`, args.join(" ").replaceAll(words.broker, ""));
  }
  const client = connectService({ url, key: words.service, log: pino({ level: "silent" }) });
  const caller = { actor: "node-red" };
  const [summary, features, list] = await Promise.all([
    client.getSummary({}, caller),
    client.features(),
    client.listMiners({}, caller),
  ]);
  const miners = new Map(
    list.groupList.flatMap(({ minerList }) => minerList.map((miner) => [miner.id, miner] as const)),
  );
  for (const list of Object.values(editorLists))
    note(
      "Node-RED's editor",
      JSON.stringify(await list({ service: client, caller, farm: { miners, groups: [], summary, features } })),
    );
  await client.close();
  for (const page of ["/metrics", "/openapi.json", "/health"]) note("a page", (await service.ask("GET", page)).text);
  await service.stop();
  note("the log", service.stdout() + service.stderr());

  const leaks = came.flatMap(({ where, caller, operation, text }) =>
    Object.entries(words)
      .filter(([, word]) => writings(word).some((writing) => text.includes(writing)))
      .map(([name]) => ({ where, caller, operation, name })),
  );
  const allowed = ({ where, caller, operation, name }: (typeof leaks)[number]): boolean =>
    where === "HTTP" &&
    Object.entries(callers).some(([each, { isTrusted }]) => each === caller && isTrusted) &&
    (shown[operation] ?? []).some((word) => word === name);
  expect(leaks.filter((leak) => !allowed(leak))).toEqual([]);

  // The words do appear where they are allowed: with the service's key.
  for (const operation of Object.keys(shown))
    expect([
      operation,
      leaks.some((leak) => leak.operation === operation && leak.caller === "the service's key"),
    ]).toEqual([operation, true]);
  for (const [where, caller] of [
    ["HTTP", "nobody"],
    ["an answer over MQTT", "MQTT"],
  ] as const) {
    const answers = came.filter((each) => each.where === where && each.caller === caller);
    expect(new Set(answers.map(({ operation }) => operation))).toEqual(new Set(calls));
    const pools = answers.filter(({ operation }) => operation === "listPools").at(-1)?.text;
    expect(pools).toContain('"plainWorkerPassword":""');
    expect(pools).toContain("later.example");
  }
});
