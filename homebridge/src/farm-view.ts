import { setImmediate as immediate } from "node:timers/promises";
import type { Group, ManualAction, Miner, Summary } from "rigbridge";
import type { Energies, FarmListener, FarmLists, RigFaults } from "rigbridge/farm";

/** The current farm. */
export interface Farm {
  readonly miners: readonly Miner[];
  readonly groups: readonly Group[];
  readonly rules: readonly ManualAction[];
  /** A manual rule runs on each miner that it is sent to and that it applies to; elsewhere through any one miner. */
  readonly rulesRunOnEach: boolean;
  readonly energies: Energies;
  /** `host:port` of rigs that exist and cannot be shown: their accessories and devices stay. */
  readonly hidden: ReadonlySet<string>;
  /** Other rigs and groups may exist: nothing that Homebridge remembers is removed. */
  readonly isPartial: boolean;
}

/**
 * `host:port` of rigs that may be any accessory or device without a plan: the accessories shown at their address stay.
 */
export const unresolvedHosts = (
  { miners, hidden }: Farm,
  isUnresolved: (miner: Miner) => boolean,
): ReadonlySet<unknown> =>
  new Set([...miners.filter(isUnresolved).map(({ hostDescription }) => hostDescription), ...hidden]);

/** Collects changes and reports the farm at most ten times a second; null while the service does not answer. */
export class FarmView implements FarmListener {
  readonly #changed: (farm: Farm | null) => void;
  readonly #miners = new Map<number, Miner>();
  #groups: readonly Group[] = [];
  #rules: readonly ManualAction[] = [];
  #rulesRunOnEach = false;
  #energies: Energies = {};
  #isPartial = false;
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> | undefined;
  /** The lists were never read, or the service has not answered since. */
  #isLost = true;

  constructor(changed: (farm: Farm | null) => void) {
    this.#changed = changed;
  }

  miner(miner: Miner): void {
    this.#miners.set(miner.id, miner);
    this.#reportSoon();
  }

  /**
   * Applies a miner's state after a command, unless the miner was removed in the meantime. Resolves once that is
   * reported; several calls in a row are reported once.
   */
  refresh(miner: Miner): Promise<void> {
    if (this.#miners.has(miner.id)) this.#miners.set(miner.id, miner);
    this.#refreshing ??= immediate().then(() => {
      this.#refreshing = undefined;
      this.#report();
    });
    return this.#refreshing;
  }

  removed(id: number): void {
    this.#miners.delete(id);
    this.#reportSoon();
  }

  read({ miners, groups, rules, summary, features, isPartial }: FarmLists): void {
    this.#miners.clear();
    for (const miner of miners) this.#miners.set(miner.id, miner);
    this.#groups = groups;
    this.#rules = rules;
    // A server that has jobs is a Rigbridge.
    this.#rulesRunOnEach = features.has("startBulkAction");
    this.#energies = summary;
    this.#isPartial = isPartial;
    this.back();
  }

  lost(): void {
    this.close();
    this.#isLost = true;
    this.#changed(null);
  }

  back(): void {
    this.#isLost = false;
    this.#report();
  }

  happened(): void {}

  /** Reported with the next miner. */
  summary(summary: Summary): void {
    this.#energies = summary;
  }

  notification(): void {}

  notificationsHandled(): void {}

  get(id: number): Miner | undefined {
    return this.#miners.get(id);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #reportSoon(): void {
    this.#timer ??= setTimeout(() => this.#report(), 100);
  }

  #report(): void {
    this.close();
    if (this.#isLost) return;
    const [miners, groups, rules, energies] = [[...this.#miners.values()], this.#groups, this.#rules, this.#energies];
    const [rulesRunOnEach, isPartial] = [this.#rulesRunOnEach, this.#isPartial];
    this.#changed({ miners, groups, rules, rulesRunOnEach, energies, hidden: new Set(), isPartial });
  }
}

/**
 * The plan of a farm. If planning fails, each rig is planned alone, which takes longer, and those that fail are hidden.
 * Throws errors that no single rig causes.
 */
export function planWithoutFailing<T extends object>(
  farm: Farm,
  faults: RigFaults,
  plan: (farm: Farm) => T,
): T & { farm: Farm } {
  try {
    return { ...plan(farm), farm };
  } catch {
    const alone = { ...farm, groups: [], rules: [] };
    const sound = farm.miners.filter((miner) =>
      faults.run(
        miner.id,
        () => plan({ ...alone, miners: [miner] }) !== null,
        () => false,
      ),
    );
    const hidden = new Set(farm.miners.map(({ hostDescription }) => hostDescription));
    for (const { hostDescription } of sound) hidden.delete(hostDescription);
    const rest = { ...farm, miners: sound, hidden };
    return { ...plan(rest), farm: rest };
  }
}
