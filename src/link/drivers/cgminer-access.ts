import { isRecord } from "../reply.ts";
import type { RpcTransport } from "../transports/rpc.ts";
import { isRefusal, statusOf } from "./cgminer-replies.ts";

/** ms; what is allowed changes only when somebody restarts the miner with other options. */
const askAgainAfter = 600_000;
const unansweredAgainAfter = 60_000;

/**
 * What this address may tell a rig, as the rig itself says: `privileged` once, then `check` for each command.
 * Old answers hold while they are asked again.
 */
export class Access {
  readonly #now: () => number;
  #privileged: boolean | null = null;
  readonly #allowed = new Map<string, boolean>();
  #askedAt = Number.NEGATIVE_INFINITY;
  #due: string[] = [];

  /** `monotonicNow`: milliseconds of a clock that never jumps. */
  constructor(monotonicNow: () => number) {
    this.#now = monotonicNow;
  }

  /** Whether the rig said that nothing but reading is allowed. */
  get deniedAll(): boolean {
    return this.#privileged === false;
  }

  allows(command: string): boolean {
    return this.#privileged === true && this.#allowed.get(command) === true;
  }

  /** Something was refused: asks again with the next read. */
  doubt(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  /** Asks what is due until `until` (of the monotonic clock); goes on where it stopped with the next call. */
  async refresh(rpc: RpcTransport, commands: readonly string[], until: number, signal: AbortSignal): Promise<void> {
    if (this.#now() - this.#askedAt >= askAgainAfter) {
      // Whatever becomes of the question, it is not asked with every read.
      this.#askedAt = this.#now() - askAgainAfter + unansweredAgainAfter;
      this.#privileged = await isPrivileged(rpc, signal);
      this.#askedAt = this.#now();
      this.#due = this.#privileged ? [...commands] : [];
    } else if (this.#privileged === true) {
      this.#due.push(...commands.filter((command) => !this.#allowed.has(command) && !this.#due.includes(command)));
    }
    while (this.#now() < until) {
      const command = this.#due.shift();
      if (command === undefined) return;
      // A question that goes unanswered is not put again at once; until it is answered, nothing is allowed.
      if (!this.#allowed.has(command)) this.#allowed.set(command, false);
      this.#allowed.set(command, await isAllowed(rpc, command, signal));
    }
  }
}

async function isPrivileged(rpc: RpcTransport, signal: AbortSignal): Promise<boolean> {
  const status = statusOf((await rpc.send("privileged", undefined, signal)).value);
  return status !== null && !isRefusal(status);
}

async function isAllowed(rpc: RpcTransport, command: string, signal: AbortSignal): Promise<boolean> {
  const { value } = await rpc.send("check", command, signal);
  const listed: unknown = isRecord(value) && Array.isArray(value.CHECK) ? value.CHECK[0] : undefined;
  return isRecord(listed) && listed.Exists === "Y" && listed.Access === "Y";
}
