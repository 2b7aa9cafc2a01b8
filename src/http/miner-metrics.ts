import type { Readings } from "../contract/readings.ts";
import type { Miner } from "../contract/resources.ts";
import { labelText, type Metric, sample, type Value } from "./exposition.ts";

/** A figure of every miner, and how it is read: one value, or one for each of its parts. */
export interface MinerMetric extends Metric {
  read(miner: Miner): Value | readonly Part[];
  /** Known of a miner that is off, too. */
  readonly evenOff?: true;
}

interface Part {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: Value;
}

type Read = (readings: Readings) => Value | readonly Part[];

const figure = (type: Metric["type"]) => (name: string, help: string, read: Read) =>
  ({ name: `rigbridge_miner_${name}`, type, help, read: ({ readings }) => read(readings) }) satisfies MinerMetric;
const gauge = figure("gauge");
const counter = figure("counter");

const secondsPerHour = 3600;
const byAlgorithm = (value: Value, { algorithm }: Readings): Part[] => [
  { labels: { algorithm: algorithm ?? "" }, value },
];

/** Hash rates of different algorithms do not add up, so these name theirs. */
export const minerMetrics: readonly MinerMetric[] = [
  {
    name: "rigbridge_miner_up",
    type: "gauge",
    help: "1 when the miner answers.",
    read: ({ hasValidStatus }) => hasValidStatus,
    evenOff: true,
  },
  gauge("mining", "1 when the miner mines.", ({ mining }) => mining),
  {
    ...gauge("not_hashing", "1, with the reason why the miner does not hash.", ({ reason }) =>
      reason === null ? [] : [{ labels: { reason: reason.code }, value: 1 }],
    ),
    evenOff: true,
  },
  gauge("stale", "1 when the last read was missed, and these are older.", ({ stale }) => stale),
  gauge("last_read_timestamp_seconds", "When the miner was last read.", ({ at }) => seconds(at)),
  gauge("uptime_seconds", "Time since mining started.", ({ uptime }) => uptime),
  gauge("hashrate_hashes_per_second", "Hash rate now.", (readings) => byAlgorithm(readings.hashrate, readings)),
  gauge("hashrate_expected_hashes_per_second", "Hash rate to expect at the present settings.", (readings) =>
    byAlgorithm(readings.hashrateExpected, readings),
  ),
  gauge("power_watts", "Power drawn.", ({ power }) => power),
  {
    ...counter("energy_joules_total", "Energy used since the miner was added; gaps are not guessed.", ({ energy }) =>
      energy === null ? null : energy * secondsPerHour,
    ),
    evenOff: true,
  },
  gauge("temperature_celsius", "Temperature of the hottest board.", ({ temperature }) => temperature),
  gauge("temperature_in_celsius", "Temperature of what cools the miner, coming in.", (each) => each.temperatureIn),
  gauge("temperature_out_celsius", "Temperature of what cools the miner, going out.", (each) => each.temperatureOut),
  gauge("fan_rpm", "Speed of a fan, in turns per minute.", ({ fans }) =>
    fans.map(({ rpm }, index) => ({ labels: { fan: String(index) }, value: rpm })),
  ),
  gauge("board_temperature_celsius", "Temperature of a board.", ({ boards }) =>
    boards.map(({ slot, temperature }) => ({ labels: { board: String(slot) }, value: temperature })),
  ),
  gauge("board_hashrate_hashes_per_second", "Hash rate of a board.", ({ boards }) =>
    boards.map(({ slot, hashrate }) => ({ labels: { board: String(slot) }, value: hashrate })),
  ),
  counter("shares_total", "Shares by what the pool said of them, since mining started.", ({ shares }) => [
    { labels: { result: "accepted" }, value: shares.accepted },
    { labels: { result: "rejected" }, value: shares.rejected },
  ]),
  counter(
    "hardware_errors_total",
    "Errors of the hardware, since mining started.",
    (each) => each.shares.hardwareErrors,
  ),
];

const seconds = (at: string | null): number | null => (at === null ? null : Date.parse(at) / 1000);

/** The lines of one miner; `own` are the labels that tell it from others. */
export function minerSamples(metric: MinerMetric, miner: Miner, own: string): string {
  if (!miner.hasValidStatus && metric.evenOff !== true) return "";
  const value = metric.read(miner);
  if (typeof value !== "object" || value === null) return sample(metric.name, own, value);
  return value.map((part) => sample(metric.name, `${own},${labelText(part.labels)}`, part.value)).join("");
}
