import { counted, countedOfBoard } from "../cgminer/bmminer-reports.ts";
import { poolStatus, shareOfBoard, temperatureOfBoard } from "../cgminer/reports.ts";
import type { Pool, RigModel } from "../model.ts";
import type { OldStats } from "./models.ts";
import type { AntminerRig } from "./state.ts";

/** The reports of newer firmware, and the statistics of the S9, which number boards from 6. */

const ghs = (model: RigModel, rate: number): number => Number(counted(model, rate).toFixed(2));

const head = ({ kind, body }: AntminerRig, message: string) => ({
  STATUS: { STATUS: "S", when: Math.floor(body.model.at / 1000), Msg: message, api_version: "1.0.0" },
  INFO: { miner_version: kind.miner, CompileTime: kind.compiled, type: kind.type },
});

export const systemInfo = (rig: AntminerRig): Record<string, unknown> => ({
  minertype: rig.kind.type,
  nettype: "DHCP",
  netdevice: "eth0",
  macaddr: rig.body.mac,
  hostname: rig.body.name,
  ipaddress: "127.0.0.1",
  netmask: "255.0.0.0",
  gateway: "",
  dnsservers: "",
  system_mode: "GNU/Linux",
  system_kernel_version: "Linux 4.6.0-xilinx",
  system_filesystem_version: rig.kind.firmware,
  firmware_type: "Release",
  ...(rig.kind.serial ? { serinum: `SIM${rig.body.mac.replaceAll(":", "")}` } : {}),
});

/** Faults are among the states; a state without faults is an empty string. */
export function summary(rig: AntminerRig): Record<string, unknown> {
  const { model } = rig.body;
  const state = (type: string, fault: string | null, status = "s") =>
    fault === null ? { type, status, code: 0, msg: "" } : { type, status: "e", code: 1, msg: fault };
  const lost = model.activePool === null ? "network connection lost" : null;
  return {
    ...head(rig, "summary"),
    SUMMARY: [
      {
        elapsed: Math.floor(model.elapsed),
        ...rates(rig),
        hw_all: model.hardwareErrors,
        bestshare: model.bestShare,
        status: [
          state("rate", null),
          state("network", lost),
          state("fans", null, rig.kind.cooling === "water" ? "" : "s"),
          state("temp", model.overheated ? "temperature too high" : null),
        ],
      },
    ],
  };
}

const rates = ({ body: { model } }: AntminerRig) => ({
  rate_5s: ghs(model, model.hashrate(5)),
  rate_30m: ghs(model, model.hashrate(1800)),
  rate_avg: ghs(model, model.averageHashrate),
  rate_ideal: ghs(model, model.ratedHashrate),
  ...(model.hardware.giga !== undefined ? {} : { rate_unit: "GH/s" }),
});

/** A sleeping rig has none. */
export function stats(rig: AntminerRig): Record<string, unknown> {
  const { model } = rig.body;
  if (rig.config.mode === 1) return { ...head(rig, "stats"), STATS: [] };
  const { boards, fans } = model.hardware;
  return {
    ...head(rig, "stats"),
    STATS: [
      {
        elapsed: Math.floor(model.elapsed),
        ...rates(rig),
        chain_num: boards,
        fan_num: fans,
        fan: Array.from({ length: fans }, () => model.fanRpm),
        ...(rig.kind.watt ? { watt: Math.round(model.power) } : {}),
        hwp_total: 0,
        "miner-mode": rig.config.mode,
        "freq-level": 100,
        chain: Array.from({ length: boards }, (_, index) => chain(rig, index)),
      },
    ],
  };
}

function chain({ body: { model }, kind }: AntminerRig, index: number): Record<string, unknown> {
  const share = shareOfBoard(model, index);
  const hot = Math.round(temperatureOfBoard(model, index));
  const four = (warmer: number) => [-8, -8, 0, 0].map((less) => hot + warmer + less);
  return {
    index,
    freq_avg: Math.round(model.frequency / 1e6),
    rate_ideal: ghs(model, model.ratedHashrate * share),
    rate_real: ghs(model, model.hashrate(5) * share),
    asic_num: model.hardware.chips,
    asic: "o".repeat(model.hardware.chips).replace(/.{1,11}/g, " $&"),
    temp_pic: four(-18),
    temp_pcb: four(0),
    temp_chip: four(4),
    hw: Math.floor(model.hardwareErrors * share),
    eeprom_loaded: true,
    ...(kind.serial ? { sn: `BOARD${index}` } : {}),
    hwp: 0,
    tpl: [],
  };
}

export const pools = (rig: AntminerRig): Record<string, unknown> => ({
  ...head(rig, "pools"),
  POOLS: rig.body.model.pools.map((pool, index) => poolLine(rig, pool, index)),
});

function poolLine({ body: { model } }: AntminerRig, pool: Pool, index: number): Record<string, unknown> {
  const { accepted, rejected } = model.sharesOf(pool);
  return {
    index,
    url: pool.url,
    user: pool.user,
    status: poolStatus(pool),
    priority: pool.priority,
    getworks: accepted,
    accepted,
    rejected,
    discarded: accepted * 12,
    stale: 0,
    diff: pool === model.activePool ? `${Math.round(pool.difficulty / 1000)}K` : "",
    diff1: 0,
    diffa: accepted * pool.difficulty,
    diffr: rejected * pool.difficulty,
    diffs: 0,
    lsdiff: accepted === 0 ? 0 : pool.difficulty,
    lstime: pool.lastShareAt === null ? "0" : "0:00:03",
  };
}

/** The answer of an S9 and its time to `stats`. */
export function oldStats(rig: AntminerRig, old: OldStats): string {
  const { model } = rig.body;
  const frequency = Math.round(model.frequency / 1e6);
  const fields: Record<string, string | number> = {
    STATS: 0,
    ID: "BC50",
    Elapsed: Math.floor(model.elapsed),
    "GHS 5s": String(ghs(model, model.hashrate(5))),
    "GHS av": ghs(model, model.averageHashrate),
    miner_count: model.hardware.boards,
    frequency: `${frequency}${old.unit}`,
    fan_num: model.hardware.fans,
    temp_num: model.hardware.boards,
  };
  for (let slot = 1; slot <= 8; slot += 1) fields[`fan${slot}`] = old.fans.includes(slot) ? model.fanRpm : 0;
  for (let slot = 1; slot <= 16; slot += 1) oldBoard(rig, old, slot, fields);
  // The generation before has no such field.
  if (old.frequency === "freq_avg") fields.total_rateideal = ghs(model, model.ratedHashrate);
  fields.no_matching_work = model.hardwareErrors;
  fields.miner_version = rig.kind.miner;
  const first = { BMMiner: "2.0.0", Miner: rig.kind.miner, CompileTime: rig.kind.compiled, Type: rig.kind.type };
  const status = [
    { STATUS: "S", When: Math.floor(model.at / 1000), Code: 70, Msg: "BMMiner stats", Description: "bmminer 1.0.0" },
  ];
  // The firmware omits the comma between the two.
  const [one, two] = [JSON.stringify(first), JSON.stringify(fields)];
  return `{"STATUS":${JSON.stringify(status)},"STATS":[${one}${two}],"id":1}`;
}

function oldBoard(
  { body: { model } }: AntminerRig,
  old: OldStats,
  slot: number,
  fields: Record<string, string | number>,
): void {
  const board = old.boards.indexOf(slot);
  const there = board !== -1;
  const share = there ? shareOfBoard(model, board) : 0;
  const hot = there ? Math.round(temperatureOfBoard(model, board)) : 0;
  fields[`temp${slot}`] = hot;
  fields[`temp2_${slot}`] = there ? hot + 15 : 0;
  if (old.frequency !== null) fields[`${old.frequency}${slot}`] = there ? Math.round(model.frequency / 1e6) : 0;
  fields[`chain_acn${slot}`] = there ? model.hardware.chips : 0;
  fields[`chain_acs${slot}`] = there ? "o".repeat(model.hardware.chips).replace(/.{1,8}/g, " $&") : "";
  fields[`chain_hw${slot}`] = Math.floor(model.hardwareErrors * share);
  fields[`chain_rate${slot}`] = there ? countedOfBoard(model, model.hashrate(5) * share).toFixed(2) : "";
}
