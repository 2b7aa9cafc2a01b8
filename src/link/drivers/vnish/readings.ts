import type { Board, Identity, RigReadings } from "../../../contract/readings.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import type { DeviceReading, Halt, PoolReading } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import { haltBy, stopped, tuning } from "../../reason.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { boardDevice } from "../shared/board-device.ts";
import { celsius, highest, total } from "../shared/figures.ts";
import type { Presets } from "./presets.ts";

/** The pages of one read; rarely changing ones may be from an earlier read. */
export interface Snapshot {
  /** The part `miner` of `summary`. */
  readonly miner: TolerantReader;
  readonly status: TolerantReader;
  readonly info: TolerantReader;
  readonly model: TolerantReader;
  readonly factory: TolerantReader;
  /** Hashing chips by chain id, from `chains`. */
  readonly chips: ReadonlyMap<number, number>;
}

/** "Antminer S19 XP (Vnish 1.2.0-rc1)"; null when it is not VNish. */
export function typeOf(type: string | null): Pick<Identity, "make" | "model" | "firmware"> | null {
  const match = /^([^()]*)\(vnish\s*([^()\s]*)\s*\)/i.exec(type ?? "");
  if (match === null) return null;
  const [, model = "", version = ""] = match;
  return { make: "VNish", model: model.trim() || null, firmware: version || null };
}

export function identityOf({ info, miner }: Snapshot): Identity {
  const type = typeOf(miner.text("miner_type"));
  const network = info.object("system").object("network_status");
  const serial = info.text("serial");
  return {
    make: "VNish",
    model: info.text("miner") ?? type?.model ?? null,
    firmware: info.text("fw_version") ?? type?.firmware ?? null,
    mac: normalMac(network.text("mac")),
    hostname: network.text("hostname"),
    serial: serial === "N/A" ? null : serial,
  };
}

/** "mining", "auto-tuning", "stopped", ...; from `status` where the summary lacks it. */
export const stateOf = ({ miner, status }: Snapshot): string | null =>
  miner.object("miner_status").text("miner_state") ?? status.text("miner_state");

const startingStates = new Set(["initializing", "starting", "restarting"]);
const runningStates = new Set(["mining", "auto-tuning", ...startingStates]);
const stoppedStates = new Set(["stopped", "shutting-down", "paused", "idle"]);

/** Whether it is switched on; null when it has failed, since both may be wanted then, and when unknown. */
export function isOn(snapshot: Snapshot): boolean | null {
  const state = dashed(snapshot);
  return runningStates.has(state) ? true : stoppedStates.has(state) ? false : null;
}

/** Why it does not hash, by its state; its tuner may pause it. */
export function haltOf(snapshot: Snapshot): Halt | undefined {
  const state = dashed(snapshot);
  if (state === "failure") return haltBy(failureOf(snapshot), "hardware");
  if (state === "auto-tuning") return tuning;
  return stoppedStates.has(state) ? stopped : undefined;
}

const failureOf = ({ miner }: Snapshot): string => miner.object("miner_status").text("description") ?? "It has failed";

export const isStarting = (snapshot: Snapshot): boolean => startingStates.has(dashed(snapshot));

const dashed = (snapshot: Snapshot): string => stateOf(snapshot)?.replaceAll("_", "-") ?? "";

export function readingsOf(snapshot: Snapshot, presets: Presets): RigReadings {
  const { miner, info, status } = snapshot;
  const rate = { times: rateUnit(info) };
  const state = stateOf(snapshot);
  const power = miner.number("power_consumption", { absent: 0 });
  const boards = boardsOf(snapshot);
  const chains = miner.list("chains", 16);
  const user = miner.list("pools", 16).filter((pool) => !isFee(pool));
  const cooling = miner.object("cooling");
  const percent = cooling.number("fan_duty", { max: 100 });
  return {
    ...unknownReadings(),
    hashrate: miner.number("hr_realtime", rate) ?? miner.number("instant_hashrate", { times: 1e12 }),
    hashrateAverage: miner.number("hr_average", rate),
    hashrateExpected: miner.number("hr_nominal", { ...rate, absent: 0 }),
    algorithm: info.text("algorithm")?.replace(/^sha256d$/, "sha256") ?? null,
    power,
    powerLimit: presets.presentWatts,
    powerSource: power === null ? null : "reported",
    temperature: miner.object("pcb_temp").number("max", celsius) ?? highest(boards.map((board) => board.temperature)),
    temperatureIn: highest(chains.map((chain) => chain.number("inlet_water_temp", celsius))),
    temperatureOut: highest(chains.map((chain) => chain.number("outlet_water_temp", celsius))),
    boards,
    fans: cooling.list("fans", 16).map((fan) => ({ rpm: fan.number("rpm"), percent })),
    psu: psuOf(snapshot),
    // Reported for the present state only.
    uptime: state === "mining" ? miner.object("miner_status").number("miner_state_time") : null,
    mining: state === "failure" ? false : isOn(snapshot),
    mode: presets.present,
    locate: status.boolean("find_miner"),
    bestShare: miner.number("best_share", { absent: 0 }),
    foundBlocks: miner.integer("found_blocks"),
    shares: {
      accepted: total(user.map((pool) => pool.integer("accepted"))),
      rejected: total(user.map((pool) => pool.integer("rejected"))),
      hardwareErrors: miner.integer("hw_errors"),
    },
    errors: errorsOf(snapshot),
  };
}

/** The unit of its rates: GH/s, on Scrypt rigs MH/s. */
export const rateUnit = (info: TolerantReader): number => (info.text("hr_measure") === "MH/s" ? 1e6 : 1e9);

function boardsOf({ miner, info, model, chips, factory }: Snapshot): Board[] {
  const expected = model.object("chain").integer("chips_per_chain");
  const serials = factory.list("chains", 16);
  return miner.list("chains", 16).map((chain, position) => {
    const slot = chain.integer("id") ?? position;
    return {
      slot,
      hashrate: chain.number("hashrate_rt", { times: rateUnit(info) }),
      temperature: chain.object("pcb_temp").number("max", celsius),
      chipTemperature: chain.object("chip_temp").number("max", celsius),
      chips: chips.get(slot) ?? null,
      chipsExpected: expected,
      frequency: chain.number("frequency", { times: 1e6, absent: 0 }),
      voltage: chain.number("voltage", { times: 1e-3, absent: 0, max: 100 }),
      serial: serials.find((each) => each.integer("id") === slot)?.text("serial") ?? null,
    };
  });
}

export function devicesOf({ miner }: Snapshot, boards: readonly Board[]): DeviceReading[] {
  const chains = miner.list("chains", 16);
  return boards.map((board, position) =>
    boardDevice(board, {
      status: deviceStatus(chains[position]?.object("status").text("state") ?? null),
      hardwareErrors: chains[position]?.integer("hw_errors") ?? null,
    }),
  );
}

function deviceStatus(state: string | null): DeviceReading["status"] {
  if (state === "failure" || state === "disconnected") return "dead";
  return state === "disabled" ? "disabled" : "enabled";
}

function psuOf({ miner, factory }: Snapshot): RigReadings["psu"] {
  const temps = miner.object("psu").object("temps");
  const temperature = highest(temps.keys().map((key) => temps.number(key, celsius)));
  const model = factory.text("psu_model");
  const serial = factory.text("psu_serial");
  const known = [temperature, model, serial].some((part) => part !== null);
  return known ? { power: null, voltage: null, temperature, model, serial } : null;
}

function errorsOf(snapshot: Snapshot): RigReadings["errors"] {
  const { miner } = snapshot;
  const status = miner.object("miner_status");
  const failed = status.text("miner_state") === "failure";
  const lost = miner
    .object("cooling")
    .list("fans", 16)
    .filter((fan) => fan.text("status") === "lost");
  return [
    ...(failed
      ? [
          {
            code: String(status.integer("failure_code") ?? "failure"),
            text: failureOf(snapshot),
          },
        ]
      : []),
    ...miner.list("chains", 16).flatMap((chain, position) => {
      const state = chain.object("status");
      if (state.text("state") !== "failure") return [];
      const board = `Board ${chain.integer("id") ?? position}`;
      return [{ code: "board.failure", text: `${board}: ${state.text("description") ?? "has failed"}` }];
    }),
    ...lost.map((fan) => ({ code: "fan.lost", text: `Fan ${fan.integer("id") ?? "?"} does not turn` })),
  ];
}

/** Pools of the firmware's maker. */
const isFee = (pool: TolerantReader): boolean => {
  const type = pool.text("pool_type") ?? "UserPool";
  return type !== "UserPool" || /devfee/i.test(pool.text("url") ?? "");
};

export function poolsOf({ miner }: Snapshot): PoolReading[] {
  const pools = miner.list("pools", 16);
  const active = pools.find((pool) => pool.text("status") === "active" && !isFee(pool));
  return pools.map((pool, position) => {
    const url = pool.text("url", 255) ?? "";
    const devFee = isFee(pool);
    return {
      index: pool.integer("id") ?? position,
      url: devFee || url.includes("://") ? url : `stratum+tcp://${url}`,
      worker: pool.text("user", 255) ?? "",
      status: poolStatus(pool.text("status")),
      active: pool === active,
      priority: position,
      quota: null,
      accepted: pool.integer("accepted"),
      rejected: pool.integer("rejected"),
      stale: pool.integer("stale"),
      devFee,
    };
  });
}

function poolStatus(status: string | null): PoolReading["status"] {
  if (status === "disabled") return "disabled";
  return status === "offline" || status === "rejecting" ? "dead" : "enabled";
}
