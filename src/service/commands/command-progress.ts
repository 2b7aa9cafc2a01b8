import { type SendDeadline, sendingBefore } from "../../async/send-deadline.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { CommandState } from "../../contract/resources.ts";
import { detail } from "../../messages/detail.ts";

/** What may be sent to rigs now: `lowering` is only what lowers their power. */
export type Permitted = "all" | "lowering" | "nothing";

/** The state of a command: in memory, in its row, and whether it can still be withdrawn. */
export class CommandProgress {
  readonly id: number;
  readonly #write: (state: CommandState, message: string) => Promise<void>;
  readonly #permitted: () => Permitted;
  readonly #deadline: SendDeadline | null;
  readonly #withdrawal = Promise.withResolvers<never>();
  #state: CommandState = "queued";
  #sent = false;
  #isLowering = false;
  #why: RigbridgeError | null = null;

  /**
   * `write` writes the row; `permitted`: what this service may send for it now; `deadline`: until when it may send all,
   * null: it may always.
   */
  constructor(
    id: number,
    write: (state: CommandState, message: string) => Promise<void>,
    permitted: () => Permitted,
    deadline: SendDeadline | null,
  ) {
    this.id = id;
    this.#write = write;
    this.#permitted = permitted;
    this.#deadline = deadline;
    this.#withdrawal.promise.catch(() => undefined);
  }

  /** The current state. */
  get state(): CommandState {
    return this.#state;
  }

  /** Whether a byte of it may have been sent. */
  get sent(): boolean {
    return this.#sent;
  }

  /** Rejects once it is withdrawn. */
  get withdrawn(): Promise<never> {
    return this.#withdrawal.promise;
  }

  /** Throws the reason for which it was withdrawn. */
  check(): void {
    if (this.#why !== null) throw this.#why;
  }

  async move(state: CommandState, message: string): Promise<void> {
    if (this.#why !== null) return;
    this.#state = state;
    await this.#write(state, message);
  }

  /**
   * Does what the rig needs before a command is sent that is more than lowering, while it can still be withdrawn. Throws
   * why it was withdrawn, or `service.no.active`.
   */
  async preparing(work: () => Promise<void>): Promise<void> {
    this.check();
    if (this.#permitted() !== "all") throw noLease();
    await sendingBefore(this.#deadline, work);
    this.check();
  }

  /** Call it before a write is sent. Returns what may be. Throws why the command was withdrawn, or `service.no.active`. */
  async markSent(): Promise<Exclude<Permitted, "nothing">> {
    this.check();
    await this.move("sent", "");
    // Last, because another service may have taken over while the row was written.
    const permitted = this.#permitted();
    if (permitted === "nothing") throw noLease();
    this.#isLowering = permitted === "lowering";
    this.#sent = true;
    return permitted;
  }

  /** Runs a write of which no byte leaves once this service may not act any more, unless it only lowers the power. */
  sending<T>(write: () => T): T {
    return sendingBefore(this.#isLowering ? null : this.#deadline, write);
  }

  /** Nothing was sent after all. */
  markUnsent(): void {
    this.#sent = false;
  }

  /** Ends the command as `failed` if nothing was sent; false if something may have been. */
  async withdraw(why: RigbridgeError): Promise<boolean> {
    if (this.#state !== "queued") return false;
    const written = this.move("failed", why.message);
    this.#why = why;
    await written.finally(() => this.#withdrawal.reject(why));
    return true;
  }
}

const noLease = (): RigbridgeError => new RigbridgeError("service.no.active", detail("command.noLease"));

/** A command suits the situation in which it was given: after this time it is not sent. */
export const expired = (ms: number): RigbridgeError =>
  new RigbridgeError("command.expired", detail("command.expired", { seconds: ms / 1000 }));
