import type { Group, Miner, MinerEvent } from "rigbridge";
import type { RigFaults } from "rigbridge/farm";
import type { Farm, Member } from "../shared/farm-connection.ts";
import { Fault } from "../shared/faults.ts";
import { type Choice, chosenMiners } from "../shared/miner-choice.ts";

/** Receives the watched miners. */
export interface Watcher {
  /** When it is first watched, at each change, and once more after `lost`. */
  miner(miner: Miner): void;
  happened?(miner: Miner, event: MinerEvent): void;
  /** The miner was removed, or is no longer selected. */
  forget(id: number): void;
  /** The state of all miners is unknown. */
  lost(): void;
  close(): void;
}

export interface WatchedMinersOptions {
  /** The current farm. */
  readonly present: () => Farm | null;
  /** After each selection: the part of the choice that matches nothing, or null. */
  readonly onFault: (fault: Fault | null) => void;
  /** A miner over which the watcher throws is forgotten until that works again. */
  readonly faults: RigFaults;
}

/** Keeps the selection current as miners are added, removed, renamed and moved. */
export class WatchedMiners {
  readonly #choice: Choice;
  readonly #watcher: Watcher;
  readonly #options: WatchedMinersOptions;
  #farm: Farm | null = null;
  #isLost = false;
  #chosen: ReadonlySet<number> = new Set();
  /** Of each miner, all that the selection depends on. */
  #names = new Map<number, string>();

  constructor(choice: Choice, watcher: Watcher, options: WatchedMinersOptions) {
    this.#choice = choice;
    this.#watcher = watcher;
    this.#options = options;
  }

  get groups(): readonly Group[] {
    return this.#farm?.groups ?? [];
  }

  readonly member: Member = {
    read: (farm) => {
      this.#farm = farm;
      this.#isLost = false;
      this.#choose(farm);
      for (const id of this.#chosen) this.#report(farm.miners.get(id));
    },
    miner: (miner) => {
      const farm = this.#farm;
      // While the service is unreachable, reported states are guesses.
      if (farm === null || this.#isLost) return;
      const before = this.#chosen;
      if (this.#names.get(miner.id) !== nameOf(miner)) this.#choose(farm);
      for (const id of this.#chosen) if (!before.has(id) && id !== miner.id) this.#report(farm.miners.get(id));
      if (this.#chosen.has(miner.id)) this.#report(miner);
    },
    happened: (event) => {
      const miner = this.#chosen.has(event.id) && !this.#isLost ? this.#farm?.miners.get(event.id) : undefined;
      if (miner !== undefined) this.#watcher.happened?.(miner, event);
    },
    removed: () => {
      if (this.#farm !== null && !this.#isLost) this.#choose(this.#farm);
    },
    phase: ({ kind }) => {
      const farm = this.#options.present();
      if (kind === "connected") {
        if (this.#isLost && farm !== null) this.member.read?.(farm);
      } else if (this.#farm !== null && !this.#isLost) {
        this.#isLost = true;
        this.#watcher.lost();
      }
    },
  };

  #choose(farm: Farm): void {
    const { miners, fault } = selectMiners(farm, this.#choice);
    const chosen = new Set(miners.map(({ id }) => id));
    for (const id of this.#chosen) if (!chosen.has(id)) this.#watcher.forget(id);
    this.#chosen = chosen;
    this.#names = new Map([...farm.miners.values()].map((miner) => [miner.id, nameOf(miner)]));
    this.#options.onFault(fault);
  }

  #report(miner: Miner | undefined): void {
    if (miner === undefined) return;
    this.#options.faults.run(
      miner.id,
      () => this.#watcher.miner(miner),
      () => this.#watcher.forget(miner.id),
    );
  }
}

const nameOf = ({ name, uid, hostDescription, groupId }: Miner): string =>
  JSON.stringify([name, uid, hostDescription, groupId]);

/** All selected miners; of several names, those that exist, with the fault of the first that does not. */
export function selectMiners(
  farm: Pick<Farm, "miners" | "groups">,
  choice: Choice,
): { readonly miners: readonly Miner[]; readonly fault: Fault | null } {
  try {
    return { miners: chosenMiners(farm, choice), fault: null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const names = choice.scope === "miners" ? namesIn(choice.miners) : [];
    if (names.length < 2) return { miners: [], fault: error };
    const found = names.map((miners) => selectMiners(farm, { scope: "miners", miners }));
    return {
      miners: [...new Set(found.flatMap(({ miners }) => miners))],
      fault: found.find(({ fault }) => fault !== null)?.fault ?? null,
    };
  }
}

function namesIn(given: unknown): readonly unknown[] {
  if (Array.isArray(given)) return given;
  return typeof given === "string" ? given.split(",").filter((part) => part.trim() !== "") : [];
}
