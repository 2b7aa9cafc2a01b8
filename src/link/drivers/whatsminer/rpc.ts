import { RigbridgeError } from "../../../contract/problems.ts";
import type { PoolLogin, PoolReading } from "../../driver.ts";
import { isRecord, Notes } from "../../tolerant-reader.ts";
import { garbled } from "../../transports/limits.ts";
import { statusOf } from "../shared/cgminer-replies.ts";
import type { Dialect, Mode, Report } from "./dialect.ts";
import { type RpcAnswers, rpcPools, rpcReport } from "./rpc-readings.ts";
import type { RpcSession } from "./rpc-session.ts";

type MainReports = Pick<RpcAnswers, "summary" | "pools" | "devs">;
type ReportName = keyof RpcAnswers;
/** Some firmware lists its boards under the second name only. */
type BoardsReport = "devs" | "edevs";

/** ms after which what seldom changes is asked again. */
const often = 60_000;
const seldom = 600_000;
/** ms that one report beside the readings may take, and ms of a read after which the rest waits for the next one. */
const patience = 1_200;
const questionTime = 2_500;

/** How old an answer beside the readings may be; what is not asked every time. */
const beside: readonly (readonly [ReportName, number])[] = [
  ["status", 0],
  ["get_error_code", 0],
  ["get_version", seldom],
  ["get_miner_info", often],
  ["devdetails", seldom],
  ["get_psu", often],
];

interface Kept {
  readonly answer: unknown;
  readonly at: number;
}

/** API v1 and v2 of WhatsMiner (btminer). Source: the vendor's API 2.0.5. */
export class RpcDialect implements Dialect {
  readonly #session: RpcSession;
  readonly #kept = new Map<ReportName, Kept>();
  /** What this firmware does not know. */
  readonly #unknown = new Set<ReportName>();
  /** null until a read has shown that the first is not it. */
  #boards: BoardsReport | null = null;
  /** Whether `a+b` works; null until it was tried. */
  #joins: boolean | null = null;

  constructor(session: RpcSession) {
    this.#session = session;
  }

  async read(notes: Notes, signal: AbortSignal): Promise<Report> {
    const until = performance.now() + questionTime;
    const readings = await this.#withBoards(await this.#readings(notes, signal), notes, signal);
    for (const [name, age] of beside) {
      if (age === 0 || performance.now() < until) await this.#askBeside(name, age, notes, signal);
    }
    const answer = (name: ReportName): unknown => this.#kept.get(name)?.answer;
    return rpcReport(
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
  }

  async pools(signal: AbortSignal): Promise<PoolReading[]> {
    return rpcPools(await this.#required("pools", new Notes(), signal), new Notes());
  }

  mine(on: boolean, signal: AbortSignal): Promise<string> {
    return on ? this.#tell("power_on", {}, signal) : this.#tell("power_off", { respbefore: "true" }, signal);
  }

  restart(signal: AbortSignal): Promise<string> {
    return this.#tell("restart_btminer", {}, signal);
  }

  reboot(signal: AbortSignal): Promise<string> {
    return this.#tell("reboot", {}, signal);
  }

  locate(on: boolean, signal: AbortSignal): Promise<string> {
    return this.#tell(
      "set_led",
      on ? { color: "red", period: 200, duration: 100, start: 0 } : { param: "auto" },
      signal,
    );
  }

  setMode(mode: Mode, signal: AbortSignal): Promise<string> {
    return this.#tell(`set_${mode}_power`, {}, signal);
  }

  limitPower(watts: number, signal: AbortSignal): Promise<string> {
    return this.#tell("adjust_power_limit", { power_limit: String(watts) }, signal);
  }

  throttle(percent: number, signal: AbortSignal): Promise<string> {
    return this.#tell("set_power_pct", { percent: String(percent) }, signal);
  }

  writePools(logins: readonly PoolLogin[], signal: AbortSignal): Promise<string> {
    const slots = [1, 2, 3].map((slot) => {
      const { url = "", worker = "", password = "" } = logins[slot - 1] ?? {};
      return { [`pool${slot}`]: url, [`worker${slot}`]: worker, [`passwd${slot}`]: password };
    });
    return this.#tell("update_pools", Object.assign({}, ...slots), signal);
  }

  doubt(): void {
    this.#kept.clear();
    this.#unknown.clear();
    this.#boards = null;
  }

  /** What was changed may show in any report. */
  async #tell(cmd: string, parameters: Record<string, string | number>, signal: AbortSignal): Promise<string> {
    try {
      return await this.#session.tell(cmd, parameters, signal);
    } finally {
      this.#kept.delete("get_miner_info");
    }
  }

  /** A device that does not list its boards under `devs` is asked for `edevs` once, and for that alone if it knows it. */
  async #withBoards(readings: MainReports, notes: Notes, signal: AbortSignal): Promise<MainReports> {
    if (this.#boards !== null || hasBoards(readings.devs)) return readings;
    const fuller = await this.#session.ask("edevs", notes, signal).catch(nothingIfRefused);
    if (readings.devs === undefined && fuller === undefined)
      throw garbled(this.#session.at, 'it knows neither "devs" nor "edevs", so it is no WhatsMiner');
    this.#boards = hasBoards(fuller) ? "edevs" : "devs";
    return hasBoards(fuller) ? { ...readings, devs: fuller } : readings;
  }

  /** Joined where the device takes that: it is spoken to once instead of three times. */
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

  /** null when the device does not join; that is remembered. */
  async #joined(notes: Notes, signal: AbortSignal): Promise<MainReports | null> {
    try {
      const boards = this.#boards ?? "devs";
      const answer = await this.#session.ask(`summary+pools+${boards}`, notes, signal);
      const parts = isRecord(answer) ? answer : {};
      this.#joins = Array.isArray(parts.summary);
      if (!this.#joins) return null;
      return { summary: only(parts.summary), pools: only(parts.pools), devs: only(parts[boards]) };
    } catch (error) {
      const code = error instanceof RigbridgeError ? error.code : null;
      const doesNotJoin = code === "rig.refused" || code === "rig.garbled";
      // What has joined before is only disturbed.
      if (this.#joins === true || !doesNotJoin) throw error;
      this.#joins = false;
      return null;
    }
  }

  async #required(name: ReportName, notes: Notes, signal: AbortSignal): Promise<unknown> {
    const answer = await this.#session.ask(name, notes, signal);
    if (answer === undefined) throw garbled(this.#session.at, `it does not know "${name}", so it is no WhatsMiner`);
    return answer;
  }

  /** A read never fails for these. */
  async #askBeside(name: ReportName, age: number, notes: Notes, signal: AbortSignal): Promise<void> {
    const kept = this.#kept.get(name);
    const due = kept === undefined || performance.now() - kept.at >= age;
    if (!due || this.#unknown.has(name) || signal.aborted) return;
    try {
      const either = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
      const answer = await this.#session.ask(name, notes, either);
      if (answer === undefined) this.#unknown.add(name);
      else this.#kept.set(name, { answer, at: performance.now() });
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      // An old answer to what is asked every time would be shown as new.
      if (age === 0) this.#kept.delete(name);
      notes.add(`${name} could not be read`);
    }
  }
}

function nothingIfRefused(error: unknown): undefined {
  if (!(error instanceof RigbridgeError) || error.code !== "rig.refused") throw error;
  return undefined;
}

const hasBoards = (answer: unknown): boolean => isRecord(answer) && Array.isArray(answer.DEVS);

const only = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined);
