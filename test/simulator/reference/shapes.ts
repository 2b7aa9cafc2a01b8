import { z } from "zod";

/**
 * The replies of the API document, parts 2 and 4, with the additions of its companion on "where the document is silent".
 * Written a second time on purpose, and strict: nothing else may appear.
 */
const text = z.string();
const int = z.int();
const yes = z.boolean();
const utc = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
const local = z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);

const MetaData = z.strictObject({
  updated: local,
  edition: text,
  version: text,
  infoList: z.array(z.never()),
  warningList: z.array(z.never()),
});

const lines = {
  line1: z.string().regex(/^Accepted: \d+$/),
  line2: z.string().regex(/^Rejected: \d+$/),
  line3: z.string().regex(/^HW Errors: \d+$/),
};
const bareCounts = z.strictObject({
  line1: z.string().regex(/^\d+$/),
  line2: z.string().regex(/^\d+$/),
  line3: z.string().regex(/^\d+$/),
});
const speed = {
  logInterval: int,
  hashrate: z.string().regex(/^[\d.,\s]+ [kMGTPE]?(H|Sol|G)\/s$/),
  avgHashrate: z.string().regex(/^[\d.,\s]+ [kMGTPE]?(H|Sol|G)\/s$/),
  workUtility: text,
  hashrateValue: int,
  avgHashrateValue: int,
};

const MinerPool = z.strictObject({
  id: int,
  name: text,
  statusInfo: z.strictObject({ statusDisplay: z.enum(["Enabled", "Disabled", "Dead"]), statusLine3: text.nullable() }),
  additionalInfo: z.strictObject({ displayUrl: z.string().regex(/^[^/]+:\d+$/), worker: text }),
  priorityInfo: z.strictObject({ priority: int, quota: int }),
  progressInfo: bareCounts,
  coinName: text,
  minerID: int,
  minerName: text,
  canRemove: yes,
  canDisable: yes,
  canEnable: yes,
  canPrioritize: yes,
});

const Device = z.strictObject({
  name: text,
  statusInfo: z.strictObject({
    statusDisplay: z.enum(["Enabled", "Disabled", "Sick", "Dead"]),
    statusLine3: text.nullable(),
  }),
  deviceInfo: z.strictObject({
    deviceType: z.enum(["ASIC", "GPU", "PGA", "CPU"]),
    gpuActivity: int,
    intensity: text.nullable(),
    name: text.nullable(),
    gpuClock: int,
    gpuMemoryClock: int,
    gpuVoltage: text,
    gpuPowertune: int,
    fanSpeed: int,
    fanPercent: int,
    temperature: int,
  }),
  progressInfo: bareCounts,
  speedInfo: z.strictObject(speed),
});

const miner = {
  id: int,
  name: text,
  hostname: text,
  hostDescription: z.string().regex(/^.+:\d+$/),
  groupId: int,
  groupID: int,
  hardware: text,
  softwareType: text,
  macAddress: z.string().regex(/^([0-9A-F]{12})?$/),
  pool: text,
  temperature: z.string().regex(/^((\d+ )+°C)?$/),
  maxTemperatureValue: int,
  avgTemperatureValue: int,
  statusInfo: z.strictObject({
    statusDisplay: z.enum(["Mining", "Idle", "Stopped", "Starting", "Disconnected", "Disabled", "Error"]),
    statusLine3: z
      .string()
      .regex(/^(\d+d )?(\d+h )?\d+m$/)
      .nullable(),
    secondsSinceStart: int,
  }),
  progressInfo: z.strictObject({ ...lines, acceptedValue: int, rejectedValue: int, hwErrorsValue: int }),
  speedInfo: z.strictObject({ ...speed, line2: text.nullable(), line3: text.nullable() }),
  coinInfo: z.strictObject({
    displayName: text,
    shortName: text,
    coinClass: text,
    algorithm: text,
    revenuePerDay: text,
    revenuePerDayValue: z.number(),
    revenuePerDayValueDisplayCurrency: z.number(),
    revenuePerDayValueBtc: z.number(),
    revenuePerMonth: text,
    profitPerDay: text,
    profitPerDayValue: z.number(),
    profitPerDayValueBtc: z.number(),
    profitPerMonth: text,
    powerUsageValue: int,
    isActualPowerUsage: yes,
  }),
  updatedUtc: utc,
  updated: local,
  poolList: z.array(MinerPool),
  gpuList: z.array(Device),
  pgaList: z.array(Device),
  asicList: z.array(Device),
  cpuList: z.array(Device),
  hasPool: yes,
  hasGpu: yes,
  hasPga: yes,
  hasAsic: yes,
  hasCpu: yes,
  canReboot: yes,
  canStop: yes,
  canRestart: yes,
  canStart: yes,
  canPool: yes,
  canPoolSwitch: yes,
  canPoolSave: yes,
  hasValidStatus: yes,
  isRunning: yes,
  isOffline: yes,
};

export const Miner = z.strictObject(miner);
export type Miner = z.infer<typeof Miner>;
export const MinerDetail = z.strictObject({ ...miner, metaData: MetaData });

const Group = z.strictObject({
  id: int,
  name: text,
  minerList: z.array(Miner),
  get groupList() {
    return z.array(Group).optional();
  },
});
type Group = z.infer<typeof Group>;

export const MinerList = z.strictObject({
  totalHashrate5s: text,
  hasManualAction: yes,
  canManualAction: yes,
  hasPoolOperations: yes,
  manualActionList: z.array(z.strictObject({ id: int, name: text })),
  groupList: z.array(Group),
  metaData: MetaData,
});

/** Every miner of the groups and of those inside them. */
export const minersIn = (groups: readonly Group[]): Miner[] =>
  groups.flatMap(({ minerList, groupList = [] }) => [...minerList, ...minersIn(groupList)]);

export const Pool = z.strictObject({
  id: int,
  description: text,
  coinClass: z.enum(["PreDefined", "UserDefined"]),
  coinShortName: text,
  coinDisplayName: text,
  coinAlgorithm: text,
  url: text,
  workerName: text,
  walletAddress: text,
  plainWorkerPassword: text,
});
export const Host = z.strictObject({ id: int, description: text, hostname: text });
export const ManagedMiner = z.strictObject({
  id: int,
  description: text,
  hostId: int,
  isPoolGroup: yes,
  poolId: int,
  commandLineParams: text,
  softwareAutoDownload: yes,
  softwareType: text,
  softwarePath: text,
  algorithm: text,
  dualAlgorithm: text,
});
const Entry = z.strictObject({ id: text, name: text });
export const Done = z.strictObject({ success: z.literal(true), message: text });
export const Notifications = z.strictObject({
  notificationList: z.array(
    z.strictObject({
      id: int,
      minerName: text,
      title: text.nullable(),
      timeUtc: utc,
      time: local,
      source: text,
      message: text,
      isAcknowledged: yes,
      isWarning: yes,
    }),
  ),
  notificationCount: int,
  unacknowledgedNotificationCount: int,
});
const Share = z.strictObject({ name: text, activeCount: int, hashRate5s: text, hashRateAvg: text, revenue: text });
export const Summary = z.strictObject({
  runningCount: int,
  totalCount: int,
  gpuCount: int,
  pgaCount: int,
  asicCount: int,
  exchangeRate: text,
  revenuePerDay: text,
  revenuePerMonth: text,
  coinList: z.array(Share),
  algorithmList: z.array(Share),
  metaData: MetaData,
});

interface Documented {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: object;
  readonly reply: z.ZodType;
}

const row = (method: Documented["method"], path: string, reply: z.ZodType, body?: object): Documented => ({
  method,
  path,
  reply,
  ...(body === undefined ? {} : { body }),
});

const asic = "/api/miners/1000000001";

/** The table of the document, part 4: each of the 28 operations with a call, in an order in which all succeed. */
export const documented: readonly Documented[] = [
  row("GET", "/api/miners", MinerList),
  row("GET", asic, MinerDetail),
  row("POST", `${asic}?action=restart`, Done),
  row(
    "GET",
    `${asic}/pools`,
    z.strictObject({
      addPoolList: z.array(z.strictObject({ name: text, type: z.enum(["single", "group"]), id: text })).min(2),
    }),
  ),
  row("GET", `${asic}/pools/1`, MinerPool),
  row("POST", `${asic}/pools/2?action=prioritize`, Done),
  row("GET", "/api/pools", z.strictObject({ canAction: yes, list: z.array(Pool).min(1) })),
  row("GET", "/api/pools/1", Pool),
  row("POST", "/api/pools", Pool, { description: "New", coinShortName: "BTC", url: "stratum+tcp://new.example.com:1" }),
  row("DELETE", "/api/pools/3", Done),
  row("GET", "/api/poolgroups", z.array(Entry).min(1)),
  row("GET", "/api/hosts", z.array(Host).min(1)),
  row("GET", "/api/hosts/1", Host),
  row("POST", "/api/hosts", Host, { description: "New", hostname: "new" }),
  row(
    "GET",
    "/api/hosts/1/systeminfo",
    z.strictObject({
      gpuStatusList: z.array(z.strictObject({ name: text, id: int, vendorId: int, pciBusId: int })).min(1),
    }),
  ),
  row("GET", "/api/managedminers", z.array(ManagedMiner).min(1)),
  row("GET", "/api/managedminers/1", ManagedMiner),
  row("POST", "/api/managedminers", ManagedMiner, {
    description: "New",
    hostId: 1,
    poolId: 6,
    softwareType: "TrexMiner",
    algorithm: "etchash",
  }),
  row("GET", "/api/miningsoftware", z.array(Entry).min(1)),
  row("GET", "/api/algorithms", z.array(Entry).min(1)),
  row("GET", "/api/notifications", Notifications),
  row("POST", "/api/notifications/1?action=ack", Done),
  row("POST", "/api/notifications?action=clear_all", Done),
  row(
    "GET",
    "/api/managedtemplates",
    z.strictObject({
      managedTemplateList: z.array(z.strictObject({ id: int, name: text })).min(1),
      metaData: MetaData,
    }),
  ),
  row("GET", "/api/summary", Summary),
  row("POST", "/api/coins/NEW?name=Newcoin&algorithm=sha256&profit=0.1", Done),
  row("DELETE", "/api/coins/NEW", Done),
  row("GET", "/api/user/anna", z.strictObject({ userId: int })),
];
