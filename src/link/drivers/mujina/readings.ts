import {
  type Board,
  type Identity,
  type RigReadings,
  unknownBoard,
  unknownReadings,
} from "../../../contract/readings.ts";
import type { DeviceReading, PoolReading } from "../../driver.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { boardDevice } from "../shared/board-device.ts";
import { celsius, highest, total } from "../shared/figures.ts";

const boardsIn = (miner: TolerantReader): TolerantReader[] => miner.list("boards", 64);

/** It reports neither its version nor an address. The serial number of a single board stands for it; of several, each may be replaced. */
export function identityOf(miner: TolerantReader): Identity {
  const boards = boardsIn(miner);
  const models = new Set(boards.map((board) => board.text("model")));
  const [model = null] = models.size === 1 ? models : [];
  const [only, ...others] = boards;
  const serial = others.length > 0 ? null : (only?.text("serial") ?? null);
  return { make: "Mujina", model, firmware: null, mac: null, hostname: null, serial };
}

/** All its units are SI units; null is unknown. */
export function readingsOf(miner: TolerantReader): RigReadings {
  const paused = miner.boolean("paused");
  const boards = boardsIn(miner).map(boardOf);
  const power = total(boardsIn(miner).map(powerOf));
  return {
    ...unknownReadings(),
    hashrate: miner.number("hashrate"),
    // It mines nothing but Bitcoin.
    algorithm: "sha256",
    power,
    powerSource: power === null ? null : "reported",
    temperature: highest(boards.map((board) => board.temperature)),
    boards,
    fans: boardsIn(miner).flatMap((board) =>
      board.list("fans", 16).map((fan) => ({ rpm: fan.number("rpm"), percent: fan.number("percent", { max: 100 }) })),
    ),
    uptime: miner.number("uptime_secs"),
    mining: paused === null ? null : !paused,
  };
}

/** A board may measure the same power at several points; that nearest to its input is the highest. */
const powerOf = (board: TolerantReader): number | null =>
  highest(board.list("powers", 32).map((point) => point.number("power_w")));

const boardOf = (board: TolerantReader, slot: number): Board => ({
  ...unknownBoard(slot),
  hashrate: total(board.list("threads", 256).map((thread) => thread.number("hashrate"))),
  temperature: highest(board.list("temperatures", 64).map((sensor) => sensor.number("temperature_c", celsius))),
  serial: board.text("serial"),
});

export const devicesOf = (miner: TolerantReader, boards: readonly Board[]): DeviceReading[] =>
  boardsIn(miner).flatMap((reader, slot) => {
    const board = boards[slot];
    const name = reader.text("name") ?? `Board ${slot}`;
    return board === undefined ? [] : [boardDevice(board, { name, power: powerOf(reader) })];
  });

/** Its sources of work that have a URL; it does not report which of several is in use, nor a worker. */
export function poolsOf(miner: TolerantReader): PoolReading[] {
  const sources = miner.list("sources", 32).filter((source) => source.text("url", 255) !== null);
  return sources.map((source, index) => ({
    index,
    url: source.text("url", 255) ?? "",
    worker: "",
    status: "enabled",
    active: sources.length === 1,
    priority: index,
    quota: null,
    accepted: null,
    rejected: null,
    stale: null,
    devFee: false,
  }));
}
