import { shareOfBoard, temperatureOfBoard } from "../cgminer/reports.ts";
import type { EpicRig } from "./rig.ts";

const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

/** MH/s, percent of the ideal rate, and percent of errors. */
function rateOf({ model }: EpicRig, board: number): [number, number, number] {
  const rate = model.hashrate(5) * shareOfBoard(model, board);
  const ideal = (model.hardware.hashrate * model.level) / model.hardware.boards;
  return [round(rate / 1e6), round((rate / ideal) * 100, 1), 0.8];
}

const boardsOf = ({ model }: EpicRig): number[] => Array.from({ length: model.hardware.boards }, (_, board) => board);
const isOn = ({ model }: EpicRig, board: number): boolean => !model.boardsOff.has(board);

/** GET /summary. */
export function summary(rig: EpicRig): object {
  const { model, autoFan } = rig;
  const { accepted, rejected } = model.shares;
  const active = model.activePool === null ? -1 : model.pools.indexOf(model.activePool);
  const rpms = Array.from({ length: 12 }, (_, fan) => [
    `Fans Speed ${fan + 1}`,
    fan < model.hardware.fans ? model.fanRpm : null,
  ]);
  return {
    Status: {
      "Operating State": rig.state,
      "Last Command": rig.lastCommand,
      "Last Command Result": rig.lastCommand === null ? null : "Success",
      "Last Error": model.overheated ? "Over temperature shutdown" : null,
    },
    "Last License Error": null,
    Hostname: rig.body.name,
    Software: "PowerPlay-BMS v1.5.13",
    IdleOnConnectionLost: rig.options.idlesWithoutPool,
    Mining: { Coin: "BTC", Algorithm: "SHA-256" },
    Stratum: {
      "Config Id": Math.max(0, active),
      "Current Pool": model.pools[Math.max(0, active)]?.url.replace(/^.*:\/\//, "") ?? "",
      "Current User": `${model.pools[Math.max(0, active)]?.user ?? ""}-0x1`,
      IsPoolConnected: active !== -1,
      "Worker Unique Id": true,
      "Average Latency": 0.04,
    },
    StratumConfigs: model.pools.map(({ url, user, password }) => ({ pool: url, login: user, password })),
    Session: {
      Uptime: Math.floor(model.elapsed),
      "Active HBs": boardsOf(rig).filter((board) => isOn(rig, board)).length,
      "Average MHs": round(model.averageHashrate / 1e6),
      Accepted: accepted,
      Rejected: rejected,
      Submitted: accepted + rejected,
      Difficulty: model.activePool?.difficulty ?? 0,
    },
    HBStatus: boardsOf(rig).map((board) => ({ Index: board, Enabled: isOn(rig, board), Detected: true })),
    HBs: boardsOf(rig)
      .filter((board) => isOn(rig, board))
      .map((board) => ({
        Index: board,
        "Core Clock": [],
        "Core Clock Avg": round(model.frequency / 1e6),
        Hashrate: rateOf(rig, board),
        "Input Voltage": round(model.voltage),
        Temperature: round(temperatureOfBoard(model, board), 3),
      })),
    "Power Supply Stats": {
      "Input Power": round(model.power, 4),
      "Output Power": 0,
      "Output Voltage": round(model.voltage, 3),
      "Target Voltage": Math.round(model.voltage * 1000),
    },
    PresetInfo: { "Target Power": 3000 },
    PerpetualTune: { Running: true, Algorithm: tunerOf(rig) },
    Fans: {
      "Fan Mode":
        autoFan === null ? "Manual" : { Auto: { "Target Temperature": autoFan.target, "Idle Speed": autoFan.idle } },
      "Fans Speed": Math.round(model.fan * 100),
    },
    "Fans Rpm": Object.fromEntries(rpms),
    Misc: { "Locate Miner State": rig.blinks, "Shutdown Temp": 85, "Critical Temp": 100 },
  };
}

function tunerOf({ model, powerTarget }: EpicRig): object {
  const throttle = { Optimized: true, "Throttle Target": null };
  if (powerTarget !== null)
    return {
      Power: { ...throttle, Target: powerTarget, "Min Throttle Target": 1_500, "Throttle Step": 100, Unit: "W" },
    };
  const target = Math.round(model.hardware.hashrate / 1e12);
  return {
    VoltageOptimizer: { ...throttle, Target: target, "Min Throttle Target": 50, "Throttle Step": 5, Unit: "TH/s" },
  };
}

/** GET /capabilities. */
export const capabilities = (rig: EpicRig): object => ({
  Model: rig.model.hardware.model,
  "Max HBs": rig.model.hardware.boards,
  Coins: ["BTC"],
  "Board Serial Numbers": boardsOf(rig)
    .filter((board) => isOn(rig, board))
    .map((board) => `SIMHB${board}${rig.body.mac.replaceAll(":", "")}`),
  "Control Board Version": { cpuHardware: "Simulated", cpuSerial: `SIM${rig.body.mac.replaceAll(":", "")}` },
  "Performance Estimator": { "Chip Count": rig.model.hardware.chips, "Hashes Per Second Per Chip": 894 },
  PerpetualTune: [
    { algorithm: "VoltageOptimizer", name: "Voltage Optimizer", min: 60, max: 300 },
    ...(rig.options.tunesPower ? [{ algorithm: "Power", name: "Power", min: 1_500, max: 4_000 }] : []),
  ],
});

/** GET /network. */
export const network = (rig: EpicRig): object => ({
  dhcp: { address: "192.0.2.10", netmask: "255.255.255.0", gateway: "192.0.2.1", mac_address: rig.body.mac },
});

/** GET /hashrate: the rate of each chip. */
export const hashrate = (rig: EpicRig): object[] =>
  boardsOf(rig)
    .filter((board) => isOn(rig, board))
    .map((board) => {
      const [rate, percent, errors] = rateOf(rig, board);
      const { chips } = rig.model.hardware;
      return {
        Index: board,
        Data: Array.from({ length: chips }, () => [round(rate / chips), percent, errors]),
        Total: [rate, percent, errors],
      };
    });
