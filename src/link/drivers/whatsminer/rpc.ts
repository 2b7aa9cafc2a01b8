import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { PoolLogin, PoolReading } from "../../driver.ts";
import type { RigFirmware } from "../../firmware.ts";
import type { Pace } from "../../pace.ts";
import { Notes } from "../../tolerant-reader.ts";
import { garbled } from "../../transports/limits.ts";
import { firstOf, statusOf } from "../shared/cgminer-replies.ts";
import { Memo } from "../shared/memo.ts";
import type { Dialect, Mode, Snapshot } from "./dialect.ts";
import { type RpcAnswers, rpcPools, rpcSnapshot } from "./rpc-readings.ts";
import type { RpcSession } from "./rpc-session.ts";

type MainReports = Pick<RpcAnswers, "summary" | "pools" | "devs">;
type ReportName = keyof RpcAnswers;
/** Some firmware lists its boards only under the second name. */
type BoardsReport = "devs" | "edevs";

/** Of a read's time, for one report beside the readings. */
const reportShare = 0.24;
/** Of a read's time, after which rarely changing reports are postponed. */
const seldomShare = 0.5;

/** ms after which each report beside the readings is read again; 0 with each read, Infinity after a restart. */
const refreshAfterMs = {
  status: 0,
  get_error_code: 0,
  get_version: Number.POSITIVE_INFINITY,
  get_miner_info: 60_000,
  devdetails: Number.POSITIVE_INFINITY,
  get_psu: 60_000,
} as const satisfies Partial<Record<ReportName, number>>;
type SideReport = keyof typeof refreshAfterMs;
const sideReports = ["status", "get_error_code", "get_version", "get_miner_info", "devdetails", "get_psu"] as const;

/** API v1 and v2 of WhatsMiner (btminer). Source: the vendor's API 2.0.5. */
export class RpcDialect implements Dialect {
  readonly #session: RpcSession;
  readonly #kept = new Map<SideReport, Memo<unknown>>(
    sideReports.map((name) => [name, new Memo(refreshAfterMs[name])]),
  );
  readonly #firmware: RigFirmware;
  readonly #pace: Pace;
  /** null until `devs` turned out to be missing. */
  #boards: BoardsReport | null = null;
  /** Whether joined commands (`a+b`) work; null before the first try. */
  #joins: boolean | null = null;
  /** As of the last version that it has reported: without the throttle, its power would seem to be all that it may take. */
  #throttles = false;

  /** `version`: the answer to `get_version`; undefined: it has none. */
  constructor(session: RpcSession, firmware: RigFirmware, pace: Pace, version: unknown) {
    this.#session = session;
    this.#firmware = firmware;
    this.#pace = pace;
    if (version !== undefined) this.#kept.get("get_version")?.keep(version);
  }

  async read(notes: Notes, signal: AbortSignal): Promise<Snapshot> {
    const until = performance.now() + this.#pace.partMs(seldomShare);
    const readings = await this.#withBoards(await this.#readings(notes, signal), notes, signal);
    for (const [name, memo] of this.#kept) {
      if (refreshAfterMs[name] === 0 || performance.now() < until) await this.#readBeside(name, memo, notes, signal);
    }
    const answer = (name: SideReport): unknown => this.#kept.get(name)?.value;
    const snapshot = rpcSnapshot(
      {
        ...readings,
        status: answer("status"),
        get_error_code: answer("get_error_code"),
        get_miner_info: answer("get_miner_info"),
        get_version: answer("get_version"),
        devdetails: answer("devdetails"),
        get_psu: answer("get_psu"),
      },
      notes,
    );
    if (answer("get_version") !== undefined) this.#throttles = snapshot.throttles;
    return { ...snapshot, throttles: this.#throttles };
  }

  async pools(signal: AbortSignal): Promise<PoolReading[]> {
    return rpcPools(await this.#required("pools", new Notes(), signal), new Notes());
  }

  mine(on: boolean, signal: AbortSignal): Promise<string> {
    return on ? this.#write("power_on", {}, signal) : this.#write("power_off", { respbefore: "true" }, signal);
  }

  restart(signal: AbortSignal): Promise<string> {
    return this.#write("restart_btminer", {}, signal);
  }

  reboot(signal: AbortSignal): Promise<string> {
    return this.#write("reboot", {}, signal);
  }

  locate(on: boolean, signal: AbortSignal): Promise<string> {
    return this.#write(
      "set_led",
      on ? { color: "red", period: 200, duration: 100, start: 0 } : { param: "auto" },
      signal,
    );
  }

  setMode(mode: Mode, signal: AbortSignal): Promise<string> {
    return this.#write(`set_${mode}_power`, {}, signal);
  }

  limitPower(watts: number, signal: AbortSignal): Promise<string> {
    return this.#write("adjust_power_limit", { power_limit: String(watts) }, signal);
  }

  throttle(percent: number, signal: AbortSignal): Promise<string> {
    return this.#write("set_power_pct", { percent: String(percent) }, signal);
  }

  writePools(logins: readonly PoolLogin[], signal: AbortSignal): Promise<string> {
    const slots = [1, 2, 3].map((slot) => {
      const { url = "", worker = "", password = "" } = logins[slot - 1] ?? {};
      return { [`pool${slot}`]: url, [`worker${slot}`]: worker, [`passwd${slot}`]: password };
    });
    return this.#write("update_pools", Object.assign({}, ...slots), signal);
  }

  doubt(): void {
    for (const memo of this.#kept.values()) memo.forget();
    this.#boards = null;
  }

  /** Sends a write; the next read reads the settings again. */
  async #write(cmd: string, parameters: Record<string, string | number>, signal: AbortSignal): Promise<string> {
    try {
      return await this.#session.write(cmd, parameters, signal);
    } finally {
      this.#kept.get("get_miner_info")?.forget();
    }
  }

  /** A device without boards under `devs` is queried for `edevs` once, and later only for that if it has it. */
  async #withBoards(readings: MainReports, notes: Notes, signal: AbortSignal): Promise<MainReports> {
    if (this.#boards !== null || hasBoards(readings.devs)) return readings;
    const fuller = await this.#session.ask("edevs", notes, signal).catch(nothingIfRefused);
    if (readings.devs === undefined && fuller === undefined)
      throw garbled(this.#session.at, 'it has neither "devs" nor "edevs", so it is not a WhatsMiner');
    this.#boards = hasBoards(fuller) ? "edevs" : "devs";
    return hasBoards(fuller) ? { ...readings, devs: fuller } : readings;
  }

  /** Joined where the device supports it: one request instead of three. */
  async #readings(notes: Notes, signal: AbortSignal): Promise<MainReports> {
    if (this.#joins !== false) {
      const joined = await this.#joined(notes, signal);
      if (joined !== null) return joined;
    }
    const summary = await this.#required("summary", notes, signal);
    if (statusOf(summary) === null) throw garbled(this.#session.at, 'answered "summary" without a STATUS');
    const pools = await this.#required("pools", notes, signal);
    return { summary, pools, devs: await this.#session.ask(this.#boards ?? "devs", notes, signal) };
  }

  /** null when the device does not join commands; that is remembered. */
  async #joined(notes: Notes, signal: AbortSignal): Promise<MainReports | null> {
    try {
      const boards = this.#boards ?? "devs";
      const answer = await this.#session.ask(`summary+pools+${boards}`, notes, signal);
      const parts = isRecord(answer) ? answer : {};
      this.#joins = Array.isArray(parts.summary);
      if (!this.#joins) return null;
      return { summary: firstOf(parts.summary), pools: firstOf(parts.pools), devs: firstOf(parts[boards]) };
    } catch (error) {
      const code = error instanceof RigbridgeError ? error.code : null;
      const doesNotJoin = code === "rig.refused" || code === "rig.garbled";
      // Once joining has worked, a failure is temporary.
      if (this.#joins === true || !doesNotJoin) throw error;
      this.#joins = false;
      return null;
    }
  }

  async #required(name: ReportName, notes: Notes, signal: AbortSignal): Promise<unknown> {
    const answer = await this.#session.ask(name, notes, signal);
    if (answer === undefined) throw garbled(this.#session.at, `it does not have "${name}", so it is not a WhatsMiner`);
    return answer;
  }

  /** A failure does not fail the read. */
  async #readBeside(name: SideReport, memo: Memo<unknown>, notes: Notes, signal: AbortSignal): Promise<void> {
    const isFresh = memo.isFresh && memo.at >= this.#firmware.doubtedAt;
    const isMissing = memo.value === undefined && this.#firmware.has(name) === false;
    if (isFresh || isMissing || signal.aborted) return;
    try {
      const either = AbortSignal.any([signal, AbortSignal.timeout(this.#pace.partMs(reportShare))]);
      const answer = await this.#session.ask(name, notes, either);
      if (answer === undefined) this.#firmware.keep(name, false);
      else memo.keep(answer);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      // An old answer to a report of each read would be shown as current.
      if (refreshAfterMs[name] === 0) memo.forget();
      notes.add(`${name} could not be read`);
    }
  }
}

function nothingIfRefused(error: unknown): undefined {
  if (!(error instanceof RigbridgeError) || error.code !== "rig.refused") throw error;
  return undefined;
}

const hasBoards = (answer: unknown): boolean => isRecord(answer) && Array.isArray(answer.DEVS);
