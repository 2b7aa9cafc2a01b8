import { RigbridgeError } from "../contract/problems.ts";
import type { ListedPoolAction, PoolAction, PoolLogin, PoolReading, Reading, Rig } from "../link/driver.ts";
import { controlValue, reports } from "./control-value.ts";

/** One thing to tell a rig, once. */
export interface Telling {
  /** Resolves with the rig's words. */
  write(rig: Rig, signal: AbortSignal): Promise<string>;
  /** That the rig may take for it. */
  readonly seconds: number;
  /** Whether a later read shows it; null where the rig's word has to do. */
  readonly isDone: ((reading: Reading) => boolean) | null;
  /** The same when the rig gave no answer. */
  readonly isDoneUnanswered: (reading: Reading) => boolean;
}

/**
 * Decides on the rig's last reading what it is told, pure. Words instead of a telling: nothing is to be done, and why.
 * Throws why it is refused, before anything is sent.
 */
export type Step = (reading: Reading) => Telling | string;

/** What the steps say to a rig that reads so: words when nothing is to be done. Throws as they would. */
export function rehearse(steps: readonly Step[], reading: Reading): string {
  const said: string[] = [];
  for (const step of steps) {
    const telling = step(reading);
    // What comes after a change is decided on what the rig reads then.
    if (typeof telling !== "string") break;
    said.push(telling);
  }
  return joined(said);
}

export const joined = (said: readonly string[]): string => said.filter((words) => words !== "").join("; ");

/** Sets one control. Throws `control.absent`, or `input.invalid` at `path`. */
export const setControl =
  (key: string, text: string, path?: string): Step =>
  ({ controls, readings }) => {
    const control = controls.find((each) => each.key === key);
    if (control === undefined) {
      const offered = controls.map((each) => each.key).join(", ") || "none";
      throw new RigbridgeError("control.absent", `This rig has no control "${key.slice(0, 40)}"; it has: ${offered}`);
    }
    const value = controlValue(control, text, path);
    const write: Telling["write"] = (rig, signal) => rig.set(control.key, value, signal);
    // What is done once is taken when the rig says so: it may be away for minutes now.
    if (control.kind === "trigger") {
      const isDoneUnanswered = (now: Reading) => restarted(readings.uptime, now.readings.uptime);
      return { write, seconds: control.seconds, isDone: null, isDoneUnanswered };
    }
    const isDone = (now: Reading) =>
      reports(
        now.controls.find((each) => each.key === control.key),
        value,
      );
    return telling(write, control.seconds, isDone);
  };

/** Stops or starts. Refused when it is so already, as `canStop` and `canStart` say. */
export const switchMining =
  (on: boolean): Step =>
  (reading) => {
    const control = reading.controls.find(({ key }) => key === "mining");
    if (control?.value === on)
      throw new RigbridgeError("not.possible", on ? "The rig is mining already" : "The rig is stopped already");
    return setControl("mining", String(on))(reading);
  };

/** Does something to a pool that the rig lists. */
export function onPool(action: ListedPoolAction, pool: PoolReading, reading: Reading): Telling {
  const { pools, poolActions } = reading;
  if (action === "remove" && pools.filter(({ devFee }) => !devFee).length < 2)
    throw new RigbridgeError("pool.last", "The last pool cannot be removed");
  allow(action, poolActions);
  return telling(
    (rig, signal) => rig.pools[action]?.(pool, signal) ?? Promise.reject(absent(action)),
    secondsFor(reading),
    (now) => poolDone[action](now.pools, pool),
  );
}

/** Adds a pool. One that the rig has already is left as it is. */
export const addPool =
  (login: PoolLogin): Step =>
  (reading) => {
    if (poolFor(login, reading) !== undefined) return `The rig already has ${login.url}`;
    allow("add", reading.poolActions);
    return telling(
      (rig, signal) => rig.pools.add?.(login, signal) ?? Promise.reject(absent("add")),
      secondsFor(reading),
      (now) => poolFor(login, now) !== undefined,
    );
  };

/**
 * Makes the rig mine at the first: by choosing the pool where it can choose, else in place of the one it mines at. The
 * others are added where the rig takes them.
 */
export const changePool = (first: PoolLogin, others: readonly PoolLogin[]): Step[] => [
  (reading) => (choosable(first, reading) ? addPool(first)(reading) : ""),
  (reading) => usePool(first, reading),
  ...others.map(
    (login, index): Step =>
      (reading) => {
        if (reading.poolActions.includes("add")) return addPool(login)(reading);
        return index === 0 ? "the rig takes no further pools, so the rest of the group is left out" : "";
      },
  ),
];

/** Whether it can be chosen once it is added. */
const choosable = (login: PoolLogin, reading: Reading): boolean =>
  poolFor(login, reading) === undefined &&
  reading.poolActions.includes("switch") &&
  reading.poolActions.includes("add");

function usePool(login: PoolLogin, reading: Reading): Telling | string {
  const listed = poolFor(login, reading);
  if (listed?.active && listed.priority === 0) return `The rig mines at ${login.url} already`;
  if (listed !== undefined && reading.poolActions.includes("switch")) return onPool("switch", listed, reading);
  allow("use", reading.poolActions);
  return telling(
    (rig, signal) => rig.pools.use?.(login, signal) ?? Promise.reject(absent("use")),
    secondsFor(reading),
    (now) => poolFor(login, now)?.active === true,
  );
}

const secondsFor = ({ poolSeconds = 30 }: Reading): number => poolSeconds;

const telling = (write: Telling["write"], seconds: number, isDone: (reading: Reading) => boolean): Telling => ({
  write,
  seconds,
  isDone,
  isDoneUnanswered: isDone,
});

/** The pool of the rig that such a login has made. */
function poolFor({ url, worker }: PoolLogin, { pools }: Reading): PoolReading | undefined {
  const wanted = bareUrl(url);
  return pools.find((pool) => bareUrl(pool.url) === wanted && pool.worker === worker);
}

function allow(action: PoolAction, allowed: readonly PoolAction[]): void {
  if (!allowed.includes(action)) throw absent(action);
}

const absent = (action: PoolAction): RigbridgeError =>
  new RigbridgeError("control.absent", `This rig does not let its pools be changed that way now (${action})`);

const bareUrl = (url: string): string =>
  url
    .replace(/^[a-z0-9+]+:\/\//i, "")
    .replace(/\/$/, "")
    .toLowerCase();

const restarted = (before: number | null, now: number | null): boolean =>
  before !== null && now !== null && now < before;

const samePool = (a: PoolReading, b: PoolReading): boolean => a.url === b.url && a.worker === b.worker;

/** What the rig's list shows when a pool action has worked. */
const poolDone: Record<ListedPoolAction, (pools: readonly PoolReading[], pool: PoolReading) => boolean> = {
  switch: (pools, pool) => pools.some((each) => samePool(each, pool) && (each.active || each.priority === 0)),
  enable: (pools, pool) => pools.some((each) => samePool(each, pool) && each.status !== "disabled"),
  disable: (pools, pool) => pools.some((each) => samePool(each, pool) && each.status === "disabled"),
  remove: (pools, pool) => !pools.some((each) => samePool(each, pool)),
  prioritize: (pools, pool) => pools.some((each) => samePool(each, pool) && each.priority === 0),
};
