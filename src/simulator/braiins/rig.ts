import { type Pool, poolsOf } from "../model.ts";
import type { RigBody } from "../rig.ts";

export type BraiinsGeneration = "bosminer" | "boser";

export interface BraiinsOptions {
  readonly generation: BraiinsGeneration;
  /** Password of the user root. */
  readonly password: string;
  /** Seconds until an unused token or session expires. */
  readonly tokenSeconds: number;
}

/** A pool as Braiins OS stores it. */
export interface PoolEntry {
  readonly uid: string;
  readonly url: string;
  readonly user: string;
  readonly password: string | null;
  readonly enabled: boolean;
}

export interface PoolGroup {
  readonly uid: string;
  readonly name: string;
  readonly quota: number;
  readonly pools: readonly PoolEntry[];
}

export interface Cooling {
  readonly mode: "auto" | "manual";
  /** °C. */
  readonly target: number;
  readonly hot: number;
  readonly dangerous: number;
  /** 0 to 1, in manual mode. */
  readonly ratio: number;
}

/** The state of a rig in Braiins OS. */
export interface BraiinsRig {
  readonly body: RigBody;
  readonly options: BraiinsOptions;
  /** W. */
  powerTarget: number;
  cooling: Cooling;
  locate: boolean;
  /** Whether the mining program is stopped. */
  stopped: boolean;
  /** Whether mining is paused. */
  paused: boolean;
  groups: readonly PoolGroup[];
  /** Epoch ms at which each token or session expires. */
  readonly sessions: Map<string, number>;
  /** Counter for unique ids. */
  made: number;
}

export const defaultCooling: Cooling = { mode: "auto", target: 60, hot: 80, dangerous: 90, ratio: 0.7 };

export function freshRig(body: RigBody, options: BraiinsOptions): BraiinsRig {
  const rig: BraiinsRig = {
    body,
    options,
    powerTarget: body.model.hardware.power,
    cooling: defaultCooling,
    locate: false,
    stopped: false,
    paused: false,
    groups: [],
    sessions: new Map(),
    made: 0,
  };
  rig.groups = [
    { uid: newId(rig), name: "Default", quota: 1, pools: body.model.pools.map((pool) => entry(rig, pool)) },
  ];
  return rig;
}

export function newId(rig: BraiinsRig): string {
  rig.made += 1;
  return `id${rig.made}`;
}

const entry = (rig: BraiinsRig, { url, user, password, enabled }: Pool): PoolEntry => ({
  uid: newId(rig),
  url,
  user,
  password,
  enabled,
});

/** The range in W that the tuner accepts. */
export const powerRange = ({ model }: RigBody): { min: number; max: number; default: number } => ({
  min: Math.round(model.powerAt(0.3)),
  max: model.hardware.power,
  default: model.hardware.power,
});

/** False when it is out of range. */
export function setPower(rig: BraiinsRig, watts: number): boolean {
  const { min, max } = powerRange(rig.body);
  if (!Number.isInteger(watts) || watts < min || watts > max) return false;
  rig.powerTarget = watts;
  rig.body.model.change((model) => {
    model.level = model.levelAt(watts);
  });
  return true;
}

export function setCooling(rig: BraiinsRig, cooling: Cooling): void {
  rig.cooling = cooling;
  rig.body.model.change((model) => {
    model.temperatureTarget = cooling.target;
    model.fanSetting = cooling.mode === "manual" ? cooling.ratio : null;
  });
}

/** Resumes mining unless it is paused or stopped. True if it was mining already. */
export function run(rig: BraiinsRig, change: { paused?: boolean; stopped?: boolean }): boolean {
  const { paused = rig.paused, stopped = rig.stopped } = change;
  const already = paused === rig.paused && stopped === rig.stopped;
  Object.assign(rig, { paused, stopped });
  rig.body.model.change((model) => {
    model.mining = !paused && !stopped;
  });
  return already;
}

/** Restarts the mining program, or with `seconds` the whole rig, with the stored pools. */
export function restart(rig: BraiinsRig, seconds: number): void {
  rig.paused = false;
  rig.stopped = false;
  setGroups(rig, rig.groups);
  rig.body.model.restart(seconds);
  if (seconds > 0) rig.sessions.clear();
}

/** Unchanged pools keep their counters. */
export function setGroups(rig: BraiinsRig, groups: readonly PoolGroup[]): void {
  const { model } = rig.body;
  const before = [...model.pools];
  const entries = groups.flatMap(({ pools }) => pools.map((pool, at) => ({ pool, at })));
  const difficulty = before[0]?.difficulty ?? 1024;
  const pools = entries.map(({ pool, at }): Pool => {
    const same = before.find(({ url, user }) => url === pool.url && user === pool.user);
    const [made] = poolsOf([{ url: pool.url, user: pool.user, password: pool.password ?? "" }], difficulty);
    const kept = same ?? made;
    if (kept === undefined) throw new Error("a pool was lost");
    return Object.assign(kept, { enabled: pool.enabled, priority: at });
  });
  rig.groups = groups;
  model.setPools(pools);
}

/** The id of a new session. */
export function login(rig: BraiinsRig): string {
  const id = `session-${newId(rig)}`;
  rig.sessions.set(id, rig.body.model.at + rig.options.tokenSeconds * 1000);
  return id;
}

/** Whether a session is valid; each use extends it. */
export function knows(rig: BraiinsRig, id: string | undefined): boolean {
  const until = id === undefined ? undefined : rig.sessions.get(id);
  if (id === undefined || until === undefined || until < rig.body.model.at) return false;
  rig.sessions.set(id, rig.body.model.at + rig.options.tokenSeconds * 1000);
  return true;
}

/** The mini miners do not measure power. */
export const measuresPower = ({ body }: BraiinsRig): boolean => !body.model.hardware.model.includes("BMM");

/** The names of boards: by connector on an S9, otherwise from 1 on. */
export const slotsOf = ({ body }: BraiinsRig): number[] => {
  const first = body.model.hardware.model.includes("S9") ? 6 : 1;
  return Array.from({ length: body.model.hardware.boards }, (_, index) => first + index);
};

/** Of one board. */
export const boardShare = (rig: BraiinsRig, index: number): number => {
  const { hardware, boardsOff } = rig.body.model;
  return boardsOff.has(index) ? 0 : 1 / Math.max(1, hardware.boards - boardsOff.size);
};
