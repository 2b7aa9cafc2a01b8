import { algorithms } from "../../catalogue/algorithms.ts";
import { miningSoftware } from "../../catalogue/mining-software.ts";
import { minerAction, poolAction } from "./actions.ts";
import { titleOf } from "./coins.ts";
import type { PoolDefinition } from "./definitions.ts";
import { gpus, templates } from "./layout.ts";
import type { TwinNotification } from "./notifications.ts";
import { presentMiner, presentPool } from "./present-miner.ts";
import { badRequest, notThere } from "./refusals.ts";
import type { Site } from "./site.ts";
import { metaData, presentMiners, presentSummary } from "./totals.ts";
import { type Privilege, seesPool, type TwinUser, userIdOf } from "./users.ts";

/** A request for a handler. */
export interface Call {
  /** The parts of the path at `*`, in order. */
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  /** The JSON body, where the route takes one. */
  readonly body: unknown;
  readonly user: TwinUser;
}

export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** `*` stands for a parameter. */
  readonly path: string;
  readonly needs: Privilege;
  readonly takesBody: boolean;
  readonly reply: (call: Call) => unknown;
}

/** The 28 operations of the document, part 4. */
export function routes(site: Site): Route[] {
  const { definitions, coins, notifications } = site;
  const { pools, poolGroups, hosts, managedMiners } = definitions;
  const minerIds = (user: TwinUser) => new Set(site.minersFor(user).map(({ id }) => id));
  const poolFor = ({ params, user }: Call): PoolDefinition => {
    const pool = pools.get(number(params[0]));
    if (!seesPool(user, pool.id)) throw notThere("pool", pool.id);
    return pool;
  };
  const groupsFor = (user: TwinUser) => poolGroups.all.filter((group) => group.pools.every((id) => seesPool(user, id)));
  const managedFor = (user: TwinUser) => {
    const seen = minerIds(user);
    return managedMiners.all.filter(({ id }) => seen.has(id));
  };
  /** The hosts on which a user sees a managed miner. */
  const hostsFor = (user: TwinUser) => {
    const seen = new Set(managedFor(user).map(({ hostId }) => hostId));
    return hosts.all.filter(({ id }) => user.groups === null || seen.has(id));
  };
  const hostFor = ({ params, user }: Call) => oneOf(hostsFor(user), params[0], "host");
  const withCoin = (pool: PoolDefinition) => {
    const coin = coins.find(pool.coinShortName);
    return { ...pool, coinDisplayName: coin === undefined ? "" : titleOf(coin) };
  };
  return [
    get("/api/miners", ({ user }) => presentMiners(site, user)),
    get("/api/miners/*", ({ params, user }) => ({
      ...presentMiner(site.miner(number(params[0]), user), site),
      metaData: metaData(site),
    })),
    act("/api/miners/*", ({ params, query, user }) =>
      done(minerAction(site, site.miner(number(params[0]), user), query, user)),
    ),
    get("/api/miners/*/pools", ({ params, user }) => {
      site.miner(number(params[0]), user);
      const single = pools.all.filter(({ id }) => seesPool(user, id));
      return {
        addPoolList: [
          ...single.map(({ id, description }) => ({ name: description, type: "single", id: `${id}` })),
          ...groupsFor(user).map(({ id, name }) => ({ name, type: "group", id: `${id}` })),
        ],
      };
    }),
    get("/api/miners/*/pools/*", ({ params, user }) => {
      const miner = site.miner(number(params[0]), user);
      return presentPool(miner.pool(number(params[1])), miner, site);
    }),
    act("/api/miners/*/pools/*", ({ params, query, user }) => {
      const miner = site.miner(number(params[0]), user);
      return done(poolAction(miner, miner.pool(number(params[1])), query));
    }),
    get("/api/pools", ({ user }) => ({
      canAction: true,
      list: pools.all.filter(({ id }) => seesPool(user, id)).map(withCoin),
    })),
    get("/api/pools/*", (call) => withCoin(poolFor(call))),
    store("/api/pools", ({ body }) => withCoin(definitions.savePool(body))),
    remove("/api/pools/*", (call) => {
      const { id, description } = poolFor(call);
      definitions.removePool(id);
      return done(`The pool ${description} was removed.`);
    }),
    get("/api/poolgroups", ({ user }) => groupsFor(user).map(({ id, name }) => ({ id: `${id}`, name }))),
    get("/api/hosts", ({ user }) => hostsFor(user)),
    get("/api/hosts/*", hostFor),
    store("/api/hosts", ({ body }) => definitions.saveHost(body)),
    get("/api/hosts/*/systeminfo", (call) => ({ gpuStatusList: hostFor(call).id === 1 ? gpus : [] })),
    get("/api/managedminers", ({ user }) => managedFor(user)),
    get("/api/managedminers/*", ({ params, user }) => oneOf(managedFor(user), params[0], "managed miner")),
    store("/api/managedminers", ({ body }) => {
      const miner = definitions.saveManagedMiner(body);
      site.applyManaged(miner);
      return miner;
    }),
    get("/api/miningsoftware", () => miningSoftware.map(({ id, name }) => ({ id, name }))),
    get("/api/algorithms", () => algorithms.map(({ id, name }) => ({ id, name }))),
    get("/api/notifications", ({ user }) => presentNotifications(notifications.of(minerIds(user)), site)),
    act("/api/notifications", ({ query, user }) => {
      const all = notifications.of(minerIds(user));
      const action = oneAction(query, ["ack_all", "clear_all"]);
      if (action === "clear_all") notifications.remove(all);
      else acknowledge(all);
      return done(`${all.length} notifications were ${action === "clear_all" ? "removed" : "acknowledged"}.`);
    }),
    act("/api/notifications/*", ({ params, query, user }) => {
      const one = notifications.get(number(params[0]), minerIds(user));
      const action = oneAction(query, ["ack", "clear"]);
      if (action === "clear") notifications.remove([one]);
      else acknowledge([one]);
      return done(`The notification was ${action === "clear" ? "removed" : "acknowledged"}.`);
    }),
    get("/api/managedtemplates", () => ({ managedTemplateList: templates, metaData: metaData(site) })),
    get("/api/summary", ({ user }) => presentSummary(site, user)),
    { ...act("/api/coins/*", ({ params, query }) => done(coins.save(params[0] ?? "", query))), needs: "administrator" },
    remove("/api/coins/*", ({ params }) => done(coins.remove(params[0] ?? ""))),
    get("/api/user/*", ({ params }) => ({ userId: userIdOf(params[0] ?? "") })),
  ];
}

type Handler = Route["reply"];

const get = (path: string, reply: Handler): Route => ({ method: "GET", path, needs: "view", takesBody: false, reply });
/** Actions are in the query; a body is ignored. */
const act = (path: string, reply: Handler): Route => ({
  method: "POST",
  path,
  needs: "control",
  takesBody: false,
  reply,
});
const store = (path: string, reply: Handler): Route => ({
  method: "POST",
  path,
  needs: "administrator",
  takesBody: true,
  reply,
});
const remove = (path: string, reply: Handler): Route => ({
  method: "DELETE",
  path,
  needs: "administrator",
  takesBody: false,
  reply,
});

const done = (message: string) => ({ success: true, message });

function number(part: string | undefined): number {
  if (part === undefined || !/^\d{1,10}$/.test(part)) throw badRequest("The ID must be a number.");
  return Number(part);
}

function oneOf<T extends { readonly id: number }>(seen: readonly T[], part: string | undefined, what: string): T {
  const id = number(part);
  const found = seen.find((each) => each.id === id);
  if (found === undefined) throw notThere(what, id);
  return found;
}

function oneAction(query: URLSearchParams, known: readonly string[]): string {
  const action = query.get("action") ?? "";
  if (!known.includes(action)) throw badRequest("Unknown action.");
  return action;
}

function acknowledge(notifications: readonly TwinNotification[]): void {
  for (const each of notifications) each.isAcknowledged = true;
}

function presentNotifications(list: readonly TwinNotification[], { format }: Site) {
  return {
    notificationList: list.map(({ id, minerName, title, time, message, isAcknowledged, isWarning }) => ({
      id,
      minerName,
      title,
      timeUtc: new Date(time).toISOString(),
      time: format.localTime(time),
      source: "System",
      message,
      isAcknowledged,
      isWarning,
    })),
    notificationCount: list.length,
    unacknowledgedNotificationCount: list.filter(({ isAcknowledged }) => !isAcknowledged).length,
  };
}
