import { z } from "zod";
import { ChannelBody, ChannelPatch, ChannelState } from "./channels.ts";
import { historyTable, moneyTable, summaryHistoryTable, type Table } from "./csv.ts";
import {
  ChangeCurtailmentBody,
  ChangeCurtailmentPlanBody,
  Curtailment,
  CurtailmentBody,
  CurtailmentDrillBody,
  CurtailmentPlan,
  CurtailmentPlanBody,
  CurtailmentPreview,
  CurtailmentPreviewBody,
  CurtailmentReport,
  CurtailmentsQuery,
  curtailmentTable,
} from "./curtailment.ts";
import { RowEvent, ServiceEvent } from "./events.ts";
import {
  ImportBody,
  ImportPreview,
  ImportQuery,
  ImportResult,
  longestImport,
  MinerExport,
  minerTable,
  PlacedMiners,
  placedTable,
} from "./imports.ts";
import {
  AddMinerBody,
  AgentBody,
  AllNotificationsQuery,
  BulkActionsQuery,
  BulkBody,
  ChangeGroupBody,
  ChangeMinerBody,
  CoinName,
  CoinQuery,
  CommandsQuery,
  DiscoveryBody,
  DownloadBody,
  EventsQuery,
  GroupBody,
  HistoryQuery,
  HostBody,
  Id,
  ManagedMinerBody,
  MinerActionQuery,
  MinerExportQuery,
  MinerListQuery,
  MinerNoteBody,
  MinerRowsQuery,
  MoneyQuery,
  NotificationListQuery,
  NotificationQuery,
  NotificationsBody,
  PoolActionQuery,
  PoolBody,
  PoolGroupBody,
  PricesQuery,
  parameter,
  RoomBody,
  RowEventsQuery,
  RunsQuery,
  SaveManagedMinerQuery,
  SummaryHistoryQuery,
  TryQuery,
  UpcomingQuery,
  UserBody,
} from "./inputs.ts";
import { OwnedBody, OwnedSet, ReleaseBody } from "./owned.ts";
import { ChangePlaceBody, LocatePlaceBody, Place, PlaceBody } from "./place-operations.ts";
import {
  ActionReply,
  AddPoolEntry,
  AgentEntry,
  AgentToken,
  BulkAction,
  BulkJob,
  CatalogueEntry,
  CommandLineReply,
  CommandList,
  Discovery,
  DownloadReply,
  FacilityDeviceState,
  Group,
  History,
  Host,
  JobStarted,
  ManagedMiner,
  Market,
  MinerDetail,
  MinerList,
  MinerPool,
  MinerSettings,
  MiningSoftware,
  MoneyReport,
  NotificationList,
  Pool,
  PoolGroup,
  PoolList,
  PriceList,
  type Privilege,
  Room,
  Summary,
  SummaryHistory,
  SystemInfo,
  User,
} from "./resources.ts";
import { MinerRowList } from "./rows.ts";
import {
  MaintenanceSettings,
  MaintenanceWindow,
  RuleId,
  RuleInfo,
  RuleList,
  RulePatch,
  RuleRuns,
  RuleSettings,
  RunList,
  ScheduleInfo,
  SchedulePatch,
  ScheduleSettings,
  TryReply,
  Upcoming,
} from "./rules.ts";
import {
  BrokerList,
  DryRunQuery,
  SaveSettingsBody,
  SectionName,
  SettingsChange,
  SettingsList,
  SettingsReload,
  SettingsTest,
  TestSettingsBody,
  TopicList,
} from "./settings.ts";
import { Sighting, SightingBody } from "./sightings.ts";
import { SignalView } from "./signals.ts";
import { Site, SiteToken } from "./sites.ts";
import { Key } from "./steps.ts";
import { BenchmarkEntry, SwitchingState } from "./switching.ts";
import { ManagedTemplate, ManagedTemplateList, TemplateBody } from "./templates.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Fields = Readonly<Record<string, z.ZodType>>;

/** The rights that a user needs for an operation. */
export interface OperationAccess {
  readonly privilege: Privilege;
  /** `all`: the user must see all groups and pools. `visible`: the operation covers what the user sees. */
  readonly scope: "visible" | "all";
  /** Only for a user that is a centre. */
  readonly centre?: true;
}

/**
 * What an operation is about where a service shows several sites. `merge`: all sites, in one reply; `route`: the site of
 * the numbers in its input, else the service itself; `fan`: every site concerned, with one result; `own`: the service
 * itself; `site`: the lists of all sites, whose entries are changed only at their own site.
 */
export type SiteScope = "merge" | "route" | "fan" | "own" | "site";

/** One operation: its path, who may call it, its input and its reply. */
export interface Operation {
  /** A call has one reply; a stream yields `reply` again and again until it is aborted. */
  readonly kind: "call" | "stream";
  readonly method: Method;
  /** With `:name` for path parameters, as in `params`. */
  readonly path: string;
  /** A second path, which some clients of the documented API use. */
  readonly alias?: string;
  readonly summary: string;
  readonly params?: Fields;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** The field of the body that a body of CSV is: over HTTP it may be sent as text/csv. */
  readonly csvBody?: string;
  readonly reply: z.ZodType;
  readonly access: OperationAccess;
  readonly scope: SiteScope;
  /** Success status if it is not 200. */
  readonly status?: number;
  /** The most bytes of its body, over HTTP, if it takes longer ones than others. */
  readonly longestBody?: number;
  /** The reply as a table, over HTTP: for `format=csv`, and at the same path with `.csv` or at `csvPath`. */
  readonly csv?: (reply: never) => Table;
  readonly csvPath?: string;
  /** A Rigbridge extension: not part of the documented API. */
  readonly extension?: true;
  /** It shares its method and path with another operation: requests with this `view` in their query are for it. */
  readonly view?: string;
  /** Its own path, which needs no `view`. */
  readonly ownPath?: string;
  /** The media type of its reply if it is not that of JSON: two replies of one path must differ in it. */
  readonly media?: string;
}

const viewers = { privilege: "view", scope: "visible" } as const;
const operators = { privilege: "control", scope: "visible" } as const;
const administrators = { privilege: "administrator", scope: "visible" } as const;
const closed = { privilege: "administrator", scope: "all" } as const;
const centres = { ...closed, centre: true } as const;

type Rest = Omit<Operation, "kind" | "method" | "path" | "access">;
/** Exported because declarations name it for each operation. */
export interface Call<M extends Method> {
  readonly kind: "call";
  readonly method: M;
  readonly path: string;
  readonly access: OperationAccess;
}
const call =
  <const M extends Method>(method: M) =>
  <const T extends Rest>(path: string, access: OperationAccess, rest: T): Call<M> & T => ({
    kind: "call",
    method,
    path,
    access,
    ...rest,
  });
const [get, post, put, patch, remove] = [call("GET"), call("POST"), call("PUT"), call("PATCH"), call("DELETE")];
const stream = <const T extends Rest>(path: string, access: OperationAccess, rest: T) =>
  ({ kind: "stream", method: "GET", path, access, ...rest }) as const;

const byIdOf = (resource: string) => ({ id: parameter(Id, `id of the ${resource}`, 1) }) as const;
const byIdOrKey = (resource: string) => ({ id: parameter(RuleId, `id or key of the ${resource}`, "too-hot") }) as const;
const poolOfMiner = {
  ...byIdOf("miner"),
  poolId: parameter(Id, "Active ID of the pool, as in the miner's pools", 2),
} as const;
const channel = { key: parameter(RuleId, "key or id of the channel", "phone") } as const;
const section = { section: parameter(SectionName, "a key of the configuration file", "poll") } as const;
const curtailmentPlan = { key: parameter(Key, "key of the plan", "peak") } as const;
const room = { key: parameter(z.string().min(1).max(100), "key of the room", "group-1") } as const;
const coin = { shortName: parameter(CoinName, "the coin's short name", "BTC") } as const;
const extension = true as const;

/** A reply under the name of its interface, so that declarations do not repeat its fields for each operation. */
const named = <T>(reply: z.ZodType<T>): z.ZodType<T> => reply;

/** The table of operations: the 28 of the API document in its order, then the Rigbridge extensions. */
export const operations = {
  listMiners: get("/api/miners", viewers, {
    scope: "merge",
    summary: "All miners, by group",
    alias: "/webapi/miners",
    query: MinerListQuery,
    reply: named<MinerList>(MinerList),
  }),
  getMiner: get("/api/miners/:id", viewers, {
    scope: "route",
    summary: "One miner, with its pools and devices",
    params: byIdOf("miner"),
    reply: named<MinerDetail>(MinerDetail),
  }),
  minerAction: post("/api/miners/:id", operators, {
    scope: "route",
    summary: "Reboots, stops, starts, restarts a miner, changes its pool, or sets one of its controls",
    params: byIdOf("miner"),
    query: MinerActionQuery,
    reply: ActionReply,
  }),
  listAddPools: get("/api/miners/:id/pools", viewers, {
    scope: "route",
    summary: "The pools that can be added to a miner, or that it can change to",
    params: byIdOf("miner"),
    reply: z.object({ addPoolList: z.array(AddPoolEntry) }),
  }),
  getMinerPool: get("/api/miners/:id/pools/:poolId", viewers, {
    scope: "route",
    summary: "One active pool of a miner",
    params: poolOfMiner,
    reply: MinerPool,
  }),
  minerPoolAction: post("/api/miners/:id/pools/:poolId", operators, {
    scope: "route",
    summary: "Removes, disables, enables or prioritizes a pool of a miner",
    params: poolOfMiner,
    query: PoolActionQuery,
    reply: ActionReply,
  }),
  listPools: get("/api/pools", viewers, { scope: "merge", summary: "All pool definitions", reply: PoolList }),
  getPool: get("/api/pools/:id", viewers, {
    scope: "route",
    summary: "One pool definition",
    params: byIdOf("pool"),
    reply: Pool,
  }),
  savePool: post("/api/pools", closed, {
    scope: "route",
    summary: "Adds or updates a pool definition",
    body: PoolBody,
    reply: Pool,
  }),
  deletePool: remove("/api/pools/:id", closed, {
    scope: "route",
    summary: "Removes a pool definition",
    params: byIdOf("pool"),
    reply: ActionReply,
  }),
  listPoolGroups: get("/api/poolgroups", viewers, {
    scope: "merge",
    summary: "All pool groups",
    reply: z.array(PoolGroup),
  }),
  listHosts: get("/api/hosts", viewers, { scope: "merge", summary: "All hosts", reply: named<Host[]>(z.array(Host)) }),
  getHost: get("/api/hosts/:id", viewers, {
    scope: "route",
    summary: "One host",
    params: byIdOf("host"),
    reply: named<Host>(Host),
  }),
  saveHost: post("/api/hosts", closed, {
    scope: "route",
    summary: "Adds or updates a host",
    body: HostBody,
    reply: named<Host>(Host),
  }),
  getHostSystemInfo: get("/api/hosts/:id/systeminfo", viewers, {
    scope: "route",
    summary: "The GPUs of a host",
    params: byIdOf("host"),
    reply: SystemInfo,
  }),
  listManagedMiners: get("/api/managedminers", viewers, {
    scope: "merge",
    summary: "All managed miners",
    reply: named<ManagedMiner[]>(z.array(ManagedMiner)),
  }),
  getManagedMiner: get("/api/managedminers/:id", viewers, {
    scope: "route",
    summary: "One managed miner",
    params: byIdOf("managed miner"),
    reply: named<ManagedMiner>(ManagedMiner),
  }),
  saveManagedMiner: post("/api/managedminers", closed, {
    scope: "route",
    summary: "Adds or updates a managed miner; with dryRun=true it is only checked, also by its host's agent",
    query: SaveManagedMinerQuery,
    body: ManagedMinerBody,
    reply: named<ManagedMiner>(ManagedMiner),
  }),
  listMiningSoftware: get("/api/miningsoftware", viewers, {
    scope: "own",
    summary: "The catalogue of mining software",
    reply: z.array(MiningSoftware),
  }),
  listAlgorithms: get("/api/algorithms", viewers, {
    scope: "own",
    summary: "The catalogue of algorithms",
    reply: z.array(CatalogueEntry),
  }),
  listNotifications: get("/api/notifications", viewers, {
    scope: "merge",
    summary: "All notifications",
    query: NotificationListQuery,
    reply: NotificationList,
  }),
  allNotificationsAction: post("/api/notifications", operators, {
    scope: "fan",
    summary: "Acknowledges or removes all notifications",
    query: AllNotificationsQuery,
    reply: ActionReply,
  }),
  notificationsAction: post("/api/notifications/actions", operators, {
    scope: "fan",
    summary: "Acknowledges or removes some notifications",
    body: NotificationsBody,
    reply: ActionReply,
    extension,
  }),
  notificationAction: post("/api/notifications/:id", operators, {
    scope: "route",
    summary: "Acknowledges or removes one notification",
    params: byIdOf("notification"),
    query: NotificationQuery,
    reply: ActionReply,
  }),
  listManagedTemplates: get("/api/managedtemplates", viewers, {
    scope: "merge",
    summary: "Managed templates",
    reply: ManagedTemplateList,
  }),
  getSummary: get("/api/summary", viewers, {
    scope: "merge",
    summary: "Dashboard totals",
    reply: named<Summary>(Summary),
  }),
  saveCoin: post("/api/coins/:shortName", closed, {
    scope: "own",
    summary: "Sets a coin's profitability, or adds a user-defined coin",
    params: coin,
    query: CoinQuery,
    reply: ActionReply,
  }),
  deleteCoin: remove("/api/coins/:shortName", closed, {
    scope: "own",
    summary: "Removes a user-defined coin",
    params: coin,
    reply: ActionReply,
  }),
  getUser: get("/api/user/:username", viewers, {
    scope: "own",
    summary: "The id of a user",
    params: { username: parameter(z.string().min(1).max(200), "the user's name", "anna") },
    reply: z.object({ userId: z.int() }),
  }),

  addMiner: post("/api/miners", administrators, {
    scope: "route",
    summary: "Adds a miner by its address and identifies it in the background",
    body: AddMinerBody,
    reply: named<MinerDetail>(MinerDetail),
    status: 201,
    extension,
  }),
  changeMiner: patch("/api/miners/:id", administrators, {
    scope: "route",
    summary: "Changes the settings of a miner",
    params: byIdOf("miner"),
    body: ChangeMinerBody,
    reply: named<MinerDetail>(MinerDetail),
    extension,
  }),
  deleteMiner: remove("/api/miners/:id", administrators, {
    scope: "route",
    summary: "Removes a miner and its history",
    params: byIdOf("miner"),
    reply: ActionReply,
    extension,
  }),
  addMinerNote: post("/api/miners/:id/notes", operators, {
    scope: "route",
    summary: "Adds a dated note to what happened to a miner; GET /api/commands lists it",
    params: byIdOf("miner"),
    body: MinerNoteBody,
    reply: ActionReply,
    extension,
  }),
  pollMiner: post("/api/miners/:id/poll", operators, {
    scope: "route",
    summary: "Reads a miner now",
    params: byIdOf("miner"),
    reply: named<MinerDetail>(MinerDetail),
    extension,
  }),
  listGroups: get("/api/groups", viewers, {
    scope: "merge",
    summary: "All groups of miners",
    reply: z.array(Group),
    extension,
  }),
  addGroup: post("/api/groups", closed, {
    scope: "route",
    summary: "Adds a group",
    body: GroupBody,
    reply: Group,
    status: 201,
    extension,
  }),
  changeGroup: patch("/api/groups/:id", closed, {
    scope: "route",
    summary: "Renames or moves a group",
    params: byIdOf("group"),
    body: ChangeGroupBody,
    reply: Group,
    extension,
  }),
  deleteGroup: remove("/api/groups/:id", closed, {
    scope: "route",
    summary: "Removes a group; its miners and groups move to its parent",
    params: byIdOf("group"),
    reply: ActionReply,
    extension,
  }),
  listPlaces: get("/api/places", viewers, {
    scope: "merge",
    summary:
      "Sites, buildings, rows and racks, each before those inside it, with the sums of their miners; a user of some groups sees the places of the miners that they see",
    reply: named<Place[]>(z.array(Place)),
    extension,
  }),
  addPlace: post("/api/places", closed, {
    scope: "route",
    summary: "Adds a place",
    body: PlaceBody,
    reply: named<Place>(Place),
    status: 201,
    extension,
  }),
  changePlace: patch("/api/places/:id", closed, {
    scope: "route",
    summary: "Renames, moves or changes a place",
    params: byIdOf("place"),
    body: ChangePlaceBody,
    reply: named<Place>(Place),
    extension,
  }),
  deletePlace: remove("/api/places/:id", closed, {
    scope: "route",
    summary: "Removes a place; what is in it moves to its parent",
    params: byIdOf("place"),
    reply: ActionReply,
    extension,
  }),
  exportPlaces: get("/api/places/rigs", viewers, {
    scope: "merge",
    summary: "The rigs with their places, as rows of a table that POST /api/imports takes; without managed miners",
    query: MinerExportQuery,
    reply: named<PlacedMiners>(PlacedMiners),
    csv: placedTable,
    csvPath: "/api/places.csv",
    extension,
  }),
  locatePlace: post("/api/places/:id/locate", operators, {
    scope: "route",
    summary:
      "Has the rigs of a place that can signal where they are, for some seconds; a job like those of POST /api/actions",
    params: byIdOf("place"),
    body: LocatePlaceBody,
    reply: JobStarted,
    status: 202,
    extension,
  }),
  listCommands: get("/api/commands", viewers, {
    scope: "merge",
    summary:
      "Commands sent to rigs, with sender and result, and what else happened to rigs: notes, repairs, restarts that nobody commanded, other firmware; newest first, at most 1,000",
    query: CommandsQuery,
    reply: CommandList,
    extension,
  }),
  listRuns: get("/api/runs", viewers, {
    scope: "merge",
    summary: "What rules and schedules did, and what held them back; newest first, the last 30 days, at most 1,000",
    query: RunsQuery,
    reply: RunList,
    extension,
  }),
  cancelCommand: remove("/api/commands/:id", operators, {
    scope: "route",
    summary: "Cancels a command that has not been sent yet",
    params: byIdOf("command"),
    reply: ActionReply,
    extension,
  }),
  savePoolGroup: post("/api/poolgroups", closed, {
    scope: "route",
    summary: "Adds or updates a pool group",
    body: PoolGroupBody,
    reply: PoolGroup,
    extension,
  }),
  deletePoolGroup: remove("/api/poolgroups/:id", closed, {
    scope: "route",
    summary: "Removes a pool group",
    params: byIdOf("pool group"),
    reply: ActionReply,
    extension,
  }),
  deleteHost: remove("/api/hosts/:id", closed, {
    scope: "route",
    summary: "Removes a host",
    params: byIdOf("host"),
    reply: ActionReply,
    extension,
  }),
  deleteManagedMiner: remove("/api/managedminers/:id", closed, {
    scope: "route",
    summary: "Removes a managed miner",
    params: byIdOf("managed miner"),
    reply: ActionReply,
    extension,
  }),
  saveManagedTemplate: post("/api/managedtemplates", administrators, {
    scope: "route",
    summary: "Adds or updates a managed template",
    body: TemplateBody,
    reply: ManagedTemplate,
    extension,
  }),
  deleteManagedTemplate: remove("/api/managedtemplates/:id", administrators, {
    scope: "route",
    summary: "Removes a managed template",
    params: byIdOf("managed template"),
    reply: ActionReply,
    extension,
  }),
  listUsers: get("/api/users", administrators, {
    scope: "own",
    summary: "All users; an administrator of some groups or pools sees only themselves",
    reply: z.array(User),
    extension,
  }),
  saveUser: post("/api/users", closed, {
    scope: "own",
    summary: "Adds or updates a user",
    body: UserBody,
    reply: User,
    extension,
  }),
  deleteUser: remove("/api/users/:id", closed, {
    scope: "own",
    summary: "Removes a user",
    params: byIdOf("user"),
    reply: ActionReply,
    extension,
  }),
  startDiscovery: post("/api/discovery", closed, {
    scope: "own",
    summary: "Scans networks for rigs; one scan at a time",
    body: DiscoveryBody,
    reply: JobStarted,
    status: 202,
    extension,
  }),
  getDiscovery: get("/api/discovery/:id", closed, {
    scope: "own",
    summary: "Progress and results of a scan; kept until an hour after its end or a restart",
    params: byIdOf("scan"),
    reply: Discovery,
    extension,
  }),
  cancelDiscovery: remove("/api/discovery/:id", closed, {
    scope: "own",
    summary: "Cancels a scan",
    params: byIdOf("scan"),
    reply: ActionReply,
    extension,
  }),
  listSightings: get("/api/sightings", closed, {
    scope: "own",
    summary:
      "Rigs at addresses to which a report, a lease or the ARP table points: those that reported themselves, newest first, then new ones and those that have moved in the order in which they were first sighted; at most 500, the others as these are placed, for a day or until a restart",
    reply: named<Sighting[]>(z.array(Sighting)),
    extension,
  }),
  placeSighting: post("/api/sightings/:id", closed, {
    scope: "own",
    summary:
      "Puts the rig of a sighting into a place: adds it if it is new, and changes its address if it has moved, which ends its login",
    params: byIdOf("sighting"),
    body: SightingBody,
    reply: named<MinerDetail>(MinerDetail),
    extension,
  }),
  startBulkAction: post("/api/actions", operators, {
    scope: "fan",
    summary:
      "Starts one action for many miners, as a job that survives a restart; at most 20 jobs run at once, 5 per user, " +
      "and 4 are reserved for the service's own key",
    body: BulkBody,
    reply: JobStarted,
    status: 202,
    extension,
  }),
  listBulkActions: get("/api/actions", viewers, {
    scope: "merge",
    summary:
      "The actions for many miners, newest first: the caller's own, or all for callers who see all groups and pools",
    query: BulkActionsQuery,
    reply: z.array(BulkJob),
    extension,
  }),
  getBulkAction: get("/api/actions/:id", viewers, {
    scope: "route",
    summary: "Progress and results of an action for many miners; the last 1,000 that have ended are kept for 30 days",
    params: byIdOf("job"),
    reply: BulkAction,
    extension,
  }),
  cancelBulkAction: remove("/api/actions/:id", operators, {
    scope: "route",
    summary: "Cancels the commands that have not been sent yet",
    params: byIdOf("job"),
    reply: ActionReply,
    extension,
  }),
  watchEvents: stream("/api/events", viewers, {
    scope: "merge",
    summary: "Changes as they happen, as server-sent events",
    query: EventsQuery,
    reply: named<ServiceEvent>(ServiceEvent),
    extension,
  }),
  getHistory: get("/api/miners/:id/history", viewers, {
    scope: "route",
    summary: "A miner's hash rate, power, temperature and energy over time",
    params: byIdOf("miner"),
    query: HistoryQuery,
    reply: History,
    csv: historyTable,
    extension,
  }),
  getMoney: get("/api/money", viewers, {
    scope: "merge",
    summary: "What miners, groups, coins or algorithms earned and cost by day or month",
    query: MoneyQuery,
    reply: named<MoneyReport>(MoneyReport),
    csv: moneyTable,
    extension,
  }),
  getPrices: get("/api/prices", viewers, {
    scope: "route",
    summary: "The price of electricity over time, with its source and age",
    query: PricesQuery,
    reply: PriceList,
    extension,
  }),
  getMarket: get("/api/market", viewers, {
    scope: "own",
    summary: "What is known about coins and exchange rates, with source and age",
    reply: named<Market>(Market),
    extension,
  }),

  listRules: get("/api/rules", viewers, {
    scope: "site",
    summary:
      "The rules and how many miners they concern now, and ready-made rules to start from; a user who does not see all " +
      "groups and pools sees the rules that they have made",
    reply: named<RuleList>(RuleList),
    extension,
  }),
  addRule: post("/api/rules", administrators, {
    scope: "site",
    summary: "Adds a rule, which has the access of the user who adds it",
    body: RuleSettings,
    reply: named<RuleInfo>(RuleInfo),
    status: 201,
    extension,
  }),
  changeRule: patch("/api/rules/:id", administrators, {
    scope: "site",
    summary: "Changes the given keys of a rule; null removes a key",
    params: byIdOrKey("rule"),
    body: RulePatch,
    reply: named<RuleInfo>(RuleInfo),
    extension,
  }),
  deleteRule: remove("/api/rules/:id", administrators, {
    scope: "site",
    summary: "Removes a rule and what it did",
    params: byIdOrKey("rule"),
    reply: ActionReply,
    extension,
  }),
  listRuleRuns: get("/api/rules/:id/runs", viewers, {
    scope: "route",
    summary: "What a rule did, and what held it back: newest first, the last 30 days, at most 1,000",
    params: byIdOrKey("rule"),
    reply: RuleRuns,
    extension,
  }),
  tryRule: post("/api/rules/:id/try", administrators, {
    scope: "site",
    summary: "Tries a rule over the stored history and says when it would have fired; nothing is done",
    params: byIdOrKey("rule"),
    query: TryQuery,
    reply: TryReply,
    extension,
  }),
  listSchedules: get("/api/schedules", viewers, {
    scope: "site",
    summary: "The schedules; a user who does not see all groups and pools sees those that they have made",
    reply: named<ScheduleInfo[]>(z.array(ScheduleInfo)),
    extension,
  }),
  addSchedule: post("/api/schedules", administrators, {
    scope: "site",
    summary: "Adds a schedule, which has the access of the user who adds it",
    body: ScheduleSettings,
    reply: named<ScheduleInfo>(ScheduleInfo),
    status: 201,
    extension,
  }),
  upcomingSchedules: get("/api/schedules/upcoming", viewers, {
    scope: "site",
    summary: "What schedules will begin, soonest first; by price as far as the forecast goes",
    query: UpcomingQuery,
    reply: z.array(Upcoming),
    extension,
  }),
  changeSchedule: patch("/api/schedules/:id", administrators, {
    scope: "site",
    summary: "Changes the given keys of a schedule; null removes a key",
    params: byIdOrKey("schedule"),
    body: SchedulePatch,
    reply: named<ScheduleInfo>(ScheduleInfo),
    extension,
  }),
  deleteSchedule: remove("/api/schedules/:id", administrators, {
    scope: "site",
    summary: "Removes a schedule; what it has begun is not ended",
    params: byIdOrKey("schedule"),
    reply: ActionReply,
    extension,
  }),
  listScheduleRuns: get("/api/schedules/:id/runs", viewers, {
    scope: "route",
    summary: "What a schedule did and what it missed: newest first, the last 30 days, at most 1,000",
    params: byIdOrKey("schedule"),
    reply: RuleRuns,
    extension,
  }),
  listMaintenance: get("/api/maintenance", viewers, {
    scope: "site",
    summary: "The maintenance windows; a user who does not see all groups and pools sees those that they have made",
    reply: z.array(MaintenanceWindow),
    extension,
  }),
  addMaintenance: post("/api/maintenance", administrators, {
    scope: "site",
    summary: "Adds a maintenance window: until its end, rules and schedules do nothing at its miners",
    body: MaintenanceSettings,
    reply: MaintenanceWindow,
    status: 201,
    extension,
  }),
  deleteMaintenance: remove("/api/maintenance/:id", administrators, {
    scope: "site",
    summary: "Removes a maintenance window",
    params: byIdOf("maintenance window"),
    reply: ActionReply,
    extension,
  }),

  listChannels: get("/api/channels", administrators, {
    scope: "own",
    summary:
      "The channels that notifications are sent to, and what they have delivered; without secrets. An administrator of some groups or pools gets those that their rules may use",
    reply: z.array(ChannelState),
    extension,
  }),
  testChannel: post("/api/channels/:key/test", closed, {
    scope: "own",
    summary: "Sends a test message to a channel, and answers with what the channel answers",
    params: channel,
    reply: ActionReply,
    extension,
  }),
  addChannel: post("/api/channels", closed, {
    scope: "own",
    summary: "Adds a channel, with the settings of the configuration file; no answer contains its secrets",
    body: ChannelBody,
    reply: ChannelState,
    status: 201,
    extension,
  }),
  changeChannel: patch("/api/channels/:key", closed, {
    scope: "own",
    summary: "Changes the given settings of a channel, except its key and type; null removes a setting",
    params: channel,
    body: ChannelPatch,
    reply: ChannelState,
    extension,
  }),
  deleteChannel: remove("/api/channels/:key", closed, {
    scope: "own",
    summary: "Removes a channel that no rule or schedule uses; messages that wait for it are not sent",
    params: channel,
    reply: ActionReply,
    extension,
  }),

  listSettings: get("/api/settings", closed, {
    scope: "own",
    summary:
      "The sections of the configuration: who owns each, what was written, and what is in effect; without secrets",
    reply: named<SettingsList>(SettingsList),
    extension,
  }),
  findBrokers: get("/api/settings/brokers", closed, {
    scope: "own",
    summary: "Brokers for MQTT that announce themselves on the network, and Home Assistants; takes some seconds",
    reply: named<BrokerList>(BrokerList),
    extension,
  }),
  findTopics: get("/api/settings/topics", closed, {
    scope: "own",
    summary:
      "Topics of the MQTT broker whose messages contain a number, such as those of thermometers and meters; takes some seconds",
    reply: named<TopicList>(TopicList),
    extension,
  }),
  reloadSettings: post("/api/settings/reload", closed, {
    scope: "own",
    summary:
      "Reads the configuration file again and applies it, and restarts the service if a change requires it; a file with mistakes changes nothing",
    reply: SettingsReload,
    extension,
  }),
  saveSettings: put("/api/settings/:section", closed, {
    scope: "own",
    summary:
      "Saves a section that the configuration file does not have, and applies it. The whole configuration is checked first; with dryRun=true, that is all",
    params: section,
    query: DryRunQuery,
    body: SaveSettingsBody,
    reply: named<SettingsChange>(SettingsChange),
    extension,
  }),
  resetSettings: remove("/api/settings/:section", closed, {
    scope: "own",
    summary: "Brings a section back to its defaults",
    params: section,
    query: DryRunQuery,
    reply: named<SettingsChange>(SettingsChange),
    extension,
  }),
  testSettings: post("/api/settings/:section/test", closed, {
    scope: "own",
    summary:
      "Tries a section without saving it: whether the broker of mqtt answers, what the sources of electricity and market say, the values of heating and follow, and which networks scan would search",
    params: section,
    body: TestSettingsBody,
    reply: named<SettingsTest>(SettingsTest),
    extension,
  }),
  undoSettings: post("/api/settings/:section/undo", closed, {
    scope: "own",
    summary: "Brings back what a section was before it was last saved",
    params: section,
    reply: named<SettingsChange>(SettingsChange),
    extension,
  }),

  listAgents: get("/api/agents", closed, {
    scope: "own",
    summary: "The tokens of host agents, without the tokens themselves",
    reply: z.array(AgentEntry),
    extension,
  }),
  addAgent: post("/api/agents", closed, {
    scope: "own",
    summary: "Creates the token with which the agent of a host connects; only this reply shows it",
    body: AgentBody,
    reply: AgentToken,
    status: 201,
    extension,
  }),
  deleteAgent: remove("/api/agents/:id", closed, {
    scope: "own",
    summary: "Revokes a token and ends the connection of its agent",
    params: byIdOf("token"),
    reply: ActionReply,
    extension,
  }),
  getManagedMinerCommand: get("/api/managedminers/:id/command", closed, {
    scope: "route",
    summary: "The command line that a managed miner's host would run; secrets are redacted",
    params: byIdOf("managed miner"),
    reply: CommandLineReply,
    extension,
  }),
  getManagedMinerDownload: get("/api/managedminers/:id/download", closed, {
    scope: "route",
    summary: "The download of a managed miner's software: its address, size and checksum",
    params: byIdOf("managed miner"),
    reply: DownloadReply,
    extension,
  }),
  confirmManagedMinerDownload: post("/api/managedminers/:id/download", closed, {
    scope: "route",
    summary: "Confirms a download by its checksum, which is then valid for every host",
    params: byIdOf("managed miner"),
    body: DownloadBody,
    reply: ActionReply,
    extension,
  }),

  listBenchmarks: get("/api/benchmarks", viewers, {
    scope: "merge",
    summary: "Measured hash rate and power of each model of graphics card or processor, by program and algorithm",
    reply: z.array(BenchmarkEntry),
    extension,
  }),
  deleteBenchmark: remove("/api/benchmarks/:id", closed, {
    scope: "route",
    summary: "Removes a benchmark, which is measured again when a managed miner mines with it",
    params: byIdOf("benchmark"),
    reply: ActionReply,
    extension,
  }),
  getManagedMinerSwitching: get("/api/managedminers/:id/switching", viewers, {
    scope: "route",
    summary: "The choices of a managed miner, what each would earn, and the reason for the present one",
    params: byIdOf("managed miner"),
    reply: SwitchingState,
    extension,
  }),

  getSummaryHistory: get("/api/summary/history", viewers, {
    scope: "merge",
    summary: "Hash rate, power, mining miners and money of the farm over time, as the caller sees it",
    query: SummaryHistoryQuery,
    reply: SummaryHistory,
    csv: summaryHistoryTable,
    extension,
  }),
  listMinerRows: get("/api/miners", viewers, {
    scope: "merge",
    summary: "All miners as rows of a table, or what has changed of them",
    view: "list",
    ownPath: "/api/miners/rows",
    media: "application/vnd.rigbridge.rows+json",
    query: MinerRowsQuery,
    reply: named<MinerRowList>(MinerRowList),
    extension,
  }),
  watchMinerRows: stream("/api/events", viewers, {
    scope: "merge",
    summary: "What happens, as server-sent events with miners as rows",
    view: "list",
    ownPath: "/api/events/rows",
    query: RowEventsQuery,
    reply: named<RowEvent>(RowEvent),
    extension,
  }),
  getVersion: get("/api/version", viewers, {
    scope: "own",
    summary: "The name and version of the service",
    reply: z.object({
      name: z.literal("Rigbridge"),
      version: z.string(),
      newest: z
        .string()
        .nullable()
        .default(null)
        .describe("newest version, asked for only if the configuration has `updates`; null = unknown"),
    }),
    extension,
  }),
  listRooms: get("/api/rooms", viewers, {
    scope: "merge",
    summary:
      "Rooms that rigs heat, groups that are rooms, and surpluses that rigs follow, of which the caller sees all rigs",
    reply: named<Room[]>(z.array(Room)),
    extension,
  }),
  listCurtailments: get("/api/curtailments", viewers, {
    scope: "own",
    summary: "Curtailments of whose rigs the caller sees all, newest first",
    query: CurtailmentsQuery,
    reply: named<Curtailment[]>(z.array(Curtailment)),
    extension,
  }),
  getCurtailment: get("/api/curtailments/:id", viewers, {
    scope: "own",
    summary: "One curtailment",
    params: byIdOf("curtailment"),
    reply: named<Curtailment>(Curtailment),
    extension,
  }),
  getCurtailmentReport: get("/api/curtailments/:id/report", viewers, {
    scope: "own",
    summary:
      "What a curtailment did: each of its rigs, the power of all over time, and what the meters of its places showed",
    params: byIdOf("curtailment"),
    query: MinerExportQuery,
    reply: named<CurtailmentReport>(CurtailmentReport),
    csv: curtailmentTable,
    extension,
  }),
  previewCurtailment: post("/api/curtailments/preview", viewers, {
    scope: "own",
    summary: "What a curtailment would change, by the last readings; nothing is done",
    body: CurtailmentPreviewBody,
    reply: named<CurtailmentPreview>(CurtailmentPreview),
    extension,
  }),
  startCurtailment: post("/api/curtailments", operators, {
    scope: "own",
    summary: "Has the rigs of a scope take less power until it is ended; the caller must see all of them",
    body: CurtailmentBody,
    reply: named<Curtailment>(Curtailment),
    status: 201,
    extension,
  }),
  changeCurtailment: patch("/api/curtailments/:id", operators, {
    scope: "own",
    summary: "Changes the target or the end of a curtailment",
    params: byIdOf("curtailment"),
    body: ChangeCurtailmentBody,
    reply: named<Curtailment>(Curtailment),
    extension,
  }),
  endCurtailment: post("/api/curtailments/:id/end", operators, {
    scope: "own",
    summary: "Ends a curtailment: its rigs get back the power that they had",
    params: byIdOf("curtailment"),
    reply: named<Curtailment>(Curtailment),
    extension,
  }),
  releaseCurtailment: post("/api/curtailments/:id/release", administrators, {
    scope: "own",
    summary: "Ends a curtailment and leaves its rigs as they are",
    params: byIdOf("curtailment"),
    reply: named<Curtailment>(Curtailment),
    extension,
  }),
  listCurtailmentPlans: get("/api/curtailmentplans", viewers, {
    scope: "own",
    summary: "Plans for curtailments",
    reply: named<CurtailmentPlan[]>(z.array(CurtailmentPlan)),
    extension,
  }),
  addCurtailmentPlan: post("/api/curtailmentplans", closed, {
    scope: "own",
    summary: "Adds a plan for curtailments",
    body: CurtailmentPlanBody,
    reply: named<CurtailmentPlan>(CurtailmentPlan),
    status: 201,
    extension,
  }),
  changeCurtailmentPlan: patch("/api/curtailmentplans/:key", closed, {
    scope: "own",
    summary: "Changes a plan; curtailments that have begun stay as they are",
    params: curtailmentPlan,
    body: ChangeCurtailmentPlanBody,
    reply: named<CurtailmentPlan>(CurtailmentPlan),
    extension,
  }),
  deleteCurtailmentPlan: remove("/api/curtailmentplans/:key", closed, {
    scope: "own",
    summary: "Removes a plan that has no curtailment under way",
    params: curtailmentPlan,
    reply: ActionReply,
    extension,
  }),
  drillCurtailmentPlan: post("/api/curtailmentplans/:key/drill", closed, {
    scope: "own",
    summary: "Tries a plan: reads its rigs and reports what it would do, or curtails them for some minutes",
    params: curtailmentPlan,
    body: CurtailmentDrillBody,
    reply: named<Curtailment>(Curtailment),
    status: 201,
    extension,
  }),
  listSignals: get("/api/signals", viewers, {
    scope: "own",
    summary: "Signals that begin and end curtailments, of whose plans the caller sees all rigs",
    reply: named<SignalView[]>(z.array(SignalView)),
    extension,
  }),
  listFacility: get("/api/facility", viewers, {
    scope: "merge",
    summary: "PDUs, meters, sensors, fans and coolers with their readings, of which the caller sees all rigs",
    reply: named<FacilityDeviceState[]>(z.array(FacilityDeviceState)),
    extension,
  }),
  changeRoom: post("/api/rooms/:key", operators, {
    scope: "route",
    summary:
      "Sets the target, the power or the share of a surplus, switches the room, or sets its maximum, which only administrators may",
    params: room,
    body: RoomBody,
    reply: named<Room>(Room),
    extension,
  }),
  getMinerSettings: get("/api/miners/:id/settings", administrators, {
    scope: "route",
    summary: "What is set of a miner, and whether it can be changed over the API; without secrets",
    params: byIdOf("miner"),
    reply: MinerSettings,
    extension,
  }),
  exportMiners: get("/api/miners/settings", administrators, {
    scope: "merge",
    summary: "The rigs as rows of a list that POST /api/imports takes; without secrets and managed miners",
    query: MinerExportQuery,
    reply: named<MinerExport>(MinerExport),
    csv: minerTable,
    extension,
  }),
  previewImport: post("/api/imports", administrators, {
    scope: "own",
    summary: "Reads a table of rigs and answers what an import of it would add and change; changes nothing",
    query: ImportQuery,
    body: ImportBody,
    longestBody: longestImport,
    csvBody: "csv",
    reply: named<ImportPreview>(ImportPreview),
    status: 201,
    extension,
  }),
  listSites: get("/api/sites", viewers, {
    scope: "own",
    summary:
      "The sites whose rigs this service shows beside its own, and whether they can be reached; for callers who see all groups and pools",
    reply: named<Site[]>(z.array(Site)),
    extension,
  }),
  admitSite: post("/api/sites/:id/token", closed, {
    scope: "own",
    summary:
      "Creates the token with which a site connects by itself; only this reply shows it, and a former one no longer works",
    params: byIdOf("site"),
    reply: SiteToken,
    status: 201,
    extension,
  }),
  revokeSite: remove("/api/sites/:id/token", closed, {
    scope: "own",
    summary: "Revokes the token of a site that connects by itself, and ends its connection",
    params: byIdOf("site"),
    reply: ActionReply,
    extension,
  }),
  listOwned: get("/api/owned", viewers, {
    scope: "own",
    summary:
      "What centres have defined for this service: rules, schedules, maintenance windows, pools, pool groups and templates, and what was not taken; for callers who see all groups and pools",
    reply: named<OwnedSet[]>(z.array(OwnedSet)),
    extension,
  }),
  replaceOwned: put("/api/owned", centres, {
    scope: "own",
    summary:
      "Replaces what a centre defines here by a whole set; only for a user that is a centre. A definition that cannot be taken is answered with the reason, and what was there before it stays",
    body: OwnedBody,
    reply: named<OwnedSet>(OwnedSet),
    extension,
  }),
  releaseOwned: post("/api/owned/release", closed, {
    scope: "own",
    summary: "Makes the definitions of a centre those of this service, or removes them",
    body: ReleaseBody,
    reply: ActionReply,
    extension,
  }),
  commitImport: post("/api/imports/:id", administrators, {
    scope: "own",
    summary: "Adds and changes what a preview showed, all of it or nothing",
    params: byIdOf("preview"),
    reply: ImportResult,
    extension,
  }),
} as const satisfies Record<string, Operation>;

/** The names of all operations. */
export const operationNames = Object.keys(operations).filter((name): name is OperationName =>
  Object.hasOwn(operations, name),
);

export type OperationName = keyof typeof operations;

/** The operations that share method and path with this one, by their `view`. */
export const viewsOf = (operation: Operation): ReadonlyMap<string, OperationName> =>
  new Map(
    operationNames.flatMap((name) => {
      const { view, method, path }: Operation = operations[name];
      return view !== undefined && method === operation.method && path === operation.path ? [[view, name]] : [];
    }),
  );

/** A further path of an operation, which implies some of its query. */
export interface FixedForm {
  readonly path: string;
  readonly fixed: Readonly<Record<string, string>>;
}

/** The paths of a view and of a reply as a table. */
export function fixedFormsOf({ path, ownPath, view, csv, csvPath = `${path}.csv` }: Operation): readonly FixedForm[] {
  return [
    ...(ownPath === undefined || view === undefined ? [] : [{ path: ownPath, fixed: { view } }]),
    ...(csv === undefined ? [] : [{ path: csvPath, fixed: { format: "csv" } }]),
  ];
}
