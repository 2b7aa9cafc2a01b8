/** Scheduling: work that runs after, beside or repeatedly with other work. */
export { Background } from "./background.ts";
export { gatherWrites } from "./gather-writes.ts";
export { Liveness } from "./liveness.ts";
export { KeyedMutex, Mutex } from "./mutex.ts";
export { pause } from "./pause.ts";
export { type BackOff, backOff, backOffMs, jittered, retry } from "./retry.ts";
export { Semaphore, type Slack } from "./semaphore.ts";
export { TurnQueue } from "./turn-queue.ts";
