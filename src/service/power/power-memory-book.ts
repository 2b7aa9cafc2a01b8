import type { PowerMemories, PowerMemory } from "../../store/index.ts";
import type { RigWrite } from "../commands/steps.ts";
import { blank, isSame } from "./power-memory.ts";
import { changesWithin } from "./power-permission.ts";
import type { PowerCommand } from "./precedence.ts";

export interface PowerMemoryOptions {
  readonly memoriesOf: (minerId: number) => PowerMemories;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Remembers for each rig: its draw, its settings before a stop, its changes and last command. */
export class PowerMemoryBook {
  readonly #options: PowerMemoryOptions;

  constructor(options: PowerMemoryOptions) {
    this.#options = options;
  }

  of(minerId: number): PowerMemory {
    return this.#options.memoriesOf(minerId).get(minerId) ?? blank;
  }

  note(minerId: number, change: Partial<PowerMemory>): void {
    this.#options.memoriesOf(minerId).save(minerId, { ...this.of(minerId), ...change });
  }

  /** Stores a read; written only if it differs. */
  noteRead(minerId: number, memory: PowerMemory): void {
    if (!isSame(this.of(minerId), memory)) this.#options.memoriesOf(minerId).save(minerId, memory);
  }

  /** Null if it is older than the memory. */
  lastCommand(minerId: number): PowerCommand | null {
    const { command } = this.of(minerId);
    return command && { ...command, open: false };
  }

  noteCommand(minerId: number, { at, by, who, stops }: PowerCommand): void {
    this.note(minerId, { command: { at, by, who, stops } });
  }

  /** Manual starts and stops count for the minimum times as well. */
  turned({ mining: before }: PowerMemory, mining: boolean | null): Partial<PowerMemory> {
    if (mining === null || mining === before) return {};
    return before === null ? { mining } : this.turnedNow(mining);
  }

  turnedNow(on: boolean): Partial<PowerMemory> {
    const now = this.#options.now();
    return on ? { mining: true, startedAt: now } : { mining: false, stoppedAt: now };
  }

  /** Changes of the last hour, epoch ms. */
  changes(minerId: number): number[] {
    return changesWithin(this.of(minerId), this.#options.now());
  }

  /** Stores a change before the write is sent: a change that may have been made counts too. */
  noting<T extends RigWrite>(minerId: number, rigWrite: T, change: () => Partial<PowerMemory>): T {
    const write: RigWrite["write"] = (rig, signal) => {
      this.note(minerId, change());
      return rigWrite.write(rig, signal);
    };
    return { ...rigWrite, write };
  }

  /** Like `noting`, for a change that lasts or restarts mining, and counts toward the hourly limit. */
  notingChange<T extends RigWrite>(minerId: number, rigWrite: T): T {
    // Its draw at other settings is not known yet.
    return this.noting(minerId, rigWrite, () => ({
      full: null,
      changes: [...this.changes(minerId), this.#options.now()],
    }));
  }
}
