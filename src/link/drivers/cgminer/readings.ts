import { type AsicModel, asicModel } from "../../../catalogue/asic-models.ts";
import type { Board, Identity, RigReadings } from "../../../contract/readings.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import type { DeviceReading, PoolReading } from "../../driver.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type BitmainStats, bitmainDevice, bitmainStats } from "../shared/bitmain-stats.ts";
import {
  devicesOf,
  type NumberedDevice,
  poolsOf,
  type Rates,
  ratesOf,
  ratesOfModel,
} from "../shared/cgminer-replies.ts";
import { highest, total } from "../shared/figures.ts";
import { usualUnits } from "../shared/rate-units.ts";
import { poolAlgorithm } from "./cards.ts";

/** The raw answers to `summary`, `pools`, `devs` and `stats`, and to questions that were joined to them. */
export interface Sections {
  readonly summary: unknown;
  readonly pools: unknown;
  readonly devs: unknown;
  readonly stats: unknown;
  readonly version?: unknown;
  readonly coin?: unknown;
}

/** What the four reports of one read bring. */
export interface Snapshot {
  readonly summary: TolerantReader;
  readonly rates: Rates;
  readonly pools: PoolReading[];
  readonly numbered: readonly NumberedDevice[];
  readonly devices: DeviceReading[];
  readonly boards: Board[];
  readonly bitmain: BitmainStats | null;
  /** Of the pool in use, where pools have their own. */
  readonly algorithm: string | null;
}

/** `known`: the rig's identity; its statistics may name the model. Without a summary, they replace it. */
export function snapshotOf(sections: Sections, notes: Notes, known: Pick<Identity, "make" | "model">): Snapshot {
  const list = (name: keyof Sections): TolerantReader[] =>
    new TolerantReader(sections[name], notes, "").list(name.toUpperCase());
  const stats = list("stats");
  const model = asicModel(known.make, stats[0]?.text("Type") ?? known.model);
  const bitmain = bitmainStats(stats, model);
  const numbered = devicesOf(list("devs"), model);
  const summary = list("summary")[0] ?? bitmain?.summary ?? new TolerantReader(undefined, notes, "SUMMARY[0]");
  if (summary.keys().length === 0) notes.add("the rig's summary is empty");
  const own = ratesIn(summary, bitmain, model);
  const spare = bitmain === null ? null : ratesIn(bitmain.summary, bitmain, model);
  const pools = list("pools");
  return {
    summary,
    bitmain,
    numbered,
    rates: own.now === null && spare !== null ? spare : { ...own, average: own.average ?? spare?.average ?? null },
    pools: poolsOf(pools),
    algorithm: poolAlgorithm(pools),
    devices:
      bitmain === null
        ? numbered.map(({ reading }) => reading)
        : bitmain.boards.map((board, index) => bitmainDevice(board, bitmain.hardwareErrors[index] ?? null)),
    boards: bitmain?.boards ?? numbered.map(boardOf),
  };
}

const ratesIn = (reply: TolerantReader, bitmain: BitmainStats | null, model: AsicModel | null): Rates =>
  bitmain === null || bitmain.stated === null
    ? ratesOfModel(reply, model)
    : ratesOf(reply, { ...usualUnits, G: bitmain.stated });

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

export function readingsOf({ summary, rates, pools, numbered, boards, bitmain }: Snapshot): RigReadings {
  const own = pools.filter(({ devFee }) => !devFee);
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
    uptime: summary.number("Elapsed") ?? bitmain?.summary.number("Elapsed") ?? null,
    mining: rates.now === null ? null : rates.now > 0,
    bestShare: summary.number("Best Share"),
    foundBlocks: summary.integer("Found Blocks"),
    shares: {
      accepted: sharesIn(summary, "Accepted", total(own.map(({ accepted }) => accepted))),
      rejected: sharesIn(summary, "Rejected", total(own.map(({ rejected }) => rejected))),
      hardwareErrors:
        summary.integer("Hardware Errors") ??
        total(bitmain?.hardwareErrors ?? []) ??
        bitmain?.summary.integer("no_matching_work") ??
        null,
    },
    errors: [
      ...numbered.flatMap(({ reading: { name, status } }) =>
        status === "sick" || status === "dead" ? [{ code: `device.${status}`, text: `${name} is ${status}` }] : [],
      ),
      ...(bitmain === null || bitmain.supplyFault === null ? [] : [{ code: "psu", text: bitmain.supplyFault }]),
    ],
  };
}

/** Hammer's firmware writes its rejected shares under both names, as a text ("156.0000"): then those of the pools count. */
const sharesIn = (summary: TolerantReader, key: string, ofPools: number | null): number | null =>
  (summary.isText(key) ? ofPools : null) ?? summary.integer(key) ?? ofPools;

/** Whether statistics contain the figures of a summary, as Bitmain's do. */
export const standsInForSummary = (stats: unknown): boolean =>
  bitmainStats(new TolerantReader(stats, new Notes(), "").list("STATS"), null) !== null;

export const refusedSummary = "the rig refuses its summary; its statistics were read instead";
