import { RigbridgeError } from "../../../contract/problems.ts";
import type { Dual } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import type { DeviceReading, PoolReading } from "../../driver.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { firstOf, type NumberedDevice, poolsOf, ratesOf } from "../shared/cgminer-replies.ts";
import { busOf, dualWork } from "../shared/gpu-device.ts";
import { Memo } from "../shared/memo.ts";

/** What programs for graphics cards report beside summary, devs, pools and stats. */
export interface CardReport {
  readonly devices: readonly DeviceReading[];
  readonly dual: Dual | null;
  readonly dualPools: readonly PoolReading[];
}

/** The number of algorithms changes only with a restart. */
const singleMaxAgeMs = 600_000;

/**
 * sgminer and TeamRedMiner: the models of the cards, asked once, and TeamRedMiner's second algorithm, under names that
 * end with 2. A failure does not fail the read.
 */
export class Cards {
  readonly #rpc: RpcTransport;
  /** Of `devdetails`, by number; null before it was asked. */
  #details: ReadonlyMap<number, TolerantReader> | null = null;
  /** Whether it mines only one algorithm. */
  readonly #single: Memo<true>;

  constructor(rpc: RpcTransport, monotonicNow: () => number) {
    this.#rpc = rpc;
    this.#single = new Memo(singleMaxAgeMs, monotonicNow);
  }

  /** Called after a restart, since cards and algorithms may have changed. */
  forget(): void {
    this.#details = null;
    this.#single.forget();
  }

  /** `mayBeDual`: whether it is a program that can mine two algorithms. */
  async read(cards: readonly NumberedDevice[], mayBeDual: boolean, signal: AbortSignal): Promise<CardReport> {
    const [details, dual] = [await this.#askDetails(signal), mayBeDual ? await this.#askDual(signal) : null];
    const summary = dual === null ? undefined : sectionOf(dual, "summary2", "SUMMARY")[0];
    const pools = dual === null ? [] : sectionOf(dual, "pools2", "POOLS");
    return {
      devices: cards.map(({ number, reading }) => withDetails(reading, details.get(number))),
      dual: summary === undefined ? null : dualOf(summary, pools),
      dualPools: poolsOf(pools).map((pool) => ({ ...pool, active: false, dual: true })),
    };
  }

  async #askDetails(signal: AbortSignal): Promise<ReadonlyMap<number, TolerantReader>> {
    if (this.#details !== null) return this.#details;
    const answer = await this.#question("devdetails", signal);
    const listed = new TolerantReader(answer, new Notes(), "").list("DEVDETAILS", 64);
    const cards = listed.filter((each) => each.text("Name") === "GPU");
    this.#details = new Map(cards.map((each, place) => [each.integer("ID") ?? place, each]));
    return this.#details;
  }

  async #askDual(signal: AbortSignal): Promise<unknown> {
    if (this.#single.isFresh) return null;
    const answer = await this.#question("summary2+pools2", signal);
    if (sectionOf(answer, "summary2", "SUMMARY").length > 0) return answer;
    if (answer !== null) this.#single.keep(true);
    return null;
  }

  async #question(command: string, signal: AbortSignal): Promise<unknown> {
    try {
      return (await this.#rpc.send(command, undefined, signal)).value;
    } catch (error) {
      if (error instanceof RigbridgeError) return null;
      throw error;
    }
  }
}

/** One section of one part of a joined answer. */
const sectionOf = (answer: unknown, part: string, section: string): TolerantReader[] =>
  new TolerantReader(isRecord(answer) ? firstOf(answer[part]) : undefined, new Notes(), part).list(section);

/** TeamRedMiner may have the PCI address in the path; sgminer leaves it empty. */
function withDetails(reading: DeviceReading, details: TolerantReader | undefined): DeviceReading {
  const model = details?.text("Model") ?? null;
  if (reading.kind !== "gpu" || details === undefined || model === null) return reading;
  const isBus = details.text("Device Path")?.includes(":") === true;
  return { ...reading, name: model, bus: isBus ? busOf(details, "Device Path") : null };
}

function dualOf(summary: TolerantReader, pools: readonly TolerantReader[]): Dual {
  const { now, average } = ratesOf(summary);
  return dualWork({
    algorithm: poolAlgorithm(pools),
    hashrate: now,
    hashrateAverage: average,
    shares: {
      accepted: summary.integer("Accepted"),
      rejected: summary.integer("Rejected"),
      hardwareErrors: summary.integer("Hardware Errors"),
    },
  });
}

/** sgminer and TeamRedMiner name the algorithm of each pool. */
export const poolAlgorithm = (pools: readonly TolerantReader[]): string | null =>
  (pools.find((pool) => pool.boolean("Stratum Active") === true) ?? pools[0])?.text("Algorithm", 64) ?? null;
