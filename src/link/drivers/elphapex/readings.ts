import type { Board, RigReadings } from "../../../contract/readings.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import { type Notes, TolerantReader } from "../../tolerant-reader.ts";
import { fansOf } from "../antminer/stats.ts";
import { highest } from "../shared/figures.ts";
import { statedUnit } from "../shared/rate-units.ts";

/** What stats.cgi reports of its work. */
export interface Report {
  readonly readings: RigReadings;
  readonly model: string | null;
  readonly serial: string | null;
}

/** The unit of all its rates if it states none. */
const mega = 1e6;

/** Null where it lists no statistics. */
export function reportOf(stats: unknown, notes: Notes): Report | null {
  const page = new TolerantReader(stats, notes, "");
  const [reply] = page.list("STATS");
  if (reply === undefined) return null;
  const unit = statedUnit(reply) ?? mega;
  const boards = reply.list("chain", 16).map((chain, position) => boardOf(chain, position, unit));
  return {
    model: page.object("INFO").text("type"),
    serial: page.object("INFO").text("dev_sn"),
    readings: {
      ...unknownReadings(),
      hashrate: reply.number("rate_5s", { times: unit }),
      hashrateAverage: reply.number("rate_avg", { times: unit }),
      hashrateExpected: reply.number("rate_ideal", { times: unit, absent: 0 }),
      temperature: highest(boards.map(({ temperature }) => temperature)),
      boards,
      fans: fansOf(reply),
      uptime: reply.number("elapsed"),
    },
  };
}

/**
 * Numbered from 1. `freq_avg` is in an unknown unit (62000 where 1850 MHz is set), `hw` repeats the number of chips, and
 * `hw_all` of the summary the hash rate, so none of them is read.
 */
function boardOf(chain: TolerantReader, position: number, unit: number): Board {
  const found = chain.integer("asic_num") ?? 0;
  const broken = Math.min(chain.text("asic", 1000)?.replace(/[^xX]/g, "").length ?? 0, found);
  return {
    slot: (chain.integer("index", { max: 98 }) ?? position) + 1,
    hashrate: chain.number("rate_real", { times: unit }),
    temperature: highest(sensors(chain, "temp_pcb")),
    chipTemperature: highest(sensors(chain, "temp_chip")),
    chips: found - broken,
    chipsExpected: broken > 0 ? found : null,
    frequency: null,
    voltage: null,
    serial: chain.text("sn"),
  };
}

/** °C is below it, thousandths of a °C are above. */
const hottestCelsius = 255;

/** °C; chips report thousandths. 0 and 255 mean that a sensor does not answer. */
const sensors = (chain: TolerantReader, key: string): number[] =>
  chain.numbers(key, { min: -60, max: 1000 * hottestCelsius }).flatMap((each) => {
    const celsius = each === null || each <= hottestCelsius ? each : each / 1000;
    return celsius !== null && celsius > 0 && celsius < hottestCelsius ? celsius : [];
  });
