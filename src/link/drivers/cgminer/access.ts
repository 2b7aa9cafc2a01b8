import type { RpcTransport } from "../../transports/rpc.ts";
import { isAllowed } from "../shared/cgminer-replies.ts";

/** Permissions change only when the miner is restarted with other options. */
const refreshAfterMs = 600_000;
const retryAfterMs = 60_000;

/**
 * Which commands this address may send, by the rig's own `check` of each. `privileged` does not show it: an API group
 * of the rig (`api-groups`) may have some commands without being privileged. Old answers stay valid while they are
 * renewed.
 */
export class Access {
  readonly #now: () => number;
  readonly #allowed = new Map<string, boolean>();
  #askedAt = Number.NEGATIVE_INFINITY;
  #due: string[] = [];
  #answers = false;

  /** `monotonicNow`: milliseconds of a clock that never jumps. */
  constructor(monotonicNow: () => number) {
    this.#now = monotonicNow;
  }

  /** Whether every command has been checked and none is allowed. */
  get deniedAll(): boolean {
    return this.#answers && this.#due.length === 0 && ![...this.#allowed.values()].includes(true);
  }

  allows(command: string): boolean {
    return this.#allowed.get(command) === true;
  }

  /** After a refusal: the next read checks all commands again. */
  doubt(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  /** Checks commands until `until` (of the monotonic clock); the next call continues. */
  async refresh(rpc: RpcTransport, commands: readonly string[], until: number, signal: AbortSignal): Promise<void> {
    if (this.#now() - this.#askedAt >= refreshAfterMs) {
      this.#askedAt = this.#now();
      this.#due = [...commands];
    } else {
      this.#due.push(...commands.filter((command) => !this.#allowed.has(command) && !this.#due.includes(command)));
    }
    while (this.#now() < until) {
      const command = this.#due.shift();
      if (command === undefined) return;
      try {
        const allowed = await isAllowed(rpc, command, signal);
        this.#answers = true;
        this.#allowed.set(command, allowed ?? false);
        // It has no `check`, or not for this address: the other commands cannot be checked either.
        if (allowed === null) this.#deny(commands);
      } catch (error) {
        // Nothing new is allowed without an answer, and a rig that hangs on `check` is not asked with every read.
        this.#answers = false;
        this.#askedAt = this.#now() - refreshAfterMs + retryAfterMs;
        this.#deny(commands.filter((each) => !this.#allowed.has(each)));
        throw error;
      }
    }
  }

  #deny(commands: readonly string[]): void {
    this.#due = [];
    for (const command of commands) this.#allowed.set(command, false);
  }
}
