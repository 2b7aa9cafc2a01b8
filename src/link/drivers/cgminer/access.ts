import type { RpcTransport } from "../../transports/rpc.ts";
import { isAllowed } from "../shared/cgminer-replies.ts";

/** ms; what is allowed changes only when somebody restarts the miner with other options. */
const askAgainAfter = 600_000;
const unansweredAgainAfter = 60_000;

/**
 * What this address may tell a rig, as the rig itself says: `check` for each command. `privileged` would not tell: a
 * group of the rig's own (`api-groups`) may have some commands and not be privileged. Old answers hold while they are
 * asked again.
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

  /** Whether the rig has said of all that was asked that it is not allowed. */
  get deniedAll(): boolean {
    return this.#answers && this.#due.length === 0 && ![...this.#allowed.values()].includes(true);
  }

  allows(command: string): boolean {
    return this.#allowed.get(command) === true;
  }

  /** Something was refused: asks again with the next read. */
  doubt(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  /** Asks what is due until `until` (of the monotonic clock); goes on where it stopped with the next call. */
  async refresh(rpc: RpcTransport, commands: readonly string[], until: number, signal: AbortSignal): Promise<void> {
    if (this.#now() - this.#askedAt >= askAgainAfter) {
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
        // It has `check` for others only, or for nobody: no other command has to be asked about.
        if (allowed === null) this.#deny(commands);
      } catch (error) {
        // Until it is answered, nothing new is allowed; and a rig that hangs on it is not asked with every read.
        this.#answers = false;
        this.#askedAt = this.#now() - askAgainAfter + unansweredAgainAfter;
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
