import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import type { MinerEvent, ServiceEvent } from "../contract/events.ts";
import { minersIn } from "../contract/miners-in.ts";
import type { OperationName } from "../contract/operations.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { Group, ManualAction, Miner, MinerGroup, Notification, Summary } from "../contract/resources.ts";
import type { Caller, MiningService } from "../contract/service.ts";

/** All that is there. */
export interface FarmLists {
  readonly miners: readonly Miner[];
  readonly groups: readonly Group[];
  /** Manual rules, which the action `rule` of any miner runs. */
  readonly rules: readonly ManualAction[];
  readonly summary: Summary;
  readonly features: ReadonlySet<OperationName>;
}

/** Who is told what changes. */
export interface FarmListener {
  read(lists: FarmLists): void;
  /** The service cannot be asked, and why; nobody knows how things are until `read`. */
  lost(error: RigbridgeError): void;
  miner(miner: Miner): void;
  removed(id: number): void;
  happened(event: MinerEvent): void;
  summary(summary: Summary): void;
  notification(notification: Notification): void;
}

interface Watching {
  readonly service: MiningService;
  readonly caller: Caller;
  readonly log: Pick<Logger, "warn" | "info">;
  readonly signal: AbortSignal;
}

/** ms between two tries to reach a service, the first and the longest. */
const firstWait = 1_000;
const longestWait = 60_000;

/** Tells what is there and then what changes, until aborted; a service that cannot be asked is tried again for ever. */
export async function watchFarm(watching: Watching, listener: FarmListener): Promise<void> {
  const { log, signal } = watching;
  let wait = firstWait;
  let said: string | null = null;
  while (!signal.aborted) {
    try {
      for await (const isNew of farmEvents(watching, listener)) {
        if (isNew && said !== null) log.info("The service answers again");
        said = null;
        wait = firstWait;
      }
    } catch (error) {
      const failure = error instanceof RigbridgeError ? error : new RigbridgeError("internal", String(error));
      const { message } = failure;
      if (!signal.aborted && message !== said) log.warn(`The service cannot be watched: ${message}`);
      // A stream that was cut comes back at once, and nothing is lost.
      if (!signal.aborted && wait > firstWait) listener.lost(failure);
      said = message;
    }
    await pause(wait * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
    wait = Math.min(longestWait, wait * 2);
  }
}

/** One watch, until it ends or throws; yields after each step, true where the lists were read. */
async function* farmEvents({ service, caller, signal }: Watching, listener: FarmListener): AsyncGenerator<boolean> {
  // Asked for before the lists, so that nothing that happens between the two is missed.
  const events = service.watchEvents({}, caller, signal);
  listener.read(await readLists(service, caller));
  yield true;
  for await (const event of events) {
    if (event.type === "reset") listener.read(await readLists(service, caller));
    else tell(event, listener);
    yield event.type === "reset";
  }
}

function tell(event: ServiceEvent, listener: FarmListener): void {
  if (event.type === "miner") listener.miner(event.data);
  else if (event.type === "miner-removed") listener.removed(event.data.id);
  else if (event.type === "miner-event") listener.happened(event.data);
  else if (event.type === "summary") listener.summary(event.data);
  else if (event.type === "notification") listener.notification(event.data);
}

/** Reads all that is there, once. */
export async function readLists(service: MiningService, caller: Caller): Promise<FarmLists> {
  const features = await service.features();
  const [{ groupList, manualActionList: rules }, summary, groups] = await Promise.all([
    service.listMiners({}, caller),
    service.getSummary({}, caller),
    features.has("listGroups") ? service.listGroups({}, caller) : null,
  ]);
  return { miners: minersIn(groupList), groups: groups ?? groupsIn(groupList, 0), rules, summary, features };
}

/** Where a service does not list its groups, those that its miners stand in. */
const groupsIn = (groups: readonly MinerGroup[], parentId: number): Group[] =>
  groups.flatMap(({ id, name, groupList = [] }) => [
    ...(id === 0 ? [] : [{ id, name, parentId }]),
    ...groupsIn(groupList, id),
  ]);
