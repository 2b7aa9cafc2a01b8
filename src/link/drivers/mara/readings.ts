import { type Board, type RigReadings, unknownBoard } from "../../../contract/readings.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { celsius, highest } from "../shared/figures.ts";
import { type Config, powerTargetOf } from "./config.ts";

/** The pages of one read. */
export interface Snapshot {
  readonly brief: TolerantReader;
  readonly config: Config | null;
  readonly boards: readonly Board[];
  readonly fans: RigReadings["fans"];
}

/** Gigahashes per second: of boards, and of the ideal rate, on which all sources agree. */
const giga = { times: 1e9, absent: 0 };

/** What its API knows beside the RPC; nothing that is unknown to it. */
export function readingsOf({ brief, config, boards, fans }: Snapshot): Partial<RigReadings> {
  const expected = brief.number("hashrate_ideal", giga);
  const power = brief.number("power_consumption_estimated", { absent: 0 });
  const temperature = highest(boards.map((board) => board.temperature));
  return {
    ...(expected === null ? {} : { hashrateExpected: expected }),
    ...(power === null ? {} : { power, powerSource: "reported" }),
    ...(config === null ? {} : { powerLimit: powerTargetOf(config) }),
    ...(boards.length === 0 ? {} : { boards: [...boards] }),
    ...(temperature === null ? {} : { temperature }),
    ...(fans.length === 0 ? {} : { fans: [...fans] }),
  };
}

/** Their average rates stand in where the RPC reports no present ones. */
export const boardsOf = (page: TolerantReader): Board[] => {
  const boards = page.list("hashboards", 16).map((board, position) => ({
    ...unknownBoard(board.integer("index", { max: 99 }) ?? position),
    hashrate: board.number("hashrate_average", { times: 1e9 }),
    temperature: highest(board.numbers("temperature_pcb", celsius)),
    chipTemperature: highest(board.numbers("temperature_chip", celsius)),
    chips: board.integer("asic_num"),
    serial: board.text("serial_number"),
  }));
  return boards.toSorted((one, other) => one.slot - other.slot);
};

export const fansOf = (page: TolerantReader): RigReadings["fans"] =>
  page.list("fans", 16).map((fan) => ({ rpm: fan.number("current_speed"), percent: null }));
