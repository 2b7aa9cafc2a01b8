import { z } from "zod";
import { Control, Identity, Readings } from "./readings.ts";
import { secret } from "./secrets.ts";

/**
 * The resources of the API document, part 2, with what the reference product sends beyond it (`decisions`) and what
 * we add (`additions`). Display strings are formatted for the operator's locale; numbers with `Value` are numbers.
 */
const text = z.string();
const int = z.int();

export const MetaData = z.object({
  updated: text.describe("local time, yyyy-MM-dd HH:mm:ss"),
  edition: text,
  version: text,
  infoList: z.array(text).describe("what else is good to know, as that demo miners are among the miners"),
  warningList: z.array(text).describe("what is wrong or missing, as the profit of miners that do not say their power"),
});
export type MetaData = z.infer<typeof MetaData>;

export const minerStatuses = ["Mining", "Idle", "Stopped", "Starting", "Disconnected", "Disabled", "Error"] as const;
export type MinerStatus = (typeof minerStatuses)[number];

export const StatusInfo = z.object({ statusDisplay: text, statusLine3: text.nullable() });

export const MinerStatusInfo = z.object({
  statusDisplay: z.enum(minerStatuses),
  statusLine3: text.nullable().describe("run time, null when the miner cannot be reached"),
  secondsSinceStart: int,
});

export const ProgressInfo = z.object({ line1: text, line2: text, line3: text });

export const MinerProgressInfo = ProgressInfo.extend({ acceptedValue: int, rejectedValue: int, hwErrorsValue: int });

export const SpeedInfo = z.object({
  logInterval: int,
  hashrate: text,
  avgHashrate: text,
  workUtility: text,
  hashrateValue: int.describe("H/s"),
  avgHashrateValue: int.describe("H/s"),
});

export const MinerSpeedInfo = SpeedInfo.extend({ line2: text.nullable(), line3: text.nullable() });

export const CoinInfo = z.object({
  displayName: text,
  shortName: text,
  algorithm: text,
  coinClass: text,
  revenuePerDay: text,
  revenuePerDayValue: z.number(),
  revenuePerMonth: text,
  revenuePerDayValueDisplayCurrency: z.number(),
  revenuePerDayValueBtc: z.number(),
  profitPerDay: text,
  profitPerDayValue: z.number(),
  profitPerMonth: text,
  profitPerDayValueBtc: z.number(),
  powerUsageValue: int.describe("W"),
  isActualPowerUsage: z.boolean(),
});

/** Unknown is null here, where the documented fields say 0. */
export const Money = z.object({
  revenuePerDay: z.number().nullable(),
  costPerDay: z.number().nullable().describe("electricity; 0 where no price of it is set"),
  profitPerDay: z.number().nullable().describe("null where revenue or cost is unknown"),
  currency: text.nullable().describe("ISO 4217; null where the server does not say"),
});
export type Money = z.infer<typeof Money>;

export const MinerPool = z.object({
  id: int.describe("Active ID of the pool on that miner; never reused"),
  name: text,
  statusInfo: StatusInfo,
  additionalInfo: z.object({ displayUrl: text.describe("host:port"), worker: text }),
  priorityInfo: z.object({ priority: int.describe("0 is highest"), quota: int }),
  progressInfo: ProgressInfo,
  coinName: text,
  minerID: int,
  minerName: text,
  canRemove: z.boolean(),
  canDisable: z.boolean(),
  canEnable: z.boolean(),
  canPrioritize: z.boolean(),
});
export type MinerPool = z.infer<typeof MinerPool>;

export const Device = z.object({
  name: text,
  statusInfo: StatusInfo,
  deviceInfo: z.object({
    deviceType: text,
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
  progressInfo: ProgressInfo,
  speedInfo: SpeedInfo,
});
export type Device = z.infer<typeof Device>;

const place = z.string().max(64).nullable();

export const Location = z.object({ site: place, container: place, rack: place, slot: place });
export type Location = z.infer<typeof Location>;

export const Uid = z.string().regex(/^[a-z0-9-]{1,64}$/, "must be 1 to 64 of a-z, 0-9 and -");

export const Heating = z.object({
  name: text,
  target: z.number().describe("°C that the room should have"),
  room: z.number().nullable().describe("°C that it has; null before it is known, and when that was too long ago"),
  at: z.iso.datetime().nullable().describe("when that was known"),
  demand: z.number().nullable().describe("how much of all its heat it wants, 0 to 1; null before that is known"),
  held: z.boolean().describe("whether this miner is left alone, since somebody has stopped it or set its power"),
});
export type Heating = z.infer<typeof Heating>;

export const Miner = z.object({
  id: int.describe("external miners count from 1000000001, managed miners from 1"),
  uid: Uid.nullable(),
  name: text,
  hostname: text.describe("where the miner is reached: the host of its address; its own name is in `identity`"),
  hostDescription: text.describe("host:port"),
  groupId: int.describe("0 = in no group"),
  groupID: int.describe("the same as groupId"),
  hardware: text,
  softwareType: text,
  macAddress: text.describe("12 hex digits, empty when unknown"),
  pool: text.describe("host name of the pool in use"),
  temperature: text,
  maxTemperatureValue: int,
  avgTemperatureValue: int,
  statusInfo: MinerStatusInfo,
  isRunning: z.boolean(),
  isOffline: z.boolean(),
  hasValidStatus: z.boolean(),
  progressInfo: MinerProgressInfo,
  speedInfo: MinerSpeedInfo,
  coinInfo: CoinInfo,
  updatedUtc: z.iso.datetime(),
  updated: text,
  poolList: z.array(MinerPool),
  gpuList: z.array(Device),
  pgaList: z.array(Device),
  asicList: z.array(Device),
  cpuList: z.array(Device),
  hasPool: z.boolean(),
  hasGpu: z.boolean(),
  hasPga: z.boolean(),
  hasAsic: z.boolean(),
  hasCpu: z.boolean(),
  canReboot: z.boolean(),
  canStop: z.boolean(),
  canRestart: z.boolean(),
  canStart: z.boolean(),
  canPool: z.boolean(),
  canPoolSwitch: z.boolean(),
  canPoolSave: z.boolean(),
  hasFirmwareLicense: z.boolean().describe("false unless the firmware says that it has one"),
  location: Location,
  tags: z.array(text),
  readings: Readings,
  controls: z.array(Control),
  money: Money.describe("what it earns and costs (ours)"),
  heating: Heating.nullable().describe("the room that this miner heats, null for none (ours)"),
  identity: Identity.nullable().describe("what the rig says that it is, null before it was first read (ours)"),
});
export type Miner = z.infer<typeof Miner>;

export const MinerDetail = Miner.extend({ metaData: MetaData });
export type MinerDetail = z.infer<typeof MinerDetail>;

export const ManualAction = z.object({ id: int, name: text });
export type ManualAction = z.infer<typeof ManualAction>;

export const MinerGroup = z.object({
  id: int.describe("0 = the miners in no group"),
  name: text,
  minerList: z.array(Miner),
  get groupList() {
    return z.array(MinerGroup).optional().describe("groups inside this one");
  },
});
export type MinerGroup = z.infer<typeof MinerGroup>;

export const MinerList = z.object({
  totalHashrate5s: text,
  hasManualAction: z.boolean(),
  canManualAction: z.boolean(),
  hasPoolOperations: z.boolean(),
  manualActionList: z.array(ManualAction),
  groupList: z.array(MinerGroup),
  metaData: MetaData,
});
export type MinerList = z.infer<typeof MinerList>;

export const coinClasses = ["PreDefined", "UserDefined"] as const;

export const Pool = z.object({
  id: int.describe("Static ID"),
  description: text,
  coinClass: text,
  coinShortName: text,
  coinDisplayName: text,
  coinAlgorithm: text,
  url: text,
  workerName: text,
  walletAddress: text,
  plainWorkerPassword: secret(z.string()).describe("empty for users who may only view"),
});
export type Pool = z.infer<typeof Pool>;

export const PoolList = z.object({ canAction: z.boolean(), list: z.array(Pool) });

export const AddPoolEntry = z.object({ name: text, type: z.enum(["single", "group"]), id: text });

export const PoolGroup = z.object({
  id: text,
  name: text,
  pools: z.array(int).describe("Static IDs, first is tried first (ours)"),
});
export type PoolGroup = z.infer<typeof PoolGroup>;

export const Host = z.object({ id: int, description: text, hostname: text });
export type Host = z.infer<typeof Host>;

export const GpuStatus = z.object({ name: text, id: int, vendorId: int, pciBusId: int });

export const ManagedMiner = z.object({
  id: int,
  description: text,
  hostId: int,
  isPoolGroup: z.boolean(),
  poolId: int,
  commandLineParams: secret(z.string()).describe("may hold a password; empty for users who may only view"),
  softwareAutoDownload: z.boolean(),
  softwareType: text,
  softwarePath: text,
  algorithm: text,
  dualAlgorithm: text,
  note: text.nullable().describe("what keeps it from running (ours)"),
});
export type ManagedMiner = z.infer<typeof ManagedMiner>;

export const CatalogueEntry = z.object({ id: text, name: text });

export const Notification = z.object({
  id: int,
  minerId: int
    .nullable()
    .describe("the miner that it is about; null for none, or where the server does not say (ours)"),
  minerName: text,
  title: text.nullable(),
  timeUtc: z.iso.datetime(),
  time: text,
  source: text,
  message: text,
  isAcknowledged: z.boolean(),
  isWarning: z.boolean(),
});
export type Notification = z.infer<typeof Notification>;

export const NotificationList = z.object({
  notificationList: z.array(Notification),
  notificationCount: int,
  unacknowledgedNotificationCount: int,
});

export const ManagedTemplate = z.object({ id: int, name: text });
export type ManagedTemplate = z.infer<typeof ManagedTemplate>;

export const ManagedTemplateList = z.object({ managedTemplateList: z.array(ManagedTemplate), metaData: MetaData });

export const SummaryEntry = z.object({
  name: text,
  activeCount: int,
  hashRate5s: text,
  hashRateAvg: text,
  revenue: text,
});

export const Summary = z.object({
  runningCount: int,
  totalCount: int,
  gpuCount: int,
  pgaCount: int,
  asicCount: int,
  exchangeRate: text,
  revenuePerDay: text,
  revenuePerMonth: text,
  coinList: z.array(SummaryEntry),
  algorithmList: z.array(SummaryEntry),
  metaData: MetaData,
});
export type Summary = z.infer<typeof Summary>;

export const Group = z.object({
  id: int,
  name: text,
  parentId: int.describe("0 = at the top, or inside one that the user does not see"),
});
export type Group = z.infer<typeof Group>;

export const commandStates = ["queued", "sent", "done", "failed", "unknown"] as const;
export type CommandState = (typeof commandStates)[number];

export const Command = z.object({
  id: int,
  minerId: int,
  minerName: text,
  actor: text.describe(
    "the user whose own key it was, or the front end that asked; `http for anna`: with anna's user_id",
  ),
  action: text,
  parameters: z.record(text, z.union([text, z.number(), z.boolean()])).describe("without secrets"),
  state: z.enum(commandStates),
  message: text.describe("the rig's words"),
  time: z.iso.datetime().describe("when it was asked for"),
  updated: z.iso.datetime(),
});
export type Command = z.infer<typeof Command>;

export const CommandList = z.object({ commandList: z.array(Command) });

/** The answer to every action: 2xx only when the rig, or the store, has taken it. */
export const ActionReply = z.object({
  success: z.literal(true),
  message: text.describe("what the rig answered"),
  commandId: int.optional().describe("the row in GET /api/commands, for what went to a rig"),
  state: z
    .enum(commandStates)
    .optional()
    .describe("`sent`: the rig has not answered yet (202), or has taken a restart that it has not shown yet (200)"),
  taken: z.literal(true).optional().describe("with `sent`: the rig has taken it"),
});
export type ActionReply = z.infer<typeof ActionReply>;

/** What a user may do: look; tell miners what to do as well; change what the service knows as well. */
export const privileges = ["view", "control", "administrator"] as const;
export type Privilege = (typeof privileges)[number];

export const User = z.object({
  id: int,
  name: text,
  privilege: z.enum(privileges),
  groups: z.array(int).nullable().describe("ids of the groups whose miners the user sees; null = all"),
  pools: z.array(int).nullable().describe("Static IDs of the pools that the user sees; null = all"),
  hasKey: z.boolean().describe("has an API key of their own"),
});
export type User = z.infer<typeof User>;

const figure = z.number().nullable();

export const History = z.object({
  step: z.number().describe("s between two points; 0 = every reading as it was"),
  points: z
    .array(z.tuple([int, figure, figure, figure, figure]))
    .describe(
      "[time, hashrate, power, temperature, energy]: epoch ms of the step's beginning; means in H/s, W and °C; Wh, " +
        "the counter as it first stood in the step. A step without a reading has no point",
    ),
});
export type History = z.infer<typeof History>;

export const jobStates = ["running", "done", "cancelled"] as const;

export const Discovery = z.object({
  state: z.enum(jobStates),
  scanned: int.describe("addresses looked at"),
  total: int.describe("addresses to look at"),
  found: z.array(
    z.object({
      address: text.describe("as POST /api/miners takes it"),
      driver: text.nullable().describe("null for a device that this version cannot read"),
      identity: Identity,
      known: z.boolean().describe("is a miner already"),
      note: text.nullable().describe("what keeps it from being read, as a missing token, or what its login adds"),
    }),
  ),
});
export type Discovery = z.infer<typeof Discovery>;

export const JobStarted = z.object({ id: int });

/** `possible`: what a dry run says of a miner that would take the action. `cancelled`: not sent. */
export const bulkStates = [...commandStates, "cancelled", "possible"] as const;

/** An action for many miners, without what came of it. */
export const BulkJob = z.object({
  id: int,
  action: text,
  state: z.enum(jobStates),
  dryRun: z.boolean(),
  actor: text.describe("who asked: a user, or a front end"),
  time: z.iso.datetime().describe("when it was asked for"),
  total: int.describe("miners that it is for"),
});
export type BulkJob = z.infer<typeof BulkJob>;

export const BulkAction = BulkJob.extend({
  done: int.describe("miners that have taken it, or would"),
  failed: int.describe("miners that have not"),
  unknown: int.describe("miners that may have taken it: it was sent, and nothing shows the result"),
  results: z.array(z.object({ minerId: int, state: z.enum(bulkStates), message: text.describe("the rig's words") })),
});
export type BulkAction = z.infer<typeof BulkAction>;
