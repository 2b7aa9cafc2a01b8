import type { DeviceReading } from "../../link/driver.ts";

/** One card (or processor) of a model, with a program and an algorithm. */
export interface Measured {
  readonly model: string;
  /** H/s per card. */
  readonly hashrate: number;
  /** W per card; null if not reported. */
  readonly power: number | null;
}

export interface Sample {
  /** Identifies the measurement; it starts over if this changes or the program restarts. */
  readonly subject: string;
  /** s since mining started; null if unknown. */
  readonly uptime: number | null;
  /** The mining devices. */
  readonly devices: readonly Pick<DeviceReading, "status" | "hashrate" | "power" | "name">[];
  /** Monotonic clock, ms. */
  readonly at: number;
}

export interface MeterTimes {
  /** s until the hash rate of a program is stable. */
  readonly warmUpSeconds: number;
  /** ms over which its figures are averaged. */
  readonly lastsMs: number;
}

export const meterTimes: MeterTimes = { warmUpSeconds: 120, lastsMs: 180_000 };

/** An average of fewer reads is too imprecise. */
const leastReads = 5;

interface Sum {
  readonly rates: number[];
  readonly powers: number[];
}

/** Averages hash rate and power of each model of card of one miner, once it has warmed up. */
export class BenchmarkMeter {
  readonly #times: MeterTimes;
  #subject: string | null = null;
  #uptime = 0;
  #since = 0;
  #reads = 0;
  #sums = new Map<string, Sum>();

  constructor(times: MeterTimes = meterTimes) {
    this.#times = times;
  }

  /** Adds a read; returns the averages once there are enough reads, null before. */
  take({ subject, uptime, devices, at }: Sample): Measured[] | null {
    if (subject !== this.#subject || uptime === null || uptime < this.#uptime) this.#begin(subject);
    if (uptime === null) return null;
    this.#uptime = uptime;
    const hashing = devices.filter(({ status }) => status !== "disabled");
    // A card that is not hashing is not measured.
    const ready =
      hashing.length > 0 && hashing.every(({ status, hashrate }) => status === "enabled" && (hashrate ?? 0) > 0);
    if (uptime < this.#times.warmUpSeconds || !ready) {
      this.#begin(subject);
      this.#uptime = uptime;
      return null;
    }
    if (this.#reads === 0) this.#since = at;
    this.#reads += 1;
    for (const { name, hashrate, power } of hashing) this.#add(name, hashrate ?? 0, power);
    if (at - this.#since < this.#times.lastsMs || this.#reads < leastReads) return null;
    const found = [...this.#sums].map(([model, { rates, powers }]) => ({
      model,
      hashrate: mean(rates),
      power: powers.length === rates.length ? mean(powers) : null,
    }));
    this.#begin(subject);
    this.#uptime = uptime;
    return found;
  }

  #begin(subject: string): void {
    this.#subject = subject;
    this.#uptime = 0;
    this.#reads = 0;
    this.#sums = new Map();
  }

  #add(model: string, rate: number, power: number | null): void {
    const sum = this.#sums.get(model) ?? { rates: [], powers: [] };
    this.#sums.set(model, sum);
    sum.rates.push(rate);
    if (power !== null) sum.powers.push(power);
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
