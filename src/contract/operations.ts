import { z } from "zod";
import { ServiceEvent } from "./events.ts";
import {
  AddMinerBody,
  AllNotificationsQuery,
  BulkBody,
  ChangeGroupBody,
  ChangeMinerBody,
  CoinName,
  CoinQuery,
  CommandsQuery,
  DiscoveryBody,
  EventsQuery,
  GroupBody,
  HistoryQuery,
  HostBody,
  Id,
  ManagedMinerBody,
  MinerActionQuery,
  MinerListQuery,
  NotificationQuery,
  PoolActionQuery,
  PoolBody,
  PoolGroupBody,
  parameter,
  TemplateBody,
  UserBody,
} from "./inputs.ts";
import {
  ActionReply,
  AddPoolEntry,
  BulkAction,
  BulkJob,
  CatalogueEntry,
  CommandList,
  Discovery,
  GpuStatus,
  Group,
  History,
  Host,
  JobStarted,
  ManagedMiner,
  ManagedTemplate,
  ManagedTemplateList,
  MinerDetail,
  MinerList,
  MinerPool,
  NotificationList,
  Pool,
  PoolGroup,
  PoolList,
  type Privilege,
  Summary,
  User,
} from "./resources.ts";

type Method = "GET" | "POST" | "PATCH" | "DELETE";
type Fields = Readonly<Record<string, z.ZodType>>;

/** What a user must have to call an operation. */
export interface OperationAccess {
  readonly privilege: Privilege;
  /** `all`: the user must see all groups and pools. `visible`: the operation covers what the user sees. */
  readonly scope: "visible" | "all";
}

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
  readonly reply: z.ZodType;
  /** Absent: closed to everyone but administrators who see everything. */
  readonly access?: OperationAccess;
  /** Success status if it is not 200. */
  readonly status?: number;
  /** A Rigbridge extension: not part of the documented API. */
  readonly extension?: true;
}

type Rest = Omit<Operation, "kind" | "method" | "path">;
const kind = "call" as const;
const get = <const T extends Rest>(path: string, rest: T) => ({ kind, method: "GET", path, ...rest }) as const;
const post = <const T extends Rest>(path: string, rest: T) => ({ kind, method: "POST", path, ...rest }) as const;
const patch = <const T extends Rest>(path: string, rest: T) => ({ kind, method: "PATCH", path, ...rest }) as const;
const remove = <const T extends Rest>(path: string, rest: T) => ({ kind, method: "DELETE", path, ...rest }) as const;
const stream = <const T extends Rest>(path: string, rest: T) =>
  ({ kind: "stream", method: "GET", path, ...rest }) as const;

const byIdOf = (resource: string) => ({ id: parameter(Id, `id of the ${resource}`, 1) }) as const;
const poolOfMiner = {
  ...byIdOf("miner"),
  poolId: parameter(Id, "id of the active pool, as in the miner's pools", 2),
} as const;
const coin = { shortName: parameter(CoinName, "the coin's short name", "BTC") } as const;
const extension = true as const;
const viewers = { privilege: "view", scope: "visible" } as const;
const operators = { privilege: "control", scope: "visible" } as const;
const administrators = { privilege: "administrator", scope: "visible" } as const;
const closed = { privilege: "administrator", scope: "all" } as const;

/** The table of operations: the 28 of the API document in its order, then the Rigbridge extensions. */
export const operations = {
  listMiners: get("/api/miners", {
    summary: "All miners, by group",
    alias: "/webapi/miners",
    query: MinerListQuery,
    reply: MinerList,
    access: viewers,
  }),
  getMiner: get("/api/miners/:id", {
    summary: "One miner, with its pools and devices",
    params: byIdOf("miner"),
    reply: MinerDetail,
    access: viewers,
  }),
  minerAction: post("/api/miners/:id", {
    summary: "Reboots, stops, starts, restarts a miner, changes its pool, or sets one of its controls",
    params: byIdOf("miner"),
    query: MinerActionQuery,
    reply: ActionReply,
    access: operators,
  }),
  listAddPools: get("/api/miners/:id/pools", {
    summary: "The pools that can be added to a miner or changed to",
    params: byIdOf("miner"),
    reply: z.object({ addPoolList: z.array(AddPoolEntry) }),
    access: viewers,
  }),
  getMinerPool: get("/api/miners/:id/pools/:poolId", {
    summary: "One active pool of a miner",
    params: poolOfMiner,
    reply: MinerPool,
    access: viewers,
  }),
  minerPoolAction: post("/api/miners/:id/pools/:poolId", {
    summary: "Removes, disables, enables or prioritizes a pool of a miner",
    params: poolOfMiner,
    query: PoolActionQuery,
    reply: ActionReply,
    access: operators,
  }),
  listPools: get("/api/pools", { summary: "All pool definitions", reply: PoolList, access: viewers }),
  getPool: get("/api/pools/:id", {
    summary: "One pool definition",
    params: byIdOf("pool"),
    reply: Pool,
    access: viewers,
  }),
  savePool: post("/api/pools", { summary: "Adds or updates a pool definition", body: PoolBody, reply: Pool }),
  deletePool: remove("/api/pools/:id", {
    summary: "Removes a pool definition",
    params: byIdOf("pool"),
    reply: ActionReply,
  }),
  listPoolGroups: get("/api/poolgroups", { summary: "All pool groups", reply: z.array(PoolGroup), access: viewers }),
  listHosts: get("/api/hosts", { summary: "All hosts", reply: z.array(Host), access: viewers }),
  getHost: get("/api/hosts/:id", { summary: "One host", params: byIdOf("host"), reply: Host, access: viewers }),
  saveHost: post("/api/hosts", { summary: "Adds or updates a host", body: HostBody, reply: Host }),
  getHostSystemInfo: get("/api/hosts/:id/systeminfo", {
    summary: "The GPUs of a host",
    params: byIdOf("host"),
    reply: z.object({ gpuStatusList: z.array(GpuStatus) }),
    access: viewers,
  }),
  listManagedMiners: get("/api/managedminers", {
    summary: "All managed miners",
    reply: z.array(ManagedMiner),
    access: viewers,
  }),
  getManagedMiner: get("/api/managedminers/:id", {
    summary: "One managed miner",
    params: byIdOf("managed miner"),
    reply: ManagedMiner,
    access: viewers,
  }),
  saveManagedMiner: post("/api/managedminers", {
    summary: "Adds or updates a managed miner",
    body: ManagedMinerBody,
    reply: ManagedMiner,
  }),
  listMiningSoftware: get("/api/miningsoftware", {
    summary: "Known mining software",
    reply: z.array(CatalogueEntry),
    access: viewers,
  }),
  listAlgorithms: get("/api/algorithms", {
    summary: "Known algorithms",
    reply: z.array(CatalogueEntry),
    access: viewers,
  }),
  listNotifications: get("/api/notifications", {
    summary: "All notifications",
    reply: NotificationList,
    access: viewers,
  }),
  allNotificationsAction: post("/api/notifications", {
    summary: "Acknowledges or removes all notifications",
    query: AllNotificationsQuery,
    reply: ActionReply,
    access: operators,
  }),
  notificationAction: post("/api/notifications/:id", {
    summary: "Acknowledges or removes one notification",
    params: byIdOf("notification"),
    query: NotificationQuery,
    reply: ActionReply,
    access: operators,
  }),
  listManagedTemplates: get("/api/managedtemplates", {
    summary: "Managed templates",
    reply: ManagedTemplateList,
    access: viewers,
  }),
  getSummary: get("/api/summary", { summary: "The dashboard's figures", reply: Summary, access: viewers }),
  saveCoin: post("/api/coins/:shortName", {
    summary: "Sets a coin's profitability, or adds a user-defined coin",
    params: coin,
    query: CoinQuery,
    reply: ActionReply,
  }),
  deleteCoin: remove("/api/coins/:shortName", {
    summary: "Removes a user-defined coin",
    params: coin,
    reply: ActionReply,
  }),
  getUser: get("/api/user/:username", {
    summary: "The id of a user",
    params: { username: parameter(z.string().min(1).max(200), "the user's name", "anna") },
    reply: z.object({ userId: z.int() }),
    access: viewers,
  }),

  addMiner: post("/api/miners", {
    summary: "Adds a miner by its address; it is identified in the background",
    body: AddMinerBody,
    reply: MinerDetail,
    status: 201,
    access: administrators,
    extension,
  }),
  changeMiner: patch("/api/miners/:id", {
    summary: "Changes what was said of a miner",
    params: byIdOf("miner"),
    body: ChangeMinerBody,
    reply: MinerDetail,
    access: administrators,
    extension,
  }),
  deleteMiner: remove("/api/miners/:id", {
    summary: "Forgets a miner and its history",
    params: byIdOf("miner"),
    reply: ActionReply,
    access: administrators,
    extension,
  }),
  pollMiner: post("/api/miners/:id/poll", {
    summary: "Reads a miner now",
    params: byIdOf("miner"),
    reply: MinerDetail,
    access: operators,
    extension,
  }),
  listGroups: get("/api/groups", {
    summary: "All groups of miners",
    reply: z.array(Group),
    access: viewers,
    extension,
  }),
  addGroup: post("/api/groups", { summary: "Adds a group", body: GroupBody, reply: Group, status: 201, extension }),
  changeGroup: patch("/api/groups/:id", {
    summary: "Renames or moves a group",
    params: byIdOf("group"),
    body: ChangeGroupBody,
    reply: Group,
    extension,
  }),
  deleteGroup: remove("/api/groups/:id", {
    summary: "Removes a group; its miners and groups go to its parent",
    params: byIdOf("group"),
    reply: ActionReply,
    extension,
  }),
  listCommands: get("/api/commands", {
    summary: "What was sent to rigs, by whom, and what came of it; newest first, at most 1,000",
    query: CommandsQuery,
    reply: CommandList,
    access: viewers,
    extension,
  }),
  cancelCommand: remove("/api/commands/:id", {
    summary: "Cancels a command that has not been sent yet",
    params: byIdOf("command"),
    reply: ActionReply,
    access: operators,
    extension,
  }),
  savePoolGroup: post("/api/poolgroups", {
    summary: "Adds or updates a pool group",
    body: PoolGroupBody,
    reply: PoolGroup,
    extension,
  }),
  deletePoolGroup: remove("/api/poolgroups/:id", {
    summary: "Removes a pool group",
    params: byIdOf("pool group"),
    reply: ActionReply,
    extension,
  }),
  deleteHost: remove("/api/hosts/:id", {
    summary: "Removes a host",
    params: byIdOf("host"),
    reply: ActionReply,
    extension,
  }),
  deleteManagedMiner: remove("/api/managedminers/:id", {
    summary: "Removes a managed miner",
    params: byIdOf("managed miner"),
    reply: ActionReply,
    extension,
  }),
  saveManagedTemplate: post("/api/managedtemplates", {
    summary: "Adds or updates a managed template",
    body: TemplateBody,
    reply: ManagedTemplate,
    extension,
  }),
  deleteManagedTemplate: remove("/api/managedtemplates/:id", {
    summary: "Removes a managed template",
    params: byIdOf("managed template"),
    reply: ActionReply,
    extension,
  }),
  listUsers: get("/api/users", {
    summary: "All users; for an administrator of some groups or pools, that one alone",
    reply: z.array(User),
    access: administrators,
    extension,
  }),
  saveUser: post("/api/users", { summary: "Adds or updates a user", body: UserBody, reply: User, extension }),
  deleteUser: remove("/api/users/:id", {
    summary: "Removes a user",
    params: byIdOf("user"),
    reply: ActionReply,
    extension,
  }),
  startDiscovery: post("/api/discovery", {
    summary: "Looks for rigs in networks; one search at a time",
    body: DiscoveryBody,
    reply: JobStarted,
    status: 202,
    extension,
  }),
  getDiscovery: get("/api/discovery/:id", {
    summary: "How far a search is, and what it has found; forgotten an hour after its end, and by a restart",
    params: byIdOf("search"),
    reply: Discovery,
    extension,
  }),
  cancelDiscovery: remove("/api/discovery/:id", {
    summary: "Ends a search",
    params: byIdOf("search"),
    reply: ActionReply,
    extension,
  }),
  startBulkAction: post("/api/actions", {
    summary:
      "Does one action to many miners, as a job that survives a restart; at most 20 run at once, 5 of a user, and 4 are " +
      "kept for the service's own key",
    body: BulkBody,
    reply: JobStarted,
    status: 202,
    access: operators,
    extension,
  }),
  listBulkActions: get("/api/actions", {
    summary:
      "The actions for many miners, newest first: the caller's own; all of them for callers who see all groups and pools",
    reply: z.array(BulkJob),
    access: viewers,
    extension,
  }),
  getBulkAction: get("/api/actions/:id", {
    summary: "How far an action for many miners is; of those that have ended the last 1,000 are kept, for 30 days",
    params: byIdOf("job"),
    reply: BulkAction,
    access: viewers,
    extension,
  }),
  cancelBulkAction: remove("/api/actions/:id", {
    summary: "Cancels what has not been sent yet",
    params: byIdOf("job"),
    reply: ActionReply,
    access: operators,
    extension,
  }),
  watchEvents: stream("/api/events", {
    summary: "What changes, as it changes (server-sent events)",
    query: EventsQuery,
    reply: ServiceEvent,
    access: viewers,
    extension,
  }),
  getHistory: get("/api/miners/:id/history", {
    summary: "A miner's hash rate, power, temperature and energy over time",
    params: byIdOf("miner"),
    query: HistoryQuery,
    reply: History,
    access: viewers,
    extension,
  }),
} as const satisfies Record<string, Operation>;

/** The names of all operations. */
export const operationNames = Object.keys(operations).filter((name): name is OperationName =>
  Object.hasOwn(operations, name),
);

export const accessTo = ({ access = closed }: Operation): OperationAccess => access;

export type OperationName = keyof typeof operations;
