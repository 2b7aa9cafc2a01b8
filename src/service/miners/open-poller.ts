import type { Logger } from "pino";
import { Fleet, type FleetOptions } from "../../fleet/fleet.ts";
import type { Poller } from "../../fleet/poller.ts";
import { MovingPoller } from "../../fleet/workers/moving-poller.ts";
import { workerCount } from "../../fleet/workers/worker-count.ts";
import { WorkerPoller } from "../../fleet/workers/worker-poller.ts";
import { coded } from "../../messages/coded.ts";
import type { Store } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import type { FarmNotices } from "../notifications/notices.ts";
import type { Sections } from "../settings/live-settings.ts";
import type { Presentation } from "./present-miner.ts";

interface PollerContext {
  readonly store: Pick<Store, "miners">;
  readonly settings: Sections<"poll">;
  readonly presentation: Pick<Presentation, "pools">;
  readonly notices: Pick<FarmNotices, "setWarning">;
  readonly log: Logger;
}

/** Consecutive ends of a worker thread that are logged; the last of them also raises a notification. */
const loggedEnds = 3;
/** The title of that notification. */
export const threadsFail = coded("notices.workers.title");

/** Reads rigs in this thread, or in worker threads if there are many. */
export const openPoller = (options: Omit<FleetOptions, "timeout">, context: PollerContext): MovingPoller =>
  new MovingPoller({
    listener: options.listener,
    workers: workersOf(context),
    open: (workers, listener) =>
      pollerWith(workers, { ...options, listener, timeout: context.settings.poll.timeout * 1000 }, context),
  });

/** The number of worker threads by the present settings. */
export const workersOf = (context: Pick<PollerContext, "store" | "settings">): number =>
  workerCount(context.settings.poll.workers, readsPerSecond(context));

function pollerWith(workers: number, options: FleetOptions, { log, notices, presentation }: PollerContext): Poller {
  if (workers === 0) return new Fleet(options);
  log.debug({ workers }, "rigs are read in worker threads");
  return new WorkerPoller({
    ...options,
    workers,
    poolLogins: (id) => presentation.pools.loginsFor(id),
    ended: (error, { worker, rigs, times, restartMs }) => {
      const fields = { err: error, worker, miners: rigs, times, restartMs };
      if (times <= loggedEnds) log.error(fields, "a worker thread ended; a new one reads its miners");
      if (times === loggedEnds)
        notices.setWarning(threadsFail, coded("notices.workers.message", { times, why: error.message }));
    },
    recovered: () => {
      log.info("the worker thread that ended runs again");
      notices.setWarning(threadsFail, null);
    },
  });
}

/** Reads per second over all miners. */
function readsPerSecond({ store, settings: { poll } }: Pick<PollerContext, "store" | "settings">): number {
  return enabled(store.miners).reduce((sum, { interval }) => sum + 1 / (interval ?? poll.interval), 0);
}
