import { activePool } from "../model.ts";
import { type BraiinsRig, boardShare, measuresPower, type PoolGroup, powerRange, slotsOf } from "./rig.ts";

/** The pages of BOSer's REST API. */
export const pages: ReadonlyMap<string, (rig: BraiinsRig) => unknown> = new Map<string, (rig: BraiinsRig) => unknown>([
  ["miner/details", details],
  ["miner/stats", stats],
  ["miner/hw/hashboards", hashboards],
  ["miner/errors", () => ({ errors: [] })],
  ["cooling/state", cooling],
  ["performance/tuner-state", tunerState],
  ["configuration/miner", configuration],
  ["configuration/constraints", constraints],
  ["pools/", poolGroups],
  ["actions/locate", ({ locate }) => locate],
]);

/** 1 is not started, 2 normal, 3 paused, 4 suspended. */
function statusOf({ stopped, paused, body }: BraiinsRig): number {
  if (stopped) return 1;
  if (paused) return 3;
  return body.model.overheated ? 4 : 2;
}

function details(rig: BraiinsRig): unknown {
  const { model, mac, name } = rig.body;
  const seconds = Math.floor(model.elapsed);
  return {
    bos_mode: 4,
    bos_version: { bos_plus: true, current: "2025-08-06-0-0a1b2c3d-25.07-plus", major: "25.07" },
    bosminer_uptime_s: rig.stopped ? 0 : seconds,
    hostname: name,
    kernel_version: "4.9.113",
    mac_address: mac.toLowerCase(),
    miner_identity: { brand: 1, miner_model: model.hardware.model, model: 0, name: model.hardware.model },
    psu_info: { model_name: "APW-SIM", serial_number: null },
    serial_number: `SIM${mac.replaceAll(":", "")}`,
    status: statusOf(rig),
    sticker_hashrate: giga(model.hardware.hashrate),
    system_uptime_s: seconds + 40,
    uid: mac,
  };
}

const giga = (rate: number): unknown => ({ gigahash_per_second: rate / 1e9 });
export const watt = (watts: number): unknown => ({ watt: Math.round(watts) });
const celsius = (degrees: number): unknown => ({ degree_c: Number(degrees.toFixed(2)) });

const real = ({ body: { model } }: BraiinsRig, share: number): unknown => ({
  last_5s: giga(model.hashrate(5) * share),
  last_15s: giga(model.hashrate(15) * share),
  last_1m: giga(model.hashrate(60) * share),
  last_15m: giga(model.hashrate(900) * share),
  since_restart: giga(model.averageHashrate * share),
});

function stats(rig: BraiinsRig): unknown {
  const { model } = rig.body;
  const { accepted, rejected } = model.shares;
  return {
    miner_stats: {
      best_share: model.bestShare,
      found_blocks: 0,
      nominal_hashrate: giga(model.ratedHashrate),
      real_hashrate: real(rig, 1),
    },
    pool_stats: { accepted_shares: accepted, rejected_shares: rejected, stale_shares: 0, best_share: model.bestShare },
    power_stats: measuresPower(rig)
      ? { approximated_consumption: watt(model.power), efficiency: null }
      : { approximated_consumption: null, efficiency: null },
  };
}

function hashboards(rig: BraiinsRig): unknown {
  const { model } = rig.body;
  const boards = slotsOf(rig).map((slot, index) => {
    const share = boardShare(rig, index);
    return {
      id: String(slot),
      enabled: !model.boardsOff.has(index),
      board_name: "SIM",
      chips_count: model.hardware.chips,
      serial_number: `BOARD${slot}`,
      board_temp: celsius(model.temperature - index),
      highest_chip_temp: { id: 1, location: 1, temperature: celsius(model.temperature + 15 - index) },
      lowest_inlet_temp: celsius(model.ambient + 5),
      highest_outlet_temp: celsius(model.temperature),
      current_frequency: { hertz: model.frequency },
      current_voltage: { volt: model.voltage },
      stats: { nominal_hashrate: giga(model.ratedHashrate * share), real_hashrate: real(rig, share) },
    };
  });
  return { hashboards: boards };
}

function cooling({ body: { model } }: BraiinsRig): unknown {
  const fans = Array.from({ length: model.hardware.fans }, (_, position) => ({
    position,
    rpm: model.fanRpm,
    target_speed_ratio: model.fan,
  }));
  return { fans, highest_temperature: { id: null, location: 1, temperature: celsius(model.temperature + 15) } };
}

function tunerState({ powerTarget }: BraiinsRig): unknown {
  const profile = { target: watt(powerTarget), estimated_power_consumption: watt(powerTarget) };
  return {
    mode_state: { powertargetmodestate: { current_target: watt(powerTarget), profile } },
    overall_tuner_state: 2,
  };
}

const strategy = ({ quota }: PoolGroup): unknown => ({ quota: { value: quota } });

function configuration(rig: BraiinsRig): unknown {
  return {
    pool_groups: rig.groups.map((group) => ({
      uid: group.uid,
      name: group.name,
      load_balance_strategy: strategy(group),
      pools: group.pools,
    })),
    temperature: { minimum_required_fans: null, mode: coolingMode(rig) },
    tuner: { enabled: true, hashrate_target: null, power_target: watt(rig.powerTarget), tuner_mode: 1 },
  };
}

export function coolingMode({ cooling: { mode, target, hot, dangerous, ratio } }: BraiinsRig): unknown {
  const temperatures = {
    target_temperature: celsius(target),
    hot_temperature: celsius(hot),
    dangerous_temperature: celsius(dangerous),
  };
  return mode === "auto" ? { auto: temperatures } : { manual: { ...temperatures, fan_speed_ratio: ratio } };
}

function constraints(rig: BraiinsRig): unknown {
  const power = powerRange(rig.body);
  return {
    tuner_constraints: {
      power_target: { min: watt(power.min), max: watt(power.max), default: watt(power.default) },
      default_mode: 1,
    },
    cooling_constraints: {
      default_cooling_mode: 1,
      fan_speed_ratio: { min: 0, max: 1, default: 0.7 },
      target_temperature: { min: celsius(30), max: celsius(90), default: celsius(60) },
      hot_temperature: { min: celsius(40), max: celsius(100), default: celsius(80) },
    },
    hashboards_constraints: { hashboard_ids: slotsOf(rig).map(String) },
  };
}

function poolGroups(rig: BraiinsRig): unknown {
  const { model } = rig.body;
  const active = activePool(model.pools);
  return rig.groups.map((group) => ({
    uid: group.uid,
    name: group.name,
    strategy: strategy(group),
    pools: group.pools.map((entry) => {
      const pool = model.pools.find(({ url, user }) => url === entry.url && user === entry.user);
      const { accepted, rejected } = pool === undefined ? { accepted: 0, rejected: 0 } : model.sharesOf(pool);
      return {
        active: pool !== undefined && pool === active,
        alive: pool?.alive ?? false,
        enabled: entry.enabled,
        stats: { accepted_shares: accepted, rejected_shares: rejected, stale_shares: 0 },
        uid: entry.uid,
        url: entry.url,
        user: entry.user,
      };
    }),
  }));
}
