import { notFound } from "../../contract/problems.ts";
import type { Collection, Stored, StoredBenchmark } from "../../store/index.ts";
import { done } from "../crud.ts";
import type { Measured } from "./benchmark-meter.ts";

/** The figures of a whole rig. */
export interface Expected {
  /** H/s. */
  readonly hashrate: number;
  /** W; null if the power of one card is unknown. */
  readonly power: number | null;
}

/** Hash rate and power of each model of card with each program and algorithm, measured once. */
export class Benchmarks {
  readonly #rows: Collection<StoredBenchmark>;
  readonly #now: () => number;

  constructor(rows: Collection<StoredBenchmark>, now: () => number) {
    this.#rows = rows;
    this.#now = now;
  }

  of(model: string, software: string, algorithm: string): Stored<StoredBenchmark> | undefined {
    return this.#rows
      .all()
      .find((row) => row.model === model && row.software === software && row.algorithm === algorithm);
  }

  /** The figures of a rig with cards of these models; null if one of them is not measured yet. */
  expected(models: readonly string[], software: string, algorithm: string): Expected | null {
    if (models.length === 0) return null;
    let [hashrate, power]: [number, number | null] = [0, 0];
    for (const model of models) {
      const row = this.of(model, software, algorithm);
      if (row === undefined) return null;
      hashrate += row.hashrate;
      power = power === null || row.power === null ? null : power + row.power;
    }
    return { hashrate, power };
  }

  /** Stores results; existing ones are not replaced. */
  async add(measured: readonly Measured[], software: string, algorithm: string): Promise<void> {
    for (const each of measured)
      if (this.of(each.model, software, algorithm) === undefined)
        await this.#rows.add({ ...each, software, algorithm, at: this.#now() });
  }

  readonly listBenchmarks = async () =>
    this.#rows.all().map(({ id, model, software, algorithm, hashrate, power, at }) => ({
      id,
      model,
      software,
      algorithm,
      hashrate,
      power,
      at: new Date(at).toISOString(),
    }));

  readonly deleteBenchmark = async ({ id }: { readonly id: number }) => {
    const row = this.#rows.get(id);
    if (row === undefined) throw notFound("benchmark", id);
    await this.#rows.remove(id);
    return done(`The benchmark of ${row.model} with ${row.algorithm} was removed; it will be measured again`);
  };
}
