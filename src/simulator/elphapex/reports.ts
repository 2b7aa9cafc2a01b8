import type { CgiRig } from "../antminer/state.ts";
import { shareOfBoard, temperatureOfBoard } from "../cgminer/reports.ts";
import type { Pool, RigModel } from "../model.ts";

const head = ({ body: { model, mac } }: CgiRig, message: string) => ({
  STATUS: {
    STATUS: "S",
    when: Math.floor(model.elapsed),
    timestamp: Math.floor(model.at / 1000),
    api_version: "1.0.0",
    Msg: message,
  },
  INFO: {
    miner_version: "DG1+_SW_V1.0.2",
    CompileTime: "",
    dev_sn: `SIM${mac.replaceAll(":", "")}`,
    type: "DG1+",
    hw_version: "DG1+_HW_V1.0",
  },
});

const mega = (rate: number): number => Number((rate / 1e6).toFixed(2));

const rates = ({ body: { model } }: CgiRig) => ({
  rate_unit: "MH/s",
  elapsed: Math.floor(model.elapsed),
  rate_5s: mega(model.hashrate(5)),
  rate_15m: mega(model.hashrate(900)),
  rate_30m: 0,
  rate_avg: mega(model.averageHashrate),
  rate_ideal: mega(model.ratedHashrate),
});

/** `hw_all` repeats the average hash rate, and the best share is not filled in. */
export function summary(rig: CgiRig): Record<string, unknown> {
  const { model } = rig.body;
  const state = (type: string, fault: string | null) =>
    fault === null ? { type, status: "s", msg: "", code: 0 } : { type, status: "e", msg: fault, code: 1 };
  return {
    ...head(rig, "summary"),
    SUMMARY: [
      {
        ...rates(rig),
        bestshare: 0,
        hw_all: mega(model.averageHashrate),
        status: [
          state("rate", null),
          state("network", model.activePool === null ? "network connection lost" : null),
          // Without a word where it has nothing to report.
          { type: "fans", status: "", msg: "", code: 0 },
          state("temp", model.overheated ? "temperature too high" : null),
        ],
      },
    ],
  };
}

export function stats(rig: CgiRig): Record<string, unknown> {
  const { model } = rig.body;
  const { boards, fans } = model.hardware;
  return {
    ...head(rig, "stats"),
    STATS: [
      {
        ...rates(rig),
        hwp_total: 0.1155,
        chain_num: boards,
        fan_num: fans,
        fan: Array.from({ length: fans }, () => String(Math.round(model.fanRpm))),
        chain: Array.from({ length: boards }, (_, index) => chain(model, index)),
      },
    ],
  };
}

/** The chips report thousandths of a °C as texts, `hw` repeats their number, and the frequency is in another unit. */
function chain(model: RigModel, index: number): Record<string, unknown> {
  const share = shareOfBoard(model, index);
  const hot = Math.round(temperatureOfBoard(model, index));
  const { chips } = model.hardware;
  return {
    index,
    sn: `BOARD${index}`,
    freq_avg: 62_000,
    rate_ideal: mega(model.ratedHashrate * share),
    rate_real: mega(model.hashrate(5) * share),
    hashrate: mega(model.hashrate(5) * share),
    asic_num: chips,
    asic: "ooooooooo oooooooo oooooooo oooooooo oooo",
    temp_pic: [hot - 20, hot - 21, hot, hot - 1],
    temp_pcb: [hot - 20, hot - 21, hot, hot - 1],
    temp_chip: [String((hot - 14) * 1000 + 125), String((hot - 10) * 1000 + 500), "", ""],
    hw: chips,
    eeprom_loaded: true,
  };
}

export const pools = (rig: CgiRig): Record<string, unknown> => ({
  ...head(rig, "pools"),
  POOLS: rig.body.model.pools.map((pool, index) => poolLine(rig, pool, index)),
});

function poolLine({ body: { model } }: CgiRig, pool: Pool, index: number): Record<string, unknown> {
  const { accepted, rejected } = model.sharesOf(pool);
  return {
    index,
    url: pool.url,
    user: pool.user,
    status: pool.alive ? "Alive" : "Unreachable",
    priority: pool.priority,
    getworks: accepted + rejected,
    accepted,
    rejected,
    stale: 0,
    diff: "",
    diff1: 0,
    diffa: pool.difficulty,
    diffr: pool.difficulty,
    diffs: 0,
    lsdiff: pool.difficulty,
    lstime: "00:00:18",
  };
}
