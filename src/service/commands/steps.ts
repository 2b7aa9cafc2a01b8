import { RigbridgeError } from "../../contract/problems.ts";
import type { ListedPoolAction, PoolAction, PoolLogin, PoolReading, Reading, Rig } from "../../link/driver.ts";
import { controlValue, reports } from "./control-value.ts";

/** One thing to tell a rig, once. */
export interface RigWrite {
  /** Resolves with the rig's words. */
  write(rig: Rig, signal: AbortSignal): Promise<string>;
  /** That the rig may take for it. */
  readonly seconds: number;
  /** Whether it restarts for it, and may be silent meanwhile. */
  readonly restarts: boolean;
  readonly proof: Proof;
}

/** What shows that a rig has done what it was told. */
export type Proof =
  /** Its word: no read shows it. */
  | { readonly by: "word" }
  /** A read, before anything else is sent; `doubt`: what may still be wrong then. */
  | {
      readonly by: "read";
      isDone(reading: Reading): boolean;
      doubt?(reading: Reading): string | null;
    }
  /** Reads of the minutes after it. Nothing waits for them: the rig has taken it when it says so. */
  | { readonly by: "restart"; hasRestarted(now: Reading, since: SinceWrite): boolean };

/** What was seen of a rig since it was told to restart. */
export interface SinceWrite {
  readonly wasAway: boolean;
  readonly seconds: number;
}

/**
 * Decides on the rig's last reading what it is told, pure. Words instead of a telling: nothing is to be done, and why.
 * Throws why it is refused, before anything is sent.
 */
export type Step = (reading: Reading) => RigWrite | string;

/** What the steps say to a rig that reads so: words when nothing is to be done. Throws as they would. */
export function rehearse(steps: readonly Step[], reading: Reading): string {
  const messages: string[] = [];
  for (const step of steps) {
    const write = step(reading);
    // What comes after a change is decided on what the rig reads then.
    if (typeof write !== "string") break;
    messages.push(write);
  }
  return joinMessages(messages);
}

export const joinMessages = (messages: readonly string[]): string =>
  messages.filter((message) => message !== "").join("; ");

/** Sets one control. Throws `control.absent`, or `input.invalid` at `path`. */
export const setControl =
  (key: string, text: string, path?: string): Step =>
  (reading) => {
    const { controls } = reading;
    const control = controls.find((each) => each.key === key);
    if (control === undefined) {
      const offered = controls.map((each) => each.key).join(", ") || "none";
      throw new RigbridgeError("control.absent", `This rig has no control "${key.slice(0, 40)}"; it has: ${offered}`);
    }
    const value = controlValue(control, text, path);
    const { seconds, restartsMining: restarts } = control;
    const write: RigWrite["write"] = (rig, signal) => rig.set(control.key, value, signal);
    if (control.kind === "trigger" && !restarts) return { write, seconds, restarts, proof: { by: "word" } };
    if (control.kind === "trigger") {
      const proven = (now: Reading, since: SinceWrite) => hasRestarted(reading, now, since);
      return { write, seconds, restarts, proof: { by: "restart", hasRestarted: proven } };
    }
    const isDone = (now: Reading) =>
      reports(
        now.controls.find((each) => each.key === control.key),
        value,
      );
    return { write, seconds, restarts, proof: { by: "read", isDone } };
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
export function onPool(action: ListedPoolAction, pool: PoolReading, reading: Reading): PoolWrite {
  const { pools, poolActions } = reading;
  if (action === "remove" && pools.filter(({ devFee }) => !devFee).length < 2)
    throw new RigbridgeError("pool.last", "The last pool cannot be removed");
  allow(action, poolActions);
  return poolWrite(
    reading,
    (rig, signal) => rig.pools[action]?.(pool, signal) ?? Promise.reject(absent(action)),
    (now) => poolDone[action](now.pools, pool),
  );
}

/** Adds a pool. One that the rig has already is left as it is. */
export const addPool =
  (login: PoolLogin): Step =>
  (reading) => {
    if (poolFor(login, reading) !== undefined) return `The rig already has ${login.url}`;
    allow("add", reading.poolActions);
    return poolWrite(
      reading,
      (rig, signal) => rig.pools.add?.(login, signal) ?? Promise.reject(absent("add")),
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

function usePool(login: PoolLogin, reading: Reading): RigWrite | string {
  const listed = poolFor(login, reading);
  const doubt = (now: Reading) => deadPoolWarning(login, now);
  if (listed?.active && listed.priority === 0) return doubt(reading) ?? `The rig mines at ${login.url} already`;
  if (listed !== undefined && reading.poolActions.includes("switch")) {
    const { proof, ...switching } = onPool("switch", listed, reading);
    return { ...switching, proof: { ...proof, doubt } };
  }
  allow("use", reading.poolActions);
  const { proof, ...using } = poolWrite(
    reading,
    (rig, signal) => rig.pools.use?.(login, signal) ?? Promise.reject(absent("use")),
    (now) => poolFor(login, now)?.active === true,
  );
  return { ...using, proof: { ...proof, doubt } };
}

/** What a person has to know of a pool that the rig was told to mine at, and that does not answer it. */
const deadPoolWarning = (login: PoolLogin, reading: Reading): string | null =>
  poolFor(login, reading)?.status === "dead" ? `the rig lists ${login.url} as dead: it gets no work there` : null;

/** s that a change of pools may take to show. A rig that says how long restarts for it. */
const poolSeconds = 30;

function poolWrite(reading: Reading, write: RigWrite["write"], isDone: (reading: Reading) => boolean): PoolWrite {
  const { poolSeconds: seconds } = reading;
  return { write, seconds: seconds ?? poolSeconds, restarts: seconds !== undefined, proof: { by: "read", isDone } };
}

type PoolWrite = RigWrite & { readonly proof: Extract<Proof, { by: "read" }> };

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

/** s by which an uptime may be behind: they are whole seconds, and some rigs count late. */
const uptimeLag = 2;

/**
 * Whether a rig has restarted: its uptime tells where it says one, else that it was away and is back; or it says itself
 * that it is starting.
 */
export function hasRestarted(before: Reading, now: Reading, { wasAway, seconds }: SinceWrite): boolean {
  if (now.starting === true && before.starting !== true) return true;
  const [was, is] = [before.readings.uptime, now.readings.uptime];
  if (was === null || is === null) return wasAway;
  // Not to be told by its uptime alone where it had only just started before.
  return is < was || is + uptimeLag < seconds || (wasAway && is <= seconds);
}

const samePool = (a: PoolReading, b: PoolReading): boolean => a.url === b.url && a.worker === b.worker;

/** What the rig's list shows when a pool action has worked. */
const poolDone: Record<ListedPoolAction, (pools: readonly PoolReading[], pool: PoolReading) => boolean> = {
  switch: (pools, pool) => pools.some((each) => samePool(each, pool) && (each.active || each.priority === 0)),
  enable: (pools, pool) => pools.some((each) => samePool(each, pool) && each.status !== "disabled"),
  disable: (pools, pool) => pools.some((each) => samePool(each, pool) && each.status === "disabled"),
  remove: (pools, pool) => !pools.some((each) => samePool(each, pool)),
  prioritize: (pools, pool) => pools.some((each) => samePool(each, pool) && each.priority === 0),
};
