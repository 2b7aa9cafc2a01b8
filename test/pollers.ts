import { Fleet, type FleetOptions } from "../src/fleet/fleet.ts";
import type { Poller } from "../src/fleet/poller.ts";
import { WorkerPoller } from "../src/fleet/workers/worker-poller.ts";

declare global {
  /** Set by the project of jest.config.ts that runs these tests a second time. */
  var pollingWorkers: number | undefined;
}

/** Worker threads that read the rigs of this test; 0: the main thread does. */
export const workers: number = globalThis.pollingWorkers ?? 0;

/** For the configuration of a service. */
export const poll = { workers } as const;

export function openPoller(options: FleetOptions): Poller {
  if (workers === 0) return new Fleet(options);
  const ended = (error: Error): void => {
    throw error;
  };
  return new WorkerPoller({ ...options, workers, poolLogins: () => [], ended, recovered: () => undefined });
}
