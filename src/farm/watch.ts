import type { Logger } from "pino";
import { type BackOff, backOff } from "../async/index.ts";
import type { MinerEvent, ServiceEvent } from "../contract/events.ts";
import { minersIn } from "../contract/miners-in.ts";
import type { OperationName } from "../contract/operations.ts";
import { isAway, RigbridgeError } from "../contract/problems.ts";
import type { Group, ManualAction, Miner, MinerGroup, Notification, Summary } from "../contract/resources.ts";
import type { Caller, MiningService, Reach } from "../contract/service.ts";

/** The whole farm. */
export interface FarmLists {
  readonly miners: readonly Miner[];
  readonly groups: readonly Group[];
  /** Manual rules, run by the action `rule` of any miner. */
  readonly rules: readonly ManualAction[];
  readonly summary: Summary;
  readonly features: ReadonlySet<OperationName>;
  /** Other miners and groups may exist: a site of the service has not been read since the service started. */
  readonly isPartial: boolean;
}

export interface FarmListener {
  read(lists: FarmLists): void;
  /** The service cannot be reached; the farm is unknown until the next `read` or `back`. Called once. */
  lost(error: RigbridgeError): void;
  /** The service answers again and the farm is up to date: missed changes have been reported. */
  back(): void;
  miner(miner: Miner): void;
  removed(id: number): void;
  happened(event: MinerEvent): void;
  summary(summary: Summary): void;
  /** A notification is new, has repeated or was closed. */
  notification(notification: Notification): void;
  /** Notifications were acknowledged, or are no longer listed. */
  notificationsHandled(what: "acknowledged" | "removed", ids: readonly number[]): void;
}

interface Watching {
  readonly service: MiningService;
  readonly caller: Caller;
  readonly log: Pick<Logger, "warn" | "info">;
  readonly signal: AbortSignal;
}

/** Between two attempts to reach the service. */
const retryDelays: BackOff = { firstMs: 1_000, longestMs: 60_000 };

/**
 * Reports the lists and then each change, until aborted; a service that cannot be reached is retried for ever. A remote
 * service that dies or hangs is reported as `lost` within two poll intervals. The log reports once that it is gone, and
 * once that it is back.
 */
export async function watchFarm(watching: Watching, listener: FarmListener): Promise<void> {
  const { log, signal } = watching;
  let attempt = 1;
  let logged: string | null = null;
  let isLost = false;
  const warn = (error: RigbridgeError): void => {
    // Connections to an unreachable service fail in various ways, which are logged once.
    const what = isAway(error) ? "away" : error.message;
    if (what !== logged) log.warn(`The service cannot be watched: ${error.message}`);
    logged = what;
  };
  const lose = (error: RigbridgeError): void => {
    warn(error);
    if (!isLost) listener.lost(error);
    isLost = true;
  };
  const back = (): void => {
    if (logged !== null) log.info("The service answers again");
    logged = null;
    if (isLost) listener.back();
    isLost = false;
  };
  const reach: Reach = (error) => (error === null ? back() : lose(error));
  while (!signal.aborted) {
    try {
      for await (const isRead of farmEvents(watching, listener, reach)) {
        if (isRead) back();
        // Lists alone do not prove that events arrive.
        else attempt = 1;
      }
    } catch (error) {
      const failure = error instanceof RigbridgeError ? error : new RigbridgeError("internal", String(error));
      if (signal.aborted) break;
      // An interrupted stream is reopened at once, and nothing is lost.
      if (attempt > 1) lose(failure);
      else warn(failure);
    }
    await backOff(attempt, retryDelays, signal);
    attempt += 1;
  }
}

/** One subscription, until it ends or throws; yields after each step, true if the lists were read. */
async function* farmEvents(
  { service, caller, signal }: Watching,
  listener: FarmListener,
  reach: Reach,
): AsyncGenerator<boolean> {
  // Opened before the lists are read, so that no event between the two is missed.
  const events = service.watchEvents({}, caller, signal, reach);
  listener.read(await readLists(service, caller));
  yield true;
  for await (const event of events) {
    // The miners of a site that was lost are still listed, without readings; when it is back, there is a reset.
    const isLost = event.type === "site" && event.data.state !== "connected";
    if (event.type === "reset" || isLost) listener.read(await readLists(service, caller));
    else dispatch(event, listener);
    yield event.type === "reset";
  }
}

function dispatch(event: ServiceEvent, listener: FarmListener): void {
  if (event.type === "miner") listener.miner(event.data);
  else if (event.type === "miner-removed") listener.removed(event.data.id);
  else if (event.type === "miner-event") listener.happened(event.data);
  else if (event.type === "summary") listener.summary(event.data);
  else if (event.type === "notification") listener.notification(event.data);
  else if (event.type === "notification-acknowledged") listener.notificationsHandled("acknowledged", event.data.ids);
  else if (event.type === "notification-removed") listener.notificationsHandled("removed", event.data.ids);
}

export async function readLists(service: MiningService, caller: Caller): Promise<FarmLists> {
  const features = await service.features();
  const [{ groupList, manualActionList: rules }, summary, groups, sites] = await Promise.all([
    service.listMiners({}, caller),
    service.getSummary({}, caller),
    features.has("listGroups") ? service.listGroups({}, caller) : null,
    features.has("listSites") ? service.listSites({}, caller) : [],
  ]);
  const isPartial = sites.some(({ miners }) => miners === null);
  return { miners: minersIn(groupList), groups: groups ?? groupsIn(groupList, 0), rules, summary, features, isPartial };
}

/** The groups of the miners, for a service that does not list groups. */
const groupsIn = (groups: readonly MinerGroup[], parentId: number): Group[] =>
  groups.flatMap(({ id, name, groupList = [] }) => [
    ...(id === 0 ? [] : [{ id, name, parentId }]),
    ...groupsIn(groupList, id),
  ]);
