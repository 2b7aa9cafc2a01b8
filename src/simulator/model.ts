import type { Hardware } from "./hardware.ts";
import { noise } from "./random.ts";

/** A pool of a rig, which never connects to it. */
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
  /** Hashes for this pool since the counters were reset. */
  hashes: number;
  /** Epoch ms, null before the first. */
  lastShareAt: number | null;
}

/** An initial pool; no rig ever connects to it. */
export interface PoolSpec {
  readonly url: string;
  readonly user: string;
  readonly password?: string;
  /** Of a share; by default that of one share every few seconds. */
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
  /** Whether it has been running for an hour. */
  readonly warm: boolean;
}

/** The pool in use: of the enabled ones that answer, the one with the highest priority. */
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
 * The physics of a rig: the hash rate ramps up, temperature follows power, the fan temperature, shares follow hashes.
 * There is no timer: `advance` brings the state up to the time of the clock, and costs nothing in between.
 * All values are as of the last `advance`; every request to the rig makes one.
 */
export class RigModel {
  readonly hardware: Hardware;
  readonly seed: number;
  /** In the order of the rig's own numbering. */
  pools: Pool[];
  /** Whether it should mine; whether it hashes also depends on pools and heat. */
  mining = true;
  /** °C. */
  ambient = 25;
  /** Hz. */
  frequency: number;
  /** V. */
  voltage: number;
  /** 0 to 1; null lets the fan follow the temperature. */
  fanSetting: number | null = null;
  /** 0 to 1, the part of its rated rate that a power limit or a throttle allows. */
  level = 1;
  /** °C, the set point of the fan. */
  temperatureTarget: number;
  /** Disabled boards, by number. */
  readonly boardsOff = new Set<number>();
  /** Boards, or cards of a computer, that no longer answer, by number. */
  readonly boardsLost = new Set<number>();
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

  /** Brings the state up to the time of the clock. A clock that steps back stops the model until it has caught up. */
  advance(): void {
    const now = this.#now();
    if (now <= this.#at) return;
    this.#hash(now);
    this.#heat(now);
    this.#at = now;
    if (this.temperature >= this.hardware.temperatureLimit) this.overheated = true;
    this.#settle();
  }

  /** Every change from outside goes through here, so that the time until now counts with the old settings. */
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

  /** The shares of removed pools stay in the totals. */
  setPools(pools: readonly Pool[]): void {
    this.change(() => {
      for (const pool of this.pools.filter((old) => !pools.includes(old))) {
        const { accepted, rejected } = this.sharesOf(pool);
        this.#gone = { accepted: this.#gone.accepted + accepted, rejected: this.#gone.rejected + rejected };
      }
      this.pools = [...pools];
    });
  }

  /** Restarts within these seconds: counters at zero, everything else unchanged. */
  restart(seconds: number): void {
    this.change(() => {
      this.zero();
      this.overheated = false;
      this.mining = true;
      this.#hashingSince = null;
      this.startedAt = this.#at + seconds * 1000;
    });
  }

  /** W at this level, warm; `levelAt` is the inverse. */
  powerAt(level: number): number {
    const { idlePower, power } = this.hardware;
    return idlePower + (power - idlePower) * level;
  }

  levelAt(watts: number): number {
    const { idlePower, power } = this.hardware;
    return Math.min(1, Math.max(0, (watts - idlePower) / (power - idlePower)));
  }

  /** Resets the counters. */
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

  /** H/s expected at its settings. */
  get ratedHashrate(): number {
    return (this.hardware.hashrate * this.#boardsOn * this.level * this.frequency) / this.hardware.frequency;
  }

  /** H/s, averaged over the last `seconds`. */
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

  /** Never falls: it grows each time the work has doubled, by the constant luck of the rig. */
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

  /** In steps much shorter than the time constant; ten minutes reach equilibrium. */
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
    const off = [...this.boardsLost].filter((board) => !this.boardsOff.has(board)).length + this.boardsOff.size;
    return 1 - off / this.hardware.boards;
  }

  /** 0 to 1, of the rated rate. */
  #load(at: number): number {
    if (this.#hashingSince === null) return 0;
    return Math.min(1, Math.max(0, (at - this.#hashingSince) / 1000 / warmUpSeconds));
  }

  /** Equivalent seconds at full load from the start of hashing until then: the integral of `#load`. */
  #effort(at: number): number {
    if (this.#hashingSince === null) return 0;
    const seconds = Math.max(0, (at - this.#hashingSince) / 1000);
    return seconds < warmUpSeconds ? seconds ** 2 / 2 / warmUpSeconds : seconds - warmUpSeconds / 2;
  }

  #hashesPerShare(pool: Pool): number {
    return pool.difficulty * this.hardware.hashesPerDifficulty;
  }
}
