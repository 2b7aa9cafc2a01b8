import {
  type Board,
  type Identity,
  type RigReadings,
  unknownBoard,
  unknownReadings,
} from "../../../contract/readings.ts";
import type { DeviceReading, Halt, PoolReading } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import { haltBy, stopped } from "../../reason.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { boardDevice } from "../shared/board-device.ts";
import { celsius, highest, total } from "../shared/figures.ts";
import { usualUnits } from "../shared/rate-units.ts";

/** The pages of one read, each without its outer object. */
export interface Snapshot {
  readonly mining: TolerantReader;
  readonly telemetry: TolerantReader;
  readonly pools: readonly TolerantReader[];
  readonly errors: readonly TolerantReader[];
  readonly cooling: TolerantReader;
  readonly target: TolerantReader;
  readonly system: TolerantReader;
  readonly network: TolerantReader;
  readonly hardware: TolerantReader;
}

export const identityOf = ({ system, network, hardware }: Snapshot): Identity => ({
  make: "Proto",
  model: system.text("model") ?? system.text("product_name")?.replace(/^Proto\s+/i, "") ?? null,
  firmware: system.object("os").text("version"),
  mac: normalMac(network.text("mac")),
  hostname: network.text("hostname"),
  serial: system.text("cb_sn") ?? hardware.object("cb-info").text("serial_number"),
});

/** Gigahashes per second. */
const giga = { times: 1e9 };

const statusOf = ({ mining }: Snapshot): string => mining.text("status") ?? "";

/** Whether it is switched on. A rig that curtailment holds back resumes automatically, so it counts as on. */
export function isOn(snapshot: Snapshot): boolean | null {
  const status = statusOf(snapshot);
  if (status === "Stopped" || status === "PoweringOff") return false;
  return ["Mining", "DegradedMining", "PoweringOn", "NoPools", "Error", "Curtailed"].includes(status) ? true : null;
}

export const isStarting = (snapshot: Snapshot): boolean => ["PoweringOn", "Uninitialized"].includes(statusOf(snapshot));

export function haltOf(snapshot: Snapshot): Halt | undefined {
  const status = statusOf(snapshot);
  if (isOn(snapshot) === false) return stopped;
  if (status === "NoPools") return { code: "pools", text: "It has no pool" };
  if (status === "Curtailed") return { code: "power-limit", text: "It is curtailed" };
  if (status !== "Error") return undefined;
  const [error] = errorsOf(snapshot);
  return haltBy(error?.text ?? "It reports an error", "hardware");
}

export function readingsOf(snapshot: Snapshot): RigReadings {
  const { mining, telemetry, cooling, target } = snapshot;
  const miner = telemetry.object("miner");
  const boards = boardsOf(snapshot);
  const power = measured(miner, "power", { W: 1 }) ?? mining.number("power_usage_watts");
  const temperatures = telemetry.list("hashboards", 16).map((board) => board.object("temperature"));
  const pools = poolsOf(snapshot);
  const hashrate = measured(miner, "hashrate", rates) ?? mining.number("hashrate_ghs", giga);
  return {
    ...unknownReadings(),
    hashrate,
    hashrateAverage: mining.number("average_hashrate_ghs", giga),
    hashrateExpected: mining.number("ideal_hashrate_ghs", { ...giga, absent: 0 }),
    // All its chips are for SHA-256.
    algorithm: "sha256",
    power,
    powerLimit: mining.number("power_target_watts", { absent: 0 }),
    powerSource: power === null ? null : "reported",
    temperature: highest(boards.map((board) => board.temperature)),
    temperatureIn: highest(temperatures.map((each) => each.number("inlet", celsius))),
    temperatureOut: highest(temperatures.map((each) => each.number("outlet", celsius))),
    boards,
    fans: cooling
      .list("fans", 32)
      .map((fan) => ({ rpm: fan.number("rpm"), percent: fan.number("speed_percentage", { max: 100 }) })),
    psu: psuOf(snapshot),
    uptime: mining.number("mining_uptime_s") ?? mining.number("reboot_uptime_s"),
    mining: isOn(snapshot) ?? (hashrate === null ? null : hashrate > 0),
    mode: target.text("performance_mode"),
    shares: {
      accepted: total(pools.map(({ accepted }) => accepted)),
      rejected: total(pools.map(({ rejected }) => rejected)),
      hardwareErrors: mining.integer("hw_errors"),
    },
    errors: errorsOf(snapshot),
  };
}

type UnitFactors = Readonly<Record<string, number>>;

/** "TH/s" and others. */
const rates: UnitFactors = Object.fromEntries(
  Object.entries(usualUnits).map(([prefix, times]) => [`${prefix}H/s`, times]),
);

/** A figure beside its unit; null, with a note, where the unit is another than these. */
function measured(parent: TolerantReader, key: string, units: UnitFactors): number | null {
  const figure = parent.object(key);
  const unit = figure.text("unit", 20);
  const times = unit !== null && Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (times !== undefined) return figure.number("value", { times });
  if (figure.has("value")) figure.notes.add(`its ${key} is in an unknown unit: ${unit}`);
  return null;
}

/** By slot. The telemetry knows a board by its serial number, and otherwise by its place. */
function boardsOf({ telemetry, hardware }: Snapshot): Board[] {
  const listed = hardware.list("hashboards-info", 16);
  const serialOf = (board: TolerantReader): string | null => board.text("hb_sn");
  const live = telemetry.list("hashboards", 16).map((board, position): Board => {
    const serial = board.text("serial_number");
    const known = listed.find((each) => serial !== null && serialOf(each) === serial);
    return {
      ...unknownBoard(known?.integer("slot", { max: 99 }) ?? (board.integer("index", { max: 98 }) ?? position) + 1),
      hashrate: measured(board, "hashrate", rates),
      temperature: board.object("temperature").number("average", celsius),
      chips: known?.integer("mining_asic_count") ?? null,
      voltage: measured(board, "voltage", { V: 1 }),
      serial,
    };
  });
  const others = listed
    .filter((each) => !live.some(({ serial }) => serial !== null && serial === serialOf(each)))
    .flatMap((each) => {
      const slot = each.integer("slot", { max: 99 });
      return slot === null || live.some((board) => board.slot === slot)
        ? []
        : [{ ...unknownBoard(slot), chips: each.integer("mining_asic_count"), serial: serialOf(each) }];
    });
  return [...live, ...others].sort((one, other) => one.slot - other.slot);
}

export const devicesOf = (boards: readonly Board[]): DeviceReading[] => boards.map((board) => boardDevice(board));

/** Of several power supplies: their power together, and the hottest; the rest only where there is one. */
function psuOf({ telemetry, hardware }: Snapshot): RigReadings["psu"] {
  const live = telemetry.list("psus", 16);
  if (live.length === 0) return null;
  const listed = hardware.list("psus-info", 16);
  const [only, ...others] = live;
  const one = others.length === 0 ? only : undefined;
  const models = new Set(listed.map((each) => each.text("model")));
  const [model = null] = models.size === 1 ? models : [];
  return {
    power: total(live.map((each) => each.object("power").number("output"))),
    voltage: one?.object("voltage").number("output", { max: 1_000 }) ?? null,
    temperature: highest(live.map((each) => each.object("temperature").number("hotspot", celsius))),
    model,
    serial: one?.text("serial_number") ?? null,
  };
}

/** The names of the fields differ between versions of the API. */
const errorsOf = ({ errors }: Snapshot): RigReadings["errors"] =>
  errors.map((error) => {
    const code = error.text("error_code") ?? error.text("code") ?? "error";
    return { code, text: error.text("message") ?? code };
  });

/** Several may be "Active"; the one with the highest priority is in use. */
export function poolsOf({ pools }: Pick<Snapshot, "pools">): PoolReading[] {
  const read = pools.map((pool, index): PoolReading => {
    const url = pool.text("url", 255) ?? "";
    const status = pool.text("status");
    return {
      index: pool.integer("id") ?? index,
      url: url.includes("://") ? url : `stratum+tcp://${url}`,
      worker: pool.text("user", 255) ?? pool.text("username", 255) ?? "",
      status: pool.boolean("enabled") === false ? "disabled" : status === "Dead" ? "dead" : "enabled",
      active: status === "Active",
      priority: pool.integer("priority") ?? index,
      quota: null,
      accepted: pool.integer("accepted"),
      rejected: pool.integer("rejected"),
      stale: null,
      devFee: false,
    };
  });
  const [first] = read.filter(({ active }) => active).toSorted((one, other) => one.priority - other.priority);
  return read.map((pool) => ({ ...pool, active: pool === first }));
}
