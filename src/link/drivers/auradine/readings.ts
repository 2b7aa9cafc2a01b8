import { type Board, type Identity, type RigReadings, unknownReadings } from "../../../contract/readings.ts";
import type { DeviceReading, Halt, PoolReading } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { boardDevice } from "../shared/board-device.ts";
import { devicesOf as devsOf, poolsOf, ratesOf } from "../shared/cgminer-replies.ts";
import { celsius, highest } from "../shared/figures.ts";

/** The replies of one read, of the RPC and of the HTTP API; those of the API are empty without its login. */
export interface Snapshot {
  readonly summary: TolerantReader;
  readonly devs: readonly TolerantReader[];
  readonly pools: readonly TolerantReader[];
  readonly mode: TolerantReader;
  readonly psu: TolerantReader;
  readonly led: TolerantReader;
  readonly fans: readonly TolerantReader[];
  readonly temperatures: readonly TolerantReader[];
  readonly report: TolerantReader;
  readonly frequencies: readonly TolerantReader[];
  readonly voltages: readonly TolerantReader[];
  readonly chips: TolerantReader;
}

export const identityOf = ({ report }: Snapshot, program: string | null): Identity => ({
  make: "Auradine",
  model: report.text("model"),
  firmware: report.text("version") ?? program,
  mac: normalMac(report.text("mac")),
  hostname: report.text("hostname"),
  serial: report.text("SerialNo"),
});

/** "on" for a rig that was stopped. */
export function isOn({ mode }: Snapshot): boolean | null {
  const asleep = mode.boolean("Sleep");
  return asleep === null ? null : !asleep;
}

/** W; only the mode "custom" holds a power. */
export const powerLimitOf = ({ mode }: Snapshot): number | null =>
  mode.text("Mode") === "custom" ? mode.number("Power", { absent: 0 }) : null;

/** Of the light: while it is located, and without a fault. */
export const ledCodes = { normal: 2, locate: 3 } as const;

/** Faults by the code of the light. Source: pyasic. */
const faults: ReadonlyMap<number, Halt["code"]> = new Map([
  [1, "no-power"],
  [4, "hot"],
  [5, "pools"],
  [6, "network"],
  [7, "hardware"],
  [8, "hardware"],
]);

function faultOf({ led }: Snapshot): { readonly code: number; readonly halt: Halt } | null {
  const code = led.integer("Code");
  const reason = faults.get(code ?? 0);
  if (code === null || reason === undefined) return null;
  const text = led.text("Msg") ?? `Its light shows the code ${code}`;
  return { code, halt: { code: reason, text } };
}

export function haltOf(snapshot: Snapshot): Halt | undefined {
  // While it sleeps, that is the reason.
  return isOn(snapshot) === false ? undefined : faultOf(snapshot)?.halt;
}

export function readingsOf(snapshot: Snapshot): RigReadings {
  const { summary, mode, psu, led, fans } = snapshot;
  const { now, average } = ratesOf(summary);
  const power = psu.number("PowerIn", { absent: 0 });
  const boards = boardsOf(snapshot);
  const fault = faultOf(snapshot);
  const code = led.integer("Code");
  const on = isOn(snapshot);
  return {
    ...unknownReadings(),
    hashrate: now,
    hashrateAverage: average,
    hashrateExpected: mode.number("Ths", { times: 1e12, absent: 0 }),
    // All its chips are for SHA-256.
    algorithm: "sha256",
    power,
    powerLimit: powerLimitOf(snapshot),
    powerSource: power === null ? null : "reported",
    temperature: highest(boards.map((board) => board.temperature)),
    boards,
    fans: fans.map((fan) => ({ rpm: fan.number("Speed"), percent: null })),
    psu: psuOf(psu),
    uptime: summary.number("Elapsed"),
    mining: on ?? (now === null ? null : now > 0),
    mode: mode.text("Mode"),
    locate: code === null ? null : code === ledCodes.locate,
    bestShare: summary.number("Best Share", { absent: 0 }),
    foundBlocks: summary.integer("Found Blocks"),
    shares: {
      accepted: summary.integer("Accepted"),
      rejected: summary.integer("Rejected"),
      hardwareErrors: summary.integer("Hardware Errors"),
    },
    errors: fault === null ? [] : [{ code: `led-${fault.code}`, text: fault.halt.text }],
  };
}

function boardsOf({ devs, temperatures, report, frequencies, voltages, chips }: Snapshot): Board[] {
  const devices = devsOf(devs, null);
  const ofBoard = (list: readonly TolerantReader[], slot: number) => list.find((each) => each.integer("ID") === slot);
  const all = chips.integer("BoardCount") === devices.length ? chips.integer("AsicCount") : null;
  const serials = report.row("HBSerialNo", 16);
  return devices.map(({ reading }, position) => {
    const slot = devs[position]?.integer("ID", { max: 99 }) ?? position + 1;
    const heat = ofBoard(temperatures, slot);
    const figures = (list: readonly TolerantReader[], key: string, field: string): (number | null)[] =>
      ofBoard(list, slot)
        ?.list(key, 1_000)
        .map((chip) => chip.number(field)) ?? [];
    const sensors = (key: string): (number | null)[] =>
      heat?.list(key, 1_000).map((sensor) => sensor.number("Temperature", celsius)) ?? [];
    const megahertz = mean(figures(frequencies, "ChipFrequency", "Frequency"));
    return {
      slot,
      hashrate: reading.hashrate,
      temperature: highest(sensors("BoardTemp")) ?? reading.temperature,
      chipTemperature: highest(sensors("ChipTemp")),
      chips: all === null || all % devices.length !== 0 ? null : all / devices.length,
      chipsExpected: null,
      frequency: megahertz === null ? null : megahertz * 1e6,
      voltage: mean(figures(voltages, "ChipVoltage", "Voltage")),
      serial: serials.text(String(position)),
    };
  });
}

/** Over the chips that report one. */
function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null && value > 0).map(Number);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

export const devicesOf = ({ devs }: Snapshot, boards: readonly Board[]): DeviceReading[] =>
  devsOf(devs, null).flatMap(({ reading }, position) => {
    const board = boards[position];
    return board === undefined ? [] : [boardDevice(board, { name: reading.name, status: reading.status })];
  });

function psuOf(psu: TolerantReader): RigReadings["psu"] {
  const power = psu.number("PowerOut", { absent: 0 });
  const voltage = psu.number("Vout", { absent: 0, max: 1_000 });
  return power === null && voltage === null ? null : { power, voltage, temperature: null, model: null, serial: null };
}

export const poolList = ({ pools }: Snapshot): PoolReading[] => poolsOf(pools);
