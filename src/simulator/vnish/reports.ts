import { poolStatus, shareOfBoard, temperatureOfBoard } from "../cgminer/reports.ts";
import type { VnishPreset, VnishRig } from "./rig.ts";

const round = (value: number, digits = 2): number => Number(value.toFixed(digits));
const boardNumbers = ({ model }: VnishRig): number[] => Array.from({ length: model.hardware.boards }, (_, n) => n);
const range = (max: number, below: number) => ({ min: Math.round(max) - below, max: Math.round(max) });

/** The firmware's own pool follows those of the owner. */
const feePool = "DevFee";

const minerStatus = (rig: VnishRig): object => ({
  miner_state: rig.state,
  miner_state_time: rig.state === "mining" ? Math.floor(rig.model.elapsed) : 0,
  ...(rig.model.overheated ? { description: "Overheat protection", failure_code: 1010 } : {}),
  ...(rig.throttles ? { throttled: rig.throttle } : {}),
});

function poolList({ model }: VnishRig): object[] {
  const own = model.pools.map((pool, id) => {
    const { accepted, rejected } = model.sharesOf(pool);
    const alive = poolStatus(pool) === "Alive";
    const status = !alive ? "offline" : pool === model.activePool ? "active" : "working";
    return {
      id,
      url: pool.url,
      pool_type: "UserPool",
      user: pool.user,
      status,
      accepted,
      rejected,
      stale: 0,
      ping: 21,
    };
  });
  const fee = { url: feePool, pool_type: feePool, user: feePool, status: "working" };
  return [...own, { id: own.length, ...fee, accepted: 4, rejected: 0, stale: 0, ping: 40 }];
}

function chains(rig: VnishRig): object[] {
  const { model } = rig;
  return boardNumbers(rig).map((board) => {
    const hot = temperatureOfBoard(model, board);
    return {
      id: board + 1,
      status: { state: model.hashing ? "mining" : "stopped" },
      hashrate_rt: round((model.hashrate(5) * shareOfBoard(model, board)) / 1e9),
      hashrate_ideal: round(model.ratedHashrate / 1e9 / model.hardware.boards),
      frequency: round((model.frequency * model.level) / 1e6),
      voltage: Math.round(model.voltage * 1000),
      power_consumption: Math.round(model.power / model.hardware.boards),
      pcb_temp: range(hot, 20),
      chip_temp: range(hot + 15, 20),
      hw_errors: Math.floor(model.hardwareErrors / model.hardware.boards),
      chip_statuses: { grey: 0, orange: 0, red: 0 },
    };
  });
}

export const summary = (rig: VnishRig): object => {
  const { model } = rig;
  return {
    miner: {
      miner_status: minerStatus(rig),
      miner_type: `${model.hardware.model} (Vnish ${rig.version})`,
      hr_realtime: round(model.hashrate(5) / 1e9),
      hr_average: round(model.averageHashrate / 1e9),
      hr_nominal: round(model.ratedHashrate / 1e9),
      hr_stock: round(model.hardware.hashrate / 1e9),
      pcb_temp: range(model.temperature, 20),
      chip_temp: range(model.temperature + 15, 20),
      power_consumption: Math.round(model.power),
      power_usage: Math.round(model.power),
      power_efficiency: round((model.power * 1e12) / Math.max(1, model.hashrate(5)), 1),
      hw_errors: model.hardwareErrors,
      hw_errors_percent: 0.02,
      devfee_percent: 2.8,
      pools: poolList(rig),
      cooling: {
        fan_num: model.hardware.fans,
        fans: Array.from({ length: model.hardware.fans }, (_, id) => ({
          id,
          rpm: model.fanRpm,
          status: "ok",
          max_rpm: model.hardware.fanRpm,
        })),
        settings: { mode: rig.cooling.mode },
        fan_duty: Math.round(model.fan * 100),
      },
      chains: chains(rig),
      found_blocks: 0,
      best_share: model.bestShare,
    },
  };
};

export const status = (rig: VnishRig, unlocked: boolean): object => ({
  ...minerStatus(rig),
  find_miner: rig.blinks,
  restart_required: rig.restartRequired,
  reboot_required: false,
  unlocked,
});

export const info = (rig: VnishRig): object => ({
  miner: rig.model.hardware.model,
  model: "s19",
  fw_name: "Vnish",
  fw_version: rig.version,
  platform: "xil",
  install_type: "nand",
  algorithm: "sha256d",
  hr_measure: "GH/s",
  system: {
    os: "GNU/Linux",
    network_status: { mac: rig.body.mac, dhcp: true, ip: "192.0.2.10", hostname: rig.body.name },
    uptime: "10 days, 18:00",
  },
  serial: "N/A",
});

export const model = ({ model }: VnishRig): object => ({
  full_name: model.hardware.model,
  chain: { chips_per_chain: model.hardware.chips, num_chains: model.hardware.boards },
  cooling: { min_fan_pwm: 10, min_target_temp: 20, max_target_temp: 90 },
  overclock: { max_voltage: 1535, min_voltage: 1200, max_freq: 1000, min_freq: 50 },
});

const presetOf = ({ name, watts, hashrate, tuned }: VnishPreset): object => ({
  name,
  pretty: watts === null ? "Disabled" : `${watts} watt ~ ${Math.round(hashrate / 1e12)} TH`,
  status: tuned ? "tuned" : "untuned",
  modded_psu_required: false,
});

export const presets = ({ presets }: VnishRig): object[] => presets.map(presetOf);

export const performance = ({ applied, switches }: VnishRig): object => ({
  current_preset: presetOf(applied),
  preset_switcher: { enabled: switches, top_preset: null, decrease_temp: 75, rise_temp: 55 },
});

export const chainChips = (rig: VnishRig): object[] =>
  boardNumbers(rig).map((board) => ({
    id: board + 1,
    chips: Array.from({ length: rig.model.hardware.chips }, (_, id) => ({
      id,
      hr: rig.model.hashing
        ? round(rig.model.hashrate(5) / 1e9 / rig.model.hardware.boards / rig.model.hardware.chips)
        : 0,
      temp: Math.round(rig.model.temperature + 10),
    })),
  }));

export const factory = (rig: VnishRig): object => ({
  psu_model: "APW12SIM",
  psu_serial: `PSU${rig.body.mac.replaceAll(":", "")}`,
  chains: boardNumbers(rig).map((board) => ({
    id: board + 1,
    serial: `SIMB${board + 1}${rig.body.mac.replaceAll(":", "")}`,
  })),
});
