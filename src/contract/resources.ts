import { z } from "zod";
import { AgentPermissions, GpuSettings, HostGpu, HostReport, IdleRule, ProgramStatus } from "./agent.ts";
import { BulkPreview } from "./bulk-preview.ts";
import { CodedText } from "./coded-text.ts";
import { facilityKinds } from "./facility-settings.ts";
import { sharing } from "./owned.ts";
import { mostSlots } from "./places.ts";
import { HttpPlug, MqttPlugSettings } from "./plug-settings.ts";
import { Control, Identity, Readings } from "./readings.ts";
import { secret } from "./secrets.ts";
import { Switching } from "./switching.ts";

/**
 * The resources of the API document, part 2, with the fields that Awesome Miner sends beyond it (`decisions`) and those
 * that Rigbridge adds (`additions`). Display strings use the operator's locale; fields named `...Value` are numbers.
 */
const text = z.string();
const int = z.int();

export const MetaData = z.object({
  updated: text.describe("local time, yyyy-MM-dd HH:mm:ss"),
  edition: text,
  version: text,
  infoList: z.array(text).describe("remarks, for example that the list contains demo miners"),
  warningList: z
    .array(text)
    .describe("warnings, for example that profit is incomplete because some miners do not report their power"),
});
export type MetaData = z.infer<typeof MetaData>;

export const minerStatuses = ["Mining", "Idle", "Stopped", "Starting", "Disconnected", "Disabled", "Error"] as const;
export type MinerStatus = (typeof minerStatuses)[number];

export const StatusInfo = z.object({ statusDisplay: text, statusLine3: text.nullable() });

export const MinerStatusInfo = z.object({
  statusDisplay: z.enum(minerStatuses),
  statusLine3: text.nullable().describe("run time; null if the miner cannot be reached"),
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

/** Unknown values are null here; the documented fields are 0 then. */
export const Money = z.object({
  revenuePerDay: z.number().nullable(),
  costPerDay: z.number().nullable().describe("cost of electricity; 0 if no price is set"),
  profitPerDay: z.number().nullable().describe("null if revenue or cost is unknown"),
  currency: text.nullable().describe("ISO 4217; null if the server does not report it"),
  electricityPrice: z
    .number()
    .nullable()
    .describe("what the miner pays for a kWh now, may be negative; null if no price is set or known"),
  breakEvenPrice: z
    .number()
    .nullable()
    .describe("price of a kWh at which the profit is 0; null if revenue or power is unknown"),
  energyCost: z
    .number()
    .nullable()
    .describe("cost of its energy so far, each kWh at the price of its time; null if nothing of it is known"),
});
export type Money = z.infer<typeof Money>;

export const MinerPool = z.object({
  id: int.describe("Active ID: identifies the pool on this miner; never reused"),
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
    power: z.number().nullable().optional().describe("W; null if unknown (Rigbridge extension)"),
    memoryTemperature: z.number().nullable().optional().describe("°C; null if unknown (Rigbridge extension)"),
    pciBusId: int.nullable().optional().describe("number of its PCI bus; null if unknown (Rigbridge extension)"),
  }),
  progressInfo: ProgressInfo,
  speedInfo: SpeedInfo,
});
export type Device = z.infer<typeof Device>;

const place = z.string().max(64).nullable();

export const Location = z.object({ site: place, container: place, rack: place, slot: place });
export type Location = z.infer<typeof Location>;

const slotNumber = z.int().min(1).max(mostSlots);
export const Position = z.object({
  row: slotNumber.describe("from 1, the top one"),
  column: slotNumber.describe("from 1, the left one"),
});
export type Position = z.infer<typeof Position>;

export const Uid = z.string().regex(/^[a-z0-9-]{1,64}$/, "must be 1 to 64 of a-z, 0-9 and -");

export const Heating = z.object({
  name: text,
  target: z.number().describe("target temperature of the room, in °C"),
  room: z.number().nullable().describe("room temperature in °C; null if it is unknown or too old"),
  at: z.iso.datetime().nullable().describe("when the room temperature was reported"),
  demand: z.number().nullable().describe("the room's heat demand, 0 to 1; null if it is unknown"),
  held: z
    .boolean()
    .describe("true while heating control leaves this miner alone because a user stopped it or set its power"),
});
export type Heating = z.infer<typeof Heating>;

export const MinerPower = z.object({
  heldBy: z
    .object({
      what: text.describe("a user, a front end, a rule, or the loop that heats or follows a surplus"),
      until: z.iso.datetime().nullable().describe("null: without an end"),
    })
    .nullable()
    .describe("who controls its power; null if nobody does"),
  max: z
    .number()
    .nullable()
    .describe("the highest power that it can be set to now, in W, within the maximum of its room; null if unknown"),
});
export const Repair = z.object({
  note: text.describe("what is done with it; empty if nobody said"),
  since: z.iso.datetime(),
});
export type Repair = z.infer<typeof Repair>;

/** The pool's own data about a worker; null where the pool does not report it. */
export const PoolView = z.object({
  hashrate: z.number().nullable().describe("H/s"),
  rejected: z.number().nullable().describe("rejected shares"),
  balance: z.number().nullable().describe("unpaid balance of the account, in coins"),
  lastShareUtc: z.iso.datetime().nullable().describe("when the pool received the last share"),
  source: text.describe("host of the pool's API"),
  at: z.iso.datetime().describe("when this was read"),
});
export type PoolView = z.infer<typeof PoolView>;

export const Miner = z.object({
  id: int.describe("external miners start at 1000000001, managed miners at 1"),
  uid: Uid.nullable(),
  name: text,
  hostname: text.describe("the host of the miner's address; the name that the rig reports is in `identity`"),
  hostDescription: text.describe("host:port"),
  groupId: int.describe("0 = no group"),
  groupID: int.describe("the same as groupId"),
  hardware: text,
  softwareType: text,
  macAddress: text.describe("12 hex digits; empty if unknown"),
  pool: text.describe("host name of the active pool"),
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
  hasFirmwareLicense: z.boolean().describe("true only if the firmware reports a licence"),
  location: Location.describe("follows from its place, except for the slot"),
  placeId: int.nullable().optional().describe("its place; null if it has none (Rigbridge extension)"),
  position: Position.nullable().optional().describe("where it is in its place; null if unknown (Rigbridge extension)"),
  tags: z.array(text),
  readings: Readings,
  controls: z.array(Control),
  money: Money.describe("revenue and cost (Rigbridge extension)"),
  poolView: PoolView.nullable()
    .optional()
    .describe("what the pool itself reports about this miner; null if it is not asked (Rigbridge extension)"),
  heating: Heating.nullable().describe("the room that this miner heats; null if none (Rigbridge extension)"),
  power: MinerPower.describe("who controls its power now (Rigbridge extension)"),
  identity: Identity.nullable().describe("reported by the rig; null until its first read (Rigbridge extension)"),
  repair: Repair.nullable()
    .optional()
    .describe(
      "that it is in repair: sums leave it out, and it raises no alarms; null if it is not (Rigbridge extension)",
    ),
});
export interface Miner extends z.infer<typeof Miner> {}

export const MinerDetail = Miner.extend({ metaData: MetaData });
export interface MinerDetail extends z.infer<typeof MinerDetail> {}

/** The settings of a miner, without secrets. */
export const MinerSettings = z.object({
  declaredBy: z
    .enum(["api", "file", "host"])
    .describe("`file`: the configuration file; `host`: a managed miner; only those of `api` can be changed there"),
  address: text,
  driver: text.nullable().describe("the only driver used; null = detected"),
  interval: z.number().nullable().describe("seconds between two reads; null = as configured for all"),
  offlineExpected: z.boolean(),
  hasLogin: z.boolean().describe("whether a user name, password, token or login is set"),
  login: text.nullable().describe("name of its login in the settings; null = none"),
  powerNameplate: z.number().nullable().describe("W, for a rig that does not report its power; null = not set"),
  supply: z
    .discriminatedUnion("type", [HttpPlug, MqttPlugSettings])
    .nullable()
    .describe("the plug that supplies it, without its password; null = none"),
});
export type MinerSettings = z.infer<typeof MinerSettings>;

export const ManualAction = z.object({ id: int, name: text });
export type ManualAction = z.infer<typeof ManualAction>;

/** Written out, because declarations lose the type of a schema that contains itself. */
export interface MinerGroup {
  id: number;
  name: string;
  minerList: Miner[];
  groupList?: MinerGroup[] | undefined;
}

export const MinerGroup: z.ZodType<MinerGroup> = z.object({
  id: int.describe("0 = miners without a group"),
  name: text,
  minerList: z.array(Miner),
  get groupList() {
    return z.array(MinerGroup).optional().describe("nested groups");
  },
});

export const MinerList = z.object({
  totalHashrate5s: text,
  hasManualAction: z.boolean(),
  canManualAction: z.boolean(),
  hasPoolOperations: z.boolean(),
  manualActionList: z.array(ManualAction),
  groupList: z.array(MinerGroup),
  metaData: MetaData,
});
export interface MinerList extends z.infer<typeof MinerList> {}

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
  plainWorkerPassword: secret(z.string()).describe(
    "empty for users with the privilege view, and for a pool of a centre",
  ),
  ...sharing,
});
export type Pool = z.infer<typeof Pool>;

export const PoolList = z.object({ canAction: z.boolean(), list: z.array(Pool) });

export const AddPoolEntry = z.object({ name: text, type: z.enum(["single", "group"]), id: text });

export const PoolGroup = z.object({
  id: text,
  name: text,
  pools: z.array(int).describe("Static IDs, in order of priority (Rigbridge extension)"),
  ...sharing,
});
export type PoolGroup = z.infer<typeof PoolGroup>;

/** Ids of GET /api/miningsoftware, by the source of the program on a host. */
export const HostSoftware = z.object({
  own: z.array(text).describe("those of its own configuration, which says where their files are"),
  downloads: z.array(text).describe("those with a known download for its system"),
  unsuited: z.array(text).describe("those that do not run on its system"),
});
export type HostSoftware = z.infer<typeof HostSoftware>;

/** The agent of a host. */
export const HostAgent = z.object({
  tokenId: int.nullable().describe("for DELETE /api/agents/{id}; null for the service's own machine"),
  connected: z.boolean(),
  at: z.iso.datetime().nullable().describe("when its last message arrived; null = none since the service started"),
  version: text.nullable(),
  permissions: AgentPermissions.nullable().describe("permissions of its own configuration; null = not connected"),
  software: HostSoftware.nullable().optional().describe("which mining software it can run; null = not connected"),
  report: HostReport.omit({ gpus: true }).nullable().describe("state of the host; null = not connected"),
});
export type HostAgent = z.infer<typeof HostAgent>;

export const Host = z.object({
  id: int,
  description: text,
  hostname: text,
  uid: Uid.nullable().describe("permanent name; null if the server has none (Rigbridge extension)"),
  groupId: int.describe("users with access to this group see the host; 0 = in no group (Rigbridge extension)"),
  agent: HostAgent.nullable().describe("null = no agent has a token (Rigbridge extension)"),
});
export interface Host extends z.infer<typeof Host> {}

/** A GPU as `systeminfo` shows it; all but the first four fields are extensions. */
export const GpuStatus = z.object({
  name: text,
  id: int,
  vendorId: int.describe("counted within its maker from 0"),
  pciBusId: int,
  ...HostGpu.omit({ name: true, id: true, vendorId: true, pciBusId: true, vendor: true }).shape,
  vendor: HostGpu.shape.vendor.nullable(),
});
export type GpuStatus = z.infer<typeof GpuStatus>;

export const SystemInfo = z.object({
  gpuStatusList: z.array(GpuStatus),
  at: z.iso.datetime().nullable().describe("when the list was read; null = unknown (Rigbridge extension)"),
  stale: z.boolean().describe("whether the host's agent is away (Rigbridge extension)"),
});

/** The token of a host's agent, shown only once. */
export const AgentToken = z.object({ id: int, hostId: int, token: secret(text) });
export type AgentToken = z.infer<typeof AgentToken>;

export const AgentEntry = z.object({ id: int, hostId: int, connected: z.boolean() });
export type AgentEntry = z.infer<typeof AgentEntry>;

export const CommandLineReply = z.object({
  command: z.array(text).describe("the program and its arguments, one each; secrets are redacted"),
});

export const DownloadReply = z.object({
  state: z.enum(["none", "downloading", "confirming", "done"]),
  url: text.nullable(),
  bytes: int.nullable(),
  sha256: text.nullable().describe("of the downloaded file; confirm it with POST"),
});
export type DownloadReply = z.infer<typeof DownloadReply>;

/** Settings of GPUs while a miner runs; `algorithm` null: for every algorithm that no other entry names. */
export const GpuTuning = GpuSettings.extend({ algorithm: text.nullable() });
export type GpuTuning = z.infer<typeof GpuTuning>;

export const ManagedMiner = z.object({
  id: int,
  description: text,
  hostId: int,
  isPoolGroup: z.boolean(),
  poolId: int,
  commandLineParams: secret(z.string()).describe("may contain a password; empty for users with the privilege view"),
  softwareAutoDownload: z.boolean(),
  softwareType: text,
  softwarePath: text,
  algorithm: text,
  dualAlgorithm: text,
  note: text.nullable().describe("why it cannot run (Rigbridge extension)"),
  uid: Uid.nullable().describe(
    "permanent name, also of the miner with this id; null if the server has none (Rigbridge extension)",
  ),
  groupId: int.describe("0 = in no group (Rigbridge extension)"),
  running: z.boolean().nullable().describe("whether it should run; null = unknown (Rigbridge extension)"),
  status: ProgramStatus.nullable().describe("as its host reports; null = unknown (Rigbridge extension)"),
  addedPools: z.array(int).describe("Static IDs of pools for failover beside poolId (Rigbridge extension)"),
  gpuSettings: z.array(GpuTuning).describe("(Rigbridge extension)"),
  idle: IdleRule.nullable().describe("other work on the host for which it waits (Rigbridge extension)"),
  switching: Switching.nullable().describe("choices among which the service switches it (Rigbridge extension)"),
});
export interface ManagedMiner extends z.infer<typeof ManagedMiner> {}

export const CatalogueEntry = z.object({ id: text, name: text });

/** The document's fields and Rigbridge's extensions; other servers have only the former. */
export const MiningSoftware = CatalogueEntry.extend(
  z
    .object({
      api: text.nullable().describe("driver that reads its API; null if it has none (Rigbridge extension)"),
      devices: z.array(text).describe("cpu, nvidia, amd, intel or asic (Rigbridge extension)"),
      platforms: z.array(text).describe("linux, windows or macos (Rigbridge extension)"),
      algorithms: z.array(text).describe("ids of GET /api/algorithms (Rigbridge extension)"),
      dualAlgorithms: z
        .record(text, z.array(text))
        .describe("second algorithms that it can mine beside a first one (Rigbridge extension)"),
      command: z.array(text).describe("template of its arguments (Rigbridge extension)"),
      watchdogOff: z.array(text).describe("arguments that turn its own supervision off (Rigbridge extension)"),
      tuning: z.record(text, text).describe("its options for GPU settings (Rigbridge extension)"),
      version: text.nullable().describe("release of the downloads (Rigbridge extension)"),
      downloads: z.array(text).describe("addresses of the maker's releases (Rigbridge extension)"),
    })
    .partial().shape,
);
export type MiningSoftware = z.infer<typeof MiningSoftware>;

export const severities = ["info", "warning", "critical"] as const;
export type Severity = (typeof severities)[number];

export const Notification = z.object({
  id: int,
  minerId: int
    .nullable()
    .describe("the miner concerned; null if there is none or the server does not report it (Rigbridge extension)"),
  uid: Uid.nullable().describe("uid of that miner, null if unknown (Rigbridge extension)"),
  minerName: text,
  title: text.nullable(),
  timeUtc: z.iso.datetime(),
  time: text,
  source: text,
  message: text,
  isAcknowledged: z.boolean(),
  isWarning: z.boolean(),
  severity: z.enum(severities).describe("`isWarning` is true above info (Rigbridge extension)"),
  count: int.describe("how often it has occurred: a repeat while it is open has the same id (Rigbridge extension)"),
  lastUtc: z.iso.datetime().describe("when it occurred last (Rigbridge extension)"),
  closedUtc: z.iso.datetime().nullable().describe("when it was over; null while it is open (Rigbridge extension)"),
  ruleId: int.nullable().describe("the rule that made it; null if none did (Rigbridge extension)"),
  coded: z
    .object({ title: CodedText.nullable(), message: CodedText.nullable() })
    .optional()
    .describe(
      "title and message by code, for clients that show them in another language; null: a text that a user wrote, or of an earlier release (Rigbridge extension)",
    ),
});
export interface Notification extends z.infer<typeof Notification> {}

export const NotificationList = z.object({
  notificationList: z.array(Notification),
  notificationCount: int,
  unacknowledgedNotificationCount: int,
});

const amount = z.number().nullable();

/** Sums of known values; null if there are none. */
export const MoneyTotal = z.object({
  revenuePerDay: amount.describe("of revenueMinerCount miners"),
  costPerDay: amount.describe("of costMinerCount miners"),
  profitPerDay: amount.describe(
    "profitRevenuePerDay less profitCostPerDay: of the profitMinerCount miners whose revenue and cost are both known, so " +
      "it can differ from revenuePerDay less costPerDay",
  ),
  revenueBtcPerDay: amount,
  profitBtcPerDay: amount,
  currency: text,
  minerCount: int.describe("miners that mine, idle or are stopped; others are part of no sum"),
  revenueMinerCount: int.describe("of these, those whose revenue is known"),
  costMinerCount: int.describe("those whose cost is known"),
  profitMinerCount: int.describe("those whose revenue and cost are known; the profit leaves the others out"),
  profitRevenuePerDay: amount.describe("revenue of those that the profit is of"),
  profitCostPerDay: amount.describe("their cost"),
  estimatedMinerCount: int.describe("those of them whose power, and so whose cost, is estimated from a nameplate"),
});
export type MoneyTotal = z.infer<typeof MoneyTotal>;
const moneyTotal = MoneyTotal.optional().describe("revenue, cost and profit (Rigbridge extension)");

export const SummaryEntry = z.object({
  name: text,
  activeCount: int,
  hashRate5s: text,
  hashRateAvg: text,
  revenue: text,
  hashrateValue: z.number().optional().describe("in `unit` (Rigbridge extension)"),
  avgHashrateValue: z.number().optional().describe("in `unit` (Rigbridge extension)"),
  unit: text.optional().describe("H/s, Sol/s or G/s (Rigbridge extension)"),
  money: moneyTotal,
});

const wattHours = z.int().nullable();
const inRepair = int.optional().describe("miners in repair, which the sums leave out (Rigbridge extension)");

export const GroupSummary = z.object({
  id: int,
  name: text,
  energy: wattHours.describe(
    "Wh drawn by its miners and those of its subgroups while they were in it; never decreases",
  ),
  money: moneyTotal,
  inRepair,
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
  energy: wattHours
    .optional()
    .describe("Wh drawn by all miners, also those removed since; never decreases (Rigbridge extension)"),
  groupList: z.array(GroupSummary).optional().describe("(Rigbridge extension)"),
  money: moneyTotal,
  inRepair,
  metaData: MetaData,
});
export interface Summary extends z.infer<typeof Summary> {}

const ofFile = z
  .literal("file")
  .optional()
  .describe("file = declared by the configuration file, and changed only there; absent = it can be changed here");

export const Group = z.object({
  id: int,
  name: text,
  parentId: int.describe("0 = at the top level, or inside a group that the user cannot see"),
  room: z.boolean().optional().describe("true for a room, which Home Assistant shows as an area"),
  owner: ofFile,
});
export type Group = z.infer<typeof Group>;

export const commandStates = ["queued", "sent", "done", "failed", "unknown"] as const;
export type CommandState = (typeof commandStates)[number];

export const causeKinds = ["rule", "schedule", "manual", "template", "bulk"] as const;

export const CommandCause = z.object({
  kind: z.enum(causeKinds),
  key: text.describe("key of the rule or schedule, name of the template, or the bulk action"),
  id: int
    .optional()
    .describe(
      "id of the rule, schedule or template, also of one that a bulk action applies; absent if there is none, or of commands of earlier versions",
    ),
  run: int.describe("id of the run"),
  safety: z.boolean().optional().describe("whether the rule comes before people"),
});
export type CommandCause = z.infer<typeof CommandCause>;

export const Command = z.object({
  id: int,
  minerId: int.describe("0 for a change of settings, or of a room that has no miner"),
  minerName: text,
  actor: text.describe(
    "the user whose API key was used, or the front end; `http for anna` means a request with anna's user_id",
  ),
  action: text,
  parameters: z.record(text, z.union([text, z.number(), z.boolean()])).describe("parameters, without secrets"),
  cause: CommandCause.nullable().optional().describe("the run of steps that it belongs to; null if it belongs to none"),
  state: z.enum(commandStates),
  message: text.describe("the rig's response"),
  time: z.iso.datetime().describe("when it was requested"),
  updated: z.iso.datetime(),
});
export interface Command extends z.infer<typeof Command> {}

export const CommandList = z.object({ commandList: z.array(Command) });

/** The reply to every action: 2xx only once the rig, or the store, has accepted it. */
export const ActionReply = z.object({
  success: z.literal(true),
  message: text.describe("the rig's response"),
  commandId: int.optional().describe("the command in GET /api/commands, if one was sent to a rig"),
  state: z
    .enum(commandStates)
    .optional()
    .describe("`sent`: the rig has not answered yet (202), or has accepted a restart and not confirmed it yet (200)"),
  taken: z.literal(true).optional().describe("with `sent`: the rig has accepted the action"),
});
export type ActionReply = z.infer<typeof ActionReply>;

/** What a user may do: view; also control miners; also change the service's configuration. */
export const privileges = ["view", "control", "administrator"] as const;
export type Privilege = (typeof privileges)[number];

export const User = z.object({
  id: int,
  name: text,
  privilege: z.enum(privileges),
  groups: z.array(int).nullable().describe("ids of the groups that the user sees; null = all"),
  pools: z.array(int).nullable().describe("Static IDs of the pools that the user sees; null = all"),
  hasKey: z.boolean().describe("whether the user has an API key"),
  centre: z
    .literal(true)
    .optional()
    .describe("its key belongs to a centre, whose word on who acts is believed; absent = no"),
  owner: ofFile,
});
export type User = z.infer<typeof User>;

const figure = z.number().nullable();

export const History = z.object({
  step: z.number().describe("seconds between two points; 0 = every single reading"),
  points: z
    .array(z.tuple([int, figure, figure, figure, figure]))
    .describe(
      "[time, hashrate, power, temperature, energy]: start of the step in epoch ms; means in H/s, W and °C; energy " +
        "counter in Wh at the step's first reading. A step without readings has no point",
    ),
});
export type History = z.infer<typeof History>;

export const roomKinds = ["target", "power", "surplus"] as const;

/** A group that a family controls with one slider or switch. */
/** A device of the building, as the settings declare it and as it was last read. Source: docs/facility.md. */
export const FacilityDeviceState = z.object({
  key: text.describe("as in the settings; at a centre after the name of the site"),
  name: text,
  kind: z.enum(facilityKinds),
  driver: z.enum(["modbus", "snmp", "shelly", "mqtt", "http-json"]),
  place: z.array(text).describe("where it is, from the site down; empty if it is not set"),
  state: z
    .enum(["ok", "implausible", "silent", "unread"])
    .describe("implausible: some values are not believed, and null; silent: it could not be read last time"),
  problem: text.nullable().describe("why it is silent, or which values are not believed"),
  age: int.nullable().describe("seconds since it was last read; null before that"),
  readings: z
    .object({
      power: figure.describe("W"),
      energy: figure.describe("kWh of its counter"),
      voltage: figure.describe("V"),
      current: figure.describe("A"),
      temperature: figure.describe("°C"),
      on: z.boolean().nullable().describe("whether it runs"),
    })
    .describe("null: it does not measure it, it is unknown, or it is not believed"),
  outlets: z
    .array(
      z.object({
        n: int,
        miner: text.nullable().describe("name or uid of the rig that it supplies, as in the settings"),
        on: z.boolean().nullable(),
        power: figure.describe("W"),
      }),
    )
    .describe("of a PDU; empty for any other device"),
  rigs: z
    .object({
      total: int,
      unknown: int.describe("rigs whose power is unknown, which `power` does not contain"),
      power: z.number().describe("W that its rigs say together"),
    })
    .nullable()
    .describe("the rigs behind a meter or PDU; null if the settings name none"),
});
export type FacilityDeviceState = z.infer<typeof FacilityDeviceState>;

export const Room = z.object({
  key: text.describe("stays as long as the room; as POST /api/rooms/{key} takes it"),
  name: text,
  kind: z
    .enum(roomKinds)
    .describe("target: holds a temperature; power: a group that is a room; surplus: its rigs follow a power surplus"),
  groupId: int.nullable().describe("group of its rigs; null for a room with one miner"),
  miners: z.array(int).describe("ids of its miners"),
  on: z
    .boolean()
    .nullable()
    .describe("false while all its rigs are stopped (target, surplus: by a user); null if it is unknown"),
  control: z
    .object({
      unit: z.enum(["°C", "W"]),
      value: figure.describe("what it is set to; null if it is unknown"),
      min: z.number(),
      max: z.number().describe("within the maximum of the room"),
      step: z.number().nullable().describe("null where there are only `options`"),
      options: z.array(z.number()).nullable().describe("all values that its rigs have, where these are few"),
    })
    .nullable()
    .describe(
      "its slider: the target in °C, the power in W, or for a surplus the W that its rigs take of it at most (`max` = " +
        "all of it, 0 = switched off); null if it has none, or none of its rigs can be reached",
    ),
  changing: z.boolean().describe("whether a command about the power of its rigs is under way"),
  temperature: figure.describe("°C; null if it is unknown or older than 15 minutes"),
  temperatureAt: z.iso.datetime().nullable().describe("when it was reported"),
  demand: figure.describe("its heat demand, 0 to 1"),
  surplus: figure.describe("W, positive for export, of a surplus; null if it is unknown or older than 15 minutes"),
  surplusAt: z.iso.datetime().nullable().describe("when it was reported"),
  available: figure.describe("W that the surplus would be if its rigs were off; null if that is unknown"),
  availableAt: z.iso.datetime().nullable().describe("of which time, since the rigs must have settled first"),
  mining: int.describe("number of its miners that mine"),
  power: figure.describe("W that its rigs draw, as far as known"),
  heldBy: MinerPower.shape.heldBy.describe("who controls its power instead of the room itself; null if nobody does"),
  max: z
    .object({
      watts: z.number(),
      owner: z.enum(["file", "store"]).describe("file: set in the configuration file, and changed only there"),
    })
    .nullable()
    .describe("what its rigs may take together, no matter who sets them; null = no maximum"),
  highest: figure.describe("W that its rigs could be set to together without the maximum; null if it is unknown"),
  lowest: figure.describe("W of the lowest power that one of its rigs can be set to; null if it is unknown"),
  today: z
    .object({
      date: text.describe("local date"),
      energy: figure.describe("Wh"),
      cost: figure,
      revenue: figure,
      profit: figure,
      currency: text.describe("ISO 4217"),
      incomplete: z.boolean().describe("revenue or cost was unknown for a part of the day"),
    })
    .describe("since midnight, up to a minute ago; null is unknown"),
});
export interface Room extends z.infer<typeof Room> {}

const missing = z
  .array(text)
  .optional()
  .describe("sites whose figures are left out, each with the reason; absent if none are");

export const SummaryHistory = z.object({
  step: z
    .number()
    .describe("seconds between two points; 0 = every sample, one a minute, or one an hour for older times"),
  algorithm: text.nullable().describe("id of the algorithm that the hash rate is of; null if none was mined"),
  algorithms: z.array(text).describe("ids of all algorithms mined in this time, the one of most miners first"),
  currency: text.describe("ISO 4217, of every amount; what was recorded in another currency is null"),
  points: z
    .array(z.tuple([int, figure, figure, figure, figure, figure, figure, figure]))
    .describe(
      "[time, hashrate, power, mining, total, revenue, cost, profit]: start of the step in epoch ms; means of the hash " +
        "rate in H/s, the power in W, the miners that mine and all miners, and of what is earned and paid per day; sums " +
        "of what is known. Where nothing was recorded for a while, one point of nulls stands for the gap",
    ),
  missing,
});
export type SummaryHistory = z.infer<typeof SummaryHistory>;

export const jobStates = ["running", "done", "cancelled"] as const;

export const Discovery = z.object({
  state: z.enum(jobStates),
  scanned: int.describe("addresses scanned"),
  total: int.describe("addresses to scan"),
  found: z.array(
    z.object({
      address: text.describe("address, as accepted by POST /api/miners"),
      driver: text.nullable().describe("null if this version cannot read the device"),
      identity: Identity,
      known: z.boolean().describe("whether it is among the miners already"),
      note: text.nullable().describe("why it cannot be read, for example a missing token, or what a login would add"),
    }),
  ),
});
export type Discovery = z.infer<typeof Discovery>;

export const JobStarted = z.object({ id: int });

/** `possible`: in a dry run, the miner would accept the action. `cancelled`: not sent. */
export const bulkStates = [...commandStates, "cancelled", "possible"] as const;

/** An action for many miners, without its results. */
export const BulkJob = z.object({
  id: int,
  action: text,
  parameters: z
    .record(text, z.union([text, z.number(), z.boolean()]))
    .describe("parameters of the action, as requested, with `orReboot`"),
  state: z.enum(jobStates),
  dryRun: z.boolean(),
  actor: text.describe("the user or front end that requested it"),
  time: z.iso.datetime().describe("when it was requested"),
  total: int.describe("number of miners"),
  done: int.describe("miners that accepted it, or would accept it"),
  failed: int.describe("miners that did not"),
  unknown: int.describe("miners that may have accepted it: it was sent, but nothing confirms the result"),
});
export type BulkJob = z.infer<typeof BulkJob>;

export const BulkAction = BulkJob.extend({
  preview: BulkPreview.nullable().describe("what it would change; null unless it is a dry run"),
  results: z.array(
    z.object({
      minerId: int,
      state: z.enum(bulkStates),
      message: text.describe("the rig's response"),
      before: text
        .nullable()
        .describe(
          "what the setting was before, as last read: the value of the control, or the pool as `single 3` or `group 3`; null = not known, or the action changes no setting",
        ),
    }),
  ),
});
export type BulkAction = z.infer<typeof BulkAction>;

/** The price of electricity over time, in the display currency. */
export const PriceList = z.object({
  currency: text.describe("ISO 4217, of every price here"),
  source: text.nullable().describe("host or topic; null = the configuration"),
  at: z.iso.datetime().nullable().describe("when the prices were read from the source; null = never, or no source"),
  age: z.number().nullable().describe("seconds since then"),
  now: figure.describe("what a kWh costs now, with surcharge and factor; null if it is unknown or no price is set"),
  prices: z
    .array(z.object({ start: z.iso.datetime(), end: z.iso.datetime(), value: z.number() }))
    .describe("prices per kWh, with surcharge and factor, sorted; a time without a known price has none"),
  problem: text.nullable().describe("why prices are missing or old; null if nothing is wrong"),
});
export type PriceList = z.infer<typeof PriceList>;

const age = z.number().nullable().describe("seconds since then");
const readAt = z.iso.datetime().nullable().describe("when it was read from the source");

export const MarketCoin = z.object({
  shortName: text,
  name: text,
  algorithm: text,
  coinClass: z.enum(coinClasses).optional().describe("`UserDefined`: DELETE /api/coins removes it"),
  profit: figure.describe("BTC per MH/s per day, as it counts now"),
  profitUsd: figure.describe("USD per MH/s per day, where only a price in USD is known"),
  setBy: z
    .enum(["hand", "file", "market"])
    .nullable()
    .describe("where the profitability is from: POST /api/coins, the configuration file, or the sources"),
  difficulty: figure,
  networkHashrate: figure.describe("H/s"),
  blockTime: figure.describe("seconds"),
  reward: figure.describe("coins per block"),
  workSource: text.nullable().describe("host of the source of these four"),
  workAt: readAt,
  workAge: age,
  priceBtc: figure,
  priceUsd: figure,
  priceSource: text.nullable(),
  priceAt: readAt,
  priceAge: age,
  held: text.nullable().describe("why a newer value is not used; null if none is held back"),
});

export const Market = z.object({
  coins: z.array(MarketCoin),
  rates: z.object({
    currency: text,
    btc: figure.describe("money per BTC"),
    source: text.nullable().describe("null = the configuration, or unknown"),
    at: readAt,
    age,
  }),
  sources: z.array(
    z.object({
      type: text,
      source: text.describe("host"),
      at: readAt,
      age,
      problem: text.nullable().describe("why the last attempt failed or what was odd; null if nothing is wrong"),
    }),
  ),
});
export interface Market extends z.infer<typeof Market> {}

export const moneyPeriods = ["day", "month"] as const;
export const moneySubjects = ["miner", "group", "place", "coin", "algorithm"] as const;

const moneySums = {
  period: text.describe("local date, 2026-11-22, or month, 2026-11"),
  hours: z.number().describe("hours that the miners were read in"),
  energy: figure.describe("Wh"),
  cost: figure,
  revenue: figure,
  profit: figure.describe(
    "revenue less cost of the times in which both are known, so it can differ from `revenue` less `cost`",
  ),
  profitHours: z.number().describe("of `hours`, those that the profit is of"),
  revenueBtc: figure,
  profitBtc: figure,
  incomplete: z.boolean().describe("whether revenue or cost was unknown for a part of the time"),
} as const;

export const MoneyReport = z.object({
  by: z.enum(moneyPeriods),
  of: z.enum(moneySubjects),
  currency: text,
  list: z
    .array(
      z.object({
        ...moneySums,
        id: int.nullable().describe("of the miner, group or place; null for coins and algorithms"),
        name: text.describe("empty for a coin or algorithm that was unknown"),
      }),
    )
    .describe("sums of what is known, each kWh at the price of its time; a group includes its subgroups"),
  totalList: z.array(z.object(moneySums)).describe("all together, each miner once"),
  missing,
});
export interface MoneyReport extends z.infer<typeof MoneyReport> {}
