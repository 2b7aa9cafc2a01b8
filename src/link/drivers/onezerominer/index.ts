import type { DeviceReading, PoolReading } from "../../driver.ts";
import { TolerantReader } from "../../tolerant-reader.ts";
import { type CardFields, cardFigures, dualWork, gpuDevice } from "../shared/gpu-device.ts";
import { firstTwo, type ProgramReport, programPool, readOnlyProgram } from "../shared/program.ts";

/**
 * OneZeroMiner. Its API is on at 127.0.0.1:3001, has no login and controls nothing. Source: readers in other managers.
 */
export const onezerominer = readOnlyProgram({
  id: "onezerominer",
  name: "OneZeroMiner",
  evidence: { readings: "other source", controls: "other source" },
  ports: [3001],
  path: "/",
  isIts: (reply) => reply.isList("algos") && reply.isList("devices"),
  report,
});

function report(reply: TolerantReader): ProgramReport {
  const { notes } = reply;
  const [first = new TolerantReader(undefined, notes, ""), second] = firstTwo(reply.list("algos", 8), notes);
  const work = workOf(first);
  return {
    software: "OneZeroMiner",
    make: "OneZeroMiner",
    version: reply.text("version"),
    readings: {
      ...work,
      dual: second === undefined ? null : dualWork(workOf(second)),
      uptime: reply.number("uptime_seconds"),
    },
    devices: cardsOf(reply, first),
    pools: [...poolOf(first), ...(second === undefined ? [] : poolOf(second, true))],
  };
}

const workOf = (algorithm: TolerantReader) => ({
  algorithm: algorithm.text("name"),
  hashrate: algorithm.number("total_hashrate"),
  shares: {
    accepted: algorithm.integer("total_accepted_shares"),
    rejected: algorithm.integer("total_rejected_shares"),
    hardwareErrors: algorithm.integer("total_invalid_shares"),
  },
});

const fields = {
  temperature: "temp",
  memoryTemperature: "mem_temp",
  fanPercent: "fan",
  clock: "cclk",
  memoryClock: "mclk",
  power: "power",
  bus: "bus_id",
} satisfies CardFields;

/** Each algorithm has lists of its cards' rates and shares, in the order of the cards. */
function cardsOf(reply: TolerantReader, algorithm: TolerantReader): DeviceReading[] {
  const rates = algorithm.row("hashrates");
  const accepted = algorithm.row("devices_accepted_shares");
  const rejected = algorithm.row("devices_rejected_shares");
  const invalid = algorithm.row("devices_invalid_shares");
  return reply.list("devices").map((card, position) =>
    gpuDevice({
      name: card.text("name") ?? `GPU ${position}`,
      hashrate: rates.number(`${position}`),
      ...cardFigures(card, fields),
      accepted: accepted.integer(`${position}`),
      rejected: rejected.integer(`${position}`),
      hardwareErrors: invalid.integer(`${position}`),
    }),
  );
}

function poolOf(algorithm: TolerantReader, isSecond = false): PoolReading[] {
  const isAway = /\b(?:dis|not )connected|\boffline|\berror|\bfail/i.test(algorithm.text("pool_status") ?? "");
  return programPool({
    second: isSecond,
    url: algorithm.text("pool", 255),
    worker: null,
    status: isAway ? "dead" : "enabled",
    accepted: algorithm.integer("total_accepted_shares"),
    rejected: algorithm.integer("total_rejected_shares"),
  });
}
