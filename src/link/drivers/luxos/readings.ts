import type { Board, Fan, Identity, RigReadings } from "../../../contract/readings.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import type { DeviceReading, Halt } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import { tuning } from "../../reason.ts";
import type { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type BitmainStats, bitmainStats } from "../shared/bitmain-stats.ts";
import { devicesOf, type NumberedDevice, type Rates, ratesOf } from "../shared/cgminer-replies.ts";
import { celsius, highest, total } from "../shared/figures.ts";
import { limitNow, type Profiles } from "./profiles.ts";
import { type Reports, recordOf, recordsOf } from "./reports.ts";

/** What one read of the reports brings. */
export interface Snapshot {
  readonly config: TolerantReader;
  readonly summary: TolerantReader;
  readonly rates: Rates;
  readonly boards: readonly LuxosBoard[];
  readonly fans: readonly Fan[];
}

export interface LuxosBoard {
  readonly reading: DeviceReading;
  readonly board: Board;
  /** Not switched off by its owner. */
  readonly enabled: boolean;
  /** The rig's own number for it; null where it reports none, and then the board has no control. */
  readonly number: number | null;
}

export function snapshotOf(live: Reports, voltages: ReadonlyMap<number, number>, notes: Notes): Snapshot {
  const summary = recordOf(live, "summary", "SUMMARY", notes);
  if (summary.keys().length === 0) notes.add("the rig's summary is empty");
  return {
    summary,
    config: recordOf(live, "config", "CONFIG", notes),
    rates: ratesOf(summary),
    boards: boardsOf(live, voltages, notes),
    fans: recordsOf(live, "fans", "FANS", notes).map((fan) => ({
      rpm: fan.number("RPM"),
      percent: fan.number("Speed", { max: 100 }),
    })),
  };
}

/** `devs` numbers boards from 0 and in any order; the chains of `stats` are numbered from 1. */
function boardsOf(live: Reports, voltages: ReadonlyMap<number, number>, notes: Notes): LuxosBoard[] {
  const devices = recordsOf(live, "devs", "DEVS", notes);
  const stats = bitmainStats(recordsOf(live, "stats", "STATS", notes), null);
  return devicesOf(devices, null)
    .map((device, index) => boardOf(device, devices[index], stats, voltages))
    .sort((a, b) => a.board.slot - b.board.slot);
}

function boardOf(
  { number, reading }: NumberedDevice,
  device: TolerantReader | undefined,
  stats: BitmainStats | null,
  voltages: ReadonlyMap<number, number>,
): LuxosBoard {
  const chain = stats?.boards.find(({ slot }) => slot === number + 1);
  const voltage = voltages.get(number) ?? null;
  const enabled = reading.status !== "disabled" && device?.boolean("IsUserShutdown") !== true;
  return {
    enabled,
    number: device?.integer("ASC") ?? null,
    reading: {
      ...reading,
      name: `Board ${number}`,
      status: enabled ? reading.status : "disabled",
      clock: chain?.frequency ?? null,
      voltage,
    },
    board: {
      slot: number,
      hashrate: reading.hashrate,
      temperature: reading.temperature,
      // The chip temperatures in `stats` repeat those of the board.
      chipTemperature: null,
      chips: chain?.chips ?? null,
      chipsExpected: chain?.chipsExpected ?? null,
      frequency: chain?.frequency ?? null,
      voltage,
      serial: device?.text("SerialNumber") ?? null,
    },
  };
}

export function identityOf(live: Reports, version: TolerantReader, notes: Notes): Identity {
  const config = recordOf(live, "config", "CONFIG", notes);
  return {
    make: "LuxOS",
    model: config.text("Model") ?? version.text("Type"),
    firmware: firmwareOf(version),
    mac: normalMac(config.text("MACAddr")),
    hostname: config.text("Hostname"),
    serial: config.text("SerialNumber"),
  };
}

/** "2025.4.8.220305-57b389c7" without the commit of its sources; `Miner` may imitate stock firmware. */
export const firmwareOf = (version: TolerantReader): string | null =>
  version.text("LUXminer")?.replace(/-[0-9a-f]+$/, "") ?? version.text("Miner");

export function readingsOf(live: Reports, seldom: Reports, snapshot: Snapshot, profiles: Profiles): RigReadings {
  const { summary, config, rates, fans } = snapshot;
  const { notes } = summary;
  const boards = snapshot.boards.map(({ board }) => board);
  const power = recordOf(live, "power", "POWER", notes);
  const watts = power.number("Watts");
  const awake = awakeOf(config);
  const devices = recordsOf(live, "devs", "DEVS", notes);
  return {
    ...unknownReadings(),
    hashrate: rates.now,
    hashrateAverage: rates.average,
    hashrateExpected: total(devices.map((device) => device.number("Nominal MHS", { times: 1e6, absent: 0 }))),
    // LuxOS runs on Bitmain's SHA-256 rigs only.
    algorithm: "sha256",
    power: watts,
    powerLimit: limitNow(profiles),
    powerSource: watts === null ? null : "reported",
    temperature: highest(boards.map(({ temperature }) => temperature)),
    temperatureIn: water(live, notes, "Water Inlet"),
    temperatureOut: water(live, notes, "Water Outlet"),
    boards,
    fans: [...fans],
    psu: psuOf(config, power, watts),
    uptime: summary.number("Elapsed"),
    mining: awake ?? (rates.now === null ? null : rates.now > 0),
    mode: profiles.present,
    locate: locateOf(config),
    bestShare: summary.number("Best Share"),
    foundBlocks: summary.integer("Found Blocks"),
    shares: {
      accepted: summary.integer("Accepted"),
      rejected: summary.integer("Rejected"),
      hardwareErrors: summary.integer("Hardware Errors"),
    },
    errors: recordsOf(seldom, "events", "EVENTS", notes).map(errorOf),
  };
}

/** Whether it is not curtailed; null where it is not reported. */
export function awakeOf(config: TolerantReader): boolean | null {
  const mode = config.text("CurtailMode")?.toLowerCase();
  if (mode === "none") return true;
  return mode === "sleep" || mode === "idle" ? false : null;
}

/** Its tuner may pause it. */
export function haltOf(config: TolerantReader): Halt | undefined {
  const isTuning = awakeOf(config) !== false && config.boolean("IsTuning") === true;
  return isTuning ? tuning : undefined;
}

/** Whether the red LED was set to blink. */
export function locateOf(config: TolerantReader): boolean | null {
  const led = config.text("RedLed");
  return led === null ? null : led.toLowerCase() === "blink";
}

/** LuxOS labels each of the four sensors; in a liquid-cooled rig some are in the water. */
function water(live: Reports, notes: Notes, label: string): number | null {
  const labels = recordOf(live, "temps", "METADATA", notes);
  const keys = labels.keys().filter((key) => labels.object(key).text("Label") === label);
  const boards = recordsOf(live, "temps", "TEMPS", notes);
  return highest(boards.flatMap((board) => keys.map((key) => board.number(key, celsius))));
}

/** `PSU`: whether the power supply measures the power. */
function psuOf(config: TolerantReader, power: TolerantReader, watts: number | null): RigReadings["psu"] {
  const model = config.text("PSULabel");
  const metered = power.boolean("PSU") === true ? watts : null;
  return model === null && metered === null
    ? null
    : { power: metered, voltage: null, temperature: null, model, serial: null };
}

function errorOf(event: TolerantReader): RigReadings["errors"][number] {
  const code = event.text("Code", 60) ?? "event";
  const board = event.text("Target") === "BOARD" ? event.integer("ID") : null;
  const text = event.text("Description") ?? code;
  return { code, text: board === null ? text : `Board ${board}: ${text}` };
}
