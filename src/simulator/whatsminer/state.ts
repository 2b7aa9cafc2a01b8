import type { RigModel } from "../model.ts";
import type { RigBody } from "../rig.ts";

/** Firmware of 2021, with errors in the summary; with API 2; and with API 3, which also has API 2. */
export const generations = {
  v1: { api: "1.4.0", firmware: "20210322.22.REL", platform: "H3" },
  v2: { api: "2.0.5", firmware: "20230803.11.REL", platform: "H616" },
  v3: { api: "3.0.3", firmware: "20250318.17.REL", platform: "H616" },
} as const;

export type Generation = keyof typeof generations;

/** The part of the rated power in each mode. */
const modes = { low: 0.7, normal: 0.9, high: 1 } as const;
export type Mode = keyof typeof modes;

export const modeNamed = (word: string): Mode | undefined =>
  word === "low" || word === "normal" || word === "high" ? word : undefined;

export interface WhatsminerOptions {
  readonly generation: Generation;
  readonly password: string;
  /** Whether the owner has enabled writing over the API. */
  readonly writable: boolean;
  /** Error codes that it reports. */
  readonly errors: readonly number[];
}

/** The state of a WhatsMiner. */
export interface Whatsminer extends WhatsminerOptions {
  readonly body: RigBody;
  readonly model: RigModel;
  mode: Mode;
  /** W; null: none. */
  limit: number | null;
  /** %; null: none. Reset by every restart. */
  percent: number | null;
  led: "auto" | "manual";
}

export function fresh(body: RigBody, options: WhatsminerOptions): Whatsminer {
  const rig: Whatsminer = {
    ...options,
    body,
    model: body.model,
    mode: "normal",
    limit: null,
    percent: null,
    led: "auto",
  };
  settle(rig);
  // A warm rig has been running in this mode.
  rig.model.hashes *= rig.model.level;
  for (const pool of rig.model.pools) pool.hashes *= rig.model.level;
  return rig;
}

/** The power limit in W, part of every report. */
export const limitOf = ({ model, mode, limit }: Whatsminer): number =>
  Math.round(Math.min(limit ?? Number.POSITIVE_INFINITY, model.powerAt(modes[mode])));

/** The nominal H/s. */
export const factoryHashrate = ({ model }: Whatsminer): number => model.hardware.hashrate * modes.normal;

export const canWrite = ({ writable, body }: Whatsminer): boolean => writable && !body.denies();

function settle(rig: Whatsminer): void {
  const { model, percent } = rig;
  const watts = (limitOf(rig) * (percent ?? 100)) / 100;
  model.change(() => {
    model.level = model.levelAt(watts);
  });
}

/** Restarts the mining program and resets temporary settings; a stopped rig stays stopped. */
function restart(rig: Whatsminer, seconds: number): void {
  const { mining } = rig.model;
  rig.percent = null;
  rig.model.restart(seconds);
  settle(rig);
  if (!mining) mine(rig, false);
}

function mine({ model }: Whatsminer, on: boolean): void {
  if (on && !model.mining) model.restart(0);
  model.change(() => {
    model.mining = on;
  });
}

/** The writes that both APIs share. */
export const acts = {
  mine,
  restart: (rig: Whatsminer): void => restart(rig, rig.body.restartSeconds),
  reboot: (rig: Whatsminer): void => {
    rig.led = "auto";
    restart(rig, rig.body.restartSeconds);
    mine(rig, true);
  },
  setMode: (rig: Whatsminer, mode: Mode): void => {
    rig.mode = mode;
    restart(rig, rig.body.restartSeconds);
  },
  limitPower: (rig: Whatsminer, watts: number): void => {
    rig.limit = watts === 0 || watts >= 99_999 ? null : watts;
    restart(rig, rig.body.restartSeconds);
  },
  throttle: (rig: Whatsminer, percent: number): void => {
    rig.percent = percent;
    settle(rig);
  },
  /** The complete list; slots without an address stay empty. */
  setPools: ({ model }: Whatsminer, slots: readonly { url: string; user: string; password: string }[]): void => {
    const difficulty = model.pools[0]?.difficulty ?? 1;
    const kept = { enabled: true, alive: true, quota: 1, hashes: 0, lastShareAt: null, difficulty };
    model.setPools(slots.filter(({ url }) => url !== "").map((slot, priority) => ({ ...kept, ...slot, priority })));
  },
};
