import { bareName } from "../../../catalogue/algorithms.ts";
import {
  type Board,
  type Identity,
  type RigReadings,
  unknownBoard,
  unknownReadings,
} from "../../../contract/readings.ts";
import type { DeviceReading, Halt, PoolReading } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import { haltBy, noPoolAnswers, stopped } from "../../reason.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { boardDevice } from "../shared/board-device.ts";
import { celsius, highest, megahertz, total } from "../shared/figures.ts";

/** The pages of one read; all but the summary may be from an earlier one. */
export interface Snapshot {
  readonly summary: TolerantReader;
  readonly capabilities: TolerantReader;
  readonly network: TolerantReader;
  /** Hashing chips by board. */
  readonly chips: ReadonlyMap<number, number>;
}

export function identityOf({ summary, capabilities, network }: Snapshot): Identity {
  const [connection = ""] = network.keys();
  return {
    make: "ePIC",
    model: capabilities.text("Model"),
    firmware: summary.text("Software"),
    mac: normalMac(network.object(connection).text("mac_address")),
    hostname: summary.text("Hostname"),
    serial: capabilities.object("Control Board Version").text("cpuSerial"),
  };
}

/** The API gives every rate of a rig in MH/s, whatever the algorithm. */
const mega = { times: 1e6 };

const stateOf = ({ summary }: Pick<Snapshot, "summary">): string | null =>
  summary.object("Status").text("Operating State");

const isIdle = (snapshot: Pick<Snapshot, "summary">): boolean | null => {
  const state = stateOf(snapshot);
  return state === null ? null : /^idl/i.test(state);
};

export const isStarting = (snapshot: Pick<Snapshot, "summary">): boolean => /init|start/i.test(stateOf(snapshot) ?? "");

/** It idles when it was stopped, and when its pool is gone if `IdleOnConnectionLost` is set. */
const lostPool = ({ summary }: Pick<Snapshot, "summary">): boolean =>
  summary.boolean("IdleOnConnectionLost") === true && summary.object("Stratum").boolean("IsPoolConnected") === false;

/** Whether it is switched on; null when it idles without its pool, since then either may be wanted. */
export function isOn(snapshot: Pick<Snapshot, "summary">): boolean | null {
  const idle = isIdle(snapshot);
  if (idle === null || !idle) return idle === null ? null : true;
  return lostPool(snapshot) && !wasStopped(snapshot) ? null : false;
}

const wasStopped = ({ summary }: Pick<Snapshot, "summary">): boolean =>
  /^stop/i.test(summary.object("Status").text("Last Command") ?? "");

export function haltOf(snapshot: Snapshot): Halt | undefined {
  const error = errorOf(snapshot);
  if (wasStopped(snapshot) && isIdle(snapshot) === true) return stopped;
  if (error !== null) return haltBy(error, "hardware");
  if (isIdle(snapshot) !== true) return undefined;
  return lostPool(snapshot) ? noPoolAnswers : stopped;
}

const errorOf = ({ summary }: Snapshot): string | null =>
  summary.text("Last License Error") ?? summary.object("Status").text("Last Error");

export function readingsOf(snapshot: Snapshot): RigReadings {
  const { summary } = snapshot;
  const session = summary.object("Session");
  const supply = summary.object("Power Supply Stats");
  const power = supply.number("Input Power", { absent: 0 });
  const boards = boardsOf(snapshot);
  const hashing = summary.list("HBs", 16);
  const idle = isIdle(snapshot);
  return {
    ...unknownReadings(),
    hashrate: total(hashing.map((board) => board.row("Hashrate").number("0", mega))),
    hashrateAverage: session.number("Average MHs", mega),
    hashrateExpected: expectedOf(hashing),
    algorithm: algorithmOf(summary),
    power,
    powerLimit: powerTargetOf(summary),
    powerSource: power === null ? null : "reported",
    temperature: highest(boards.map((board) => board.temperature)),
    boards,
    fans: fansOf(summary),
    psu: psuOf(supply),
    uptime: session.number("Uptime"),
    mining: idle === null ? null : !idle,
    locate: summary.object("Misc").boolean("Locate Miner State"),
    shares: {
      accepted: session.integer("Accepted"),
      rejected: session.integer("Rejected"),
      hardwareErrors: null,
    },
    errors: errorsOf(summary),
  };
}

/** "SHA-256" is the catalogue's "sha256". */
const algorithmOf = (summary: TolerantReader): string | null => {
  const name = summary.object("Mining").text("Algorithm");
  return name === null ? null : bareName(name) || null;
};

/** Each board reports its rate and how many percent of the ideal rate at its clock that is. */
function expectedOf(boards: readonly TolerantReader[]): number | null {
  const ideal = boards.map((board) => {
    const rate = board.row("Hashrate");
    const percent = rate.number("1", { absent: 0 });
    const now = rate.number("0", mega);
    return percent === null || now === null || now === 0 ? null : (now / percent) * 100;
  });
  return ideal.includes(null) ? null : total(ideal);
}

/** The algorithm of its tuner, with its settings. */
export function tunerOf(summary: TolerantReader): { readonly name: string | null; readonly settings: TolerantReader } {
  const algorithms = summary.object("PerpetualTune").object("Algorithm");
  const [name] = algorithms.keys();
  return { name: name ?? null, settings: algorithms.object(name ?? "") };
}

/** W; only the tuner's algorithm "Power" holds a power, the others a hash rate. */
function powerTargetOf(summary: TolerantReader): number | null {
  const { name, settings } = tunerOf(summary);
  const isRunning = summary.object("PerpetualTune").boolean("Running") === true;
  return isRunning && name === powerAlgorithm ? settings.number("Target") : null;
}

export const powerAlgorithm = "Power";

function boardsOf({ summary, capabilities, chips }: Snapshot): Board[] {
  const expected = capabilities.object("Performance Estimator").integer("Chip Count");
  const hashing = summary.list("HBs", 16);
  const serials = capabilities.row("Board Serial Numbers", 16);
  // They are listed without the numbers of their boards, and only those of boards that are on.
  const isListed = serials.keys().length === hashing.length;
  const boards = hashing.map((board, position): Board => {
    const slot = board.integer("Index", { max: 99 }) ?? position;
    return {
      slot,
      hashrate: board.row("Hashrate").number("0", mega),
      temperature: board.number("Temperature", celsius),
      chipTemperature: null,
      chips: chips.get(slot) ?? null,
      chipsExpected: expected,
      frequency: megahertz(board, "Core Clock Avg"),
      voltage: board.number("Input Voltage", { absent: 0, max: 100 }),
      serial: isListed ? serials.text(String(position)) : null,
    };
  });
  const others = enabledBoards(summary)
    .filter(({ slot }) => !boards.some((board) => board.slot === slot))
    .map(({ slot }) => ({ ...unknownBoard(slot), chipsExpected: expected }));
  return [...boards, ...others].sort((one, other) => one.slot - other.slot);
}

/** All boards by slot, also those that are off, which are not among `HBs`. */
export function enabledBoards(summary: TolerantReader): { readonly slot: number; readonly on: boolean }[] {
  const boards = new Map<number, boolean>();
  for (const board of summary.list("HBStatus", 16)) {
    const slot = board.integer("Index", { max: 99 });
    const on = board.boolean("Enabled");
    if (slot !== null && on !== null && board.boolean("Detected") !== false) boards.set(slot, on);
  }
  return [...boards].map(([slot, on]) => ({ slot, on }));
}

export function devicesOf({ summary }: Snapshot, boards: readonly Board[]): DeviceReading[] {
  const off = enabledBoards(summary).filter(({ on }) => !on);
  return boards.map((board) =>
    boardDevice(board, { status: off.some(({ slot }) => slot === board.slot) ? "disabled" : "enabled" }),
  );
}

/** "Fans Speed 1" to "Fans Speed 12"; null for one that is not there. */
function fansOf(summary: TolerantReader): RigReadings["fans"] {
  const rpms = summary.object("Fans Rpm");
  const percent = summary.object("Fans").number("Fans Speed", { max: 100 });
  return Array.from({ length: 12 }, (_, index) => rpms.number(`Fans Speed ${index + 1}`)).flatMap((rpm) =>
    rpm === null ? [] : [{ rpm, percent }],
  );
}

function psuOf(supply: TolerantReader): RigReadings["psu"] {
  const power = supply.number("Output Power", { absent: 0 });
  const voltage = supply.number("Output Voltage", { absent: 0, max: 1_000 });
  return power === null && voltage === null ? null : { power, voltage, temperature: null, model: null, serial: null };
}

function errorsOf(summary: TolerantReader): RigReadings["errors"] {
  const license = summary.text("Last License Error");
  const last = summary.object("Status").text("Last Error");
  return [
    ...(license === null ? [] : [{ code: "license", text: license }]),
    ...(last === null ? [] : [{ code: "error", text: last }]),
  ];
}

/** The whole list of pools, in the order of preference; one is in use. It counts no shares for each of them. */
export function poolsOf({ summary }: Pick<Snapshot, "summary">): PoolReading[] {
  const stratum = summary.object("Stratum");
  const current = stratum.integer("Config Id") ?? 0;
  const isConnected = stratum.boolean("IsPoolConnected");
  return summary.list("StratumConfigs", 16).map((pool, index) => {
    const url = pool.text("pool", 255) ?? "";
    return {
      index,
      url: url.includes("://") ? url : `stratum+tcp://${url}`,
      worker: pool.text("login", 255) ?? "",
      status: index === current && isConnected === false ? ("dead" as const) : ("enabled" as const),
      active: index === current && isConnected === true,
      priority: index,
      quota: null,
      accepted: null,
      rejected: null,
      stale: null,
      devFee: /devfee/i.test(url),
    };
  });
}
