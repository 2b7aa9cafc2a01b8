import { RigbridgeError } from "../../contract/problems.ts";
import type { CommandState } from "../../contract/resources.ts";

/** How far a command is: on its way to the rig, in its row, and withdrawn while nothing of it was sent. */
export class CommandProgress {
  readonly id: number;
  readonly #write: (state: CommandState, message: string) => Promise<void>;
  readonly #withdrawal = Promise.withResolvers<never>();
  #state: CommandState = "queued";
  #sent = false;
  #why: RigbridgeError | null = null;

  /** `write` writes the row. */
  constructor(id: number, write: (state: CommandState, message: string) => Promise<void>) {
    this.id = id;
    this.#write = write;
    this.#withdrawal.promise.catch(() => undefined);
  }

  /** As of now. */
  get state(): CommandState {
    return this.#state;
  }

  /** Whether a byte of it may have left, as of now. */
  get sent(): boolean {
    return this.#sent;
  }

  /** Rejects once it is withdrawn. */
  get withdrawn(): Promise<never> {
    return this.#withdrawal.promise;
  }

  /** Throws why it was withdrawn. */
  check(): void {
    if (this.#why !== null) throw this.#why;
  }

  async move(state: CommandState, message: string): Promise<void> {
    if (this.#why !== null) return;
    this.#state = state;
    await this.#write(state, message);
  }

  /** Before a byte of a write leaves. Throws why it was withdrawn. */
  async markSent(): Promise<void> {
    this.check();
    await this.move("sent", "");
    this.#sent = true;
  }

  /** No byte of it has left after all. */
  markUnsent(): void {
    this.#sent = false;
  }

  /** Ends it as `failed` while nothing of it was sent; false once something may have been. */
  async withdraw(why: RigbridgeError): Promise<boolean> {
    if (this.#state !== "queued") return false;
    const written = this.move("failed", why.message);
    this.#why = why;
    await written.finally(() => this.#withdrawal.reject(why));
    return true;
  }
}

/** A command is an answer to what was so when it was asked: after so long it is not sent any more. */
export const expired = (ms: number): RigbridgeError =>
  new RigbridgeError(
    "command.expired",
    `Not sent within ${ms / 1000} s after it was asked for, since the rig was busy with other commands (command.expired)`,
  );
