import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import { CurtailmentPlanBody } from "../../src/contract/curtailment.ts";
import { type OperationName, operationNames, operations } from "../../src/contract/operations.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { type HttpServer, startHttpServer } from "../../src/http/index.ts";
import { startService } from "../../src/service/index.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../any-store.ts";
import { newNotification } from "../notification-rows.ts";
import { workers } from "../pollers.ts";
import { until, within } from "../until.ts";

/**
 * The permissions of every operation over HTTP. There are two farms: anna sees the one called alpha, bert the one
 * called bravo, and neither may ever read the word of the other.
 */
const keys = {
  service: "key-of-the-service",
  anna: "key-of-anna-1234567",
  bert: "key-of-bert-1234567",
  ada: "key-of-ada-12345678",
  abby: "key-of-abby-1234567",
};
/** Ids by the order of the configuration. */
const anna = 1;
const ant = 1_000_000_001;
const bitaxe = 1_000_000_002;
const bravoAnt = 1_000_000_003;

/** The credentials of a request, in the order of the columns of the tables. */
const columns = {
  none: "",
  wrong: "key=not-the-key-at-all",
  service: `key=${keys.service}`,
  anna: `key=${keys.anna}`,
  bert: `key=${keys.bert}`,
  ada: `key=${keys.ada}`,
  abby: `key=${keys.abby}`,
  "for anna": `key=${keys.service}&user_id=${anna}`,
  "for nobody": `key=${keys.service}&user_id=77`,
} as const;
type Column = keyof typeof columns;
const columnNames: readonly Column[] = [
  "none",
  "wrong",
  "service",
  "anna",
  "bert",
  "ada",
  "abby",
  "for anna",
  "for nobody",
];

let farm: Farm;
let store: Store;
let service: MiningService;
let server: HttpServer;
let activePool: number;
const log = pino({ level: "silent" });

beforeAll(async () => {
  farm = await startFarm({
    rigs: [
      { kind: "cgminer", dialect: "bmminer", warm: true },
      { kind: "axeos", warm: true },
      { kind: "cgminer", dialect: "bmminer", warm: true },
    ],
  });
  const rig = (index: number) => farm.rigs[index]?.address;
  store = await openStore({ file: ":memory:", now: Date.now });
  const config = Config.parse({
    http: { port: 0, key: keys.service },
    poll: { workers, interval: 3600 },
    groups: [
      { name: "alpha farm", room: true },
      { name: "bravo farm", room: true },
    ],
    miners: [
      { name: "alpha ant", address: rig(0), group: "alpha farm" },
      { name: "alpha bitaxe", address: rig(1), group: "alpha farm" },
      { name: "bravo ant", address: rig(2), group: "bravo farm" },
    ],
    pools: [
      { name: "alpha pool", url: "stratum+tcp://alpha.example.com:3333", password: "hidden-word" },
      { name: "bravo pool", url: "stratum+tcp://bravo.example.com:3333", password: "hidden-word" },
    ],
    poolGroups: [
      { name: "alpha pools", pools: ["alpha pool"] },
      { name: "bravo pools", pools: ["alpha pool", "bravo pool"] },
    ],
    facility: ["alpha", "bravo"].map((key) => ({
      key,
      kind: "meter",
      driver: "http-json",
      url: "http://127.0.0.1:9/",
      paths: { power: "watts" },
      interval: 3600,
      groups: [`${key} farm`],
    })),
    templates: [{ name: "Night" }],
    users: [
      { name: "anna", key: keys.anna, privilege: "view", groups: ["alpha farm"], pools: ["alpha pool"] },
      { name: "bert", key: keys.bert, privilege: "control", groups: ["bravo farm"], pools: ["bravo pool"] },
      { name: "ada", key: keys.ada, privilege: "administrator" },
      { name: "abby", key: keys.abby, privilege: "administrator", groups: ["bravo farm"], pools: ["bravo pool"] },
    ],
  });
  for (const [minerId, minerName] of owners) {
    const message = `a word of ${minerName}`;
    store.notifications.raise(newNotification({ minerId, minerName, message }));
  }
  service = await startService({ config, store, log });
  server = await startHttpServer({ service, settings: config.http, log, version: "test" });
  for (const id of [ant, bitaxe, bravoAnt])
    expect((await ask("POST", `/api/miners/${id}/poll?key=${keys.service}`)).status).toBe(200);
  const miner = await service.getMiner({ id: ant }, { actor: "test" });
  activePool = miner.poolList[0]?.id ?? 0;
  for (const [minerId, minerName] of owners)
    if (minerId !== null)
      await store.commands.add({ minerId, minerName, actor: "test", action: "stop", parameters: {} });
  await service.saveHost({ id: 0, hostname: "alpha-and-bravo.example.com", description: "" }, { actor: "test" });
  await service.saveManagedMiner({ ...managedMiner, description: "alpha and bravo" }, { actor: "test" });
});

/** Of notifications and commands, the first of which have the ids 1 and 2. */
const owners = [
  [ant, "alpha ant"],
  [bravoAnt, "bravo ant"],
  [null, "of alpha and bravo"],
] as const;

const benchmark = { model: "GPU", software: "XmrigMiner", algorithm: "randomx", hashrate: 1, power: null, at: 0 };

const managedMiner = {
  id: 0,
  description: "",
  hostId: 1,
  commandLineParams: "",
  softwareType: "",
  softwarePath: "",
  algorithm: "",
  dualAlgorithm: "",
};

afterAll(async () => {
  await server.close();
  await service.close();
  await store.close();
  await farm.close();
});

interface Answer {
  readonly status: number;
  readonly text: string;
  /** Name and value of the cookie that came with it. */
  readonly cookie: string;
}

let asked = 0;

function ownAddress(): string {
  asked += 1;
  return `127.1.${Math.floor(asked / 250)}.${(asked % 250) + 1}`;
}

/** Each request has its own address, so that wrong keys are not counted together. */
function ask(method: string, path: string, body?: object, more: Record<string, string> = {}): Promise<Answer> {
  const localAddress = ownAddress();
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    ...more,
    ...(text === undefined ? {} : { "content-type": "application/json", "content-length": text.length }),
  };
  const { host, port } = server.address;
  const answer = new Promise<Answer>((resolve, reject) => {
    const sent = request({ host, port, method, path, headers, localAddress, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
        // A stream does not end, so its beginning is enough.
        if (response.headers["content-type"]?.startsWith("text/event-stream")) response.destroy();
      });
      const cookie = response.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
      response.on("close", () => resolve({ status: response.statusCode ?? 0, text, cookie }));
    });
    sent.on("error", reject);
    sent.end(text);
  });
  return within(answer, `the answer to ${method} ${path}`);
}

interface Asked {
  readonly path: string;
  readonly body?: object;
}

/** Unique numbers. */
const next = (): number => {
  asked += 1;
  return asked;
};
const asService = { actor: "test" };
const newPool = {
  id: 0,
  description: "new",
  coinClass: undefined,
  coinShortName: "",
  coinAlgorithm: "",
  url: "stratum+tcp://new.example.com:1",
  workerName: "",
  walletAddress: "",
  plainWorkerPassword: "",
};
const newMiner = () => ({ address: `127.2.0.1:${20_000 + next()}` });
const dryRun = { action: "stop", parameters: {}, miners: [bravoAnt], parallel: 16, delay: 0, dryRun: true } as const;

/** The path of a new item, to be changed or removed once. */
const made = (path: string, make: () => Promise<{ readonly id: number | string }>, body?: object) => async () => ({
  path: `${path}/${(await make()).id}`,
  ...(body === undefined ? {} : { body }),
});
const place = () => service.addPlace({ kind: "site", name: `site ${next()}`, parentId: null, order: 0 }, asService);
/** A drill of all rigs, which has sent nothing and is over. */
const drilled = async (rest = "") => {
  const { key } = await plan();
  return {
    path: `/api/curtailments/${(await service.drillCurtailmentPlan({ key, dry: true, lasts: 60 }, asService)).id}${rest}`,
  };
};
const plan = () => service.addCurtailmentPlan(newPlan(), asService);
const newPlan = () => CurtailmentPlanBody.parse({ key: `plan-${next()}`, target: { all: true } });
const ofPlan = async (body?: object, rest = "") => ({
  path: `/api/curtailmentplans/${(await plan()).key}${rest}`,
  ...(body === undefined ? {} : { body }),
});
const group = () => service.addGroup({ name: "new", parentId: 0 }, asService);
const template = () => service.saveManagedTemplate({ id: 0, name: `template ${next()}` }, asService);
const user = () => service.saveUser({ id: 0, name: `user ${next()}` }, asService);
const bulk = () => service.startBulkAction({ ...dryRun, miners: [bravoAnt] }, asService);
const poolOfAnt = (query = "") => ({ path: `/api/miners/${ant}/pools/${activePool}${query}` });

const steps = [{ action: "restart" as const }];
const newRule = () => ({ key: `rule-${next()}`, scope: { racks: ["r1"] }, do: steps });
const newSchedule = () => ({
  key: `schedule-${next()}`,
  cron: "0 3 * * *",
  scope: { racks: ["r1"] },
  do: steps,
});
const newWindow = { name: "new", until: "2100-01-01T00:00:00Z", racks: ["r1"] };
const newChannel = () => ({ key: `channel-${next()}`, type: "ntfy", topic: "t", url: "http://127.0.0.1:1" });
/** There may be 50 at most. */
async function onlyChannel() {
  for (const { key } of await service.listChannels({}, asService)) await service.deleteChannel({ key }, asService);
  return service.addChannel(newChannel(), asService);
}
const runsOf = ({ id }: { readonly id: number }) => ({ id: `${id}/runs` });

/** The input of each operation, about the alpha farm where there is a choice. */
const targets: Readonly<Record<OperationName, string | Asked | (() => Asked | Promise<Asked>)>> = {
  listMiners: "/api/miners",
  getMiner: `/api/miners/${ant}`,
  minerAction: `/api/miners/${bitaxe}?action=locate&on=true`,
  listAddPools: `/api/miners/${ant}/pools`,
  getMinerSettings: `/api/miners/${ant}/settings`,
  exportMiners: "/api/miners/settings",
  previewImport: { path: "/api/imports", body: { csv: "address\n127.1.2.3\n" } },
  listSites: "/api/sites",
  // A service alone has no sites.
  admitSite: { path: "/api/sites/1/token" },
  revokeSite: { path: "/api/sites/1/token" },
  listOwned: "/api/owned",
  replaceOwned: { path: "/api/owned", body: { version: "1" } },
  releaseOwned: { path: "/api/owned/release", body: { centre: "nobody", keep: true } },
  commitImport: { path: "/api/imports/9999" },
  getMinerPool: () => poolOfAnt(),
  minerPoolAction: () => poolOfAnt("?action=prioritize"),
  listPools: "/api/pools",
  getPool: "/api/pools/1",
  savePool: { path: "/api/pools", body: { url: "new.example.com:1" } },
  deletePool: made("/api/pools", () => service.savePool(newPool, asService)),
  listPoolGroups: "/api/poolgroups",
  listHosts: "/api/hosts",
  getHost: "/api/hosts/1",
  saveHost: { path: "/api/hosts", body: { hostname: "new" } },
  getHostSystemInfo: "/api/hosts/1/systeminfo",
  listManagedMiners: "/api/managedminers",
  getManagedMiner: "/api/managedminers/1",
  saveManagedMiner: { path: "/api/managedminers", body: { hostId: 1 } },
  listMiningSoftware: "/api/miningsoftware",
  listAlgorithms: "/api/algorithms",
  listNotifications: "/api/notifications",
  allNotificationsAction: "/api/notifications?action=ack_all",
  notificationAction: "/api/notifications/1?action=ack",
  listManagedTemplates: "/api/managedtemplates",
  getSummary: "/api/summary",
  saveCoin: "/api/coins/BTC?profit=1",
  deleteCoin: async () => {
    const shortName = `NEW${next()}`;
    await service.saveCoin({ shortName, name: "New", algorithm: "sha256", profit: 1 }, asService);
    return { path: `/api/coins/${shortName}` };
  },
  getUser: "/api/user/anna",
  addMiner: () => ({ path: "/api/miners", body: newMiner() }),
  changeMiner: made("/api/miners", () => service.addMiner(newMiner(), asService), { name: "new" }),
  deleteMiner: made("/api/miners", () => service.addMiner(newMiner(), asService)),
  addMinerNote: { path: `/api/miners/${ant}/notes`, body: { note: "new" } },
  pollMiner: `/api/miners/${ant}/poll`,
  listGroups: "/api/groups",
  addGroup: { path: "/api/groups", body: { name: "new" } },
  changeGroup: made("/api/groups", group, { name: "newer" }),
  deleteGroup: made("/api/groups", group),
  listPlaces: "/api/places",
  addPlace: () => ({ path: "/api/places", body: { kind: "site", name: `site ${next()}` } }),
  changePlace: made("/api/places", place, { rows: 4 }),
  deletePlace: made("/api/places", place),
  exportPlaces: "/api/places/rigs",
  // A place without rigs, which exists only for those who see everything.
  locatePlace: async () => ({ path: `/api/places/${(await place()).id}/locate`, body: {} }),
  listCommands: "/api/commands",
  // One that has ended, since the rig is read each time.
  cancelCommand: async () => {
    const located = await service.minerAction({ id: bitaxe, action: "locate", on: true }, asService);
    return { path: `/api/commands/${located.commandId}` };
  },
  savePoolGroup: { path: "/api/poolgroups", body: { name: "new" } },
  deletePoolGroup: made("/api/poolgroups", () => service.savePoolGroup({ id: 0, name: "new" }, asService)),
  deleteHost: made("/api/hosts", () => service.saveHost({ id: 0, hostname: "new", description: "" }, asService)),
  deleteManagedMiner: made("/api/managedminers", () => service.saveManagedMiner(managedMiner, asService)),
  // One that belongs to the owner.
  saveManagedTemplate: async () => {
    const { id } = await template();
    return { path: "/api/managedtemplates", body: { id, name: `template ${next()}` } };
  },
  deleteManagedTemplate: made("/api/managedtemplates", () => template()),
  listUsers: "/api/users",
  saveUser: () => ({ path: "/api/users", body: { name: `user ${next()}`, privilege: "administrator" } }),
  deleteUser: made("/api/users", user),
  // With permission to search, the mistakes of the request are reported.
  startDiscovery: { path: "/api/discovery", body: { networks: ["no network"] } },
  getDiscovery: "/api/discovery/77",
  cancelDiscovery: "/api/discovery/77",
  listSightings: "/api/sightings",
  placeSighting: { path: "/api/sightings/77", body: {} },
  startBulkAction: { path: "/api/actions", body: dryRun },
  listBulkActions: "/api/actions",
  getBulkAction: made("/api/actions", bulk),
  cancelBulkAction: made("/api/actions", bulk),
  watchEvents: "/api/events",
  listMinerRows: "/api/miners?view=list",
  watchMinerRows: "/api/events?view=list",
  getHistory: `/api/miners/${ant}/history`,
  listRules: "/api/rules",
  addRule: () => ({ path: "/api/rules", body: newRule() }),
  changeRule: made("/api/rules", () => service.addRule(newRule(), asService), { name: "newer" }),
  deleteRule: made("/api/rules", () => service.addRule(newRule(), asService)),
  listRuleRuns: made("/api/rules", () => service.addRule(newRule(), asService).then(runsOf)),
  notificationsAction: { path: "/api/notifications/actions", body: { action: "ack", ids: [77] } },
  listRuns: "/api/runs",
  tryRule: made("/api/rules", () => service.addRule(newRule(), asService).then(({ id }) => ({ id: `${id}/try` }))),
  listSchedules: "/api/schedules",
  addSchedule: () => ({ path: "/api/schedules", body: newSchedule() }),
  upcomingSchedules: "/api/schedules/upcoming",
  changeSchedule: made("/api/schedules", () => service.addSchedule(newSchedule(), asService), { name: "newer" }),
  deleteSchedule: made("/api/schedules", () => service.addSchedule(newSchedule(), asService)),
  listScheduleRuns: made("/api/schedules", () => service.addSchedule(newSchedule(), asService).then(runsOf)),
  listMaintenance: "/api/maintenance",
  addMaintenance: { path: "/api/maintenance", body: newWindow },
  deleteMaintenance: made("/api/maintenance", () => service.addMaintenance(newWindow, asService)),
  listSettings: "/api/settings",
  findBrokers: "/api/settings/brokers",
  findTopics: "/api/settings/topics",
  reloadSettings: "/api/settings/reload",
  saveSettings: { path: "/api/settings/history", body: { value: { raw: 1 } } },
  resetSettings: { path: "/api/settings/history" },
  testSettings: { path: "/api/settings/scan/test", body: {} },
  undoSettings: { path: "/api/settings/power/undo" },
  listChannels: "/api/channels",
  testChannel: "/api/channels/phone/test",
  addChannel: () => ({ path: "/api/channels", body: newChannel() }),
  changeChannel: made("/api/channels", onlyChannel, { from: "info" }),
  deleteChannel: made("/api/channels", onlyChannel),
  getMoney: "/api/money",
  getPrices: `/api/prices?miner=${ant}`,
  getMarket: "/api/market",
  listAgents: "/api/agents",
  addAgent: async () => {
    const { id } = await service.saveHost({ id: 0, hostname: "new", description: "" }, asService);
    return { path: "/api/agents", body: { hostId: id } };
  },
  deleteAgent: async () => {
    const { id: hostId } = await service.saveHost({ id: 0, hostname: "new", description: "" }, asService);
    return { path: `/api/agents/${(await service.addAgent({ hostId }, asService)).id}` };
  },
  getManagedMinerCommand: "/api/managedminers/1/command",
  getManagedMinerDownload: "/api/managedminers/1/download",
  confirmManagedMinerDownload: { path: "/api/managedminers/1/download", body: { sha256: "a".repeat(64) } },
  listBenchmarks: "/api/benchmarks",
  deleteBenchmark: made("/api/benchmarks", () => store.benchmarks.add(benchmark)),
  getManagedMinerSwitching: "/api/managedminers/1/switching",
  getSummaryHistory: "/api/summary/history",
  getVersion: "/api/version",
  listRooms: "/api/rooms",
  listFacility: "/api/facility",
  listSignals: "/api/signals",
  listCurtailments: "/api/curtailments",
  getCurtailment: () => drilled(),
  getCurtailmentReport: () => drilled("/report"),
  // Of no rigs.
  previewCurtailment: {
    path: "/api/curtailments/preview",
    body: { target: { all: true }, scope: { racks: ["none"] } },
  },
  startCurtailment: {
    path: "/api/curtailments",
    body: { reason: "peak", target: { all: true }, scope: { racks: ["none"] } },
  },
  changeCurtailment: async () => ({ ...(await drilled()), body: { target: { share: 50 } } }),
  endCurtailment: () => drilled("/end"),
  releaseCurtailment: () => drilled("/release"),
  listCurtailmentPlans: "/api/curtailmentplans",
  addCurtailmentPlan: () => ({ path: "/api/curtailmentplans", body: newPlan() }),
  changeCurtailmentPlan: () => ofPlan({ safety: true }),
  deleteCurtailmentPlan: () => ofPlan(),
  drillCurtailmentPlan: () => ofPlan({}, "/drill"),
  changeRoom: { path: "/api/rooms/group-1", body: { max: null } },
};

/**
 * The status of each operation for: no key; a wrong one; the service's; the keys of anna (view, sees alpha), bert
 * (control, sees bravo), ada (administrator of all) and abby (administrator of bravo); the service's with the user_id of
 * anna, and of an unknown user.
 * The last column names the farms whose words the reply contains: both, or alpha alone. A user who sees one farm gets
 * only the words of that farm.
 */
const documented = `
                       none wrong serv anna bert ada  abby f.a. f.n.
listMiners             401  401   200  200  200  200  200  200  404  both
getMiner               401  401   200  200  404  200  404  200  404  alpha
minerAction            401  401   200  403  404  200  404  403  404
listAddPools           401  401   200  200  404  200  404  200  404  both
getMinerPool           401  401   200  200  404  200  404  200  404  alpha
minerPoolAction        401  401   200  403  404  200  404  403  404
listPools              401  401   200  200  200  200  200  200  404  both
getPool                401  401   200  200  404  200  404  200  404  alpha
savePool               401  401   200  403  403  200  403  403  404
deletePool             401  401   200  403  403  200  403  403  404
listPoolGroups         401  401   200  200  200  200  200  200  404
listHosts              401  401   200  200  200  200  200  200  404
getHost                401  401   200  404  404  200  404  404  404
saveHost               401  401   200  403  403  200  403  403  404
getHostSystemInfo      401  401   409  404  404  409  404  404  404
listManagedMiners      401  401   200  200  200  200  200  200  404
getManagedMiner        401  401   200  404  404  200  404  404  404
saveManagedMiner       401  401   200  403  403  200  403  403  404
listMiningSoftware     401  401   200  200  200  200  200  200  404
listAlgorithms         401  401   200  200  200  200  200  200  404
listNotifications      401  401   200  200  200  200  200  200  404  both
allNotificationsAction 401  401   200  403  200  200  200  403  404
notificationAction     401  401   200  403  404  200  404  403  404
listManagedTemplates   401  401   200  200  200  200  200  200  404
getSummary             401  401   200  200  200  200  200  200  404
saveCoin               401  401   200  403  403  200  403  403  404
deleteCoin             401  401   200  403  403  200  403  403  404
getUser                401  401   200  200  404  200  404  200  404
`;

const ours = `
                       none wrong serv anna bert ada  abby f.a. f.n.
addMiner               401  401   201  403  403  201  403  403  404
getMinerSettings       401  401   200  403  403  200  404  403  404
exportMiners           401  401   200  403  403  200  200  403  404
previewImport          401  401   201  403  403  201  201  403  404
commitImport           401  401   404  403  403  404  404  403  404
listOwned              401  401   200  200  200  200  200  200  404
replaceOwned           401  401   403  403  403  403  403  403  404
releaseOwned           401  401   404  403  403  404  403  403  404
changeMiner            401  401   200  403  403  200  404  403  404
deleteMiner            401  401   200  403  403  200  404  403  404
addMinerNote           401  401   200  403  404  200  404  403  404
pollMiner              401  401   200  403  404  200  404  403  404
listGroups             401  401   200  200  200  200  200  200  404  both
addGroup               401  401   201  403  403  201  403  403  404
changeGroup            401  401   200  403  403  200  403  403  404
deleteGroup            401  401   200  403  403  200  403  403  404
listPlaces             401  401   200  200  200  200  200  200  404
addPlace               401  401   201  403  403  201  403  403  404
changePlace            401  401   200  403  403  200  403  403  404
deletePlace            401  401   200  403  403  200  403  403  404
exportPlaces           401  401   200  200  200  200  200  200  404  both
locatePlace            401  401   409  403  404  409  404  403  404
listCommands           401  401   200  200  200  200  200  200  404  both
cancelCommand          401  401   409  403  404  409  404  403  404
savePoolGroup          401  401   200  403  403  200  403  403  404
deletePoolGroup        401  401   200  403  403  200  403  403  404
deleteHost             401  401   200  403  403  200  403  403  404
deleteManagedMiner     401  401   200  403  403  200  403  403  404
saveManagedTemplate    401  401   200  403  403  200  403  403  404
deleteManagedTemplate  401  401   200  403  403  200  403  403  404
listUsers              401  401   200  403  403  200  200  403  404
saveUser               401  401   200  403  403  200  403  403  404
deleteUser             401  401   200  403  403  200  403  403  404
startDiscovery         401  401   400  403  403  400  403  403  404
getDiscovery           401  401   404  403  403  404  403  403  404
cancelDiscovery        401  401   404  403  403  404  403  403  404
listSightings          401  401   200  403  403  200  403  403  404
placeSighting          401  401   404  403  403  404  403  403  404
startBulkAction        401  401   202  403  202  202  202  403  404
listBulkActions        401  401   200  200  200  200  200  200  404
getBulkAction          401  401   200  404  404  200  404  404  404
cancelBulkAction       401  401   409  403  404  409  404  403  404
watchEvents            401  401   200  200  200  200  200  200  404
getHistory             401  401   200  200  404  200  404  200  404
listRules              401  401   200  200  200  200  200  200  404
addRule                401  401   201  403  403  201  201  403  404
changeRule             401  401   200  403  403  200  404  403  404
deleteRule             401  401   200  403  403  200  404  403  404
listRuleRuns           401  401   200  404  404  200  404  404  404
notificationsAction    401  401   200  403  200  200  200  403  404
listRuns               401  401   200  200  200  200  200  200  404
tryRule                401  401   200  403  403  200  404  403  404
listSchedules          401  401   200  200  200  200  200  200  404
addSchedule            401  401   201  403  403  201  201  403  404
upcomingSchedules      401  401   200  200  200  200  200  200  404
changeSchedule         401  401   200  403  403  200  404  403  404
deleteSchedule         401  401   200  403  403  200  404  403  404
listScheduleRuns       401  401   200  404  404  200  404  404  404
listMaintenance        401  401   200  200  200  200  200  200  404
addMaintenance         401  401   201  403  403  201  400  403  404
deleteMaintenance      401  401   200  403  403  200  404  403  404
listSettings           401  401   200  403  403  200  403  403  404
findBrokers            401  401   200  403  403  200  403  403  404
findTopics             401  401   200  403  403  200  403  403  404
reloadSettings         401  401   200  403  403  200  403  403  404
saveSettings           401  401   200  403  403  200  403  403  404
resetSettings          401  401   200  403  403  200  403  403  404
testSettings           401  401   200  403  403  200  403  403  404
undoSettings           401  401   409  403  403  409  403  403  404
listChannels           401  401   200  403  403  200  200  403  404
testChannel            401  401   404  403  403  404  403  403  404
addChannel             401  401   201  403  403  201  403  403  404
changeChannel          401  401   200  403  403  200  403  403  404
deleteChannel          401  401   200  403  403  200  403  403  404
getMoney               401  401   200  200  200  200  200  200  404
getPrices              401  401   200  200  404  200  404  200  404
getMarket              401  401   200  200  200  200  200  200  404
listAgents             401  401   200  403  403  200  403  403  404
addAgent               401  401   201  403  403  201  403  403  404
deleteAgent            401  401   200  403  403  200  403  403  404
getManagedMinerCommand 401  401   409  403  403  409  403  403  404
getManagedMinerDownload 401 401   409  403  403  409  403  403  404
confirmManagedMinerDownload 401 401 409 403 403  409  403  403  404
listBenchmarks         401  401   200  200  200  200  200  200  404
deleteBenchmark        401  401   200  403  403  200  403  403  404
getManagedMinerSwitching 401 401  409  404  404  409  404  404  404
getSummaryHistory      401  401   200  200  200  200  200  200  404
listMinerRows          401  401   200  200  200  200  200  200  404  both
watchMinerRows         401  401   200  200  200  200  200  200  404
getVersion             401  401   200  200  200  200  200  200  404
listRooms              401  401   200  200  200  200  200  200  404  both
listFacility           401  401   200  200  200  200  200  200  404  both
listSignals            401  401   200  200  200  200  200  200  404
listCurtailments       401  401   200  200  200  200  200  200  404
getCurtailment         401  401   200  404  404  200  404  404  404
getCurtailmentReport   401  401   200  404  404  200  404  404  404
previewCurtailment     401  401   200  200  200  200  200  200  404
startCurtailment       401  401   409  403  409  409  409  403  404
changeCurtailment      401  401   409  403  404  409  404  403  404
endCurtailment         401  401   409  403  404  409  404  403  404
releaseCurtailment     401  401   409  403  403  409  404  403  404
listCurtailmentPlans   401  401   200  200  200  200  200  200  404
addCurtailmentPlan     401  401   201  403  403  201  403  403  404
changeCurtailmentPlan  401  401   200  403  403  200  403  403  404
deleteCurtailmentPlan  401  401   200  403  403  200  403  403  404
drillCurtailmentPlan   401  401   201  403  403  201  403  403  404
listSites              401  401   200  200  200  200  200  200  404
admitSite              401  401   404  403  403  404  403  403  404
revokeSite             401  401   404  403  403  404  403  403  404
changeRoom             401  401   200  403  404  200  404  403  404
`;

const isOperation = (name: string): name is OperationName => operationNames.some((each) => each === name);

/** The operation, the statuses by column, and the farms whose words the reply contains. */
function rowsOf(table: string): [OperationName, readonly number[], string | undefined][] {
  const lines = table.trim().split("\n").slice(1);
  return lines.map((line) => {
    const [name = "", ...cells] = line.trim().split(/\s+/);
    if (!isOperation(name)) throw new Error(`there is no operation ${name}`);
    return [name, cells.slice(0, columnNames.length).map(Number), cells[columnNames.length]];
  });
}

test("the tables list every operation", () => {
  const named = (table: string) => rowsOf(table).map(([name]) => name);
  expect(named(documented)).toEqual(operationNames.filter((name) => !("extension" in operations[name])));
  expect(named(documented)).toHaveLength(28);
  expect(named(ours).toSorted()).toEqual(operationNames.filter((name) => "extension" in operations[name]).toSorted());
});

describe.each([
  ["of the document", documented],
  ["of ours", ours],
])("every operation %s", (_whose, table) => {
  test.each(rowsOf(table))("%s", async (name, statuses, shows) => {
    const answers = new Map<Column, Answer>();
    for (const column of columnNames) answers.set(column, await answerTo(name, column));
    expect(columnNames.map((column) => [column, answers.get(column)?.status])).toEqual(
      columnNames.map((column, index) => [column, statuses[index]]),
    );
    const text = (column: Column): string => answers.get(column)?.text ?? "";
    for (const column of ["anna", "for anna"] as const) expect(text(column)).not.toMatch(/bravo|hidden-word/);
    for (const column of ["bert", "abby"] as const) expect(text(column)).not.toMatch(/alpha/);
    for (const column of columnNames) expect(text(column)).not.toMatch(/key-of-|keyHash/);
    if (shows === undefined) return;
    for (const column of ["service", "ada"] as const) {
      expect(text(column)).toMatch(/alpha/);
      if (shows === "both") expect(text(column)).toMatch(/bravo/);
    }
    for (const column of ["anna", "for anna"] as const) expect(text(column)).toMatch(/alpha/);
    if (answers.get("bert")?.status === 200) expect(text("bert")).toMatch(/bravo/);
  });
});

describe("a session of", () => {
  const users = ["anna", "bert", "ada", "abby"] as const;
  const status = new Map([...rowsOf(documented), ...rowsOf(ours)].map(([name, statuses]) => [name, statuses] as const));
  const statusFor = (name: OperationName, column: Column): number =>
    status.get(name)?.[columnNames.indexOf(column)] ?? 0;

  test.each(users)("%s is told which operations they may call, and has the rights of the key", async (user) => {
    const { cookie, text } = await ask("POST", "/api/session", { key: keys[user] });
    const session: unknown = JSON.parse(text);
    expect(session).toMatchObject({ by: "session", user: { name: user } });
    const isListed = (name: OperationName) => text.includes(`"${name}"`);
    for (const name of operationNames) {
      // 404, because what is not visible is not there.
      if (!isListed(name)) expect([name, [403, 404]]).toEqual([name, expect.arrayContaining([statusFor(name, user)])]);
      if (operations[name].method !== "GET") continue;
      const { path } = await targetOf(name);
      const answer = await ask("GET", path, undefined, { cookie });
      expect([name, answer.status]).toEqual([name, statusFor(name, user)]);
      expect(answer.status === 403).toBe(!isListed(name));
    }
  });

  test("bert is named in the log of commands, and a page of another site commands nothing", async () => {
    const { cookie } = await ask("POST", "/api/session", { key: keys.bert });
    const { host, port } = server.address;
    const target = `/api/miners/${bravoAnt}?action=set&property=fan&value=50`;
    const commands = async () => (await service.listCommands({}, asService)).commandList;
    const before = await commands();
    for (const headers of [{ cookie }, { cookie, origin: "http://evil.example" }])
      expect([401, 403]).toContain((await ask("POST", target, undefined, headers)).status);
    expect(await commands()).toEqual(before);
    await ask("POST", `/api/miners/${bravoAnt}?action=restart`, undefined, {
      cookie,
      origin: `http://${host}:${port}`,
    });
    expect((await commands())[0]).toMatchObject({ actor: "bert", action: "restart", minerId: bravoAnt });
  });
});

async function answerTo(name: OperationName, column: Column): Promise<Answer> {
  const { path, body } = await targetOf(name);
  const before = declared();
  const answer = await ask(operations[name].method, withKey(path, column), body);
  // The input is about the other farm or about all, which an administrator of one farm cannot change.
  if (column === "abby") expect(declared()).toEqual(before);
  return answer;
}

/**
 * Everything declared about both farms, and the notifications of alpha; but not that a rig cannot be reached, which on a
 * busy machine begins and ends at any time.
 */
const declared = () => ({
  ...Object.fromEntries(
    (
      [
        "miners",
        "groups",
        "pools",
        "poolGroups",
        "templates",
        "coins",
        "users",
        "hosts",
        "managedMiners",
        "agents",
      ] as const
    ).map((name) => [name, store[name].all()]),
  ),
  notifications: store.notifications
    .list()
    .filter(({ minerName, title }) => minerName !== "bravo ant" && title !== "Disconnected"),
});

async function targetOf(name: OperationName): Promise<Asked> {
  const target = targets[name];
  const wanted = typeof target === "function" ? await target() : target;
  return typeof wanted === "string" ? { path: wanted } : wanted;
}

const pathFor = async (name: OperationName, column: Column): Promise<string> =>
  withKey((await targetOf(name)).path, column);

function withKey(path: string, column: Column): string {
  const query = columns[column];
  return query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`;
}

/** Bodies of requests without permission, which are never parsed. */
const unread: readonly (readonly [string, string, string])[] = [
  ["broken JSON", "content-type: application/json\r\ncontent-length: 9", '{"name": '],
  [
    "85,000 unknown names that never end",
    "content-type: application/json\r\ncontent-length: 900000",
    '{"a0":1,"a1":1,',
  ],
  ["10 GB", "content-type: application/json\r\ncontent-length: 10000000000", "{"],
  ["chunks without end", "content-type: application/json\r\ntransfer-encoding: chunked", '9\r\n{"name": \r\n'],
  ["a form that never comes", "content-type: text/plain\r\ncontent-length: 5\r\nexpect: 100-continue", ""],
];

describe("without permission it is refused, whatever the body:", () => {
  test.each([...rowsOf(documented), ...rowsOf(ours)])("%s", async (name, statuses) => {
    const refused = columnNames.flatMap((column, index) => {
      const status = statuses[index] ?? 0;
      // Whether they may depends on the group that the body names, or on whose the template is.
      if (["addMiner", "saveManagedTemplate", "deleteManagedTemplate"].includes(name) && column === "abby") return [];
      return status === 401 || status === 403 || column === "for nobody" ? [[column, status] as const] : [];
    });
    expect(refused.length).toBeGreaterThan(2);
    for (const [column, status] of refused)
      for (const [what, headers, body] of unread)
        expect([column, what, await statusOfBegun(name, column, headers, body)]).toEqual([column, what, status]);
  });

  async function statusOfBegun(name: OperationName, column: Column, headers: string, body: string): Promise<number> {
    const path = await pathFor(name, column);
    const { host, port } = server.address;
    const socket = connect({ host, port, localAddress: ownAddress() });
    const head = `${operations[name].method} ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n\r\n`;
    socket.write(`${head}${body}`);
    try {
      const [answer]: unknown[] = await within(once(socket, "data"), `the answer to the beginning of ${head}`);
      const line = Buffer.isBuffer(answer) ? answer.toString("latin1") : "";
      return Number(/^HTTP\/1\.1 (\d+)/.exec(line)?.[1]);
    } finally {
      socket.destroy();
    }
  }
});

test("a connection stays open when a small body was not permitted", async () => {
  const { host, port } = server.address;
  const socket = connect({ host, port });
  const said: string[] = [];
  socket.setEncoding("latin1").on("data", (part: string) => said.push(part));
  const refused = (body: string) =>
    `POST /api/groups?key=${keys.anna} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n`;
  socket.write(refused("{"));
  await until(() => said.join("").includes("user.forbidden"), "the refusal");
  socket.write(`{GET /health?key=${keys.anna} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  await until(() => said.join("").includes('"status":"ok"'), "the next answer on the same connection");
  socket.destroy();
});

test("what a user may not see is not found", async () => {
  const at = (path: string) => ask("GET", `${path}?key=${keys.anna}`);
  for (const [unseen, absent] of [
    [`/api/miners/${bravoAnt}`, "/api/miners/77"],
    ["/api/pools/2", "/api/pools/77"],
    ["/api/hosts/1", "/api/hosts/77"],
    ["/api/user/bert", "/api/user/dora"],
  ] as const) {
    const [seen, other] = [await at(unseen), await at(absent)];
    const bare = ({ status, text }: Answer) => [
      status,
      text.replace(/There is no [\w ]+/, "").replace(/"id":"?\w+"?/, ""),
    ];
    expect(bare(seen)).toEqual(bare(other));
    expect(seen.status).toBe(404);
  }
});

test("a user who controls one farm cannot use ids of another farm", async () => {
  const { id: alphaJob } = await alphaBulk();
  // A restart that bert asked for earlier may be confirmed meanwhile.
  const commands = async () =>
    (await service.listCommands({}, asService)).commandList.filter(({ action }) => action !== "restart");
  const before = await commands();
  const cases: (readonly [string, string])[] = [
    ["GET", `/api/miners/${bitaxe}`],
    ["GET", `/api/miners/${ant}/history`],
    ["GET", `/api/miners/${ant}/pools`],
    ["GET", `/api/miners/${ant}/pools/${activePool}`],
    ["POST", `/api/miners/${ant}?action=stop`],
    ["POST", `/api/miners/${ant}/poll`],
    ["POST", `/api/miners/${ant}/pools/${activePool}?action=remove`],
    ["POST", `/api/miners/${bravoAnt}?action=change_pool&pool_id=1&pool_type=single`],
    ["POST", "/api/notifications/1?action=clear"],
    ["GET", "/api/pools/1"],
    ["GET", "/api/user/anna"],
    ["GET", `/api/actions/${alphaJob}`],
    ["DELETE", `/api/actions/${alphaJob}`],
    ["GET", "/api/summary?user_id=1"],
    ["GET", "/api/events?user_id=1"],
    ["GET", "/metrics?user_id=1"],
  ];
  for (const [method, path] of cases) {
    const { status, text } = await ask(method, `${path}${path.includes("?") ? "&" : "?"}${columns.bert}`);
    expect([method, path, status]).toEqual([method, path, 404]);
    expect(text).not.toMatch(/alpha/);
  }
  for (const [unseen, absent] of [
    [{ miners: [ant] }, { miners: [77] }],
    [{ groups: [1] }, { groups: [77] }],
  ]) {
    const start = (which: object | undefined) =>
      ask("POST", `/api/actions?${columns.bert}`, { action: "stop", ...which });
    const bare = ({ status, text }: Answer) => [status, text.replaceAll(new RegExp(`\\b(${ant}|1|77)\\b`, "g"), "n")];
    expect(bare(await start(unseen))).toEqual(bare(await start(absent)));
    expect((await start(unseen)).status).toBe(400);
  }
  expect(await commands()).toEqual(before);
});

const alphaBulk = () => service.startBulkAction({ ...dryRun, miners: [ant, bitaxe] }, asService);

test("lists filtered by ids of another farm are empty", async () => {
  const { uid } = await service.getMiner({ id: ant }, asService);
  for (const miner of [ant, uid]) {
    const list = (column: Column) =>
      ask("GET", `/api/commands?miner=${encodeURIComponent(miner ?? "")}&${columns[column]}`);
    expect(JSON.parse((await list("service")).text).commandList.length).toBeGreaterThan(0);
    const ofBert = await list("bert");
    expect([200, 404]).toContain(ofBert.status);
    expect(ofBert.text).not.toMatch(/alpha|"stop"/);
  }
});

test("totals include only what the user sees", async () => {
  const at = async (path: string, column: Column) => (await ask("GET", `${path}?${columns[column]}`)).text;
  for (const [column, totalCount] of [
    ["anna", 2],
    ["bert", 1],
    ["for anna", 2],
  ] as const)
    expect(JSON.parse(await at("/api/summary", column))).toMatchObject({ totalCount, runningCount: totalCount });
  const list = operations.listMiners.reply.parse(JSON.parse(await at("/api/miners", "bert")));
  expect(list.totalHashrate5s).toBe(list.groupList[0]?.minerList[0]?.speedInfo.hashrate);
  const notifications = operations.listNotifications.reply.parse(JSON.parse(await at("/api/notifications", "anna")));
  // Her rig is an Antminer without its login.
  expect(notifications.notificationList.map(({ title }) => title).toSorted()).toEqual(["Login missing", null]);
  expect(notifications.notificationCount).toBe(2);
});

test("the metrics for Prometheus are those of the user's miners", async () => {
  const figures = async (column: Column) => ask("GET", `/metrics?${columns[column]}`);
  expect((await figures("service")).text).toMatch(/alpha ant[\s\S]*bravo ant/);
  for (const column of ["anna", "for anna"] as const) {
    const { status, text } = await figures(column);
    expect([status, /alpha ant/.test(text), /bravo/.test(text)]).toEqual([200, true, false]);
  }
  const statuses = await Promise.all((["none", "wrong", "for nobody"] as const).map(figures));
  expect(statuses.map(({ status }) => status)).toEqual([401, 401, 404]);
});

test("the list has an ETag for each user, so that no cached answer is shared", async () => {
  const tagOf = async (column: Column) =>
    (await fetch(`${server.url}/api/miners?${columns[column]}`)).headers.get("etag") ?? "";
  const [all, ofAnna, ofBert] = [await tagOf("service"), await tagOf("anna"), await tagOf("bert")];
  expect(new Set([all, ofAnna, ofBert]).size).toBe(3);
  const again = (tag: string, column: Column) =>
    fetch(`${server.url}/api/miners?${columns[column]}`, { headers: { "if-none-match": tag } });
  expect((await again(all, "anna")).status).toBe(200);
  expect((await again(ofAnna, "anna")).status).toBe(304);
  expect((await again(ofAnna, "for anna")).status).toBe(304);
});

test("the audit log names the user", async () => {
  const restart = async (query: string) =>
    expect((await ask("POST", `/api/miners/${bitaxe}?action=locate&on=true&${query}`)).status).toBe(200);
  const { id, hasKey } = await service.saveUser(
    { id: 0, name: "carl", key: "key-of-carl-1234567", privilege: "control", groups: [1] },
    asService,
  );
  expect(hasKey).toBe(true);
  const since = Date.now();
  await restart("key=key-of-carl-1234567");
  await restart(`key=${keys.ada}`);
  await restart(`key=${keys.service}`);
  await restart(`key=${keys.service}&user_id=${id}`);
  const { text } = await ask("GET", `/api/commands?miner=${bitaxe}&since=${since}&key=${keys.anna}`);
  const list = operations.listCommands.reply.parse(JSON.parse(text)).commandList;
  expect(list.map(({ actor }) => actor)).toEqual(["http for carl", "http", "ada", "carl"]);
  const ofCarl = await ask("GET", `/api/commands?actor=carl&key=${keys.service}`);
  expect(operations.listCommands.reply.parse(JSON.parse(ofCarl.text)).commandList).toHaveLength(1);
});

test("a revoked key is refused, and a changed key keeps its permissions", async () => {
  const list = async (key: string) => (await ask("GET", `/api/miners?key=${key}`)).status;
  const save = async (body: object) =>
    operations.saveUser.reply.parse(JSON.parse((await ask("POST", `/api/users?key=${keys.ada}`, body)).text));
  const { id } = await save({ name: "dora", key: "key-of-dora-1234567" });
  expect(await list("key-of-dora-1234567")).toBe(200);
  await save({ id, key: "key-of-dora-7654321" });
  expect([await list("key-of-dora-1234567"), await list("key-of-dora-7654321")]).toEqual([401, 200]);
  await save({ id, key: null });
  expect(await list("key-of-dora-7654321")).toBe(401);
});
