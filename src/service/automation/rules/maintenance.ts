import { MaintenanceSettings } from "../../../contract/rules.ts";
import { runsHere } from "../../../contract/runs-at.ts";
import type { Store, Stored, StoredMaintenance } from "../../../store/index.ts";
import { enabled } from "../../crud.ts";
import type { Entry } from "../../miners/miner-entries.ts";
import { placesOf } from "../../places/place-book.ts";
import { placeTests } from "../scope.ts";

/** A time in which nothing acts on some miners. */
export interface Maintenance {
  readonly row: Stored<StoredMaintenance>;
  readonly settings: MaintenanceSettings;
  /** Epoch ms. */
  readonly from: number;
  readonly until: number;
  covers(entry: Entry): boolean;
}

/** The maintenance windows: they hold back rules and schedules, and silence notifications. */
export class MaintenanceWindows {
  readonly #store: Store;
  readonly #now: () => number;
  #all: readonly Maintenance[] = [];
  #sources: readonly unknown[] = [];

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  get all(): readonly Maintenance[] {
    const { maintenance, groups, places } = this.#store;
    const sources = [maintenance.all(), groups.all(), places.all()];
    if (sources.every((rows, index) => rows === this.#sources[index])) return this.#all;
    this.#sources = sources;
    this.#all = enabled(maintenance).flatMap((row) => {
      const parsed = MaintenanceSettings.safeParse(row.definition);
      if (!parsed.success) return [];
      const { from, until, name: _, runsAt: __, ...scope } = parsed.data;
      const tests = placeTests(scope, enabled(groups), placesOf(this.#store));
      return [
        {
          row,
          settings: parsed.data,
          from: from === undefined ? 0 : Date.parse(from),
          until: Date.parse(until),
          covers: ({ facts, rig }: Entry) => tests.every((fits) => fits(facts, rig.state.uid)),
        },
      ];
    });
    return this.#all;
  }

  isActive({ from, until, settings }: Maintenance): boolean {
    const now = this.#now();
    return from <= now && now < until && runsHere(settings.runsAt);
  }

  /** The name of a window that covers this miner now, or its repair, which has no end; null if there is none. */
  over(entry: Entry): string | null {
    if (entry.facts.repair !== null) return "it is in repair";
    return this.all.find((each) => this.isActive(each) && each.covers(entry))?.settings.name ?? null;
  }
}
