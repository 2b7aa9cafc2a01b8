import type { Pool, RigModel } from "../model.ts";
import type { RigBody } from "../rig.ts";

export type AvalonGeneration = "a-series" | "nano3" | "nano3s" | "mini3" | "q";

/** A pool as stored for the next start. */
export interface KeptPool {
  readonly url: string;
  readonly worker: string;
  readonly password: string;
}

export interface AvalonRig {
  readonly body: RigBody;
  readonly model: RigModel;
  readonly generation: AvalonGeneration;
  /** Password of the web page. */
  readonly password: string;
  /** Whether the firmware lists its options. */
  readonly helps: boolean;
  /** The mode now, and from the next start on. */
  mode: { now: number; next: number };
  kept: readonly KeptPool[];
  led: boolean;
  /** Effect, brightness, warmth, red, green, blue. */
  light: readonly number[];
  /** Switches off or on at a time of the rig's clock. */
  due: { readonly at: number; readonly mining: boolean } | null;
  /** Epoch ms of the last requested start of hashing. */
  wokenAt: number;
  /** The code of why it is not hashing; 0 while it may hash. */
  softOff: number;
}

export function freshAvalon(
  body: RigBody,
  options: { generation: AvalonGeneration; password: string; helps: boolean },
): AvalonRig {
  const { model } = body;
  const rig: AvalonRig = {
    body,
    model,
    ...options,
    mode: { now: 1, next: 1 },
    kept: model.pools.map(({ url, user, password }) => ({ url, worker: user, password })),
    led: false,
    light: [1, 80, 50, 0, 120, 255],
    due: null,
    wokenAt: 0,
    softOff: 0,
  };
  work(rig, options.generation === "a-series" ? 0 : 2);
  return rig;
}

/** W by work mode. */
export const watts: Readonly<Record<AvalonGeneration, readonly number[]>> = {
  "a-series": [3000, 3420],
  nano3: [60, 80, 140],
  nano3s: [70, 100, 140],
  mini3: [400, 650, 850],
  q: [800, 1300, 1674],
};

/** Applies this mode. */
export function work(rig: AvalonRig, mode: number): void {
  rig.mode = { now: mode, next: mode };
  rig.model.change((model) => {
    model.level = model.levelAt(watts[rig.generation][mode] ?? model.hardware.power);
  });
}

/** Seconds: uptime on an A-series, epoch time on the others. */
export const clockOf = ({ generation, model }: AvalonRig): number =>
  Math.floor(generation === "a-series" ? model.elapsed : model.at / 1000);

/** Applies changes that are due. */
export function settle(rig: AvalonRig): void {
  rig.model.advance();
  const { due } = rig;
  if (due === null || clockOf(rig) < due.at) return;
  rig.due = null;
  setMining(rig, due.mining);
}

export function setMining(rig: AvalonRig, mining: boolean): void {
  if (mining && !rig.model.mining) rig.wokenAt = rig.model.at;
  rig.softOff = mining ? 0 : 4;
  rig.model.change((model) => {
    model.mining = mining;
  });
}

/** The reported state: its boards take a while to start. */
export function stateOf({ model, wokenAt, body }: AvalonRig): 0 | 1 | 2 {
  if (!model.hashing) return 2;
  return model.at - wokenAt < Math.min(20, body.restartSeconds) * 1000 ? 0 : 1;
}

/** Restarts with its stored mode and pools, mining. */
export function reboot(rig: AvalonRig): void {
  const { model, body } = rig;
  const difficulty = model.pools[0]?.difficulty ?? 1024;
  const pools = rig.kept.map(({ url, worker, password }, priority): Pool => {
    const same = model.pools.find((pool) => pool.url === url && pool.user === worker);
    const fresh = { alive: true, quota: 1, hashes: 0, lastShareAt: null, difficulty };
    return { ...fresh, ...same, url, user: worker, password, priority, enabled: true };
  });
  model.setPools(pools);
  model.restart(body.restartSeconds);
  rig.due = null;
  rig.softOff = 0;
  rig.wokenAt = model.startedAt;
  rig.led = false;
  model.change(() => {
    model.fanSetting = null;
  });
  work(rig, rig.mode.next);
}
