import { afterEach, expect, test } from "@jest/globals";
import { keyAt } from "../../src/centre/merge.ts";
import { outward } from "../../src/centre/translate.ts";
import { type OperationName, operationNames, operations } from "../../src/contract/operations.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";
import type { Caller, CallName, Input } from "../../src/contract/service.ts";
import { newNotification } from "../notification-rows.ts";
import { closeBenches } from "../service/bench.ts";
import { owner, type RunningSite, startCentre, startSite } from "./centre-bench.ts";

afterEach(closeBenches);

const levels = ["view", "control", "administrator"] as const;
type Privilege = (typeof levels)[number];
const atLeast = (has: Privilege, needed: Privilege): boolean => levels.indexOf(has) >= levels.indexOf(needed);

type AboutSites = { [K in CallName]: (typeof operations)[K]["scope"] extends "own" ? never : K }[CallName];
type Make<K extends CallName> = (site: RunningSite) => Input<K> | object | Promise<object>;

let made = 0;
const next = (): number => {
  made += 1;
  return made;
};
const unique = (what: string): string => `${what} ${next()}`;
const password = "hidden-word";
const steps = [{ action: "restart" as const }];
const inAttic = ({ name }: RunningSite) => ({ groups: [`${name} / attic`] });

const miner = ({ bench }: RunningSite) =>
  bench.service.addMiner({ address: `127.2.0.1:${20_000 + next()}` }, owner).then(({ id }) => ({ id }));
const unset = { coinClass: undefined, coinShortName: undefined, coinAlgorithm: "SHA-256", workerName: undefined };
const pool = ({ bench }: RunningSite) =>
  bench.service.savePool(
    {
      ...unset,
      id: 0,
      description: unique("pool"),
      url: "stratum+tcp://p.example:1",
      walletAddress: undefined,
      plainWorkerPassword: password,
    },
    owner,
  );
const poolGroup = ({ bench }: RunningSite) =>
  bench.service.savePoolGroup({ id: 0, name: unique("pools") }, owner).then(({ id }) => ({ id: Number(id) }));
const host = ({ bench }: RunningSite) =>
  bench.service.saveHost({ id: 0, hostname: unique("host"), description: "" }, owner);
const group = ({ bench }: RunningSite) => bench.service.addGroup({ name: unique("group"), parentId: 0 }, owner);
const template = ({ bench }: RunningSite) =>
  bench.service.saveManagedTemplate({ id: 0, name: unique("template") }, owner);
const rule = ({ bench }: RunningSite) =>
  bench.service.addRule({ key: `rule-${next()}`, scope: { racks: ["r1"] }, do: steps }, owner);
const schedule = ({ bench }: RunningSite) =>
  bench.service.addSchedule(
    { key: `schedule-${next()}`, cron: "0 3 * * *", scope: { racks: ["r1"] }, do: steps },
    owner,
  );
const until = "2100-01-01T00:00:00Z";
const note = ({ bench }: RunningSite) => {
  const raised = bench.store.notifications.raise(
    newNotification({ minerId: null, minerName: "", message: unique("note") }),
  );
  if (raised === null) throw new Error("the notification was not raised");
  return raised;
};
const bulk = { action: "stop", parameters: {}, parallel: 1, delay: 0, dryRun: true } as const;
const job = async (site: RunningSite) =>
  site.bench.service.startBulkAction({ ...bulk, miners: [(await miner(site)).id] }, owner);

const only = (make: (site: RunningSite) => Promise<{ readonly id: number | string }>, more: object = {}) => {
  return async (site: RunningSite) => ({ id: Number((await make(site)).id), ...more });
};
const textId = (make: (site: RunningSite) => Promise<{ readonly id: number | string }>, more: object = {}) => {
  return async (site: RunningSite) => ({ id: String((await make(site)).id), ...more });
};
const place = (site: RunningSite) =>
  site.bench.service.addPlace({ kind: "site", name: unique("place"), parentId: null, order: 0 }, owner);
const absent = () => ({ id: 77 });
const nothing = () => ({});

/** The input of each operation about a thing of a site, with the numbers there. */
const inputs: { readonly [K in AboutSites]: Make<K> } = {
  listMiners: nothing,
  getMiner: only(miner),
  minerAction: only(miner, { action: "restart" }),
  listAddPools: only(miner),
  getMinerPool: only(miner, { poolId: 1 }),
  minerPoolAction: only(miner, { poolId: 1, action: "prioritize" }),
  listPools: nothing,
  getPool: only(pool),
  savePool: only(pool, { description: "changed", url: "stratum+tcp://q.example:1", plainWorkerPassword: "" }),
  deletePool: only(pool),
  listPoolGroups: nothing,
  listHosts: nothing,
  getHost: only(host),
  saveHost: only(host, { hostname: "changed", description: "" }),
  getHostSystemInfo: only(host),
  listManagedMiners: nothing,
  getManagedMiner: absent,
  saveManagedMiner: async (site) => ({ id: 0, hostId: (await host(site)).id, description: "new" }),
  listNotifications: nothing,
  allNotificationsAction: async (site) => {
    note(site);
    return { action: "ack_all" };
  },
  notificationsAction: async (site) => ({ action: "ack", ids: [note(site).id] }),
  notificationAction: async (site) => ({ action: "ack", id: note(site).id }),
  listManagedTemplates: nothing,
  getSummary: nothing,
  addMiner: async (site) => ({ address: `127.2.0.1:${20_000 + next()}`, group: (await group(site)).id }),
  changeMiner: only(miner, { name: "changed" }),
  deleteMiner: only(miner),
  addMinerNote: only(miner, { note: "new" }),
  pollMiner: only(miner),
  listGroups: nothing,
  addGroup: async (site) => ({ name: unique("new"), parentId: (await group(site)).id }),
  changeGroup: async (site) => ({ id: (await group(site)).id, name: unique("changed") }),
  deleteGroup: only(group),
  listPlaces: nothing,
  addPlace: async (site) => ({ kind: "rack", name: unique("new"), parentId: (await place(site)).id, order: 0 }),
  changePlace: only(place, { rows: 4 }),
  deletePlace: only(place),
  exportPlaces: nothing,
  locatePlace: only(place, { on: true, seconds: 60 }),
  listCommands: nothing,
  listRuns: nothing,
  cancelCommand: absent,
  savePoolGroup: only(poolGroup, { name: "changed" }),
  deletePoolGroup: only(poolGroup),
  deleteHost: only(host),
  deleteManagedMiner: absent,
  saveManagedTemplate: async (site) => ({ id: (await template(site)).id, name: unique("changed") }),
  deleteManagedTemplate: only(template),
  startBulkAction: async (site) => ({ ...bulk, miners: [(await miner(site)).id] }),
  listBulkActions: nothing,
  getBulkAction: only(job),
  cancelBulkAction: only(job),
  getHistory: only(miner),
  getMoney: nothing,
  getPrices: async (site) => ({ miner: (await miner(site)).id }),
  listRules: nothing,
  addRule: (site) => ({ key: `rule-${next()}`, scope: inAttic(site), do: steps }),
  changeRule: textId(rule, { name: "changed" }),
  deleteRule: textId(rule),
  listRuleRuns: textId(rule),
  tryRule: textId(rule),
  listSchedules: nothing,
  addSchedule: (site) => ({ key: `schedule-${next()}`, cron: "0 3 * * *", scope: inAttic(site), do: steps }),
  upcomingSchedules: nothing,
  changeSchedule: textId(schedule, { name: "changed" }),
  deleteSchedule: textId(schedule),
  listScheduleRuns: textId(schedule),
  listMaintenance: nothing,
  addMaintenance: (site) => ({ name: unique("window"), until, ...inAttic(site) }),
  deleteMaintenance: only(({ bench }) => bench.service.addMaintenance({ name: "w", until, racks: ["r1"] }, owner)),
  getManagedMinerCommand: absent,
  getManagedMinerDownload: absent,
  confirmManagedMinerDownload: () => ({ id: 77, sha256: "a".repeat(64) }),
  listBenchmarks: nothing,
  deleteBenchmark: only(({ bench }) =>
    bench.store.benchmarks.add({ model: "G", software: "X", algorithm: "rx", hashrate: 1, power: null, at: 0 }),
  ),
  getManagedMinerSwitching: absent,
  getSummaryHistory: nothing,
  listMinerRows: nothing,
  listRooms: nothing,
  listFacility: nothing,
  changeRoom: () => ({ key: "group-1", power: 5 }),
  getMinerSettings: only(miner),
  exportMiners: nothing,
};

const isCall = (name: OperationName): name is CallName => operations[name].kind === "call";
const isAboutSites = (name: OperationName): name is AboutSites => isCall(name) && operations[name].scope !== "own";

/** All that is stored of what users define, and what was commanded and acknowledged. */
async function stored({ bench: { store, service } }: RunningSite): Promise<string> {
  const { groups, pools, poolGroups, hosts, managedMiners, templates, rules, schedules, maintenance } = store;
  const lists = [groups, pools, poolGroups, hosts, managedMiners, templates, rules, schedules, maintenance];
  const others = [store.benchmarks, store.roomMaxima, store.followLimits, store.users];
  const { commandList } = await service.listCommands({}, owner);
  const { notificationList } = await service.listNotifications({}, owner);
  return JSON.stringify([
    [...lists, ...others].map((list) => list.all()),
    // A new miner is identified in the background, which changes it and raises notifications.
    store.miners.all().map(({ id, name, groupId, disabled }) => [id, name, groupId, disabled]),
    commandList.map(({ id }) => id),
    notificationList
      .filter(({ message }) => message.startsWith("note "))
      .map(({ id, isAcknowledged }) => [id, isAcknowledged]),
    (await service.listBulkActions({}, owner)).map(({ id }) => id),
  ]);
}

test("a caller may do at a site what they may at the centre, and the centre's key may there", async () => {
  expect(Object.keys(inputs).toSorted()).toEqual(operationNames.filter(isAboutSites).toSorted());
  const sites = await Promise.all(levels.map((privilege) => startSite(`key to ${privilege}`, { privilege })));
  const { centre, own } = await startCentre(sites, { poll: 60 });
  const numbers = new Map((await centre.listSites({}, owner)).map(({ name, id }) => [name, id]));
  const people: { readonly who: Caller; readonly may: Privilege; readonly all: boolean; readonly name: string }[] = [];
  for (const may of levels)
    for (const groups of [null, []]) {
      const name = `${may} of ${groups === null ? "all" : "nothing"}`;
      const { id } = await own.service.saveUser({ id: 0, name, privilege: may, groups }, owner);
      people.push({ who: { actor: name, userId: id }, may, all: groups === null, name });
    }
  const wrong: string[] = [];
  for (const name of operationNames.filter(isAboutSites)) {
    const { access, scope, method } = operations[name];
    for (const [index, site] of sites.entries())
      for (const { who, may, all, name: person } of people) {
        const input = Object(outward(numbers.get(site.name) ?? 0, await inputs[name](site)));
        const asked = name === "changeRoom" ? { ...input, key: keyAt(numbers.get(site.name) ?? 0, "group-1") } : input;
        const before = await stored(site);
        const answer = await Reflect.apply(centre[name], centre, [asked, who]).then(
          (reply: unknown) => ({ code: "done", text: JSON.stringify(reply) ?? "" }),
          (error: unknown) => {
            if (!(error instanceof RigbridgeError)) throw error;
            return { code: error.code, text: error.message };
          },
        );
        const here = atLeast(may, access.privilege) && (all || access.scope === "visible");
        const there = atLeast(levels[index] ?? "view", access.privilege);
        const isOfOneSite = Object.keys(input).length > 0 && name !== "allNotificationsAction";
        const isChangedThere = scope === "site" && method !== "GET";
        const mayAsk = here && (!isOfOneSite || (all && (there || isChangedThere)));
        const say = (what: string) =>
          wrong.push(`${name} at ${site.name} by ${person}: ${what}: ${answer.code} ${answer.text.slice(0, 200)}`);
        // A miner that a user does not see does not exist for them.
        const isUnseen = name === "startBulkAction" && !all && answer.code === "input.invalid";
        if (mayAsk === (answer.code === "user.forbidden") && !isUnseen) say("wrong right");
        if (/^(internal|route|service)/.test(answer.code)) say("failed");
        if (isChangedThere && mayAsk && answer.code !== "not.possible") say("changed there");
        if ((!all || !here || !there || method === "GET" || isChangedThere) && (await stored(site)) !== before)
          say("changed");
        if (/hidden-word|key-of-/.test(answer.text)) say("a secret");
        if (!all && isOfOneSite && answer.text.includes(site.url)) say("names the site");
      }
  }
  expect(wrong).toEqual([]);
});
