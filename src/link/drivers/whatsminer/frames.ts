import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { PoolLogin, PoolReading } from "../../driver.ts";
import type { Pace } from "../../pace.ts";
import { Notes } from "../../tolerant-reader.ts";
import { garbled } from "../../transports/limits.ts";
import type { Dialect, Mode, Snapshot } from "./dialect.ts";
import { framePools, frameSnapshot } from "./frame-readings.ts";
import type { FrameSession } from "./frame-session.ts";

const sections = ["summary", "pools", "edevs"] as const;

/** API v3 of WhatsMiner, in firmware since the end of 2024. Source: the vendor's API 3.0. */
export class FrameDialect implements Dialect {
  readonly #session: FrameSession;
  readonly #pace: Pace;
  /** Whether sections can be joined in one request; null before the first try. */
  #joins: boolean | null = null;

  constructor(session: FrameSession, pace: Pace) {
    this.#session = session;
    this.#pace = pace;
  }

  async read(notes: Notes, signal: AbortSignal): Promise<Snapshot> {
    const status = await this.#status(notes, signal);
    const device = await this.#beside("get.device.info", notes, signal);
    const setting = await this.#beside("get.miner.setting", notes, signal);
    return frameSnapshot({ status, device, setting }, notes);
  }

  async pools(signal: AbortSignal): Promise<PoolReading[]> {
    return framePools(await this.#section("pools", new Notes(), signal), new Notes());
  }

  mine(on: boolean, signal: AbortSignal): Promise<string> {
    return this.#session.write("set.miner.service", on ? "start" : "stop", signal);
  }

  restart(signal: AbortSignal): Promise<string> {
    return this.#session.write("set.miner.service", "restart", signal);
  }

  reboot(signal: AbortSignal): Promise<string> {
    return this.#session.write("set.system.reboot", undefined, signal);
  }

  locate(on: boolean, signal: AbortSignal): Promise<string> {
    const blinking = [{ color: "red", period: 200, duration: 100, start: 0 }];
    return this.#session.write("set.system.led", on ? blinking : "auto", signal);
  }

  setMode(mode: Mode, signal: AbortSignal): Promise<string> {
    return this.#session.write("set.miner.power_mode", mode, signal);
  }

  limitPower(watts: number, signal: AbortSignal): Promise<string> {
    return this.#session.write("set.miner.power_limit", watts, signal);
  }

  /** The firmware takes the percentage as a text, contrary to its document. */
  throttle(percent: number, signal: AbortSignal): Promise<string> {
    return this.#session.write("set.miner.power_percent", { percent: String(percent), mode: "fast" }, signal);
  }

  writePools(logins: readonly PoolLogin[], signal: AbortSignal): Promise<string> {
    const slots = logins.map(({ url, worker, password }) => ({ pool: url, worker, passwd: password }));
    return this.#session.write("set.miner.pools", slots, signal, "secret");
  }

  doubt(): void {}

  /** All sections in one request; one by one where the device does not support that. */
  async #status(notes: Notes, signal: AbortSignal): Promise<unknown> {
    if (this.#joins !== false) {
      const joined = await this.#ask(sections.join("+"), notes, signal);
      if (joined !== null) {
        this.#joins = true;
        return joined;
      }
      if (this.#joins === null) this.#joins = false;
    }
    const summary = await this.#section("summary", notes, signal);
    const pools = await this.#ask("pools", notes, signal);
    const edevs = await this.#ask("edevs", notes, signal);
    return { ...record(pools), ...record(edevs), ...record(summary) };
  }

  async #section(section: string, notes: Notes, signal: AbortSignal): Promise<unknown> {
    const answer = await this.#ask(section, notes, signal);
    if (answer === null) throw garbled(this.#session.at, `it does not write its ${section}`);
    return answer;
  }

  /** null when the device refuses: with its boards off it may lack the section. */
  async #ask(param: string, notes: Notes, signal: AbortSignal): Promise<unknown> {
    try {
      return (await this.#session.ask("get.miner.status", param, notes, signal)) ?? null;
    } catch (error) {
      if (error instanceof RigbridgeError && error.code === "rig.refused") return null;
      throw error;
    }
  }

  /** A failure does not fail the read. */
  async #beside(cmd: string, notes: Notes, signal: AbortSignal): Promise<unknown> {
    try {
      const either = AbortSignal.any([signal, AbortSignal.timeout(this.#pace.partMs(answerShare))]);
      return await this.#session.ask(cmd, undefined, notes, either);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      notes.add(`${cmd} could not be read`);
      return undefined;
    }
  }
}

/** Of a read's time, for one answer beside the readings. */
const answerShare = 0.24;

const record = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
