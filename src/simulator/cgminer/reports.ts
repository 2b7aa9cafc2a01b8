import type { Pool, RigModel } from "../model.ts";
import { fraction } from "../random.ts";
import type { Dialect } from "./dialects.ts";
import type { Writer } from "./writer.ts";

/** The reports of cgminer 4.11.1 and bfgminer 5.5.0, field by field in the order of the program. */

const seconds = (ms: number | null): number => (ms === null ? 0 : Math.floor(ms / 1000));

const percent = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole);

const perMinute = (count: number, model: RigModel): number => (model.elapsed === 0 ? 0 : (60 * count) / model.elapsed);

const windows = [
  { name: "1m", seconds: 60 },
  { name: "5m", seconds: 300 },
  { name: "15m", seconds: 900 },
];

/** `MHS av` and the averages over windows; `share` is the device's share of the rig. */
function rates(out: Writer, model: RigModel, dialect: Dialect, share: number): void {
  const { mega = 1e6 } = dialect;
  out.fixed("MHS av", (model.averageHashrate * share) / mega, 2);
  const { name, seconds: shortest } = dialect.shortWindow;
  out.fixed(`MHS ${name}`, (model.hashrate(shortest) * share) / mega, 2);
  if (dialect.device === "GPU") {
    out.fixed("KHS av", (model.averageHashrate * share) / 1e3, 0);
    out.fixed(`KHS ${name}`, (model.hashrate(shortest) * share) / 1e3, 0);
  }
  if (dialect.device !== "ASC") return;
  for (const window of windows) out.fixed(`MHS ${window.name}`, (model.hashrate(window.seconds) * share) / mega, 2);
}

export function summary(out: Writer, model: RigModel, dialect: Dialect): void {
  const { accepted, rejected } = model.shares;
  const difficulty = (model.activePool ?? model.pools[0])?.difficulty ?? 0;
  const work = Math.floor(model.elapsed / 30);
  out.record();
  out.int("Elapsed", model.elapsed);
  rates(out, model, dialect, 1);
  out.int("Found Blocks", 0);
  out.int("Getworks", work);
  out.int("Accepted", accepted);
  out.int("Rejected", rejected);
  out.int("Hardware Errors", model.hardwareErrors);
  out.fixed("Utility", perMinute(accepted, model), 2);
  out.int("Discarded", work * 14);
  out.int("Stale", 0);
  out.int("Get Failures", 0);
  out.int("Local Work", work * 15);
  out.int("Remote Failures", 0);
  out.int("Network Blocks", Math.floor(model.elapsed / 600));
  out.fixed("Total MH", model.hashes / 1e6, 4);
  out.fixed("Work Utility", perMinute(model.work, model), 2);
  out.fixed("Difficulty Accepted", accepted * difficulty, 8);
  out.fixed("Difficulty Rejected", rejected * difficulty, 8);
  out.fixed("Difficulty Stale", 0, 8);
  out.int("Best Share", model.bestShare);
  out.fixed("Device Hardware%", percent(model.hardwareErrors, model.work), 4);
  out.fixed("Device Rejected%", percent(rejected * difficulty, model.work), 4);
  out.fixed("Pool Rejected%", percent(rejected, accepted + rejected), 4);
  out.fixed("Pool Stale%", 0, 4);
  out.int("Last getwork", seconds(model.at));
}

/** As in `pools`. */
export function poolStatus(pool: Pool): string {
  if (!pool.enabled) return "Disabled";
  return pool.alive ? "Alive" : "Dead";
}

const hostOf = (url: string): string => url.replace(/^[a-z+0-9]+:\/\//, "").replace(/:\d+$/, "");

export function pools(out: Writer, model: RigModel, dialect: Dialect): void {
  const active = model.activePool;
  for (const [index, pool] of model.pools.entries()) {
    const { accepted, rejected } = model.sharesOf(pool);
    const works = Math.floor(accepted * 1.5);
    const stratum = pool === active;
    out.record();
    out.int("POOL", index);
    out.text("URL", pool.url);
    out.text("Status", poolStatus(pool));
    out.int("Priority", pool.priority);
    out.int("Quota", pool.quota);
    if (dialect.device === "PGA") out.text("Mining Goal", "default");
    out.text("Long Poll", "N");
    out.int("Getworks", accepted === 0 ? 0 : Math.ceil(accepted / 12));
    out.int("Accepted", accepted);
    out.int("Rejected", rejected);
    out.int("Works", works);
    out.int("Discarded", works * 8);
    out.int("Stale", 0);
    out.int("Get Failures", 0);
    out.int("Remote Failures", 0);
    out.text("User", pool.user);
    if (dialect.device === "GPU") out.text("Algorithm", cardAlgorithm);
    out.int("Last Share Time", seconds(pool.lastShareAt));
    out.int("Diff1 Shares", accepted * pool.difficulty);
    out.text("Proxy Type", "");
    out.text("Proxy", "");
    out.fixed("Difficulty Accepted", accepted * pool.difficulty, 8);
    out.fixed("Difficulty Rejected", rejected * pool.difficulty, 8);
    out.fixed("Difficulty Stale", 0, 8);
    out.fixed("Last Share Difficulty", accepted === 0 ? 0 : pool.difficulty, 8);
    out.fixed("Work Difficulty", stratum ? pool.difficulty : 0, 8);
    out.flag("Has Stratum", true);
    out.flag("Stratum Active", stratum);
    out.text("Stratum URL", stratum ? hostOf(pool.url) : "");
    out.fixed("Stratum Difficulty", stratum ? pool.difficulty : 0, 8);
    out.flag("Has Vmask", false);
    out.flag("Has GBT", false);
    out.int("Best Share", accepted === 0 ? 0 : model.bestShare);
    out.fixed("Pool Rejected%", percent(rejected, accepted + rejected), 4);
    out.fixed("Pool Stale%", 0, 4);
    out.int("Bad Work", 0);
    out.int("Current Block Height", stratum ? 880_000 + model.elapsed / 600 : 0);
    out.int("Current Block Version", stratum ? 536_870_912 : 0);
  }
}

/** The algorithm of a program for graphics cards. */
const cardAlgorithm = "etchash";

/** The share of the rig's work that a board does: nearly equal, apart from the luck of its chips. */
export function shareOfBoard(model: RigModel, board: number): number {
  if (model.boardsOff.has(board) || model.boardsLost.has(board)) return 0;
  const { boards } = model.hardware;
  const others = boards - new Set([...model.boardsOff, ...model.boardsLost]).size;
  return (1 + (others < 2 ? 0 : 0.02 * (board - (boards - 1) / 2))) / others;
}

/** The hottest board is the first; each further one is a little cooler. */
export const temperatureOfBoard = (model: RigModel, board: number): number =>
  Math.max(model.ambient, model.temperature - board * 1.5);

export function device(out: Writer, model: RigModel, dialect: Dialect, board: number): void {
  const share = shareOfBoard(model, board);
  const { accepted, rejected } = model.shares;
  const pool = model.activePool ?? model.pools[0] ?? null;
  const difficulty = pool?.difficulty ?? 0;
  const own = { accepted: Math.floor(accepted * share), rejected: Math.floor(rejected * share) };
  out.record();
  out.int(dialect.device, board);
  if (dialect.device !== "GPU") {
    out.text("Name", model.hardware.model);
    out.int("ID", board);
  }
  out.text("Enabled", model.boardsOff.has(board) ? "N" : "Y");
  out.text("Status", model.boardsLost.has(board) ? "Dead" : "Alive");
  out.fixed("Temperature", temperatureOfBoard(model, board), 2);
  if (dialect.device === "GPU") card(out, model);
  if (dialect.device === "PGA") out.int("Device Elapsed", model.elapsed);
  rates(out, model, dialect, share);
  out.int("Accepted", own.accepted);
  out.int("Rejected", own.rejected);
  out.int("Hardware Errors", model.hardwareErrors * share);
  out.fixed("Utility", perMinute(own.accepted, model), 2);
  out.int("Last Share Pool", pool === null ? -1 : model.pools.indexOf(pool));
  out.int("Last Share Time", seconds(pool?.lastShareAt ?? null));
  out.fixed("Total MH", (model.hashes * share) / 1e6, 4);
  out.int("Diff1 Work", model.work * share);
  out.fixed("Difficulty Accepted", own.accepted * difficulty, 8);
  out.fixed("Difficulty Rejected", own.rejected * difficulty, 8);
  out.fixed("Last Share Difficulty", own.accepted === 0 ? 0 : difficulty, 8);
  if (dialect.device === "ASC") out.flag("No Device", false);
  out.int("Last Valid Work", model.hashing ? seconds(model.at) : 0);
  out.fixed("Device Hardware%", percent(model.hardwareErrors, model.work), 4);
  out.fixed("Device Rejected%", percent(rejected * difficulty, model.work), 4);
  if (dialect.device === "ASC") out.int("Device Elapsed", model.elapsed);
}

/** The figures of a graphics card. */
function card(out: Writer, model: RigModel): void {
  out.int("Fan Speed", model.fanRpm);
  out.int("Fan Percent", model.fan * 100);
  out.int("GPU Clock", model.frequency / 1e6);
  out.int("Memory Clock", 1_075);
  out.fixed("GPU Voltage", model.voltage, 3);
  out.int("GPU Activity", model.hashing ? 99 : 0);
  out.int("Powertune", -10);
  out.text("Intensity", "0");
  out.int("XIntensity", 64);
  out.int("RawIntensity", 0);
}

/** `summary2` and `pools2` of a program that mines two algorithms at once. */
export function dualSummary(out: Writer, model: RigModel, dialect: Dialect): void {
  const { accepted, rejected } = model.shares;
  out.record();
  out.int("Elapsed", model.elapsed);
  out.fixed("MHS av", (model.averageHashrate * dualFactor) / 1e6, 2);
  out.fixed(`MHS ${dialect.shortWindow.name}`, (model.hashrate(dialect.shortWindow.seconds) * dualFactor) / 1e6, 2);
  out.int("Accepted", 2 * accepted);
  out.int("Rejected", 2 * rejected);
  out.int("Hardware Errors", 0);
}

const dualFactor = 8;

export function dualPools(out: Writer, model: RigModel, algorithm: string): void {
  const { accepted, rejected } = model.shares;
  out.record();
  out.int("POOL", 0);
  out.text("URL", "stratum+tcp://second.example.org:5555");
  out.text("Status", "Alive");
  out.int("Priority", 0);
  out.int("Accepted", 2 * accepted);
  out.int("Rejected", 2 * rejected);
  out.text("User", "acct2.rig");
  out.text("Algorithm", algorithm);
  out.flag("Stratum Active", true);
}

export function stats(out: Writer, model: RigModel): void {
  const { boards, chips, model: name } = model.hardware;
  for (let board = 0; board < boards; board++) {
    calls(out, model, board, `${name}${board}`);
    out.int("Chips", chips);
    out.fixed("Frequency", model.frequency / 1e6, 2);
    out.fixed("Voltage", model.voltage, 3);
    out.fixed("Temperature", temperatureOfBoard(model, board), 2);
    for (let fan = 1; fan <= model.hardware.fans; fan++) out.int(`Fan${fan}`, model.fanRpm - 30 * (fan - 1));
  }
  for (const [index, pool] of model.pools.entries()) poolStats(out, model, boards + index, index, pool);
}

function calls(out: Writer, model: RigModel, index: number, id: string): void {
  out.record();
  out.int("STATS", index);
  out.text("ID", id);
  out.int("Elapsed", model.elapsed);
  out.int("Calls", 0);
  out.fixed("Wait", 0, 6);
  out.fixed("Max", 0, 6);
  out.fixed("Min", 99_999_999, 6);
}

function poolStats(out: Writer, model: RigModel, index: number, number: number, pool: Pool): void {
  const difficulty = pool === model.activePool ? pool.difficulty : 0;
  const { accepted, rejected } = model.sharesOf(pool);
  const sent = 2 + accepted + rejected;
  calls(out, model, index, `POOL${number}`);
  out.int("Pool Calls", 0);
  out.int("Pool Attempts", 0);
  out.fixed("Pool Wait", 0, 6);
  out.fixed("Pool Max", 0, 6);
  out.fixed("Pool Min", 99_999_999, 6);
  out.fixed("Pool Av", 0, 6);
  out.flag("Work Had Roll Time", false);
  out.flag("Work Can Roll", false);
  out.flag("Work Had Expire", false);
  out.int("Work Roll Time", 0);
  out.fixed("Work Diff", difficulty, 8);
  out.fixed("Min Diff", difficulty, 8);
  out.fixed("Max Diff", difficulty, 8);
  out.int("Min Diff Count", sent);
  out.int("Max Diff Count", sent);
  out.int("Times Sent", sent);
  out.int("Bytes Sent", sent * 110);
  out.int("Times Recv", sent * 2);
  out.int("Bytes Recv", sent * 260);
  out.int("Net Bytes Sent", sent * 110);
  out.int("Net Bytes Recv", sent * 260);
}

export function deviceDetails(out: Writer, model: RigModel, dialect: Dialect): void {
  for (let board = 0; board < model.hardware.boards; board++) {
    out.record();
    out.int("DEVDETAILS", board);
    out.text("Name", dialect.device);
    out.int("ID", board);
    const isCard = dialect.device === "GPU";
    out.text("Driver", dialect.bitmain ? "bitmain" : isCard ? "opencl" : "icarus");
    out.text("Kernel", isCard ? cardAlgorithm : "");
    out.text("Model", dialect.bitmain || isCard ? model.hardware.model : "");
    out.text("Device Path", dialect.bitmain || isCard ? "" : `/dev/ttyUSB${board}`);
  }
}

export function notify(out: Writer, model: RigModel): void {
  for (let board = 0; board < model.hardware.boards; board++) {
    out.record();
    out.int("NOTIFY", board);
    out.text("Name", "ASC");
    out.int("ID", board);
    out.int("Last Well", model.hashing ? seconds(model.at) : 0);
    out.int("Last Not Well", 0);
    out.text("Reason Not Well", "None");
    out.int("*Thread Fail Init", 0);
    out.int("*Dev Over Heat", model.overheated ? 1 : 0);
  }
}

export function config(out: Writer, model: RigModel, dialect: Dialect): void {
  out.record();
  out.int("ASC Count", dialect.device === "ASC" ? model.hardware.boards : 0);
  out.int("PGA Count", dialect.device === "PGA" ? model.hardware.boards : 0);
  out.int("Pool Count", model.pools.length);
  out.text("Strategy", "Failover");
  out.int("Log Interval", 5);
  out.text("Device Code", dialect.bitmain ? "BMM " : "ICA ");
  out.text("OS", "Linux");
  if (dialect.device === "ASC") out.int("Hotplug", 5);
  if (dialect.device === "GPU") out.int("GPU Count", model.hardware.boards);
}

export function coin(out: Writer, model: RigModel): void {
  out.record();
  out.text("Hash Method", model.hardware.algorithm ?? "sha256");
  out.fixed("Current Block Time", model.at / 1000, 6);
  out.text(
    "Current Block Hash",
    `${"0".repeat(56)}${Math.floor(fraction(model.seed, 11) * 2 ** 32)
      .toString(16)
      .padStart(8, "0")}`,
  );
  out.flag("LP", true);
  out.fixed("Network Difficulty", 113_757_508_810_854, 8);
}

export function lcd(out: Writer, model: RigModel): void {
  const pool = model.activePool ?? model.pools[0] ?? null;
  out.record();
  out.int("Elapsed", model.elapsed);
  out.fixed("GHS av", model.averageHashrate / 1e9, 2);
  out.fixed("GHS 5m", model.hashrate(300) / 1e9, 2);
  out.fixed("GHS 5s", model.hashrate(5) / 1e9, 2);
  out.fixed("Temperature", model.temperature, 2);
  out.fixed("Last Share Difficulty", pool?.difficulty ?? 0, 8);
  out.int("Last Share Time", seconds(pool?.lastShareAt ?? null));
  out.int("Best Share", model.bestShare);
  out.int("Last Valid Work", model.hashing ? seconds(model.at) : 0);
  out.int("Found Blocks", 0);
  out.text("Current Pool", pool?.url ?? "");
  out.text("User", pool?.user ?? "");
}
