import type { Board, RigReadings } from "../../contract/readings.ts";
import { unknownReadings } from "../../contract/readings.ts";
import type { DeviceReading, PoolReading } from "../driver.ts";
import { type Notes, Reply } from "../reply.ts";
import { type BitmainStats, bitmainStats, boardDevice } from "./bitmain-stats.ts";
import { antminerAlgorithm } from "./cgminer-identity.ts";
import { devicesOf, gigaOf, type NumberedDevice, poolsOf, type Rates, ratesOf } from "./cgminer-replies.ts";

/** The answers to `summary`, `pools`, `devs` and `stats`, as they came. */
export interface Sections {
  readonly summary: unknown;
  readonly pools: unknown;
  readonly devs: unknown;
  readonly stats: unknown;
}

/** The four reports, read. */
export interface Parts {
  readonly summary: Reply;
  readonly rates: Rates;
  readonly pools: PoolReading[];
  readonly numbered: readonly NumberedDevice[];
  readonly devices: DeviceReading[];
  readonly boards: Board[];
  readonly bitmain: BitmainStats | null;
}

/** `model`: what the rig is, where its statistics do not say. */
export function partsOf(sections: Sections, notes: Notes, model: string | null = null): Parts {
  const list = (name: keyof Sections): Reply[] => new Reply(sections[name], notes, "").list(name.toUpperCase());
  const summary = list("summary")[0] ?? new Reply(undefined, notes, "SUMMARY[0]");
  if (summary.keys().length === 0) notes.add("the rig's summary is empty");
  const stats = list("stats");
  const algorithm = antminerAlgorithm(stats[0]?.text("Type") ?? model);
  const bitmain = bitmainStats(stats, algorithm);
  const giga = bitmain?.giga ?? gigaOf(algorithm);
  const numbered = devicesOf(list("devs"), giga);
  return {
    summary,
    bitmain,
    numbered,
    rates: ratesOf(summary, giga),
    pools: poolsOf(list("pools")),
    devices:
      bitmain === null
        ? numbered.map(({ reading }) => reading)
        : bitmain.boards.map((board, index) => boardDevice(board, bitmain.hardwareErrors[index] ?? null)),
    boards: bitmain?.boards ?? numbered.map(boardOf),
  };
}

const boardOf = ({ reading, number, chipTemperature, chips, serial }: NumberedDevice): Board => ({
  slot: number,
  hashrate: reading.hashrate,
  temperature: reading.temperature,
  chipTemperature,
  chips,
  chipsExpected: null,
  frequency: reading.clock,
  voltage: reading.voltage,
  serial,
});

export function readingsOf({ summary, rates, numbered, boards, bitmain }: Parts): RigReadings {
  const power = summary.number("Power", { absent: 0 }) ?? bitmain?.power ?? null;
  return {
    ...unknownReadings(),
    hashrate: rates.now,
    hashrateAverage: rates.average,
    hashrateExpected: bitmain?.hashrateExpected ?? null,
    power,
    powerLimit: summary.number("Power Limit", { absent: 0 }),
    powerSource: power === null ? null : "reported",
    temperature: highest(boards.map(({ temperature }) => temperature)),
    boards,
    fans:
      bitmain?.fans ??
      numbered.flatMap(({ reading: { fanRpm, fanPercent } }) =>
        fanRpm === null && fanPercent === null ? [] : [{ rpm: fanRpm, percent: fanPercent }],
      ),
    uptime: summary.number("Elapsed"),
    mining: rates.now === null ? null : rates.now > 0,
    bestShare: summary.number("Best Share"),
    foundBlocks: summary.integer("Found Blocks"),
    shares: {
      accepted: summary.integer("Accepted"),
      rejected: summary.integer("Rejected"),
      hardwareErrors: summary.integer("Hardware Errors"),
    },
    errors: numbered.flatMap(({ reading: { name, status } }) =>
      status === "sick" || status === "dead" ? [{ code: `device.${status}`, text: `${name} is ${status}` }] : [],
    ),
  };
}

const highest = (values: readonly (number | null)[]): number | null =>
  values.reduce<number | null>((top, value) => (value !== null && (top === null || value > top) ? value : top), null);
