import { type Board, type RigReadings, unknownReadings } from "../../../contract/readings.ts";
import { detail } from "../../../messages/detail.ts";
import type { DeviceReading, Halt, PoolReading } from "../../driver.ts";
import { halt, poolHalt, stopped } from "../../reason.ts";
import { type Notes, TolerantReader } from "../../tolerant-reader.ts";
import { boardDevice } from "../shared/board-device.ts";
import { type Rates, ratesOf } from "../shared/cgminer-replies.ts";
import { celsius as chipCelsius, highest } from "../shared/figures.ts";
import { type Generation, modeWord } from "./generation.ts";
import { type Line, numbersIn } from "./line.ts";

/** What one read brings: the summary, and the line of the statistics. */
export interface Snapshot {
  readonly generation: Generation;
  readonly summary: TolerantReader;
  readonly fields: ReadonlyMap<string, string>;
  /** The fields, for tolerant reading. */
  readonly line: TolerantReader;
  readonly rates: Rates;
  readonly work: Work;
  readonly notes: Notes;
}

/** The state that the firmware reports. */
export type Work = "init" | "work" | "idle" | "fault" | null;

export function snapshotOf(
  generation: Generation,
  summary: TolerantReader,
  { fields, odd }: Line,
  notes: Notes,
): Snapshot {
  if (fields.size === 0) notes.add("the rig's statistics have no fields; temperatures, fans and power are unknown");
  if (odd) notes.add("the rig's statistics are damaged; what could be read of them was");
  const line = new TolerantReader(Object.fromEntries(fields), notes, "MM");
  return { generation, summary, fields, line, rates: ratesOf(summary), work: workOf(fields, line), notes };
}

const states = ["init", "work", "idle", "fault"] as const;

/** `SYSTEMSTATU[Work: In Idle, Hash Board: 1]`, or the short report's `STATE[2]`. */
function workOf(fields: ReadonlyMap<string, string>, line: TolerantReader): Work {
  const word = /In (Init|Work|Idle|Fault)/i.exec(fields.get("SYSTEMSTATU") ?? "")?.[1]?.toLowerCase();
  return states.find((state) => state === word) ?? states[line.integer("STATE", { max: 3 }) ?? -1] ?? null;
}

/** An idle rig is stopped, unless its `SoftOFF` is 0. */
export function haltOf({ work, line }: Snapshot, pools: readonly PoolReading[]): Halt | undefined {
  if (work !== "idle") return undefined;
  if (line.integer("SoftOFF") !== 0) return stopped;
  return poolHalt(pools) ?? halt("unknown", detail("reason.idle"));
}

/** An air sensor that is not there reads -273. */
const celsius = { ...chipCelsius, absent: -273 };
const giga = { times: 1e9 };

export function readingsOf(snapshot: Snapshot): RigReadings {
  const { summary, line, rates, work, notes } = snapshot;
  const boards = boardsOf(snapshot);
  const power = powerOf(snapshot);
  return {
    ...unknownReadings(),
    hashrate: line.number("GHSspd", giga) ?? rates.now,
    hashrateAverage: line.number("GHSavg", giga) ?? rates.average,
    hashrateExpected: line.number("GHSmm", { ...giga, absent: 0 }),
    algorithm: "sha256",
    power,
    powerLimit: line.number("MPO", { absent: 0 }),
    powerSource: power === null ? null : "reported",
    temperature: highest(boards.map(({ temperature }) => temperature)) ?? line.number("TAvg", chipCelsius),
    temperatureIn: line.number("ITemp", celsius) ?? line.number("Temp", celsius),
    temperatureOut: line.number("OTemp", celsius) ?? line.number("HBOTemp", celsius),
    boards,
    fans: fansOf(line),
    psu: psuOf(snapshot, power),
    uptime: summary.number("Elapsed") ?? line.number("Elapsed"),
    mining: work === null ? (rates.now === null ? null : rates.now > 0) : work === "work",
    mode: modeOf(snapshot),
    // The other models have decorative lamps.
    locate: snapshot.generation.name === "a-series" ? line.boolean("Led") : null,
    bestShare: summary.number("Best Share"),
    foundBlocks: summary.integer("Found Blocks"),
    shares: {
      accepted: summary.integer("Accepted"),
      rejected: summary.integer("Rejected"),
      hardwareErrors: line.integer("HW") ?? summary.integer("Hardware Errors"),
    },
    errors: errorsOf(snapshot),
    notes: notes.list(),
  };
}

/** The number of the work mode; of a Nano 3, which has only levels, of its level. */
export function modeNumber({ line }: Snapshot): number | null {
  const mode = line.integer("WORKMODE", { max: 99 }) ?? line.integer("MODE", { max: 99 });
  return mode ?? levelNumber(line);
}

const levelNumber = (line: TolerantReader): number | null =>
  line.integer("WORKLEVEL", { min: -99, max: 99 }) ?? line.integer("LEVEL", { min: -99, max: 99 });

/** With the level within the mode where it is not 0: "eco, level 1". */
function modeOf(snapshot: Snapshot): string | null {
  const { generation, line } = snapshot;
  const mode = modeNumber(snapshot);
  if (mode === null) return null;
  const word = modeWord(generation.name, mode);
  const level = line.has("WORKMODE") || line.has("MODE") ? levelNumber(line) : null;
  return level === null || level === 0 ? word : `${word}, level ${level}`;
}

/**
 * W. `WALLPOWER` where there is one; of `PS[error volts volts amperes watts volts watts]` the fifth on A10 to A13 (to
 * the boards), the last on later models. On a Nano 3 it is not a power.
 */
function powerOf({ generation: { name, series }, fields, line }: Snapshot): number | null {
  const wall = line.number("WALLPOWER");
  if (wall !== null) return wall;
  const supply = numbersIn(fields.get("PS"));
  if (name === "nano3" || supply.length < 5) return null;
  if (name === "nano3s") return plausible(supply[6]);
  if (name === "a-series" && (series === null || series < 10)) return null;
  return plausible(name === "a-series" && series !== null && series < 14 ? supply[4] : supply.at(-1));
}

const plausible = (watts: number | null | undefined): number | null =>
  watts !== null && watts !== undefined && watts >= 0 && watts < 20_000 ? watts : null;

/** The supply's output voltage is in hundredths of a volt, on a Nano 3S in thousandths. */
function psuOf({ generation: { name }, fields }: Snapshot, power: number | null): RigReadings["psu"] {
  const supply = numbersIn(fields.get("PS"));
  if (supply.length < 5 || name === "nano3") return null;
  const volts = supply[2] ?? null;
  return {
    power,
    voltage: volts === null || volts < 0 ? null : volts / (name === "nano3s" ? 1_000 : 100),
    temperature: null,
    model: null,
    serial: null,
  };
}

function boardsOf({ fields, line, work }: Snapshot): Board[] {
  const rates = numbersIn(fields.get("MGHS"));
  const stated = /Hash Board:\s*(\d{1,2})/.exec(fields.get("SYSTEMSTATU") ?? "")?.[1];
  const count = Math.min(16, Math.max(rates.length, stated === undefined ? 0 : Number(stated)));
  const chips = line.integer("TA", { absent: 0 });
  const [hottest, average] = [numbersIn(fields.get("MTmax")), numbersIn(fields.get("MTavg"))];
  const only = count === 1;
  // Averages keep their values when it stops, so they are not current.
  const works = work === null || work === "work";
  return Array.from({ length: count }, (_, slot) => {
    const temperatures = numbersIn(fields.get(`PVT_T${slot}`));
    return {
      slot,
      hashrate: works ? times(rates[slot], 1e9) : 0,
      temperature: warm(average[slot]) ?? (only ? line.number("TAvg", chipCelsius) : null),
      chipTemperature: warm(hottest[slot]) ?? (only ? line.number("TMax", chipCelsius) : null),
      chips: works && temperatures.length > 0 ? temperatures.filter((each) => warm(each) !== null).length : null,
      chipsExpected: chips === null || chips % count !== 0 ? temperatures.length || null : chips / count,
      frequency: works ? line.number("Freq", { times: 1e6 }) : null,
      // Chips are in series; only the voltages of single chips and of the supply are reported.
      voltage: null,
      serial: null,
    };
  });
}

const times = (value: number | null | undefined, factor: number): number | null =>
  value === null || value === undefined || value < 0 ? null : Math.round(value * factor);

const warm = (value: number | null | undefined): number | null =>
  value === null || value === undefined || value === 0 || value < -60 || value > 250 ? null : value;

function fansOf(line: TolerantReader): RigReadings["fans"] {
  const percent = line.number("FanR", { max: 100 });
  return Array.from({ length: 8 }, (_, index) => `Fan${index + 1}`)
    .filter((key) => line.has(key))
    .map((key) => ({ rpm: line.number(key, { max: 60_000 }), percent }));
}

/** Bit 512 is set on healthy boards. Source: the replies printed in the A10 manual. */
const healthyBits = 512;

function errorsOf({ generation, fields, line, work }: Snapshot): RigReadings["errors"] {
  const errors: RigReadings["errors"] = [];
  const add = (code: string, text: string): void => {
    errors.push({ code, text });
  };
  if (work === "fault") add("system.fault", "the rig reports a fault");
  for (const [slot, bits] of numbersIn(fields.get("ECHU")).slice(0, 16).entries()) {
    if (bits !== null && bits !== 0 && bits !== healthyBits) add(`board.${slot}`, `board ${slot}: error bits ${bits}`);
  }
  const control = line.integer("ECMM") ?? 0;
  if (control !== 0) add("control-board", `control board: error bits ${control}`);
  const fan = line.integer("FanErr") ?? 0;
  if (fan !== 0) add("fan", `fans: error ${fan}`);
  const supply = generation.name === "nano3" ? 0 : (numbersIn(fields.get("PS"))[0] ?? 0);
  if (supply !== 0) add("psu", `power supply: error ${supply}`);
  return errors;
}

/** Boards as devices; accepted and rejected shares are counted only for all together. */
export const devicesOf = (boards: readonly Board[], { fields, work }: Snapshot): DeviceReading[] =>
  boards.map((board) =>
    boardDevice(board, {
      status: work === "fault" ? "sick" : "enabled",
      hashrateAverage: times(numbersIn(fields.get("MGHS"))[board.slot], 1e9),
      hardwareErrors: numbersIn(fields.get("MH"))[board.slot] ?? null,
    }),
  );
