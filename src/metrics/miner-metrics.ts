import { automationOnly, type PropertyKey } from "../contract/properties.ts";
import type { Readings } from "../contract/readings.ts";
import type { Miner } from "../contract/resources.ts";
import { isUnread } from "../contract/unread.ts";
import { type Labels, labelText, type Metric, sample, type Value } from "./exposition.ts";

/** A metric of every miner: one value, or one for each of the miner's parts. */
export interface MinerMetric extends Metric {
  read(miner: Miner): Value | readonly Part[];
  /** Also reported for a miner that is off. */
  readonly evenOff?: true;
}

/** A value of a miner, with the labels beyond those of the miner. */
interface Part {
  readonly labels: Labels;
  readonly value: Value;
}

type Read = (readings: Readings) => Value | readonly Part[];

const figure = (type: Metric["type"]) => (name: string, help: string, read: Read) =>
  ({ name: `rigbridge_miner_${name}`, type, help, read: ({ readings }) => read(readings) }) satisfies MinerMetric;
const gauge = figure("gauge");
const counter = figure("counter");

const secondsPerHour = 3600;

/** Null is unknown. */
export const joules = (wattHours: number | null): number | null =>
  wattHours === null ? null : wattHours * secondsPerHour;

const byAlgorithm = (value: Value, { algorithm }: Readings): Part[] => [
  { labels: { algorithm: algorithm ?? "" }, value },
];

/** Both rates under one name would be a duplicate metric. */
const secondRate = ({ dual, algorithm }: Readings): Part[] =>
  dual === null || dual.algorithm === null || dual.algorithm === algorithm
    ? []
    : [{ labels: { algorithm: dual.algorithm }, value: dual.hashrate }];

const hashrate = gauge("hashrate_hashes_per_second", "Current hash rate.", (each) => [
  ...byAlgorithm(each.hashrate, each),
  ...secondRate(each),
]);

const shares = counter("shares_total", "Shares by the pool's verdict, since mining started.", ({ shares }) => [
  { labels: { result: "accepted" }, value: shares.accepted },
  { labels: { result: "rejected" }, value: shares.rejected },
]);

/**
 * The metric of each property; two properties may share one. Hash rates name their algorithm: those of two do not add
 * up.
 */
const byProperty = {
  mining: gauge("mining", "1 if the miner is mining.", ({ mining }) => mining),
  reason: {
    ...gauge("not_hashing", "1, with the reason why the miner is not hashing.", ({ reason }) =>
      reason === null ? [] : [{ labels: { reason: reason.code }, value: 1 }],
    ),
    evenOff: true,
  },
  hashrate,
  dual_hashrate: hashrate,
  hashrate_expected: gauge("hashrate_expected_hashes_per_second", "Hash rate expected at these settings.", (each) =>
    byAlgorithm(each.hashrateExpected, each),
  ),
  power: gauge("power_watts", "Power drawn.", ({ power }) => power),
  energy: {
    ...counter("energy_joules_total", "Energy used since the miner was added; gaps are not estimated.", ({ energy }) =>
      joules(energy),
    ),
    evenOff: true,
  },
  efficiency: gauge("efficiency_joules_per_hash", "Power by hash rate; unknown while the miner ramps up.", (each) =>
    byAlgorithm(each.efficiency, each),
  ),
  temperature: gauge("temperature_celsius", "Temperature of the hottest board.", ({ temperature }) => temperature),
  temperature_in: gauge("temperature_in_celsius", "Coolant temperature at the inlet.", (each) => each.temperatureIn),
  temperature_out: gauge(
    "temperature_out_celsius",
    "Coolant temperature at the outlet.",
    (each) => each.temperatureOut,
  ),
  fan_rpm: gauge("fan_rpm", "Fan speed, in revolutions per minute.", ({ fans }) =>
    fans.map(({ rpm }, index) => ({ labels: { fan: String(index) }, value: rpm })),
  ),
  board_temperature: gauge("board_temperature_celsius", "Temperature of a board.", ({ boards }) =>
    boards.map(({ slot, temperature }) => ({ labels: { board: String(slot) }, value: temperature })),
  ),
  board_hashrate: gauge("board_hashrate_hashes_per_second", "Hash rate of a board.", ({ boards }) =>
    boards.map(({ slot, hashrate }) => ({ labels: { board: String(slot) }, value: hashrate })),
  ),
  shares_accepted: shares,
  shares_rejected: shares,
  hardware_errors: counter(
    "hardware_errors_total",
    "Hardware errors since mining started.",
    (each) => each.shares.hardwareErrors,
  ),
  status: null,
  ...automationOnly,
  power_target: null,
  fan: null,
  room_temperature: null,
  room_target: null,
  problem: null,
  restart: null,
  reboot: null,
  fan_percent: null,
} satisfies Record<PropertyKey, MinerMetric | null>;

export const minerMetrics: readonly MinerMetric[] = [
  {
    name: "rigbridge_miner_up",
    type: "gauge",
    help: "1 if the miner answers; absent until that is known.",
    read: (miner) => (isUnread(miner) ? null : miner.hasValidStatus),
    evenOff: true,
  },
  gauge("stale", "1 if the last read failed and the readings are older.", ({ stale }) => stale),
  gauge("last_read_timestamp_seconds", "When the miner was last read.", ({ at }) => seconds(at)),
  gauge("uptime_seconds", "Time since mining started.", ({ uptime }) => uptime),
  ...new Set(Object.values(byProperty).filter((metric) => metric !== null)),
];

const seconds = (at: string | null): number | null => (at === null ? null : Date.parse(at) / 1000);

/** The lines of one miner; `own` are the labels that identify it. */
export function minerSamples(metric: MinerMetric, miner: Miner, own: string): string {
  const value = readOf(metric, miner);
  if (typeof value !== "object" || value === null) return sample(metric.name, own, value);
  return value.map((part) => sample(metric.name, `${own},${labelText(part.labels)}`, part.value)).join("");
}

/** What a metric says of one miner. */
export function minerParts(metric: MinerMetric, miner: Miner): readonly Part[] {
  const value = readOf(metric, miner);
  return typeof value === "object" && value !== null ? value : [{ labels: {}, value }];
}

const readOf = (metric: MinerMetric, miner: Miner): Value | readonly Part[] =>
  miner.hasValidStatus || metric.evenOff === true ? metric.read(miner) : null;
