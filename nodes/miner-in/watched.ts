import type { Group, Miner, MinerEvent } from "rigbridge";
import type { RigFaults } from "rigbridge/farm";
import type { Farm, Member } from "../shared/farm-connection.ts";
import { Fault } from "../shared/faults.ts";
import { type Choice, chosenMiners } from "../shared/miner-choice.ts";

/** Who is told of the miners that are watched. */
export interface Watcher {
  /** As it is now: first when it comes to be watched, then with each change, and once more after `lost`. */
  miner(miner: Miner): void;
  /** Something has happened to it in a moment. */
  happened?(miner: Miner, event: MinerEvent): void;
  /** It is gone, or no longer one of those that are meant. */
  forget(id: number): void;
  /** Nobody knows how they are. */
  lost(): void;
  close(): void;
}

export interface WatchedOptions {
  readonly present: () => Farm | null;
  readonly mistaken: (fault: Fault | null) => void;
  readonly faults: RigFaults;
}

/** Keeps who is meant, as miners come, go, are renamed and change groups. */
export class Watched {
  readonly #choice: Choice;
  readonly #watcher: Watcher;
  readonly #mistaken: (fault: Fault | null) => void;
  readonly #present: () => Farm | null;
  readonly #faults: RigFaults;
  #farm: Farm | null = null;
  #isLost = false;
  #chosen: ReadonlySet<number> = new Set();

  /**
   * `present` is the farm as it is known now. `mistaken` is told what of the choice leads to nobody, null for nothing,
   * each time that it was looked at. A miner that the program fails over is forgotten, until it works again.
   */
  constructor(choice: Choice, watcher: Watcher, { present, mistaken, faults }: WatchedOptions) {
    this.#faults = faults;
    this.#choice = choice;
    this.#watcher = watcher;
    this.#present = present;
    this.#mistaken = mistaken;
  }

  get groups(): readonly Group[] {
    return this.#farm?.groups ?? [];
  }

  readonly member: Member = {
    read: (farm) => {
      this.#farm = farm;
      this.#isLost = false;
      this.#choose(farm);
      for (const id of this.#chosen) this.#tell(farm.miners.get(id));
    },
    miner: (miner) => {
      const farm = this.#farm;
      // What is said of miners while the service cannot be reached is a guess.
      if (farm === null || this.#isLost) return;
      const before = this.#chosen;
      if (this.#names.get(miner.id) !== nameOf(miner)) this.#choose(farm);
      for (const id of this.#chosen) if (!before.has(id) && id !== miner.id) this.#tell(farm.miners.get(id));
      if (this.#chosen.has(miner.id)) this.#tell(miner);
    },
    happened: (event) => {
      const miner = this.#chosen.has(event.id) && !this.#isLost ? this.#farm?.miners.get(event.id) : undefined;
      if (miner !== undefined) this.#watcher.happened?.(miner, event);
    },
    removed: () => {
      if (this.#farm !== null && !this.#isLost) this.#choose(this.#farm);
    },
    phase: ({ kind }) => {
      const farm = this.#present();
      if (kind === "connected") {
        if (this.#isLost && farm !== null) this.member.read?.(farm);
      } else if (this.#farm !== null && !this.#isLost) {
        this.#isLost = true;
        this.#watcher.lost();
      }
    },
  };

  /** By which each miner was chosen, or not. */
  #names = new Map<number, string>();

  #choose(farm: Farm): void {
    const { miners, fault } = those(farm, this.#choice);
    const chosen = new Set(miners.map(({ id }) => id));
    for (const id of this.#chosen) if (!chosen.has(id)) this.#watcher.forget(id);
    this.#chosen = chosen;
    this.#names = new Map([...farm.miners.values()].map((miner) => [miner.id, nameOf(miner)]));
    this.#mistaken(fault);
  }

  #tell(miner: Miner | undefined): void {
    if (miner === undefined) return;
    this.#faults.run(
      miner.id,
      () => this.#watcher.miner(miner),
      () => this.#watcher.forget(miner.id),
    );
  }
}

const nameOf = ({ name, uid, hostDescription, groupId }: Miner): string =>
  JSON.stringify([name, uid, hostDescription, groupId]);

/** All that are meant; of several names those that are there, with the mistake of the first that is not. */
export function those(
  farm: Pick<Farm, "miners" | "groups">,
  choice: Choice,
): { readonly miners: readonly Miner[]; readonly fault: Fault | null } {
  try {
    return { miners: chosenMiners(farm, choice), fault: null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const parts = choice.scope === "miners" ? partsOf(choice.miners) : [];
    if (parts.length < 2) return { miners: [], fault: error };
    const found = parts.map((miners) => those(farm, { scope: "miners", miners }));
    return {
      miners: [...new Set(found.flatMap(({ miners }) => miners))],
      fault: found.find(({ fault }) => fault !== null)?.fault ?? null,
    };
  }
}

function partsOf(given: unknown): readonly unknown[] {
  if (Array.isArray(given)) return given;
  return typeof given === "string" ? given.split(",").filter((part) => part.trim() !== "") : [];
}
