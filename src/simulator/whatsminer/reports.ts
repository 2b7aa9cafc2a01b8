import { shareOfBoard } from "../cgminer/reports.ts";
import { fraction } from "../random.ts";
import { factoryHashrate, generations, limitOf, type Whatsminer } from "./state.ts";

/** The reports of API v1 and v2, with the fields of a btminer of that time. */

type Json = Record<string, unknown>;

const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits));
const mega = (hashrate: number): number => rounded(hashrate / 1e6);

const capital = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

const fans = ({ model: { fanRpm, power } }: Whatsminer): Json => ({
  "Fan Speed In": power > 200 ? fanRpm : 0,
  "Fan Speed Out": power > 200 ? fanRpm - 60 : 0,
});

const chips = ({ model }: Whatsminer): Json => ({
  "Chip Temp Min": rounded(model.temperature - 3, 1),
  "Chip Temp Max": rounded(model.temperature + 14, 1),
  "Chip Temp Avg": rounded(model.temperature + 6, 1),
});

export function summary(rig: Whatsminer): Json {
  const { model, generation, errors } = rig;
  const { accepted, rejected } = model.shares;
  return {
    Elapsed: Math.floor(model.elapsed),
    "MHS av": mega(model.averageHashrate),
    "MHS 5s": mega(model.hashrate(5)),
    "MHS 1m": mega(model.hashrate(60)),
    "MHS 5m": mega(model.hashrate(300)),
    "MHS 15m": mega(model.hashrate(900)),
    ...(generation === "v1" ? {} : { "HS RT": mega(model.hashrate(5)) }),
    Accepted: accepted,
    Rejected: rejected,
    "Hardware Errors": model.hardwareErrors,
    "Found Blocks": 0,
    "Best Share": model.bestShare,
    Temperature: rounded(model.temperature, 1),
    "Env Temp": model.ambient,
    ...fans(rig),
    ...chips(rig),
    "Target Freq": Math.round(model.frequency / 1e6),
    Power: Math.round(model.power),
    "Power Limit": limitOf(rig),
    "Power Mode": capital(rig.mode),
    "Power Rate": model.hashing ? rounded(model.power / (model.hashrate(5) / 1e12)) : 0,
    "Factory GHS": Math.round(factoryHashrate(rig) / 1e9),
    MAC: rig.body.mac,
    "Firmware Version": `'${generations[generation].firmware}'`,
    Uptime: Math.floor(model.elapsed) + 60,
    "Hash Stable": model.hashing && model.elapsed > 300,
    ...(generation === "v1"
      ? {
          "Error Code Count": errors.length,
          ...Object.fromEntries(errors.map((code, index) => [`Error Code ${index}`, code])),
        }
      : {}),
  };
}

export const devs = (rig: Whatsminer): Json[] =>
  Array.from({ length: rig.model.hardware.boards }, (_, board) => {
    const { model } = rig;
    const share = shareOfBoard(model, board);
    return {
      ASC: board,
      Slot: board,
      Name: "SM",
      ID: board,
      Enabled: "Y",
      Status: "Alive",
      Temperature: rounded(model.temperature - board * 0.5, 1),
      ...chips(rig),
      ...fans(rig),
      "Chip Frequency": Math.round(model.frequency / 1e6),
      "MHS av": mega(model.averageHashrate * share),
      "MHS 5s": mega(model.hashrate(5) * share),
      ...(rig.generation === "v1" ? {} : { "HS RT": mega(model.hashrate(5) * share) }),
      "Factory GHS": Math.round((factoryHashrate(rig) * share) / 1e9),
      "Effective Chips": model.hardware.chips,
      "PCB SN": serial(rig, `BHM${board}`),
      "Upfreq Complete": model.elapsed > 300 ? 1 : 0,
    };
  });

export const pools = ({ model }: Whatsminer): Json[] =>
  model.pools.map((pool, index) => {
    const { accepted, rejected } = model.sharesOf(pool);
    return {
      POOL: index + 1,
      URL: pool.url,
      Status: pool.alive ? "Alive" : "Dead",
      Priority: pool.priority,
      Quota: 1,
      Accepted: accepted,
      Rejected: rejected,
      Stale: 0,
      User: pool.user,
      "Stratum Active": pool === model.activePool,
    };
  });

export const devdetails = (rig: Whatsminer): Json[] =>
  Array.from({ length: rig.model.hardware.boards }, (_, board) => ({
    DEVDETAILS: board,
    Name: "SM",
    ID: board,
    Driver: "bitmicro",
    Kernel: "",
    Model: rig.model.hardware.model,
  }));

/** The `Msg` of answers without sections. */
export const messages: Readonly<Record<string, (rig: Whatsminer) => Json>> = {
  get_version: ({ generation }) => {
    const { api, firmware, platform } = generations[generation];
    const prefix = generation === "v1" ? "whatsminer v" : "";
    return { api_ver: `${prefix}${api}`, fw_ver: `${prefix}${firmware}`, platform, chip: "K16" };
  },
  status: (rig) => ({
    mineroff: String(!rig.model.mining),
    mineroff_reason: "",
    mineroff_time: "",
    FirmwareVersion: generations[rig.generation].firmware,
    power_mode: rig.mode,
    power_limit_set: String(rig.limit ?? ""),
    hash_percent: "0",
    ...(rig.generation === "v1" || rig.percent === null ? {} : { power_pct: String(rig.percent) }),
  }),
  get_miner_info: (rig) => ({
    ip: "127.0.0.1",
    proto: "dhcp",
    mac: rig.body.mac,
    hostname: rig.body.name,
    ledstat: rig.led,
    minersn: serial(rig, "HTM"),
    powersn: serial(rig, "PSU"),
  }),
  get_psu: (rig) => ({
    name: "P222B",
    model: "P222B",
    hw_version: "",
    sw_version: "230208.220429",
    iin: String(Math.round((rig.model.power / 229.5) * 1000)),
    vin: "22950",
    fan_speed: "6000",
    serial_no: serial(rig, "PSU"),
  }),
  get_error_code: (rig) => ({ error_code: errorCodes(rig) }),
};

/** Newer firmware lists its errors; 2.0.4 and 2.0.5 send one object instead of a list. */
function errorCodes({ errors, generation }: Whatsminer): unknown {
  const since = "2025-01-17 11:28:11";
  if (errors.length === 0) return [];
  if (generation === "v3") return errors.map((code) => ({ [code]: since }));
  return Object.fromEntries(errors.map((code) => [String(code), since]));
}

/** Invented and constant. */
export function serial({ model }: Whatsminer, prefix: string): string {
  const step = [...prefix].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7);
  return `${prefix}${String(Math.floor(fraction(model.seed, step) * 1e12)).padStart(12, "0")}`;
}
