import type { Logger } from "pino";
import { RigbridgeError } from "../../contract/problems.ts";
import { type Remembered, unknownRig } from "../../fleet/state.ts";
import type { Store } from "../../store/index.ts";
import type { MinerEntries } from "./miner-entries.ts";

interface MemoryContext {
  readonly entries: Pick<MinerEntries, "find">;
  readonly isManaged: (minerId: number) => boolean;
  /** Where the last known state of this miner is stored. */
  readonly storeOf: (minerId: number) => Pick<Store, "memory">;
  readonly log: Logger;
}

/** The last known state of rigs. */
export class MinerMemory {
  readonly #context: MemoryContext;

  constructor(context: MemoryContext) {
    this.#context = context;
  }

  /**
   * What is remembered of a miner's rig. If the miner moves, the driver is dropped, so that the rig at the new address
   * is identified before anything is sent; that the rig was off at the old address is dropped, too.
   */
  of(id: number, moves: boolean): Remembered {
    const { memory } = this.#context.storeOf(id);
    const remembered = memory.get(id) ?? unknownRig;
    if (!moves) return remembered;
    const moved = { driver: null, reason: null, ...(this.#context.isManaged(id) ? { identity: null } : {}) };
    memory
      .remember(id, moved)
      .catch((error: unknown) =>
        this.#context.log.error({ err: error }, `the old driver of miner ${id} stays written`),
      );
    return { ...remembered, ...moved };
  }

  /** A uid moves here from a miner that was removed from the configuration file. */
  async remember(id: number, remembered: Parameters<Store["memory"]["remember"]>[1]): Promise<void> {
    const { entries, storeOf, log } = this.#context;
    const { memory } = storeOf(id);
    try {
      await memory.remember(id, remembered);
    } catch (error) {
      if (!(error instanceof RigbridgeError) || error.code !== "in.use") throw error;
      const holder = memory.all().find(({ uid }) => uid === remembered.uid);
      if (holder === undefined) throw error;
      if (entries.find(holder.minerId) !== undefined) {
        // Logged once, not with each read until it is resolved; the error itself must not name the other miner.
        if (entries.find(id)?.rig.state.trouble?.code !== "in.use")
          log.warn({ miner: id, other: holder.minerId }, `${error.message}: miner ${holder.minerId}`);
        throw error;
      }
      await memory.remember(holder.minerId, { uid: null });
      await memory.remember(id, remembered);
    }
  }
}
