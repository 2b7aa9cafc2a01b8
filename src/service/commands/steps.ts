import { RigbridgeError } from "../../contract/problems.ts";
import type { ControlKey, ControlValue } from "../../contract/readings.ts";
import { absentPoolAction } from "../../link/controls.ts";
import type { ListedPoolAction, PoolAction, PoolLogin, PoolReading, Reading, Rig } from "../../link/driver.ts";
import { detail } from "../../messages/detail.ts";
import { controlValue, isCapped, reports } from "./control-value.ts";

/** One control set to one value. */
export interface Setting {
  readonly key: ControlKey;
  readonly value: ControlValue;
}

/** One write to a rig. */
export interface RigWrite {
  /** Resolves with the rig's answer. */
  write(rig: Rig, signal: AbortSignal): Promise<string>;
  /** Seconds that the rig may need for it. */
  readonly seconds: number;
  /** Whether the rig restarts for it and may not answer in the meantime. */
  readonly restarts: boolean;
  readonly proof: Proof;
  /** Absent if it sets no control. */
  readonly sets?: Setting;
}

/** What confirms a write. */
export type Proof =
  /** The rig's answer: no read shows the change. */
  | { readonly by: "answer" }
  /** A read, before anything else is sent. `remark`: how the change was made; `doubt`: what may still be wrong. */
  | {
      readonly by: "read";
      isDone(reading: Reading): boolean;
      remark?(reading: Reading): string | null;
      doubt?(reading: Reading): string | null;
    }
  /** Reads in the minutes after it. Nothing waits for them: the command counts as accepted when the rig answers. */
  | { readonly by: "restart"; hasRestarted(now: Reading, since: SinceWrite): boolean };

/** Observations of a rig since the command to restart. */
export interface SinceWrite {
  readonly wasAway: boolean;
  readonly seconds: number;
}

/**
 * Decides by the rig's last reading what to write; a pure function. Returns a message if nothing needs to be written.
 * Throws the reason for a refusal before anything is sent.
 */
export type Step = (reading: Reading) => RigWrite | string;

/** What steps would do. */
export interface Rehearsal {
  /** Of the steps that would write nothing. */
  readonly message: string;
  /** The controls that they would set, in order. */
  readonly settings: readonly Setting[];
  /** s that the rig may need for all of it. */
  readonly seconds: number;
}

/** What steps would do by this reading. Throws like the steps before the first write; later ones depend on what it changes. */
export function rehearse(steps: readonly Step[], reading: Reading): Rehearsal {
  const messages: string[] = [];
  const settings: Setting[] = [];
  let seconds = 0;
  let now = reading;
  for (const step of steps) {
    const write = settings.length === 0 ? step(now) : unlessRefused(step, now);
    if (typeof write === "string") {
      if (settings.length === 0) messages.push(write);
      continue;
    }
    seconds += write.seconds;
    // What follows a write without a setting cannot be told.
    if (write.sets === undefined) break;
    settings.push(write.sets);
    now = withSetting(now, write.sets);
  }
  return { message: joinMessages(messages), settings, seconds };
}

function unlessRefused(step: Step, reading: Reading): RigWrite | string {
  try {
    return step(reading);
  } catch (error) {
    if (error instanceof RigbridgeError) return "";
    throw error;
  }
}

/** A reading as it will be once a control has this value. */
export const withSetting = (reading: Reading, { key, value }: Setting): Reading => ({
  ...reading,
  controls: reading.controls.map((control) => (control.key === key ? { ...control, value } : control)),
});

export const joinMessages = (messages: readonly string[]): string =>
  messages.filter((message) => message !== "").join("; ");

/** Sets one control. Throws `control.absent`, or `input.invalid` at `path`. */
export const setControl =
  (key: string, text: string, path?: string): Step =>
  (reading) => {
    const { controls } = reading;
    const control = controls.find((each) => each.key === key);
    if (control === undefined) {
      const [wanted, offered] = [key.slice(0, 40), controls.map((each) => each.key).join(", ")];
      const why =
        offered === ""
          ? detail("control.none", { control: wanted })
          : detail("control.absent", { control: wanted, offered });
      throw new RigbridgeError("control.absent", why);
    }
    const value = controlValue(control, text, path);
    const { seconds, restartsMining: restarts } = control;
    const sets = { key: control.key, value };
    const write: RigWrite["write"] = (rig, signal) => rig.set(control.key, value, signal);
    if (control.kind === "trigger" && !restarts) return { write, seconds, restarts, proof: { by: "answer" } };
    if (control.kind === "trigger") {
      const proven = (now: Reading, since: SinceWrite) => hasRestarted(reading, now, since);
      return { write, seconds, restarts, proof: { by: "restart", hasRestarted: proven } };
    }
    const present = (now: Reading) => now.controls.find((each) => each.key === control.key);
    const isDone = (now: Reading) => reports(present(now), value) || isCapped(present(now), value);
    const remark = (now: Reading) =>
      isCapped(present(now), value) ? `it limits itself to ${present(now)?.max} ${control.unit ?? ""}`.trim() : null;
    return { write, seconds, restarts, sets, proof: { by: "read", isDone, remark } };
  };

/** Has a rig signal where it is, or ends that: a signal that lasts a moment ends automatically. */
export const locate =
  (on: boolean): Step =>
  (reading) => {
    const lastsMoment = reading.controls.some(({ key, kind }) => key === "locate" && kind === "trigger");
    return lastsMoment && !on
      ? "The signal of this rig ends automatically"
      : setControl("locate", String(on), "on")(reading);
  };

/** Stops or starts. Refused if the rig is already stopped or mining, like `canStop` and `canStart`. */
export const switchMining =
  (on: boolean): Step =>
  (reading) => {
    const control = reading.controls.find(({ key }) => key === "mining");
    if (control?.value === on)
      throw new RigbridgeError("not.possible", detail(on ? "command.mining" : "command.stopped"));
    return setControl("mining", String(on))(reading);
  };

/** Changes a pool that the rig lists. */
export function onPool(action: ListedPoolAction, pool: PoolReading, reading: Reading): PoolWrite {
  const { pools, poolActions } = reading;
  if (action === "remove" && pools.filter(({ devFee }) => !devFee).length < 2)
    throw new RigbridgeError("pool.last", detail("command.lastPool"));
  allow(action, poolActions);
  return poolWrite(
    reading,
    (rig, signal) => rig.pools[action]?.(pool, signal) ?? Promise.reject(absentPoolAction(action)),
    (now) => poolDone[action](now.pools, pool),
  );
}

/** Adds a pool; a pool that the rig already has stays unchanged. */
export const addPool =
  (login: PoolLogin): Step =>
  (reading) => {
    if (poolFor(login, reading) !== undefined) return `The rig already has ${login.url}`;
    allow("add", reading.poolActions);
    return poolWrite(
      reading,
      (rig, signal) => rig.pools.add?.(login, signal) ?? Promise.reject(absentPoolAction("add")),
      (now) => poolFor(login, now) !== undefined,
    );
  };

/**
 * Makes the rig mine at the first pool: switches to it, or replaces the pool that it mines at. The others are added if
 * the rig has room.
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

/** Whether the rig can switch to the pool once added. */
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
    (rig, signal) => rig.pools.use?.(login, signal) ?? Promise.reject(absentPoolAction("use")),
    (now) => poolFor(login, now)?.active === true,
  );
  return { ...using, proof: { ...proof, doubt } };
}

/** The warning for a pool that does not answer the rig, null if it does. */
const deadPoolWarning = (login: PoolLogin, reading: Reading): string | null =>
  poolFor(login, reading)?.status === "dead" ? `the rig lists ${login.url} as dead: it gets no work there` : null;

/** Seconds until a changed pool shows. A rig with its own time restarts for it. */
const poolSeconds = 30;

function poolWrite(reading: Reading, write: RigWrite["write"], isDone: (reading: Reading) => boolean): PoolWrite {
  const { poolSeconds: seconds } = reading;
  return { write, seconds: seconds ?? poolSeconds, restarts: seconds !== undefined, proof: { by: "read", isDone } };
}

type PoolWrite = RigWrite & { readonly proof: Extract<Proof, { by: "read" }> };

/** The pool of the rig with this login. */
function poolFor({ url, worker }: PoolLogin, { pools }: Reading): PoolReading | undefined {
  const wanted = bareUrl(url);
  return pools.find((pool) => bareUrl(pool.url) === wanted && pool.worker === worker);
}

function allow(action: PoolAction, allowed: readonly PoolAction[]): void {
  if (!allowed.includes(action)) throw absentPoolAction(action);
}

const bareUrl = (url: string): string =>
  url
    .replace(/^[a-z0-9+]+:\/\//i, "")
    .replace(/\/$/, "")
    .toLowerCase();

/** Seconds by which an uptime may lag: it is in whole seconds, and some rigs update it late. */
const uptimeLag = 2;

/**
 * Whether a rig has restarted: by its uptime if it reports one, otherwise because it went offline and came back; or
 * because it reports that it is starting.
 */
export function hasRestarted(before: Reading, now: Reading, { wasAway, seconds }: SinceWrite): boolean {
  if (now.starting === true && before.starting !== true) return true;
  const [was, is] = [before.readings.uptime, now.readings.uptime];
  if (was === null || is === null) return wasAway;
  // A rig that had just started before cannot be judged by its uptime alone.
  return is < was || is + uptimeLag < seconds || (wasAway && is <= seconds);
}

const samePool = (a: PoolReading, b: PoolReading): boolean => a.url === b.url && a.worker === b.worker;

/** Whether the rig's list of pools confirms an action. */
const poolDone: Record<ListedPoolAction, (pools: readonly PoolReading[], pool: PoolReading) => boolean> = {
  switch: (pools, pool) => pools.some((each) => samePool(each, pool) && (each.active || each.priority === 0)),
  enable: (pools, pool) => pools.some((each) => samePool(each, pool) && each.status !== "disabled"),
  disable: (pools, pool) => pools.some((each) => samePool(each, pool) && each.status === "disabled"),
  remove: (pools, pool) => !pools.some((each) => samePool(each, pool)),
  prioritize: (pools, pool) => pools.some((each) => samePool(each, pool) && each.priority === 0),
};
