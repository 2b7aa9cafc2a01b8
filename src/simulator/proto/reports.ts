import { shareOfBoard, temperatureOfBoard } from "../cgminer/reports.ts";
import { type ProtoRig, powerTargets } from "./rig.ts";

const round = (value: number, digits = 3): number => Number(value.toFixed(digits));
const figure = (value: number, unit: string): object => ({ value: round(value), unit });

const boardsOf = ({ model }: ProtoRig): number[] => Array.from({ length: model.hardware.boards }, (_, n) => n);
const fansOf = ({ model }: ProtoRig): number[] => Array.from({ length: model.hardware.fans }, (_, n) => n);
const serialOf = (rig: ProtoRig, part: string, index: number): string =>
  `SIM${part}${index}${rig.body.mac.replaceAll(":", "")}`;
const supplies = [0, 1];

/** The pages below /api/v1. */
export const pages: ReadonlyMap<string, (rig: ProtoRig) => unknown> = new Map<string, (rig: ProtoRig) => unknown>([
  [
    "system",
    (rig) => ({
      "system-info": {
        product_name: "Proto Rig",
        manufacturer: "Proto",
        model: rig.model.hardware.model,
        cb_sn: serialOf(rig, "CB", 0),
        os: { name: "ProtoOS", version: "1.8.0", hostname: rig.body.name },
        uptime_seconds: Math.floor(rig.model.elapsed),
      },
    }),
  ],
  ["network", ({ body }) => ({ "network-info": { mac: body.mac, hostname: body.name, dhcp: true } })],
  [
    "hardware",
    (rig) => ({
      "hardware-info": {
        "cb-info": { serial_number: serialOf(rig, "CB", 0) },
        "hashboards-info": boardsOf(rig).map((board) => ({
          hb_sn: serialOf(rig, "HB", board),
          mining_asic_count: rig.model.hardware.chips,
          slot: board + 1,
        })),
        "psus-info": supplies.map((index) => ({
          psu_sn: serialOf(rig, "PS", index),
          model: "PSU-3600W",
          slot: index + 1,
        })),
        "fans-info": fansOf(rig).map((fan) => ({ slot: fan + 1, name: `Fan ${fan + 1}` })),
      },
    }),
  ],
  [
    "mining",
    (rig) => ({
      "mining-status": {
        status: rig.status,
        mining_uptime_s: Math.floor(rig.model.elapsed),
        reboot_uptime_s: Math.floor(rig.model.elapsed),
        hashrate_ghs: round(rig.model.hashrate(5) / 1e9),
        average_hashrate_ghs: round(rig.model.averageHashrate / 1e9),
        ideal_hashrate_ghs: round(rig.model.ratedHashrate / 1e9),
        power_usage_watts: round(rig.model.power),
        power_target_watts: rig.powerTarget,
        hw_errors: rig.model.hardwareErrors,
      },
    }),
  ],
  [
    "mining/target",
    (rig) => ({
      power_target_watts: rig.powerTarget,
      power_target_min_watts: powerTargets.least,
      power_target_max_watts: powerTargets.most,
      performance_mode: rig.mode,
      hash_on_disconnect: false,
    }),
  ],
  [
    "telemetry",
    (rig) => ({
      timestamp: new Date(rig.model.at).toISOString(),
      miner: {
        hashrate: figure(rig.model.hashrate(5) / 1e12, "TH/s"),
        power: figure(rig.model.power, "W"),
        temperature: figure(rig.model.temperature, "°C"),
      },
      hashboards: boardsOf(rig).map((index) => {
        const hot = temperatureOfBoard(rig.model, index);
        return {
          index,
          serial_number: serialOf(rig, "HB", index),
          hashrate: figure((rig.model.hashrate(5) * shareOfBoard(rig.model, index)) / 1e12, "TH/s"),
          temperature: { unit: "°C", inlet: round(hot - 8), outlet: round(hot + 8), average: round(hot) },
          voltage: figure(rig.model.voltage, "V"),
        };
      }),
      psus: supplies.map((index) => ({
        index,
        serial_number: serialOf(rig, "PS", index),
        voltage: { unit: "V", input: 231, output: round(rig.model.voltage) },
        power: { unit: "W", input: round(rig.model.power / 2), output: round(rig.model.power * 0.475) },
        temperature: { unit: "°C", ambient: 30, average: 38, hotspot: 45 + index },
      })),
    }),
  ],
  [
    "pools",
    ({ model, names }) => ({
      pools: model.pools.map((pool, id) => ({
        id,
        priority: pool.priority,
        name: names[id] ?? "",
        url: pool.url,
        user: pool.user,
        ...model.sharesOf(pool),
        difficulty: String(pool.difficulty),
        enabled: pool.enabled,
        status: pool.alive ? "Active" : "Dead",
      })),
    }),
  ],
  [
    "cooling",
    ({ model, fanTarget }) => ({
      "cooling-status": {
        fan_mode: fanTarget === null ? "Manual" : "Auto",
        speed_percentage: Math.round(model.fan * 100),
        target_temperature_c: fanTarget ?? 50,
        fans: Array.from({ length: model.hardware.fans }, (_, fan) => ({
          slot: fan + 1,
          rpm: model.fanRpm,
          speed_percentage: Math.round(model.fan * 100),
        })),
      },
    }),
  ],
  [
    "errors",
    ({ model }) =>
      model.overheated
        ? [{ source: "hashboard", slot: 1, error_code: "1024", message: "Hashboard 1 over temperature" }]
        : [],
  ],
]);
