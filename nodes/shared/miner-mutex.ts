import { KeyedMutex } from "rigbridge/farm";
import { Fault } from "./faults.ts";

/** ms that a command may wait for the miner's earlier ones; a later effect would surprise. */
const timeoutMs = 60_000;

/** Runs commands for the same miner one after the other, in the order of the calls. */
export class MinerMutex {
  readonly #mutex = new KeyedMutex<number>();

  /** Throws a Fault `rig.busy` if earlier commands take longer than a minute. */
  run<T>(minerId: number, work: () => Promise<T>): Promise<T> {
    const queuedAt = Date.now();
    return this.#mutex.run(minerId, () => {
      if (Date.now() - queuedAt > timeoutMs) throw new Fault("rig.busy", "waited", { seconds: timeoutMs / 1000 });
      return work();
    });
  }
}
