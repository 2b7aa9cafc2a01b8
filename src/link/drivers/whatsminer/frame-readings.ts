import { type RigReadings, unknownReadings } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import type { DeviceReading, PoolReading } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import { stopped } from "../../reason.ts";
import { type Notes, TolerantReader } from "../../tolerant-reader.ts";
import { boardDevice } from "../shared/board-device.ts";
import { celsius, highest, total } from "../shared/figures.ts";
import { algorithmOf, fansOf, locateOf, modeOf, psuOf, realLimit, type Snapshot } from "./dialect.ts";
import { errorsOf } from "./errors.ts";

/** `msg` of each answer of API v3; undefined where there was none. */
export interface FrameAnswers {
  /** `get.miner.status`, all sections together. */
  readonly status: unknown;
  readonly device: unknown;
  readonly setting: unknown;
}

const tera = { times: 1e12 };
const mega = { times: 1e6 };

export function frameSnapshot({ status, device, setting }: FrameAnswers, notes: Notes): Snapshot {
  const sections = new TolerantReader(status, notes, "");
  const summary = sections.object("summary");
  if (summary.keys().length === 0) notes.add("the rig's summary is empty");
  const info = new TolerantReader(device, notes, "device");
  const [miner, network, system] = [info.object("miner"), info.object("network"), info.object("system")];
  const set = new TolerantReader(setting, notes, "setting");
  const model = miner.text("type")?.replaceAll("_", " ") ?? null;
  const working = miner.boolean("working");
  const edevs = sections.list("edevs");
  const boards = boardsOf(edevs, summary, miner, working === false);
  const pools = framePools(status, notes);
  const hashrate = working === false ? 0 : summary.number("hash-realtime", tera);
  const power = summary.number("power-realtime") ?? summary.number("power-5min");
  const readings: RigReadings = {
    ...unknownReadings(),
    hashrate,
    hashrateAverage: summary.number("hash-average", tera),
    hashrateExpected: expectedOf(summary),
    algorithm: algorithmOf(model),
    power: power === 0 && (hashrate ?? 0) > 0 ? null : power,
    powerLimit: realLimit(summary.number("power-limit") ?? set.number("power-limit")),
    powerSource: power === null ? null : "reported",
    temperature: highest(boards.map(({ temperature }) => temperature)),
    temperatureIn: summary.number("environment-temperature", { min: -60, max: 250 }),
    boards,
    fans: fansOf([summary.number("fan-speed-in"), summary.number("fan-speed-out")], model),
    psu: psuOf(info.object("power"), { model: "type", serial: "sn" }),
    uptime: summary.number("elapsed"),
    mining: working ?? (hashrate === null ? null : hashrate > 0),
    mode: modeOf(set.text("power-mode")),
    locate: locateOf(system, "ledstatus"),
    shares: {
      accepted: total(pools.map(({ accepted }) => accepted)),
      rejected: total(pools.map(({ rejected }) => rejected)),
      hardwareErrors: null,
    },
    errors: errorsOf(isRecord(device) ? device["error-code"] : undefined),
  };
  return {
    identity: {
      make: "WhatsMiner",
      model,
      firmware: system.text("fwversion"),
      mac: normalMac(network.text("mac")),
      hostname: network.text("hostname"),
      serial: miner.text("miner-sn"),
    },
    readings,
    pools,
    devices: boards.map((board, position) => deviceOf(board, edevs[position])),
    halt: working === false ? stopped : undefined,
    throttle: set.number("power-percent", { absent: 0, max: 100 }),
    throttles: true,
    settled: readings.mining === true && summary.boolean("up-freq-finish") === true,
    logInterval: null,
  };
}

/** A negative number, a thousandth for each board, means unknown. */
function expectedOf(summary: TolerantReader): number | null {
  const hashrate = summary.number("factory-hash", { ...tera, min: -1e12 });
  return hashrate === null || hashrate <= 0 ? null : hashrate;
}

export function framePools(status: unknown, notes: Notes): PoolReading[] {
  const pools = new TolerantReader(status, notes, "").list("pools").flatMap((pool, position): PoolReading[] => {
    const url = pool.text("url", 255);
    if (url === null) return [];
    return [
      {
        index: pool.integer("id") ?? position,
        url,
        worker: pool.text("account", 255) ?? "",
        status: pool.text("status")?.toLowerCase() === "dead" ? "dead" : "enabled",
        active: pool.boolean("stratum-active") ?? false,
        priority: pool.integer("pool-priority") ?? position,
        quota: null,
        accepted: pool.integer("accepted"),
        rejected: pool.integer("rejected"),
        stale: pool.integer("stale"),
        devFee: false,
      },
    ];
  });
  const active = pools.filter((pool) => pool.active).sort((a, b) => a.priority - b.priority)[0];
  return pools.map((pool) => (pool.active && pool !== active ? { ...pool, active: false } : pool));
}

type Board = RigReadings["boards"][number];

/** The boards' temperatures are in the summary, their serial numbers in the miner's information. */
function boardsOf(
  devices: readonly TolerantReader[],
  summary: TolerantReader,
  miner: TolerantReader,
  off: boolean,
): Board[] {
  const temperatures = summary.numbers("board-temperature", celsius);
  return devices.map((device, position) => {
    const slot = device.integer("slot") ?? device.integer("id") ?? position;
    return {
      slot,
      hashrate: off ? 0 : (device.number("hash-realtime", tera) ?? device.number("hash-average", tera)),
      temperature: temperatures[position] ?? null,
      chipTemperature: device.number("chip-temp-max", celsius),
      chips: device.integer("effective-chips"),
      chipsExpected: null,
      frequency: device.number("freq", mega),
      voltage: null,
      serial: miner.text(`pcbsn${slot}`),
    };
  });
}

const deviceOf = (board: Board, device: TolerantReader | undefined): DeviceReading =>
  boardDevice(board, {
    name: `SM ${board.slot}`,
    status: device?.text("status")?.toLowerCase() === "dead" ? "dead" : "enabled",
    hashrateAverage: device?.number("hash-average", tera) ?? null,
  });
