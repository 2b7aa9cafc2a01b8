import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Operation, operations } from "../../src/contract/operations.ts";
import { notFound, RigbridgeError } from "../../src/contract/problems.ts";
import type { CallName } from "../../src/contract/service.ts";
import { type Served, serve } from "./wire.ts";

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.server.close());
beforeEach(() => {
  served.calls.length = 0;
  served.answers.clear();
});

/** The API document's table 4, followed by the Rigbridge extensions. */
const requests: Record<CallName, [string, object, string?]> = {
  listMiners: ["/api/miners", {}],
  getMiner: ["/api/miners/1000000001", { id: 1000000001 }],
  minerAction: ["/api/miners/7?action=reboot", { id: 7, action: "reboot" }],
  listAddPools: ["/api/miners/7/pools", { id: 7 }],
  getMinerSettings: ["/api/miners/7/settings", { id: 7 }],
  exportMiners: ["/api/miners/settings", {}],
  previewImport: ["/api/imports", { csv: "address" }, '{"csv":"address"}'],
  listSites: ["/api/sites", {}],
  admitSite: ["/api/sites/2/token", { id: 2 }],
  revokeSite: ["/api/sites/2/token", { id: 2 }],
  listOwned: ["/api/owned", {}],
  replaceOwned: [
    "/api/owned",
    { version: "2", rules: [{ key: "hot" }], schedules: [], maintenance: [] },
    '{"version":"2","rules":[{"key":"hot"}]}',
  ],
  releaseOwned: ["/api/owned/release", { centre: "office", keep: true }, '{"centre":"office","keep":true}'],
  commitImport: ["/api/imports/3", { id: 3 }],
  getMinerPool: ["/api/miners/7/pools/2", { id: 7, poolId: 2 }],
  minerPoolAction: ["/api/miners/7/pools/2?action=prioritize", { id: 7, poolId: 2, action: "prioritize" }],
  listPools: ["/api/pools", {}],
  getPool: ["/api/pools/3", { id: 3 }],
  savePool: [
    "/api/pools",
    { id: 0, url: "stratum+tcp://pool.example:3333" },
    '{"url":"stratum+tcp://pool.example:3333"}',
  ],
  deletePool: ["/api/pools/3", { id: 3 }],
  listPoolGroups: ["/api/poolgroups", {}],
  listHosts: ["/api/hosts", {}],
  getHost: ["/api/hosts/4", { id: 4 }],
  saveHost: ["/api/hosts", { id: 4, hostname: "rig" }, '{"id":4,"hostname":"rig"}'],
  getHostSystemInfo: ["/api/hosts/4/systeminfo", { id: 4 }],
  listManagedMiners: ["/api/managedminers", {}],
  getManagedMiner: ["/api/managedminers/5", { id: 5 }],
  saveManagedMiner: ["/api/managedminers?dryRun=true", { id: 0, hostId: 4, dryRun: true }, '{"hostId":4}'],
  listMiningSoftware: ["/api/miningsoftware", {}],
  listAlgorithms: ["/api/algorithms", {}],
  listNotifications: ["/api/notifications", {}],
  notificationsAction: ["/api/notifications/actions", { action: "ack", ids: [1, 2] }, '{"action":"ack","ids":[1,2]}'],
  allNotificationsAction: ["/api/notifications?action=ack_all", { action: "ack_all" }],
  notificationAction: ["/api/notifications/6?action=clear", { id: 6, action: "clear" }],
  listManagedTemplates: ["/api/managedtemplates", {}],
  getSummary: ["/api/summary", {}],
  saveCoin: ["/api/coins/BTC?profit=0.001", { shortName: "BTC", profit: 0.001 }],
  deleteCoin: ["/api/coins/my.Coin-1", { shortName: "my.Coin-1" }],
  getUser: ["/api/user/B%C3%B6b%20a", { username: "Böb a" }],
  addMiner: ["/api/miners", { address: "10.0.0.7" }, '{"address":"10.0.0.7"}'],
  changeMiner: ["/api/miners/7", { id: 7, name: "attic" }, '{"name":"attic"}'],
  deleteMiner: ["/api/miners/7", { id: 7 }],
  addMinerNote: ["/api/miners/7/notes", { id: 7, note: "a fan" }, '{"note":"a fan"}'],
  pollMiner: ["/api/miners/7/poll", { id: 7 }],
  listGroups: ["/api/groups", {}],
  addGroup: ["/api/groups", { name: "hall", parentId: 0 }, '{"name":"hall"}'],
  changeGroup: ["/api/groups/8", { id: 8, parentId: 2 }, '{"parentId":2}'],
  deleteGroup: ["/api/groups/8", { id: 8 }],
  listPlaces: ["/api/places", {}],
  addPlace: [
    "/api/places",
    { kind: "site", name: "Texas", parentId: null, order: 0 },
    '{"kind":"site","name":"Texas"}',
  ],
  changePlace: ["/api/places/8", { id: 8, rows: null }, '{"rows":null}'],
  deletePlace: ["/api/places/8", { id: 8 }],
  exportPlaces: ["/api/places/rigs", {}],
  locatePlace: ["/api/places/8/locate", { id: 8, on: true, seconds: 60 }, "{}"],
  listCommands: ["/api/commands?miner=7&actor=api", { miner: 7, actor: "api" }],
  savePoolGroup: ["/api/poolgroups", { id: 0, name: "g", pools: [1] }, '{"name":"g","pools":[1]}'],
  deletePoolGroup: ["/api/poolgroups/9", { id: 9 }],
  deleteHost: ["/api/hosts/4", { id: 4 }],
  deleteManagedMiner: ["/api/managedminers/5", { id: 5 }],
  saveManagedTemplate: ["/api/managedtemplates", { id: 0, name: "t" }, '{"name":"t"}'],
  deleteManagedTemplate: ["/api/managedtemplates/2", { id: 2 }],
  listUsers: ["/api/users", {}],
  saveUser: ["/api/users", { id: 0, name: "anna" }, '{"name":"anna"}'],
  deleteUser: ["/api/users/1", { id: 1 }],
  startDiscovery: ["/api/discovery", { networks: ["10.0.0.0/24"], yes: false }, '{"networks":["10.0.0.0/24"]}'],
  getDiscovery: ["/api/discovery/1", { id: 1 }],
  cancelDiscovery: ["/api/discovery/1", { id: 1 }],
  listSightings: ["/api/sightings", {}],
  placeSighting: ["/api/sightings/1", { id: 1, placeId: 2 }, '{"placeId":2}'],
  startBulkAction: [
    "/api/actions",
    { action: "stop", parameters: {}, all: true, parallel: 16, delay: 0, dryRun: false },
    '{"action":"stop","all":true}',
  ],
  listBulkActions: ["/api/actions", {}],
  getBulkAction: ["/api/actions/1", { id: 1 }],
  cancelBulkAction: ["/api/actions/1", { id: 1 }],
  cancelCommand: ["/api/commands/1", { id: 1 }],
  listSettings: ["/api/settings", {}],
  findBrokers: ["/api/settings/brokers", {}],
  findTopics: ["/api/settings/topics", {}],
  reloadSettings: ["/api/settings/reload", {}],
  saveSettings: [
    "/api/settings/poll?dryRun=true",
    { section: "poll", value: { interval: 5 }, dryRun: true },
    '{"value":{"interval":5}}',
  ],
  resetSettings: ["/api/settings/poll", { section: "poll" }],
  testSettings: ["/api/settings/scan/test", { section: "scan", value: { every: 600 } }, '{"value":{"every":600}}'],
  undoSettings: ["/api/settings/poll/undo", { section: "poll" }],
  listChannels: ["/api/channels", {}],
  listAgents: ["/api/agents", {}],
  addAgent: ["/api/agents", { hostId: 4 }, '{"hostId":4}'],
  deleteAgent: ["/api/agents/2", { id: 2 }],
  getManagedMinerCommand: ["/api/managedminers/5/command", { id: 5 }],
  getManagedMinerDownload: ["/api/managedminers/5/download", { id: 5 }],
  confirmManagedMinerDownload: [
    "/api/managedminers/5/download",
    { id: 5, sha256: "ab".repeat(32) },
    JSON.stringify({ sha256: "AB".repeat(32) }),
  ],
  listBenchmarks: ["/api/benchmarks", {}],
  deleteBenchmark: ["/api/benchmarks/3", { id: 3 }],
  getManagedMinerSwitching: ["/api/managedminers/5/switching", { id: 5 }],
  getVersion: ["/api/version", {}],
  testChannel: ["/api/channels/phone/test", { key: "phone" }],
  addChannel: ["/api/channels", { key: "mail", type: "mail" }, '{"key":"mail","type":"mail"}'],
  changeChannel: ["/api/channels/phone", { key: "phone", from: "info" }, '{"from":"info"}'],
  deleteChannel: ["/api/channels/phone", { key: "phone" }],
  getHistory: [
    "/api/miners/7/history?from=2026-01-31T12:00:00Z&to=1769860800001&step=60",
    { id: 7, from: 1769860800000, to: 1769860800001, step: 60 },
  ],
  getSummaryHistory: [
    "/api/summary/history?from=1769860800000&step=60&group=Barn&algorithm=sha256",
    { from: 1769860800000, step: 60, group: "Barn", algorithm: "sha256" },
  ],
  listRooms: ["/api/rooms", {}],
  listFacility: ["/api/facility", {}],
  listSignals: ["/api/signals", {}],
  listCurtailments: ["/api/curtailments?active=true&limit=5", { active: true, limit: 5 }],
  getCurtailment: ["/api/curtailments/8", { id: 8 }],
  getCurtailmentReport: ["/api/curtailments/8/report", { id: 8 }],
  previewCurtailment: ["/api/curtailments/preview", { target: { all: true } }, '{"target":{"all":true}}'],
  startCurtailment: [
    "/api/curtailments",
    { plan: "peak", reason: "4CP", key: "4cp-1" },
    '{"plan":"peak","reason":"4CP","key":"4cp-1"}',
  ],
  changeCurtailment: ["/api/curtailments/8", { id: 8, target: { share: 50 } }, '{"target":{"share":50}}'],
  endCurtailment: ["/api/curtailments/8/end", { id: 8 }],
  releaseCurtailment: ["/api/curtailments/8/release", { id: 8 }],
  listCurtailmentPlans: ["/api/curtailmentplans", {}],
  addCurtailmentPlan: [
    "/api/curtailmentplans",
    {
      key: "peak",
      target: { all: true },
      order: "efficiency",
      level: "setpoint",
      ramp: { parallel: 250, deadline: 300 },
      restore: { parallel: 25, wait: 0 },
      safety: false,
    },
    '{"key":"peak","target":{"all":true}}',
  ],
  changeCurtailmentPlan: ["/api/curtailmentplans/peak", { key: "peak", safety: true }, '{"safety":true}'],
  deleteCurtailmentPlan: ["/api/curtailmentplans/peak", { key: "peak" }],
  drillCurtailmentPlan: ["/api/curtailmentplans/peak/drill", { key: "peak", dry: true, lasts: 600 }, "{}"],
  changeRoom: ["/api/rooms/group-1", { key: "group-1", power: 900, max: null }, '{"power":900,"max":null}'],
  listRules: ["/api/rules", {}],
  addRule: ["/api/rules", { key: "r", manual: true }, '{"key":"r","manual":true}'],
  changeRule: ["/api/rules/r", { id: "r", enabled: false }, '{"enabled":false}'],
  deleteRule: ["/api/rules/3", { id: "3" }],
  listRuleRuns: ["/api/rules/r/runs", { id: "r" }],
  listRuns: ["/api/runs?miner=7&kind=rule&since=1769860800000", { miner: 7, kind: "rule", since: 1769860800000 }],
  tryRule: ["/api/rules/r/try?from=2026-01-31T12:00:00Z", { id: "r", from: 1769860800000 }],
  listSchedules: ["/api/schedules", {}],
  addSchedule: [
    "/api/schedules",
    { key: "s", cron: "0 3 * * *", do: [{ wait: 60 }] },
    '{"key":"s","cron":"0 3 * * *","do":[{"wait":"1m"}]}',
  ],
  upcomingSchedules: ["/api/schedules/upcoming?days=3", { days: 3 }],
  changeSchedule: ["/api/schedules/s", { id: "s", enabled: false }, '{"enabled":false}'],
  deleteSchedule: ["/api/schedules/3", { id: "3" }],
  listScheduleRuns: ["/api/schedules/s/runs", { id: "s" }],
  listMaintenance: ["/api/maintenance", {}],
  addMaintenance: [
    "/api/maintenance",
    { name: "m", until: "2100-01-01T00:00:00Z" },
    '{"name":"m","until":"2100-01-01T00:00:00Z"}',
  ],
  deleteMaintenance: ["/api/maintenance/2", { id: 2 }],
  getMoney: [
    "/api/money?from=2026-01-01&to=2026-01-31&by=month&of=coin",
    { from: "2026-01-01", to: "2026-01-31", by: "month", of: "coin" },
  ],
  getPrices: ["/api/prices?miner=7&from=1769860800000", { miner: 7, from: 1769860800000 }],
  getMarket: ["/api/market", {}],
  listMinerRows: [
    "/api/miners?view=list&since=1.2.3&status=Mining&fields=name,model",
    { view: "list", since: "1.2.3", status: ["Mining"], fields: ["name", "model"] },
  ],
};

const json = { "content-type": "application/json" };
const table: Record<string, Operation> = operations;

describe("every operation", () => {
  test.each(Object.entries(requests))("%s is reached at its path with its decoded input", async (name, request) => {
    const [target, input, body] = request;
    const operation = table[name];
    const answer = await served.ask(operation?.method ?? "", target, body === undefined ? {} : { headers: json, body });
    expect(answer.status).toBe(operation?.status ?? 200);
    expect(answer.headers["content-type"]).toBe(`${operation?.media ?? "application/json"}; charset=utf-8`);
    expect(answer.json).toEqual({ ok: name });
    expect(served.calls).toEqual([{ name, input, caller: { actor: "http", userId: undefined } }]);
  });

  test("takes key and user_id anywhere in the query and ignores what it does not know", async () => {
    await served.ask("POST", "/api/miners/7?nix=1&user_id=12&action=stop&key=whatever");
    expect(served.calls).toEqual([
      { name: "minerAction", input: { id: 7, action: "stop" }, caller: { actor: "http", userId: 12 } },
    ]);
  });
});

test.each([
  ["/api/miners/rows?since=1.2.3&user_id=4", "listMinerRows", { view: "list", since: "1.2.3" }],
  ["/api/miners/7/history.csv?step=60", "getHistory", { id: 7, step: 60, format: "csv" }],
  ["/api/money.csv", "getMoney", { format: "csv" }],
  ["/api/summary/history.csv", "getSummaryHistory", { format: "csv" }],
] as const)("%s implies a part of the query", async (target, name, input) => {
  await served.ask("GET", target);
  expect(served.calls.map((each) => [each.name, each.input])).toEqual([[name, input]]);
});

test.each(["/api/miners/rows?view=list", "/api/money.csv?format=json"])(
  "%s repeats what the path implies",
  async (target) => {
    const { status, json } = await served.ask("GET", target);
    expect([status, json.errors]).toEqual([
      400,
      [expect.objectContaining({ path: target.includes("view") ? "view" : "format" })],
    ]);
  },
);

test("the answer names the keys of a body that were ignored", async () => {
  const body = '{"name":"Night","steps":[{"stop":true}],"sp\u00e4ter":1}';
  const { status, headers } = await served.ask("POST", "/api/managedtemplates", { headers: json, body });
  expect([status, headers["x-ignored-keys"]]).toEqual([200, "steps, sp%C3%A4ter"]);
  const all = await served.ask("POST", "/api/managedtemplates", { headers: json, body: '{"name":"Night"}' });
  expect([all.status, all.headers["x-ignored-keys"]]).toEqual([200, undefined]);
});

describe("a path", () => {
  test.each(["/API/Summary", "/api/summary/", "/api/summary?", "/api/summary#x"])(
    "%s is the summary",
    async (target) => {
      expect((await served.ask("GET", target)).json).toEqual({ ok: "getSummary" });
    },
  );

  test("keeps the case of what it names", async () => {
    await served.ask("GET", "/API/USER/BoB/");
    expect(served.calls[0]?.input).toEqual({ username: "BoB" });
  });

  test.each([
    ["PUT", "/api/summary", "GET, HEAD, OPTIONS"],
    ["GET", "/api/miners/7/poll", "POST, OPTIONS"],
    ["TRACE", "/api/pools", "GET, HEAD, POST, OPTIONS"],
    ["PROPFIND", "/API/Pools/", "GET, HEAD, POST, OPTIONS"],
    ["POST", "/api/pools/3", "GET, HEAD, DELETE, OPTIONS"],
    ["POST", "/api/miners/rows", "GET, HEAD, OPTIONS"],
    ["PATCH", "/api/schedules/Upcoming", "GET, HEAD, OPTIONS"],
    ["DELETE", "/api/money.csv", "GET, HEAD, OPTIONS"],
    ["POST", "/api/events/rows", "GET, HEAD, OPTIONS"],
  ])("%s %s is refused with what it takes", async (method, target, allow) => {
    const answer = await served.ask(method, target);
    expect([answer.status, answer.headers.allow, answer.json.code]).toEqual([405, allow, "method.not-allowed"]);
  });

  test("lists its methods in the answer to OPTIONS", async () => {
    const answer = await served.ask("OPTIONS", "/api/miners/7");
    expect([answer.status, answer.headers.allow]).toEqual([204, "GET, HEAD, POST, PATCH, DELETE, OPTIONS"]);
    expect((await served.ask("OPTIONS", "/nowhere")).status).toBe(404);
  });

  test("/health answers without the service", async () => {
    expect((await served.ask("GET", "/health")).json).toEqual({ status: "ok", version: "1.2.3" });
    expect(served.calls).toEqual([]);
  });
});

describe("the status of an action", () => {
  test.each([
    ["sent", 202],
    ["queued", 202],
    ["done", 200],
    [undefined, 200],
  ])("that is %s is %i", async (state, status) => {
    served.answers.set("minerAction", { success: true, message: "m", state });
    expect((await served.ask("POST", "/api/miners/7?action=stop")).status).toBe(status);
  });

  test("that is a restart which the rig took is 200", async () => {
    served.answers.set("minerAction", { success: true, message: "m", state: "sent", taken: true });
    expect((await served.ask("POST", "/api/miners/7?action=restart")).status).toBe(200);
  });
});

describe("invalid input", () => {
  const mistakes = async (method: string, target: string, body?: unknown) => {
    const answer = await served.ask(
      method,
      target,
      body === undefined ? {} : { headers: json, body: JSON.stringify(body) },
    );
    expect(answer.status).toBe(400);
    expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
    expect(answer.json).toMatchObject({ status: 400, code: "input.invalid", title: "Invalid input" });
    expect(served.calls).toEqual([]);
    const { errors } = answer.json;
    return Array.isArray(errors) ? errors.map((error: { path: string }) => error.path).sort() : [];
  };

  test("of path, query, body and user_id is listed at once", async () => {
    const target = "/api/miners/x1?user_id=-1&key=a";
    expect(await mistakes("PATCH", target, { name: 5, location: { site: 7 }, tags: ["a", ""] })).toEqual([
      "id",
      "location.site",
      "name",
      "tags.1",
      "user_id",
    ]);
  });

  test("of both ids of a path is listed", async () => {
    expect(await mistakes("POST", "/api/miners/0x10/pools/1e3")).toEqual(["action", "id", "poolId"]);
  });

  test("names a parameter that is missing, repeated or broken once", async () => {
    expect(await mistakes("POST", "/api/miners/1?action=add_pool&pool_type=single")).toEqual(["pool_id"]);
    expect(await mistakes("POST", "/api/miners/1?action=stop&action=start")).toEqual(["action"]);
    expect(await mistakes("POST", "/api/coins/BTC?profit=%zz&name=%ff")).toEqual(["name", "profit"]);
  });

  test.each(["-1", "1e3", "0x10", "9007199254740993", "NaN", "Infinity", "1.5", "%00", "..%2f..%2fetc", "%EF%BC%91"])(
    "id %s is no id",
    async (id) => {
      expect(await mistakes("POST", `/api/miners/${id}/poll`)).toEqual(["id"]);
    },
  );

  test.each(["0,5", "1.234,5", "-1", "0x10", "NaN", "Infinity", "", "1e400", " 1"])(
    "profit %j is no number",
    async (text) => {
      expect(await mistakes("POST", `/api/coins/BTC?profit=${encodeURIComponent(text)}`)).toEqual(["profit"]);
    },
  );

  test("of a coin is listed at once: what is no number, what is missing, and what does not go together", async () => {
    expect(await mistakes("POST", "/api/coins/BTC?difficulty=-1&btc=1&usd=1")).toEqual(["btc", "difficulty", "reward"]);
    expect(await mistakes("POST", "/api/coins/BTC?profit=x&usd=2&reward=1")).toEqual(["profit", "reward", "usd"]);
    expect(await mistakes("POST", "/api/coins/BTC?reset=true&btc=NaN&name=a")).toEqual(["btc", "btc", "name"]);
  });

  test("is a body that is not an object, or has nothing to change", async () => {
    expect(await mistakes("POST", "/api/pools", [])).toEqual(["body"]);
    expect(await mistakes("PATCH", "/api/miners/7", {})).toEqual(["body"]);
  });
});

describe("an error of the service", () => {
  test("is answered with its code, status and words", async () => {
    served.answers.set("getMiner", notFound("miner", 7));
    const answer = await served.ask("GET", "/api/miners/7");
    expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.json).toEqual({
      type: "urn:rigbridge:problem:not.found",
      title: "Not found",
      status: 404,
      detail: "There is no miner 7",
      coded: { code: "thing.missing", values: { thing: { code: "thing.miner", values: {} }, id: 7 } },
      code: "not.found",
    });
  });

  test("lists its mistakes", async () => {
    const errors = [{ path: "url", message: "is no pool" }];
    served.answers.set("savePool", new RigbridgeError("rig.refused", "no", { errors }));
    const answer = await served.ask("POST", "/api/pools", { headers: json, body: "{}" });
    expect([answer.status, answer.json.errors]).toEqual([502, errors]);
  });

  test("that is unexpected is logged under the id in the answer", async () => {
    served.answers.set("getSummary", new Error("inner secret"));
    const answer = await served.ask("GET", "/api/summary");
    expect([answer.status, answer.json.code]).toEqual([500, "internal"]);
    expect(answer.text).not.toContain("inner secret");
    const id = /[0-9a-f-]{36}/.exec(answer.text)?.[0] ?? "none";
    expect(served.logged.some((line) => line.includes(id) && line.includes("inner secret"))).toBe(true);
  });
});

test("a path that other clients ask is the operation itself, for the methods that it has there", async () => {
  const aliased = Object.entries<Operation>(operations).filter(([, { alias }]) => alias !== undefined);
  expect(aliased.map(([name, { alias }]) => [name, alias])).toEqual([["listMiners", "/webapi/miners"]]);
  const [one, other] = [await served.ask("GET", "/api/miners"), await served.ask("GET", "/webapi/miners?user_id=3")];
  expect([other.status, other.json]).toEqual([one.status, one.json]);
  expect(served.calls.map(({ name }) => name)).toEqual(["listMiners", "listMiners"]);
  expect(served.calls[1]?.caller).toMatchObject({ userId: 3 });
  expect((await served.ask("HEAD", "/webapi/miners")).status).toBe(200);
  const refused = await served.ask("POST", "/webapi/miners");
  expect([refused.status, refused.headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
  expect((await served.ask("GET", "/webapi/miners/1")).status).toBe(404);
});

test("such a path wants the key as well", async () => {
  const keyed = await serve({ key: "correct-horse-battery" });
  try {
    expect((await keyed.ask("GET", "/webapi/miners")).status).toBe(401);
    expect((await keyed.ask("GET", "/webapi/miners?key=correct-horse-battery")).status).toBe(200);
  } finally {
    await keyed.server.close();
  }
});
