import { RigbridgeError } from "../../contract/problems.ts";
import { detail } from "../../messages/detail.ts";
import type { StoredCommand } from "../../store/index.ts";
import type { CommandProgress } from "./command-progress.ts";

/** What rigs must wait for before they start, and what forbids a start that has waited. */
export interface StartGuard {
  /** Whether the rig must wait for something, such as its fan. */
  waits(minerId: number): boolean;
  /** Resolves when the rig may start. Throws `not.possible` with the reason if it may not. */
  before(minerId: number): Promise<void>;
  /** Whether a command decides again whether its rig mines, so that an earlier start must not follow it. */
  ends(command: Pick<StoredCommand, "action" | "parameters">): boolean;
  /** Throws `not.possible` if a start may not be sent any more. */
  check(command: StoredCommand): void;
}

/** Starts that wait without the turn of their rig, so that a stop does not wait for them, but ends them. */
export class WaitingStarts {
  #guard: StartGuard | null = null;
  readonly #waiting = new Map<number, Set<CommandProgress>>();
  /** How many commands have ended earlier starts, by miner. */
  readonly #ended = new Map<number, number>();

  guardBy(guard: StartGuard): void {
    this.#guard = guard;
  }

  /** For each command when it begins: the waiting starts that it ends, to be withdrawn. */
  endedBy(command: StoredCommand): readonly CommandProgress[] {
    const { minerId } = command;
    if (this.#guard?.ends(command) !== true) return [];
    this.#ended.set(minerId, (this.#ended.get(minerId) ?? 0) + 1);
    return [...(this.#waiting.get(minerId) ?? [])];
  }

  /** For a command that may turn out to be a start. Call it after `endedBy`. */
  startBy(command: StoredCommand, progress: CommandProgress): Start {
    const { minerId } = command;
    const ended = this.#ended.get(minerId);
    let isReady = false;
    return {
      mustWait: () => !isReady && this.#guard?.waits(minerId) === true,
      wait: async () => {
        if (this.#ended.get(minerId) !== ended) throw endedByLater();
        const waiting = this.#waiting.get(minerId) ?? new Set();
        this.#waiting.set(minerId, waiting.add(progress));
        await progress.preparing(async () => this.#guard?.before(minerId));
        this.#guard?.check(command);
        isReady = true;
      },
      end: () => {
        const waiting = this.#waiting.get(minerId);
        if (waiting?.delete(progress) === true && waiting.size === 0) this.#waiting.delete(minerId);
      },
    };
  }
}

/** One command, as far as it starts its rig. */
export interface Start {
  /** Whether it must give up its turn and wait before it is sent. */
  mustWait(): boolean;
  /** Resolves when it may be sent. Throws `not.possible`, `service.no.active`, or why it was withdrawn. */
  wait(): Promise<void>;
  /** Call it when the command has ended. */
  end(): void;
}

export const endedByLater = (): RigbridgeError => new RigbridgeError("not.possible", detail("command.overtaken"));
