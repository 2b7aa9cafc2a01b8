import type { DeviceReading, PoolReading } from "../../driver.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { dualWork, gpuDevice, gpuRules } from "../shared/gpu-device.ts";
import { firstTwo, type ProgramReport, programPool } from "../shared/program.ts";

/** From the program's own record, its pools (one for each algorithm) and its threads on the cards. */
export function report(
  miner: TolerantReader,
  algorithms: readonly TolerantReader[],
  threads: TolerantReader,
): ProgramReport {
  const [first, second] = firstTwo(algorithms, miner.notes);
  const work = workOf(first ?? miner);
  return {
    software: "TeamBlackMiner",
    make: "Team Black Miner",
    version: miner.text("version"),
    readings: {
      algorithm: work.algorithm,
      hashrate: work.hashrate ?? miner.number("total_hashrate"),
      shares: {
        accepted: work.shares.accepted ?? miner.integer("total_accepted"),
        rejected: work.shares.rejected ?? miner.integer("total_rejected"),
        hardwareErrors: null,
      },
      dual: second === undefined ? null : dualWork(workOf(second)),
      uptime: miner.number("uptime_minutes", { times: 60 }),
    },
    devices: cardsOf(threads, work.algorithm),
    pools: [...(first === undefined ? [] : poolOf(first)), ...(second === undefined ? [] : poolOf(second, true))],
  };
}

const workOf = (pool: TolerantReader) => ({
  algorithm: pool.text("algo"),
  hashrate: pool.number("total_hashrate"),
  shares: { accepted: pool.integer("total_accepted"), rejected: pool.integer("total_rejected"), hardwareErrors: null },
});

/** Objects under "0", "1" and so on, in that order. */
export const numbered = (reply: TolerantReader): TolerantReader[] =>
  reply
    .keys()
    .filter((key) => /^\d{1,3}$/.test(key))
    .sort((one, other) => Number(one) - Number(other))
    .map((key) => reply.object(key));

/** A card that mines two algorithms has a thread for each; that of the first is the card. */
function cardsOf(reply: TolerantReader, algorithm: string | null): DeviceReading[] {
  const cards = new Map<number, TolerantReader>();
  for (const [position, thread] of numbered(reply).entries()) {
    const card = thread.integer("gpu") ?? position;
    if (!cards.has(card) || (algorithm !== null && thread.text("algo") === algorithm)) cards.set(card, thread);
  }
  return [...cards].map(([card, thread]) =>
    gpuDevice({
      name: thread.text("board_name") ?? `GPU ${card}`,
      hashrate: thread.number("hashrate"),
      temperature: thread.number("gpu_temp", gpuRules.temperature),
      memoryTemperature: thread.number("mem_temp", gpuRules.temperature),
      fanPercent: thread.number("fan", gpuRules.fanPercent),
      clock: thread.number("core_clock", gpuRules.megahertz),
      memoryClock: thread.number("mem_clock", gpuRules.megahertz),
      power: thread.number("watt", gpuRules.power),
      intensity: thread.text("xintensity"),
      accepted: thread.integer("accepted"),
      rejected: thread.integer("rejected"),
      // Bus 0 holds no cards, and is what some versions write for each.
      bus: thread.integer("pcie_id", { absent: 0, max: 255 }),
    }),
  );
}

const poolOf = (pool: TolerantReader, isSecond = false): PoolReading[] =>
  programPool({
    second: isSecond,
    url: pool.text("url", 255),
    worker: pool.text("worker", 255),
    accepted: pool.integer("total_accepted"),
    rejected: pool.integer("total_rejected"),
    stale: pool.integer("total_stale"),
  });
