import type { Hardware } from "./hardware.ts";
import { noise } from "./random.ts";

/** A pool as a rig keeps it; nothing is ever connected to. */
export interface Pool {
  url: string;
  user: string;
  password: string;
  /** Of a share. */
  difficulty: number;
  enabled: boolean;
  /** Whether the pool would answer. */
  alive: boolean;
  /** 0 is the highest. */
  priority: number;
  quota: number;
  /** Hashes done for this pool since the counters were set back. */
  hashes: number;
  /** Epoch ms, null before the first. */
  lastShareAt: number | null;
}

/** A pool to start with; nothing is ever connected to. */
export interface PoolSpec {
  readonly url: string;
  readonly user: string;
  readonly password?: string;
  /** Of a share; what is left out gives a share every few seconds. */
  readonly difficulty?: number;
  readonly alive?: boolean;
  readonly enabled?: boolean;
}

export function poolsOf(specs: readonly PoolSpec[], difficulty: number): Pool[] {
  return specs.map((pool, priority) => ({
    url: pool.url,
    user: pool.user,
    password: pool.password ?? "x",
    difficulty: pool.difficulty ?? difficulty,
    enabled: pool.enabled ?? true,
    alive: pool.alive ?? true,
    priority,
    quota: 1,
    hashes: 0,
    lastShareAt: null,
  }));
}

export interface Shares {
  readonly accepted: number;
  readonly rejected: number;
}

export interface RigModelOptions {
  readonly hardware: Hardware;
  readonly pools: readonly Pool[];
  /** Epoch ms. */
  readonly now: () => number;
  readonly seed: number;
  /** It has been running for an hour. */
  readonly warm: boolean;
}

/** The pool that hashes: of those that are enabled and answer the one with the highest priority. */
export function activePool(pools: readonly Pool[]): Pool | null {
  let best: Pool | null = null;
  for (const pool of pools) {
    if (pool.enabled && pool.alive && (best === null || pool.priority < best.priority)) best = pool;
  }
  return best;
}

const warmUpSeconds = 60;
const thermalSeconds = 90;
const hourMs = 3_600_000;
const shareOfRejects = 0.004;
const shareOfErrors = 0.01;

/**
 * A rig as physics: hash rate warms up, temperature follows power, the fan follows temperature, shares follow hashes.
 * It has no timer: `advance` carries the state from where it was to the clock's time, and costs nothing in between.
 * What it says is as of the last `advance`; every request to the rig makes one.
 */
export class RigModel {
  readonly hardware: Hardware;
  readonly seed: number;
  /** In the order of the rig's own numbering. */
  pools: Pool[];
  /** Told to mine; whether it does hash also depends on pools and heat. */
  mining = true;
  /** °C. */
  ambient = 25;
  /** Hz. */
  frequency: number;
  /** V. */
  voltage: number;
  /** 0 to 1; null lets the fan follow the temperature. */
  fanSetting: number | null = null;
  /** 0 to 1, of its rated rate: what a limit of power or a throttle leaves it. */
  level = 1;
  /** °C, that the fan works for. */
  temperatureTarget: number;
  /** Boards that were told not to hash, by number. */
  readonly boardsOff = new Set<number>();
  overheated = false;
  /** Epoch ms; in the future while the rig starts. */
  startedAt: number;
  /** Hashes since the start. */
  hashes = 0;
  /** °C, of the hottest board. */
  temperature: number;

  readonly #now: () => number;
  #at: number;
  #hashingSince: number | null = null;
  /** Of pools that were removed. */
  #gone: Shares = { accepted: 0, rejected: 0 };

  constructor(options: RigModelOptions) {
    this.hardware = options.hardware;
    this.seed = options.seed;
    this.pools = options.pools.map((pool) => ({ ...pool }));
    this.frequency = options.hardware.frequency;
    this.voltage = options.hardware.voltage;
    this.temperatureTarget = options.hardware.temperature;
    this.temperature = this.ambient;
    this.#now = options.now;
    this.#at = options.now() - (options.warm ? hourMs : 0);
    this.startedAt = this.#at;
    this.#settle();
    this.advance();
  }

  /** Epoch ms of the last `advance`. */
  get at(): number {
    return this.#at;
  }

  /** Carries the state to the clock's time. A clock that steps back stops the model until it has caught up. */
  advance(): void {
    const now = this.#now();
    if (now <= this.#at) return;
    this.#hash(now);
    this.#heat(now);
    this.#at = now;
    if (this.temperature >= this.hardware.temperatureLimit) this.overheated = true;
    this.#settle();
  }

  /** Every change from outside goes through here: what was until now is booked with the old settings. */
  change(edit: (model: RigModel) => void): void {
    this.advance();
    edit(this);
    this.#settle();
  }

  setPoolAlive(index: number, alive: boolean): void {
    this.change(() => {
      const pool = this.pools[index];
      if (pool !== undefined) pool.alive = alive;
    });
  }

  /** Pools that are not in the new list leave their shares to the totals. */
  setPools(pools: readonly Pool[]): void {
    this.change(() => {
      for (const pool of this.pools.filter((old) => !pools.includes(old))) {
        const { accepted, rejected } = this.sharesOf(pool);
        this.#gone = { accepted: this.#gone.accepted + accepted, rejected: this.#gone.rejected + rejected };
      }
      this.pools = [...pools];
    });
  }

  /** Starts again after so many seconds: counters at zero, everything else as it is. */
  restart(seconds: number): void {
    this.change(() => {
      this.zero();
      this.overheated = false;
      this.mining = true;
      this.#hashingSince = null;
      this.startedAt = this.#at + seconds * 1000;
    });
  }

  /** W at this level, warm; and the level at which it takes so many. */
  powerAt(level: number): number {
    const { idlePower, power } = this.hardware;
    return idlePower + (power - idlePower) * level;
  }

  levelAt(watts: number): number {
    const { idlePower, power } = this.hardware;
    return Math.min(1, Math.max(0, (watts - idlePower) / (power - idlePower)));
  }

  /** Sets the counters back. */
  zero(): void {
    this.hashes = 0;
    this.#gone = { accepted: 0, rejected: 0 };
    for (const pool of this.pools) {
      pool.hashes = 0;
      pool.lastShareAt = null;
    }
  }

  get starting(): boolean {
    return this.#now() < this.startedAt;
  }

  /** Seconds since the start. */
  get elapsed(): number {
    return Math.max(0, (this.#at - this.startedAt) / 1000);
  }

  get hashing(): boolean {
    return this.#hashingSince !== null;
  }

  get activePool(): Pool | null {
    return activePool(this.pools);
  }

  /** H/s that it should reach at its settings. */
  get ratedHashrate(): number {
    return (this.hardware.hashrate * this.#boardsOn * this.level * this.frequency) / this.hardware.frequency;
  }

  /** H/s over the last so many seconds. */
  hashrate(seconds = 5): number {
    const worked = this.#effort(this.#at) - this.#effort(this.#at - seconds * 1000);
    const jitter = (0.03 / Math.sqrt(seconds)) * noise(this.seed, Math.floor(this.#at / 5000));
    return ((this.ratedHashrate * worked) / seconds) * (1 + jitter);
  }

  /** H/s since the start. */
  get averageHashrate(): number {
    return this.elapsed === 0 ? 0 : this.hashes / this.elapsed;
  }

  /** W. */
  get power(): number {
    return this.#power(this.#load(this.#at)) * (1 + 0.01 * noise(this.seed + 1, Math.floor(this.#at / 5000)));
  }

  /** 0 to 1. */
  get fan(): number {
    return this.fanSetting ?? Math.min(1, Math.max(0.25, 0.6 + (this.temperature - this.temperatureTarget) / 25));
  }

  get fanRpm(): number {
    return Math.round(this.hardware.fanRpm * this.fan);
  }

  sharesOf(pool: Pool): Shares {
    const found = Math.floor(pool.hashes / this.#hashesPerShare(pool));
    const rejected = Math.floor(found * shareOfRejects);
    return { accepted: found - rejected, rejected };
  }

  get shares(): Shares {
    let { accepted, rejected } = this.#gone;
    for (const pool of this.pools) {
      const shares = this.sharesOf(pool);
      accepted += shares.accepted;
      rejected += shares.rejected;
    }
    return { accepted, rejected };
  }

  get hardwareErrors(): number {
    return Math.floor(this.shares.accepted * shareOfErrors);
  }

  /** Difficulty-1 shares since the start. */
  get work(): number {
    return this.hashes / this.hardware.hashesPerDifficulty;
  }

  /** The luck of a rig stays with it, so its best share only grows: each time that its work has doubled. */
  get bestShare(): number {
    const doubled = this.work < 1 ? this.work : 2 ** Math.floor(Math.log2(this.work));
    return Math.floor(doubled * (1 + 0.8 * noise(this.seed, 7)));
  }

  #settle(): void {
    const hashes = this.mining && !this.overheated && this.activePool !== null;
    if (!hashes) this.#hashingSince = null;
    else this.#hashingSince ??= Math.max(this.#at, this.startedAt);
  }

  #hash(now: number): void {
    const pool = this.activePool;
    if (pool === null || this.#hashingSince === null) return;
    const hashes = this.ratedHashrate * (this.#effort(now) - this.#effort(this.#at));
    this.hashes += hashes;
    pool.hashes += hashes;
    const perShare = this.#hashesPerShare(pool);
    const sinceShare = (pool.hashes % perShare) / this.ratedHashrate;
    if (pool.hashes >= perShare) pool.lastShareAt = now - sinceShare * 1000;
  }

  /** In steps that are short against the time constant; ten minutes settle whatever was before. */
  #heat(now: number): void {
    const stepMs = 10_000;
    let at = Math.max(this.#at, now - 60 * stepMs);
    while (at < now) {
      const seconds = Math.min(stepMs, now - at) / 1000;
      const load = this.#power(this.#load(at + seconds * 500)) / this.hardware.power;
      const goal = this.ambient + (this.hardware.temperature - 25) * load * (1.6 - this.fan);
      this.temperature += (goal - this.temperature) * (1 - Math.exp(-seconds / thermalSeconds));
      at += seconds * 1000;
    }
  }

  #power(load: number): number {
    const { idlePower, power, frequency, voltage } = this.hardware;
    const drive = (this.frequency / frequency) * (this.voltage / voltage) ** 2;
    return idlePower + (power - idlePower) * load * this.#boardsOn * this.level * drive;
  }

  /** 0 to 1. */
  get #boardsOn(): number {
    return 1 - this.boardsOff.size / this.hardware.boards;
  }

  /** 0 to 1: how much of its rated rate it works at. */
  #load(at: number): number {
    if (this.#hashingSince === null) return 0;
    return Math.min(1, Math.max(0, (at - this.#hashingSince) / 1000 / warmUpSeconds));
  }

  /** Seconds of full work done from the start of hashing to then: the integral of `#load`. */
  #effort(at: number): number {
    if (this.#hashingSince === null) return 0;
    const seconds = Math.max(0, (at - this.#hashingSince) / 1000);
    return seconds < warmUpSeconds ? seconds ** 2 / 2 / warmUpSeconds : seconds - warmUpSeconds / 2;
  }

  #hashesPerShare(pool: Pool): number {
    return pool.difficulty * this.hardware.hashesPerDifficulty;
  }
}
