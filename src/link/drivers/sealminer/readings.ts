import { type Board, type Identity, type RigReadings, unknownReadings } from "../../../contract/readings.ts";
import type { DeviceReading } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { boardDevice } from "../shared/board-device.ts";
import { ratesOf } from "../shared/cgminer-replies.ts";
import { celsius, highest, megahertz } from "../shared/figures.ts";

/** The replies of one read; `info` is a page, empty without its login. */
export interface Snapshot {
  readonly summary: TolerantReader;
  readonly stats: TolerantReader;
  readonly info: TolerantReader;
}

export const identityOf = ({ stats }: Snapshot): Identity => ({
  make: "Sealminer",
  model: stats.text("Model"),
  firmware: stats.text("Firmware"),
  mac: normalMac(stats.text("MAC")),
  hostname: null,
  serial: stats.text("Ctrl Board SN"),
});

/** Its MHS are MH/s. */
const mega = { times: 1e6 };

/** Whether it is switched on; null in states that no source describes. */
export function isOn({ stats }: Snapshot): boolean | null {
  const state = stats.text("PM State") ?? "";
  if (/^running$/i.test(state)) return true;
  return /suspend|sleep|stop/i.test(state) ? false : null;
}

/** Modes by their name in its page, which has the number of each. */
const modeNames = { low_power: "low", normal: "normal", high_performance: "high", custom: "custom" } as const;

/** The modes of the rig with the numbers that it gives them. */
export const modesOf = ({ info }: Snapshot): { readonly name: string; readonly number: number }[] =>
  Object.entries(modeNames).flatMap(([key, name]) => {
    const number = info.integer(key);
    return number === null ? [] : [{ name, number }];
  });

export function modeOf(snapshot: Snapshot): string | null {
  const present = snapshot.info.integer("miningMode");
  const found = modesOf(snapshot).find(({ number }) => number === present);
  return found?.name ?? snapshot.stats.text("Mining Mode")?.toLowerCase() ?? null;
}

export function readingsOf(snapshot: Snapshot): RigReadings {
  const { summary, stats, info } = snapshot;
  const rates = ratesOf(summary);
  const hashrate = stats.number("MHS(Sample)", mega) ?? rates.now;
  const power = stats.number("PSU Input Power", { absent: 0 });
  const boards = boardsOf(stats);
  return {
    ...unknownReadings(),
    // That of 5 s counts found shares, and swings by half.
    hashrate,
    hashrateAverage: rates.average,
    hashrateExpected: stats.number("MHS(Rated)", { ...mega, absent: 0 }),
    // All its chips are for SHA-256.
    algorithm: "sha256",
    power,
    powerLimit: stats.number("Power Limit", { absent: 0 }),
    powerSource: power === null ? null : "reported",
    temperature: highest([stats.number("Temp", celsius), ...boards.map((board) => board.temperature)]),
    boards,
    fans: Array.from({ length: Math.min(16, stats.integer("Fan Count") ?? 0) }, (_, fan) => ({
      rpm: stats.number(`${fan} Speed`),
      percent: null,
    })),
    psu: psuOf(stats),
    uptime: summary.number("Elapsed"),
    mining: isOn(snapshot) ?? (hashrate === null ? null : hashrate > 0),
    mode: modeOf(snapshot),
    locate: info.boolean("led"),
    bestShare: summary.number("Best Share", { absent: 0 }),
    foundBlocks: summary.integer("Found Blocks"),
    shares: {
      accepted: summary.integer("Accepted"),
      rejected: summary.integer("Rejected"),
      hardwareErrors: summary.integer("Hardware Errors"),
    },
    errors: errorsOf(stats),
  };
}

const boardNumbers = (stats: TolerantReader): number[] =>
  Array.from({ length: Math.min(16, stats.integer("Board Count") ?? 0) }, (_, board) => board);

const boardsOf = (stats: TolerantReader): Board[] =>
  boardNumbers(stats).map((board) => {
    const chips = stats.integer(`${board} Chip Count`);
    const bad = stats.integer(`${board} Bad Chip Count`) ?? 0;
    return {
      slot: board,
      hashrate: stats.number(`${board} MHS(Sample)`, mega),
      temperature: highest([0, 1, 2, 3].map((sensor) => stats.number(`${board} Temp ${sensor}`, celsius))),
      chipTemperature: null,
      chips: chips === null ? null : Math.max(0, chips - bad),
      chipsExpected: chips,
      frequency: megahertz(stats, `${board} Freq`),
      voltage: null,
      serial: stats.text(`${board} SN`),
    };
  });

export const devicesOf = ({ stats }: Snapshot, boards: readonly Board[]): DeviceReading[] =>
  boards.map((board) =>
    boardDevice(board, { status: stats.boolean(`${board.slot} Online`) === false ? "dead" : "enabled" }),
  );

const psuOf = (stats: TolerantReader): RigReadings["psu"] => ({
  power: stats.number("PSU Output Power", { absent: 0 }),
  voltage: stats.number("PSU Output Voltage", { absent: 0, max: 1_000 }),
  temperature: stats.number("PSU Temp AMB", celsius),
  model: stats.text("PSU Model"),
  serial: stats.text("PSU SN"),
});

function errorsOf(stats: TolerantReader): RigReadings["errors"] {
  const code = stats.text("Error Code");
  const supply = stats.text("PSU Error");
  const isFine = supply === null || /^(?:0x)?0*$/i.test(supply);
  return [
    ...(code === null ? [] : [{ code, text: `It reports the error ${code}` }]),
    ...(isFine ? [] : [{ code: supply, text: `Its power supply reports the error ${supply}` }]),
  ];
}
