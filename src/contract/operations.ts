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

/** One operation: where it is, what it takes and what it answers. */
export interface Operation {
  /** A call has one reply; a stream goes on until it is aborted, and `reply` is what it consists of. */
  readonly kind: "call" | "stream";
  readonly method: Method;
  /** With `:name` for path parameters, as in `params`. */
  readonly path: string;
  /** Another path of the same operation, which some clients of the reference product ask. */
  readonly alias?: string;
  readonly summary: string;
  readonly params?: Fields;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly reply: z.ZodType;
  /** What a user needs for it; usually view for GET and administrator for all else. */
  readonly needs?: Privilege;
  /** Success status where it is not 200. */
  readonly status?: number;
  /** Not in the documented API: an addition. */
  readonly ours?: true;
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
const ours = true as const;

/** The table of operations: the 28 of the API document in its order, then ours. */
export const operations = {
  listMiners: get("/api/miners", {
    summary: "All miners, by group",
    alias: "/webapi/miners",
    query: MinerListQuery,
    reply: MinerList,
  }),
  getMiner: get("/api/miners/:id", {
    summary: "One miner, with its pools and devices",
    params: byIdOf("miner"),
    reply: MinerDetail,
  }),
  minerAction: post("/api/miners/:id", {
    summary: "Reboots, stops, starts, restarts a miner, changes its pool, or sets one of its controls",
    params: byIdOf("miner"),
    query: MinerActionQuery,
    reply: ActionReply,
    needs: "control",
  }),
  listAddPools: get("/api/miners/:id/pools", {
    summary: "The pools that can be added to a miner or changed to",
    params: byIdOf("miner"),
    reply: z.object({ addPoolList: z.array(AddPoolEntry) }),
  }),
  getMinerPool: get("/api/miners/:id/pools/:poolId", {
    summary: "One active pool of a miner",
    params: poolOfMiner,
    reply: MinerPool,
  }),
  minerPoolAction: post("/api/miners/:id/pools/:poolId", {
    summary: "Removes, disables, enables or prioritizes a pool of a miner",
    params: poolOfMiner,
    query: PoolActionQuery,
    reply: ActionReply,
    needs: "control",
  }),
  listPools: get("/api/pools", { summary: "All pool definitions", reply: PoolList }),
  getPool: get("/api/pools/:id", { summary: "One pool definition", params: byIdOf("pool"), reply: Pool }),
  savePool: post("/api/pools", { summary: "Adds or updates a pool definition", body: PoolBody, reply: Pool }),
  deletePool: remove("/api/pools/:id", {
    summary: "Removes a pool definition",
    params: byIdOf("pool"),
    reply: ActionReply,
  }),
  listPoolGroups: get("/api/poolgroups", { summary: "All pool groups", reply: z.array(PoolGroup) }),
  listHosts: get("/api/hosts", { summary: "All hosts", reply: z.array(Host) }),
  getHost: get("/api/hosts/:id", { summary: "One host", params: byIdOf("host"), reply: Host }),
  saveHost: post("/api/hosts", { summary: "Adds or updates a host", body: HostBody, reply: Host }),
  getHostSystemInfo: get("/api/hosts/:id/systeminfo", {
    summary: "The GPUs of a host",
    params: byIdOf("host"),
    reply: z.object({ gpuStatusList: z.array(GpuStatus) }),
  }),
  listManagedMiners: get("/api/managedminers", { summary: "All managed miners", reply: z.array(ManagedMiner) }),
  getManagedMiner: get("/api/managedminers/:id", {
    summary: "One managed miner",
    params: byIdOf("managed miner"),
    reply: ManagedMiner,
  }),
  saveManagedMiner: post("/api/managedminers", {
    summary: "Adds or updates a managed miner",
    body: ManagedMinerBody,
    reply: ManagedMiner,
  }),
  listMiningSoftware: get("/api/miningsoftware", { summary: "Known mining software", reply: z.array(CatalogueEntry) }),
  listAlgorithms: get("/api/algorithms", { summary: "Known algorithms", reply: z.array(CatalogueEntry) }),
  listNotifications: get("/api/notifications", { summary: "All notifications", reply: NotificationList }),
  allNotificationsAction: post("/api/notifications", {
    summary: "Acknowledges or removes all notifications",
    query: AllNotificationsQuery,
    reply: ActionReply,
    needs: "control",
  }),
  notificationAction: post("/api/notifications/:id", {
    summary: "Acknowledges or removes one notification",
    params: byIdOf("notification"),
    query: NotificationQuery,
    reply: ActionReply,
    needs: "control",
  }),
  listManagedTemplates: get("/api/managedtemplates", { summary: "Managed templates", reply: ManagedTemplateList }),
  getSummary: get("/api/summary", { summary: "The dashboard's figures", reply: Summary }),
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
  }),

  addMiner: post("/api/miners", {
    summary: "Adds a miner by its address; it is identified in the background",
    body: AddMinerBody,
    reply: MinerDetail,
    status: 201,
    ours,
  }),
  changeMiner: patch("/api/miners/:id", {
    summary: "Changes what was said of a miner",
    params: byIdOf("miner"),
    body: ChangeMinerBody,
    reply: MinerDetail,
    ours,
  }),
  deleteMiner: remove("/api/miners/:id", {
    summary: "Forgets a miner and its history",
    params: byIdOf("miner"),
    reply: ActionReply,
    ours,
  }),
  pollMiner: post("/api/miners/:id/poll", {
    summary: "Reads a miner now",
    params: byIdOf("miner"),
    reply: MinerDetail,
    needs: "control",
    ours,
  }),
  listGroups: get("/api/groups", { summary: "All groups of miners", reply: z.array(Group), ours }),
  addGroup: post("/api/groups", { summary: "Adds a group", body: GroupBody, reply: Group, status: 201, ours }),
  changeGroup: patch("/api/groups/:id", {
    summary: "Renames or moves a group",
    params: byIdOf("group"),
    body: ChangeGroupBody,
    reply: Group,
    ours,
  }),
  deleteGroup: remove("/api/groups/:id", {
    summary: "Removes a group; its miners and groups go to its parent",
    params: byIdOf("group"),
    reply: ActionReply,
    ours,
  }),
  listCommands: get("/api/commands", {
    summary: "What was sent to rigs, by whom, and what came of it; newest first, at most 1,000",
    query: CommandsQuery,
    reply: CommandList,
    ours,
  }),
  cancelCommand: remove("/api/commands/:id", {
    summary: "Cancels a command that has not been sent yet",
    params: byIdOf("command"),
    reply: ActionReply,
    needs: "control",
    ours,
  }),
  savePoolGroup: post("/api/poolgroups", {
    summary: "Adds or updates a pool group",
    body: PoolGroupBody,
    reply: PoolGroup,
    ours,
  }),
  deletePoolGroup: remove("/api/poolgroups/:id", {
    summary: "Removes a pool group",
    params: byIdOf("pool group"),
    reply: ActionReply,
    ours,
  }),
  deleteHost: remove("/api/hosts/:id", { summary: "Removes a host", params: byIdOf("host"), reply: ActionReply, ours }),
  deleteManagedMiner: remove("/api/managedminers/:id", {
    summary: "Removes a managed miner",
    params: byIdOf("managed miner"),
    reply: ActionReply,
    ours,
  }),
  saveManagedTemplate: post("/api/managedtemplates", {
    summary: "Adds or updates a managed template",
    body: TemplateBody,
    reply: ManagedTemplate,
    ours,
  }),
  deleteManagedTemplate: remove("/api/managedtemplates/:id", {
    summary: "Removes a managed template",
    params: byIdOf("managed template"),
    reply: ActionReply,
    ours,
  }),
  listUsers: get("/api/users", {
    summary: "All users; for an administrator of some groups or pools, that one alone",
    reply: z.array(User),
    needs: "administrator",
    ours,
  }),
  saveUser: post("/api/users", { summary: "Adds or updates a user", body: UserBody, reply: User, ours }),
  deleteUser: remove("/api/users/:id", { summary: "Removes a user", params: byIdOf("user"), reply: ActionReply, ours }),
  startDiscovery: post("/api/discovery", {
    summary: "Looks for rigs in networks; one search at a time",
    body: DiscoveryBody,
    reply: JobStarted,
    status: 202,
    ours,
  }),
  getDiscovery: get("/api/discovery/:id", {
    summary: "How far a search is, and what it has found; forgotten an hour after its end, and by a restart",
    params: byIdOf("search"),
    reply: Discovery,
    needs: "administrator",
    ours,
  }),
  cancelDiscovery: remove("/api/discovery/:id", {
    summary: "Ends a search",
    params: byIdOf("search"),
    reply: ActionReply,
    ours,
  }),
  startBulkAction: post("/api/actions", {
    summary:
      "Does one action to many miners, as a job that survives a restart; at most 20 run at once, 5 of a user, and 4 are " +
      "kept for the service's own key",
    body: BulkBody,
    reply: JobStarted,
    status: 202,
    needs: "control",
    ours,
  }),
  listBulkActions: get("/api/actions", {
    summary:
      "The actions for many miners, newest first: the caller's own; all of them for callers who see all groups and pools",
    reply: z.array(BulkJob),
    ours,
  }),
  getBulkAction: get("/api/actions/:id", {
    summary: "How far an action for many miners is; of those that have ended the last 1,000 are kept, for 30 days",
    params: byIdOf("job"),
    reply: BulkAction,
    ours,
  }),
  cancelBulkAction: remove("/api/actions/:id", {
    summary: "Cancels what has not been sent yet",
    params: byIdOf("job"),
    reply: ActionReply,
    needs: "control",
    ours,
  }),
  watchEvents: stream("/api/events", {
    summary: "What changes, as it changes (server-sent events)",
    query: EventsQuery,
    reply: ServiceEvent,
    ours,
  }),
  getHistory: get("/api/miners/:id/history", {
    summary: "A miner's hash rate, power, temperature and energy over time",
    params: byIdOf("miner"),
    query: HistoryQuery,
    reply: History,
    ours,
  }),
} as const satisfies Record<string, Operation>;

/** Every operation that has a path and a reply of its own, by name. */
export const operationNames = Object.keys(operations).filter((name): name is OperationName =>
  Object.hasOwn(operations, name),
);

/** What a user needs for an operation. */
export const privilegeFor = ({ needs, method }: Operation): Privilege =>
  needs ?? (method === "GET" ? "view" : "administrator");

export type OperationName = keyof typeof operations;
