import type { RigModel } from "../model.ts";
import { mix } from "../random.ts";
import type { Dialect } from "./dialects.ts";
import { poolStatus, shareOfBoard, temperatureOfBoard } from "./reports.ts";
import type { Writer } from "./writer.ts";

/** The reports of Bitmain's firmware: GH/s where cgminer has MH/s, boards in `stats`, and its misspelt fields. */

/** A rate in the unit of the model, which may differ from the name of the field. */
export const counted = ({ hardware }: RigModel, rate: number): number => rate / (hardware.giga ?? 1e9);

/** The rate of a board, which may be in another one. */
export const countedOfBoard = ({ hardware }: RigModel, rate: number): number =>
  rate / (hardware.gigaOfBoards ?? hardware.giga ?? 1e9);

/** The name of a rate: `GHS 5s`, or `MHS 5s` where the firmware names its unit. */
const rateName = ({ mhs }: Dialect, over: string): string => `${mhs === true ? "M" : "G"}HS ${over}`;

export function summary(out: Writer, model: RigModel, dialect: Dialect): void {
  const { accepted, rejected } = model.shares;
  const difficulty = model.pools[0]?.difficulty ?? 0;
  const minutes = Math.max(1, model.elapsed) / 60;
  out.record();
  out.int("Elapsed", model.elapsed);
  out.fixed(rateName(dialect, "5s"), counted(model, model.hashrate(5)), 2);
  out.fixed(rateName(dialect, "av"), counted(model, model.averageHashrate), 2);
  if (dialect.mhs !== true) out.fixed("GHS 30m", counted(model, model.hashrate(1800)), 2);
  out.int("Found Blocks", 0);
  out.int("Getwork", model.elapsed / 13);
  out.int("Accepted", accepted);
  out.int("Rejected", rejected);
  out.int("Hardware Errors", model.hardwareErrors);
  out.fixed("Utility", accepted / minutes, 2);
  out.int("Discarded", model.elapsed * 90);
  out.int("Stale", 0);
  out.int("Get Failures", 0);
  out.int("Local Work", model.elapsed * 90);
  out.int("Remote Failures", 0);
  out.int("Network Blocks", model.elapsed / 600);
  out.fixed("Total MH", model.hashes / 1e6, 4);
  out.fixed("Work Utility", model.work / minutes, 2);
  out.fixed("Difficulty Accepted", accepted * difficulty, 8);
  out.fixed("Difficulty Rejected", rejected * difficulty, 8);
  out.fixed("Difficulty Stale", 0, 8);
  out.int("Best Share", model.bestShare);
  out.fixed("Device Hardware%", 0, 4);
  out.fixed("Device Rejected%", 0, 4);
  out.fixed("Pool Rejected%", 0, 4);
  out.fixed("Pool Stale%", 0, 4);
  out.int("Last getwork", model.at / 1000);
}

/** 65536 is "65.5K": three digits and a letter. */
function shortened(difficulty: number): string {
  if (difficulty < 1000) return String(difficulty);
  return difficulty < 1e6 ? `${(difficulty / 1000).toPrecision(3)}K` : `${(difficulty / 1e6).toPrecision(3)}M`;
}

/** The time since then as h:mm:ss; "0" for never. */
function sinceShare(model: RigModel, at: number | null): string {
  if (at === null) return "0";
  const seconds = Math.floor((model.at - at) / 1000);
  const two = (part: number) => String(Math.floor(part)).padStart(2, "0");
  return `${Math.floor(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}`;
}

export function pools(out: Writer, model: RigModel): void {
  const active = model.activePool;
  for (const [index, pool] of model.pools.entries()) {
    const { accepted, rejected } = model.sharesOf(pool);
    out.record();
    out.int("POOL", index);
    out.text("URL", pool.url);
    out.text("Status", poolStatus(pool));
    out.int("Priority", pool.priority);
    out.int("Quota", pool.quota);
    out.text("Long Poll", "N");
    out.int("Getworks", accepted);
    out.int("Accepted", accepted);
    out.int("Rejected", rejected);
    out.int("Discarded", accepted * 12);
    out.int("Stale", 0);
    out.int("Get Failures", 0);
    out.int("Remote Failures", 0);
    out.text("User", pool.user);
    out.text("Last Share Time", sinceShare(model, pool.lastShareAt));
    out.text("Diff", pool === active ? shortened(pool.difficulty) : "");
    out.int("Diff1 Shares", 0);
    out.text("Proxy Type", "");
    out.text("Proxy", "");
    out.fixed("Difficulty Accepted", accepted * pool.difficulty, 8);
    out.fixed("Difficulty Rejected", rejected * pool.difficulty, 8);
    out.fixed("Difficulty Stale", 0, 8);
    out.fixed("Last Share Difficulty", accepted === 0 ? 0 : pool.difficulty, 8);
    out.flag("Has Stratum", true);
    out.flag("Stratum Active", pool === active);
    out.text("Stratum URL", pool === active ? pool.url.replace(/^.*:\/\//, "").replace(/:\d+$/, "") : "");
    out.flag("Has GBT", false);
    out.fixed("Best Share", accepted === 0 ? 0 : model.bestShare, 8);
    out.fixed("Pool Rejected%", 0, 4);
    out.fixed("Pool Stale%%", 0, 4);
  }
}

/** One device with hardly any figures; the boards are in `stats`. */
export function devices(out: Writer, model: RigModel): void {
  const { accepted, rejected } = model.shares;
  out.record();
  out.int("ASC", 0);
  out.text("Name", "BTM_SOC");
  out.int("ID", 0);
  out.text("Enabled", "Y");
  out.text("Status", "Alive");
  out.fixed("Tenperature", 0, 2);
  out.fixed("MHS av", 0, 2);
  out.fixed("MHS 5s", 0, 2);
  out.int("Accepted", accepted);
  out.int("Rejected", rejected);
  out.int("Hardware Errors", 0);
  out.fixed("Utility", 0, 2);
  out.int("Last Share Pool", 0);
  out.fixed("Total MH", 0, 4);
  out.int("Diff1 Work", 0);
  out.fixed("Device Hardware%", 0, 4);
  out.fixed("Device Rejected%", 0, 4);
  out.int("Device Elapsed", model.elapsed);
}

const slots = [1, 2, 3, 4];

export function stats(out: Writer, model: RigModel, dialect: Dialect): void {
  const { boards, chips, fans } = model.hardware;
  const frequency = Math.round(model.frequency / 1e6);
  out.record();
  for (const [key, value] of Object.entries(dialect.version)) if (key !== "API") out.text(key, value);
  out.record();
  out.int("STATS", 0);
  out.text("ID", "BTM_SOC0");
  out.int("Elapsed", model.elapsed);
  out.int("Calls", 0);
  out.fixed("Wait", 0, 6);
  out.fixed("Max", 0, 6);
  out.fixed("Min", 99_999_999, 6);
  out.fixed(rateName(dialect, "5s"), counted(model, model.hashrate(5)), 2);
  out.fixed(rateName(dialect, "av"), counted(model, model.averageHashrate), 2);
  out.fixed("rate_30m", counted(model, model.hashrate(1800)), 2);
  out.int("Mode", model.mining ? 0 : 1);
  out.int("miner_count", boards);
  out.int("frequency", frequency);
  out.int("fan_num", fans);
  for (const slot of slots) out.int(`fan${slot}`, slot <= fans ? model.fanRpm - 40 * (slot - 1) : 0);
  out.int("temp_num", boards);
  for (const slot of slots) board(out, model, slot);
  if (dialect.mhs !== true) out.fixed("total_rateideal", counted(model, model.ratedHashrate), 2);
  if (model.hardware.giga === undefined) out.text("rate_unit", "GH");
  out.int("total_freqavg", frequency);
  out.int("total_acn", boards * chips);
  out.fixed("total rate", counted(model, model.averageHashrate), 2);
  out.int("temp_max", 0);
  out.int("no_matching_work", model.hardwareErrors);
  if (dialect.powers === true) powers(out, model);
  out.text("miner_version", dialect.version.Miner ?? "");
  out.text("miner_id", mix(model.seed, 3).toString(16).padStart(8, "0").repeat(2));
}

function powers(out: Writer, model: RigModel): void {
  const { boards } = model.hardware;
  for (let board = 1; board <= boards; board += 1) {
    out.int(`chain_power${board}`, model.power / boards);
    out.fixed(`chain_voltage${board}`, model.voltage, 1);
  }
  out.int("total_power", model.power);
  out.text("tune_running", "0");
  out.text("psu_status", "PSU OK");
}

/** A slot without a board has zeros and empty strings. */
function board(out: Writer, model: RigModel, slot: number): void {
  const { boards, chips } = model.hardware;
  const there = slot <= boards;
  const hot = there ? Math.round(temperatureOfBoard(model, slot - 1)) : 0;
  const four = (warmer: number) => (there ? [0, -20, -3, -2].map((less) => hot + warmer + less).join("-") : "0-0-0-0");
  const share = there ? shareOfBoard(model, slot - 1) : 0;
  out.int(`temp${slot}`, hot);
  out.int(`temp2_${slot}`, there ? hot + 6 : 0);
  out.text(`temp_chip${slot}`, four(6));
  out.text(`temp_pcb${slot}`, four(0));
  out.text(`temp_pic${slot}`, four(-10));
  out.int(`freq${slot}`, there ? model.frequency / 1e6 : 0);
  out.int(`chain_acn${slot}`, there ? chips : 0);
  out.text(`chain_acs${slot}`, there ? chipMarks(chips) : "");
  out.int(`chain_hw${slot}`, model.hardwareErrors * share);
  out.text(`chain_rate${slot}`, there ? countedOfBoard(model, model.hashrate(5) * share).toFixed(2) : "");
}

/** An "o" for each chip that answers, in groups of eight. */
const chipMarks = (chips: number): string => "o".repeat(chips).replace(/.{1,8}/g, " $&");
