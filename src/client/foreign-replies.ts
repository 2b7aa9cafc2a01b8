import type { z } from "zod";
import { minersIn } from "../contract/miners-in.ts";
import type { OperationName, operations } from "../contract/operations.ts";
import type {
  ActionReply,
  Host,
  ManagedMiner,
  ManualAction,
  MetaData,
  MinerList,
  Notification,
  Pool,
  Summary,
} from "../contract/resources.ts";
import type { CallName, Input, Reply } from "../contract/service.ts";
import { garbled } from "./answers.ts";
import { Fields } from "./fields.ts";
import { readMinerPool } from "./foreign-devices.ts";
import { instantOf, readMiner } from "./foreign-miner.ts";
import type { MinerReading } from "./foreign-readings.ts";
import { Omissions, type Omitting } from "./omissions.ts";
import { readGroups } from "./read-groups.ts";
import { oneLine } from "./secrets.ts";

/** The documented operations, and those of them that read. */
export type DocumentedName = {
  [K in CallName]: (typeof operations)[K] extends { readonly extension: true } ? never : K;
}[CallName];
export type ReadName = {
  [K in DocumentedName]: (typeof operations)[K]["method"] extends "GET" ? K : never;
}[DocumentedName];

type Reader<K extends OperationName & CallName> = (json: unknown, input: Input<K>, userId?: number) => Reply<K>;
export type Readers = { readonly [K in ReadName]: Reader<K> };

/**
 * Readers of all replies of a foreign server (`http-api` 2 and 4): tolerant of missing fields, and throwing
 * `service.garbled` with the path of a field of another type than documented. List entries that cannot be read are left
 * out and noted: in the reply's metadata, in the miner's notes, or with `reading.note`.
 */
export function readersOf(reading: MinerReading): Readers {
  const list = <T>(fields: Fields, key: string, read: (entry: Fields) => T): T[] => {
    const { entries, notes } = listed(fields, key, read);
    for (const words of notes) reading.note(words);
    return entries;
  };
  const whole = <T>(json: unknown, read: (entry: Fields) => T): T[] => list(root({ entries: json }), "entries", read);
  return {
    listMiners: (json, _, userId) => readMinerList(root(json), reading, userId),
    getMiner: (json) => {
      const fields = root(json);
      reading.uids.assign([signsOf(fields)], false);
      return { ...readMiner(fields, 0, reading, { checked: 0, mismatched: 0 }), metaData: readMetaData(fields) };
    },
    listAddPools: (json) => ({
      addPoolList: list(root(json), "addPoolList", (entry) => ({
        name: entry.text("name"),
        type: entry.text("type") === "group" ? ("group" as const) : ("single" as const),
        id: idText(entry),
      })),
    }),
    getMinerPool: (json, { id }) => readMinerPool(root(json), id, ""),
    listPools: (json) => ({ canAction: root(json).flag("canAction"), list: list(root(json), "list", readPool) }),
    getPool: (json) => readPool(root(json)),
    listPoolGroups: (json) => whole(json, (group) => ({ id: idText(group), name: group.text("name"), pools: [] })),
    listHosts: (json) => whole(json, readHost),
    getHost: (json) => readHost(root(json)),
    getHostSystemInfo: (json) => ({
      gpuStatusList: list(root(json), "gpuStatusList", (gpu) => ({
        name: gpu.text("name"),
        id: gpu.id(),
        vendorId: gpu.integer("vendorId"),
        pciBusId: gpu.integer("pciBusId"),
        ...unknownGpu,
      })),
      at: null,
      stale: false,
    }),
    listManagedMiners: (json) => whole(json, readManagedMiner),
    getManagedMiner: (json) => readManagedMiner(root(json)),
    listMiningSoftware: (json) => whole(json, readEntry),
    listAlgorithms: (json) => whole(json, readEntry),
    listNotifications: (json) => {
      const notificationList = list(root(json), "notificationList", readNotification(reading));
      const unacknowledged = notificationList.filter(({ isAcknowledged }) => !isAcknowledged).length;
      return {
        notificationList,
        notificationCount: root(json).integerOrNull("notificationCount") ?? notificationList.length,
        unacknowledgedNotificationCount: root(json).integerOrNull("unacknowledgedNotificationCount") ?? unacknowledged,
      };
    },
    listManagedTemplates: (json) => {
      const { entries, notes } = listed(root(json), "managedTemplateList", readNamed);
      return { managedTemplateList: entries, metaData: readMetaData(root(json), notes) };
    },
    getSummary: (json) => readSummary(root(json)),
    getUser: (json) => ({ userId: root(json).id("userId") }),
  };
}

const root = (json: unknown): Fields => new Fields(json, "the reply");

/** The readable entries of a list, and notes on the others. Throws if no entry can be read. */
function listed<T>(fields: Fields, key: string, read: (entry: Fields) => T) {
  const omissions = new Omissions();
  const entries = fields.readable(key, read, omissions);
  omissions.check(entries.length);
  return { entries, notes: omissions.notes };
}

function readMinerList(fields: Fields, reading: MinerReading, userId: number | undefined): MinerList {
  const signs = readGroups(fields, unnoted, (group) => group.readable("minerList", signsOf, unnoted));
  reading.uids.assign(minersIn(signs), userId === undefined);
  const tally = { checked: 0, mismatched: 0 };
  const omissions = new Omissions();
  const groupList = readGroups(fields, omissions, (group, id) =>
    group.readable("minerList", (miner) => readMiner(miner, id, reading, tally), omissions),
  );
  omissions.check(minersIn(groupList).length);
  if (tally.mismatched * 2 > tally.checked)
    throw garbled(
      `This service does not format its numbers as ${reading.locale} (${tally.mismatched} of ${tally.checked} do not match); set the server's own locale`,
    );
  const actions = listed(fields, "manualActionList", readNamed);
  const manualActionList = actions.entries;
  return {
    totalHashrate5s: fields.text("totalHashrate5s"),
    hasManualAction: fields.flagOrNull("hasManualAction") ?? manualActionList.length > 0,
    canManualAction: fields.flag("canManualAction"),
    hasPoolOperations: fields.flag("hasPoolOperations"),
    manualActionList,
    groupList,
    metaData: readMetaData(fields, [...omissions.notes, ...actions.notes]),
  };
}

/** Noted later, when the entry is read completely. */
const unnoted: Omitting = { omit: () => undefined };

const signsOf = (miner: Fields) => ({ id: miner.id(), macAddress: miner.text("macAddress") });

const readNamed = (fields: Fields): z.infer<typeof ManualAction> => ({ id: fields.id(), name: fields.text("name") });

/** Ids that are documented as text; some servers send numbers. */
function idText(fields: Fields, key = "id"): string {
  const value = fields.raw(key);
  if (typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value))) return String(value);
  throw fields.odd(key, "a text");
}

const readEntry = (fields: Fields) => ({ id: idText(fields), name: fields.text("name") });

function readMetaData(fields: Fields, notes: readonly string[] = []): MetaData {
  const meta = fields.object("metaData");
  return {
    updated: meta.text("updated"),
    edition: meta.text("edition"),
    version: meta.text("version"),
    infoList: meta.list("infoList").filter((remark) => typeof remark === "string"),
    warningList: [...meta.list("warningList").filter((remark) => typeof remark === "string"), ...notes],
  };
}

export const readPool = (fields: Fields): Pool => ({
  id: fields.id(),
  description: fields.text("description"),
  coinClass: fields.text("coinClass"),
  coinShortName: fields.text("coinShortName"),
  coinDisplayName: fields.text("coinDisplayName"),
  coinAlgorithm: fields.text("coinAlgorithm"),
  url: fields.text("url"),
  workerName: fields.text("workerName"),
  walletAddress: fields.text("walletAddress"),
  plainWorkerPassword: fields.text("plainWorkerPassword"),
});

const readHost = (fields: Fields): Host => ({
  id: fields.id(),
  description: fields.text("description"),
  hostname: fields.text("hostname"),
  uid: null,
  groupId: 0,
  agent: null,
});

/** Readings of a GPU that only Rigbridge servers report. */
const unknownGpu = {
  vendor: null,
  lost: false,
  activity: null,
  clock: null,
  memoryClock: null,
  voltage: null,
  powertune: null,
  fanRpm: null,
  fanPercent: null,
  temperature: null,
  memoryTemperature: null,
  power: null,
  powerLimit: null,
  memory: null,
};

const readManagedMiner = (fields: Fields): ManagedMiner => ({
  id: fields.id(),
  description: fields.text("description"),
  hostId: fields.integer("hostId"),
  isPoolGroup: fields.flag("isPoolGroup"),
  poolId: fields.integer("poolId"),
  commandLineParams: fields.text("commandLineParams"),
  softwareAutoDownload: fields.flag("softwareAutoDownload"),
  softwareType: fields.text("softwareType"),
  softwarePath: fields.text("softwarePath"),
  algorithm: fields.text("algorithm"),
  dualAlgorithm: fields.text("dualAlgorithm"),
  note: null,
  uid: null,
  groupId: 0,
  running: null,
  status: null,
  addedPools: [],
  gpuSettings: [],
  idle: null,
  switching: null,
});

const readNotification =
  ({ now }: MinerReading) =>
  (fields: Fields): Notification => {
    const timeUtc = new Date(instantOf(fields.text("timeUtc")) ?? now()).toISOString();
    const isWarning = fields.flag("isWarning");
    return {
      id: fields.id(),
      minerId: null,
      uid: null,
      minerName: fields.text("minerName"),
      title: fields.textOrNull("title"),
      timeUtc,
      time: fields.text("time"),
      source: fields.text("source"),
      message: fields.text("message"),
      isAcknowledged: fields.flag("isAcknowledged"),
      isWarning,
      severity: isWarning ? "warning" : "info",
      count: 1,
      lastUtc: timeUtc,
      closedUtc: null,
      ruleId: null,
      coded: { title: null, message: null },
    };
  };

function readSummary(fields: Fields): Summary {
  const shares = (key: string) =>
    listed(fields, key, (entry) => ({
      name: entry.text("name"),
      activeCount: entry.integer("activeCount"),
      hashRate5s: entry.text("hashRate5s"),
      hashRateAvg: entry.text("hashRateAvg"),
      revenue: entry.text("revenue"),
    }));
  const [coins, algorithms] = [shares("coinList"), shares("algorithmList")];
  return {
    runningCount: fields.integer("runningCount"),
    totalCount: fields.integer("totalCount"),
    gpuCount: fields.integer("gpuCount"),
    pgaCount: fields.integer("pgaCount"),
    asicCount: fields.integer("asicCount"),
    exchangeRate: fields.text("exchangeRate"),
    revenuePerDay: fields.text("revenuePerDay"),
    revenuePerMonth: fields.text("revenuePerMonth"),
    coinList: coins.entries,
    algorithmList: algorithms.entries,
    metaData: readMetaData(fields, [...coins.notes, ...algorithms.notes]),
  };
}

/** Replies to actions are not documented: uses the server's message if there is one. */
export function readDone(json: unknown, wordsWithout: string): ActionReply {
  const words = typeof json === "object" && json !== null && "message" in json ? json.message : json;
  const message = typeof words === "string" ? oneLine(words) : "";
  return { success: true, message: message === "" ? wordsWithout : message };
}
