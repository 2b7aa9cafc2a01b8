import { backOffMs } from "../../../async/index.ts";
import type { RigFirmware } from "../../firmware.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { checkOf, isRefused, lacks } from "./cgminer-replies.ts";

/** Before a rig that left a question unanswered, or answered it with rubbish, is asked again. */
const retry = { firstMs: 60_000, longestMs: 3_600_000 };

/** Questions about firmware: whether it has `check`, and whether its `privileged` is granted only with all commands. */
const check = "check";
const allOrNothing = "privileged grants all commands";

/**
 * Which commands this address may send to a cgminer or its kin. Which of them exist is asked of one rig for all with its
 * firmware. What this address may do is asked of each rig, since its options decide that: by `privileged`, where that
 * grants all commands, else by the rig's own `check` of each; an API group (`api-groups`) may have some commands without
 * being privileged. Options change only with a restart of the miner.
 */
export class Access {
  readonly #firmware: RigFirmware;
  readonly #now: () => number;
  readonly #allowed = new Map<string, boolean>();
  /** Commands that need not be checked again until a refusal or a restart. */
  readonly #checked = new Set<string>();
  #checkedAt = Number.NEGATIVE_INFINITY;
  #retryAt = Number.POSITIVE_INFINITY;
  /** Questions in a row without an answer. */
  #failures = 0;
  /** undefined before it was asked. */
  #privileged: boolean | undefined;
  #answers = false;
  #isComplete = false;

  /** `monotonicNow`: milliseconds of a clock that never jumps. */
  constructor(firmware: RigFirmware, monotonicNow: () => number) {
    this.#firmware = firmware;
    this.#now = monotonicNow;
  }

  /** Whether every command has been checked and none is allowed. */
  get deniedAll(): boolean {
    return this.#answers && this.#isComplete && ![...this.#allowed.values()].includes(true);
  }

  allows(command: string): boolean {
    return this.#allowed.get(command) === true;
  }

  /**
   * Checks commands until `until` (of the monotonic clock); the next call continues. Old answers stay valid while they
   * are renewed.
   */
  async refresh(rpc: RpcTransport, commands: readonly string[], until: number, signal: AbortSignal): Promise<void> {
    const now = this.#now();
    if (this.#checkedAt < this.#firmware.doubtedAt || now >= this.#retryAt) {
      this.#checkedAt = now;
      this.#retryAt = Number.POSITIVE_INFINITY;
      this.#privileged = undefined;
      this.#checked.clear();
    }
    try {
      this.#isComplete = await this.#check(rpc, commands, until, signal);
      if (this.#isComplete) this.#failures = 0;
    } catch (error) {
      // Nothing new is allowed without an answer, and a rig that hangs on a question is not asked with every read.
      this.#answers = false;
      this.#failures += 1;
      this.#retryAt = this.#now() + backOffMs(this.#failures, retry);
      for (const command of commands) this.#keep(command, this.allows(command));
      throw error;
    }
  }

  /** Whether all are checked. */
  async #check(rpc: RpcTransport, commands: readonly string[], until: number, signal: AbortSignal): Promise<boolean> {
    let asked = false;
    for (const command of commands) {
      if (this.#checked.has(command)) continue;
      if (this.#firmware.has(check) === false || this.#firmware.has(command) === false) {
        this.#allowed.set(command, false);
        this.#answers = true;
        continue;
      }
      if (this.#now() >= until) return false;
      asked = true;
      this.#keep(command, await this.#ask(rpc, command, commands, signal));
      this.#answers = true;
    }
    if (asked && this.#firmware.has(allOrNothing) === undefined) await this.#learnPrivileged(rpc, commands, signal);
    return true;
  }

  async #ask(rpc: RpcTransport, command: string, commands: readonly string[], signal: AbortSignal): Promise<boolean> {
    if (this.#firmware.has(command) === true && this.#firmware.has(allOrNothing) === true) {
      this.#privileged ??= !isRefused((await rpc.send("privileged", undefined, signal)).value);
      if (this.#privileged) return true;
    }
    const checked = await checkOf(rpc, command, signal);
    if (checked === "lacking") this.#firmware.keep(check, false);
    if (checked === "lacking" || checked === "denied") {
      // The other commands cannot be checked either.
      for (const other of commands) this.#keep(other, false);
      return false;
    }
    this.#firmware.keep(command, checked.exists);
    if (checked.exists && !checked.access && this.#privileged === true) this.#firmware.keep(allOrNothing, false);
    return checked.exists && checked.access;
  }

  /** A restricted address does not show the restriction until the rig refuses a command that it should allow. */
  async #learnPrivileged(rpc: RpcTransport, commands: readonly string[], signal: AbortSignal): Promise<void> {
    const existing = commands.filter((command) => this.#firmware.has(command) === true);
    const allowed = existing.filter((command) => this.allows(command));
    const isAll = allowed.length === existing.length;
    const isDoubted = this.#firmware.doubtedAt > Number.NEGATIVE_INFINITY;
    if (!isDoubted && (!isAll || allowed.length === 0)) return;
    const { value } = await rpc.send("privileged", undefined, signal);
    if (lacks(value)) this.#firmware.keep(allOrNothing, false);
    else if (!isRefused(value)) this.#firmware.keep(allOrNothing, isAll);
  }

  #keep(command: string, allowed: boolean): void {
    this.#allowed.set(command, allowed);
    this.#checked.add(command);
  }
}
