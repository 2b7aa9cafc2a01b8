import type { Miner, MinerStatus } from "rigbridge";
import { isUnread } from "../shared/miner-state.ts";
import type { Watcher } from "./watched.ts";

/** Tells when a miner's status is another than before; what it is at first is no change. */
export class Statuses implements Watcher {
  readonly #known = new Map<number, MinerStatus>();
  readonly #changed: (miner: Miner, before: MinerStatus) => void;

  constructor(changed: (miner: Miner, before: MinerStatus) => void) {
    this.#changed = changed;
  }

  miner(miner: Miner): void {
    if (isUnread(miner)) return;
    const { statusDisplay: status } = miner.statusInfo;
    const before = this.#known.get(miner.id);
    this.#known.set(miner.id, status);
    if (before !== undefined && before !== status) this.#changed(miner, before);
  }

  forget(id: number): void {
    this.#known.delete(id);
  }

  /** What changes meanwhile is told when it is known. */
  lost(): void {}

  close(): void {}
}
