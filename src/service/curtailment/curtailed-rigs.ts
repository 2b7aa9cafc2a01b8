import type { StoredCurtailedRig } from "../../store/index.ts";

/** The rigs of a curtailment, and which of them are not stored yet. */
export class CurtailedRigs {
  readonly #all: Map<number, StoredCurtailedRig>;
  readonly #changed = new Set<number>();
  readonly #mended: (minerId: number) => void;

  /** `mended`: called for each rig that no longer counts as failed. */
  constructor(all: ReadonlyMap<number, StoredCurtailedRig>, mended: (minerId: number) => void) {
    this.#all = new Map(all);
    this.#mended = mended;
  }

  /** In the order in which they were first chosen. */
  get all(): ReadonlyMap<number, StoredCurtailedRig> {
    return this.#all;
  }

  get(minerId: number): StoredCurtailedRig | undefined {
    return this.#all.get(minerId);
  }

  set(minerId: number, rig: StoredCurtailedRig): void {
    if (this.#all.get(minerId)?.state === "failed" && rig.state !== "failed") this.#mended(minerId);
    this.#all.set(minerId, rig);
    this.#changed.add(minerId);
  }

  /** Ids of those for which this holds. */
  those(holds: (rig: StoredCurtailedRig) => boolean): readonly number[] {
    const ids: number[] = [];
    for (const [id, rig] of this.#all) if (holds(rig)) ids.push(id);
    return ids;
  }

  some(holds: (rig: StoredCurtailedRig) => boolean): boolean {
    for (const rig of this.#all.values()) if (holds(rig)) return true;
    return false;
  }

  /** What is to be stored; `unstored` puts it back. */
  takeChanged(): { readonly rigs: ReadonlyMap<number, StoredCurtailedRig>; unstored(): void } {
    const ids = [...this.#changed];
    this.#changed.clear();
    const rigs = new Map<number, StoredCurtailedRig>();
    for (const id of ids) {
      const rig = this.#all.get(id);
      if (rig !== undefined) rigs.set(id, rig);
    }
    return {
      rigs,
      unstored: () => {
        for (const id of ids) this.#changed.add(id);
      },
    };
  }
}
