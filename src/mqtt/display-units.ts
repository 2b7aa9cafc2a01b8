import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Logger } from "pino";
import { algorithms } from "../catalogue/algorithms.ts";
import type { Miner } from "../contract/resources.ts";
import { type DisplayUnit, displayUnitFor } from "./miner-state.ts";

/** Units chosen within this time are written together. */
const writeDelayMs = 500;
/** ms until a write that failed is tried again. */
const writeAgainMs = 10_000;

/** Where the chosen units outlive the process, as an object of names by device. */
export interface UnitsPlace {
  /** For messages. */
  readonly name: string;
  /** Undefined: there are none yet. */
  read(): Promise<unknown>;
  write(units: Readonly<Record<string, string>>): Promise<void>;
}

/** A small file. */
export const unitsIn = (file: string): UnitsPlace => ({
  name: file,
  read: async () => {
    try {
      return JSON.parse(await readFile(file, "utf8"));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  },
  write: (units) => replaceFile(file, JSON.stringify(units)),
});

/**
 * The unit of each device's displayed hash rate. It is chosen for the first known rate and never changes, since that
 * would break statistics. Without a place, it lasts as long as the process.
 */
export class DisplayUnits {
  readonly #place: UnitsPlace | null;
  readonly #log: Pick<Logger, "warn">;
  readonly #units = new Map<string, DisplayUnit>();
  #writing: NodeJS.Timeout | undefined;
  #written: Promise<void> = Promise.resolve();
  #failing = false;
  #closed = false;

  private constructor(place: UnitsPlace | null, log: Pick<Logger, "warn">) {
    this.#place = place;
    this.#log = log;
  }

  static async open(place: UnitsPlace | null, log: Pick<Logger, "warn">): Promise<DisplayUnits> {
    const units = new DisplayUnits(place, log);
    if (place === null) return units;
    try {
      const kept = await place.read();
      for (const [device, name] of Object.entries(kept ?? {})) {
        const unit = typeof name === "string" ? unitNamed(name) : undefined;
        if (unit !== undefined) units.#units.set(device, unit);
      }
    } catch {
      log.warn(`${place.name} cannot be read, so the units of hash rates are chosen again`);
    }
    return units;
  }

  ofMiner(uid: string, { readings }: Miner): DisplayUnit | null {
    const { hashrate, hashrateAverage, hashrateExpected, algorithm } = readings;
    return this.#of(uid, hashrateExpected ?? hashrateAverage ?? hashrate, algorithm);
  }

  /** The unit of several miners of one algorithm; `device` must not be a uid. */
  ofAll(device: string, miners: readonly Miner[]): DisplayUnit | null {
    const sum = miners.reduce((all, { readings }) => all + (readings.hashrateExpected ?? readings.hashrate ?? 0), 0);
    return this.#of(
      device,
      sum,
      miners.find(({ readings }) => readings.algorithm !== null)?.readings.algorithm ?? null,
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#writing === undefined) return this.#written;
    clearTimeout(this.#writing);
    this.#write();
    return this.#written;
  }

  #of(device: string, hashrate: number | null, algorithm: string | null): DisplayUnit | null {
    const chosen = this.#units.get(device);
    if (chosen !== undefined) return chosen;
    const unit = displayUnitFor(hashrate, rateUnitOf(algorithm));
    if (unit === null) return null;
    this.#units.set(device, unit);
    this.#writeIn(writeDelayMs);
    return unit;
  }

  #writeIn(ms: number): void {
    if (this.#place !== null && !this.#closed) this.#writing ??= setTimeout(() => this.#write(), ms).unref();
  }

  #write(): void {
    this.#writing = undefined;
    const place = this.#place;
    if (place === null) return;
    const units = Object.fromEntries([...this.#units].map(([device, { name }]) => [device, name]));
    this.#written = this.#written
      .then(() => place.write(units))
      .then(() => {
        this.#failing = false;
      })
      .catch((error: unknown) => {
        if (!this.#failing) this.#log.warn({ err: error }, `${place.name} cannot be written`);
        this.#failing = true;
        this.#writeIn(writeAgainMs);
      });
  }
}

async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** The unit of an algorithm's rate: "H/s", "Sol/s" or "G/s". */
function rateUnitOf(algorithm: string | null): string {
  if (algorithm === null) return "H/s";
  const wanted = normalised(algorithm);
  const found = algorithms.find(({ id, name, aliases }) =>
    [id, name, ...aliases].some((each) => normalised(each) === wanted),
  );
  return found?.unit ?? "H/s";
}

const normalised = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** The unit with a name from the file. */
function unitNamed(name: string): DisplayUnit | undefined {
  const [, prefix = "", unit = ""] = /^([kMGTPE]?)(H\/s|Sol\/s|G\/s)$/.exec(name) ?? [];
  return unit === "" ? undefined : { name, size: 1000 ** "_kMGTPE".indexOf(prefix || "_") };
}
