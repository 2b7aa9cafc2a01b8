import type { FollowSettings } from "../../config/loops.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Entry } from "../miners/miner-entries.ts";
import { type Follower, type Share, share, stopFollowing } from "./follow-law.ts";
import type { LoopContext, LoopRigs } from "./loop-rigs.ts";
import { surplus } from "./source.ts";
import { SourceValue } from "./source-value.ts";

/** ms after setting a rig until a meter shows the effect. */
const settlingMs = 30_000;

interface Sample {
  /** Epoch ms. */
  readonly at: number;
  /** W. */
  readonly watts: number;
}

export interface FollowStatus {
  /** W as reported, positive for export. */
  readonly surplus: number | null;
  /** Epoch ms. */
  readonly at: number | null;
  /** The surplus with the rigs off, as of the time they last settled. */
  readonly available: Sample | null;
}

/** A surplus, and the rigs that follow it. */
export class Follow {
  readonly settings: FollowSettings;
  readonly #rigs: LoopRigs;
  readonly #context: LoopContext;
  readonly #surplus: SourceValue;
  readonly #closing = new AbortController();
  /** Since the last change of a rig. */
  #samples: readonly Sample[] = [];
  #setAt = Number.NEGATIVE_INFINITY;
  /** The surplus without the rigs. */
  #available: Sample | null = null;

  constructor(settings: FollowSettings, rigs: LoopRigs, context: LoopContext) {
    this.settings = settings;
    this.#rigs = rigs;
    this.#context = context;
    const { signal: closing } = this.#closing;
    this.#surplus = new SourceValue(settings.surplus, surplus, { ...context, takesRetained: false, closing });
  }

  /** Takes over the state of this loop from before its settings changed. */
  resume(before: Follow): void {
    this.#surplus.resume(before.#surplus);
    if (before.settings.measures !== this.settings.measures) return;
    this.#samples = before.#samples;
    this.#setAt = before.#setAt;
    this.#available = before.#available;
  }

  close(): void {
    this.#closing.abort();
  }

  /** Null if unknown or too old. */
  get status(): FollowStatus {
    const { last, isOld } = this.#surplus;
    const sign = this.settings.measures === "import" ? -1 : 1;
    return isOld || last === null
      ? { surplus: null, available: null, at: last?.at ?? null }
      : { surplus: sign * last.value, available: this.#available, at: last.at };
  }

  /** W of the surplus that its rigs take at most; null: all of it. */
  get limit(): number | null {
    return this.#storedLimit?.watts ?? null;
  }

  /** Resolves once it is stored. */
  async setLimit(watts: number | null): Promise<string> {
    const { followLimits } = this.#context.store;
    const { name } = this.settings;
    const stored = this.#storedLimit;
    if (watts === null && stored !== undefined) await followLimits.remove(stored.id);
    else if (watts !== null && stored === undefined) await followLimits.add({ follow: name, watts });
    else if (watts !== null && stored !== undefined) await followLimits.change(stored.id, { watts });
    return watts === null ? `${name} takes all of the surplus` : `${name} takes ${watts} W of the surplus at most`;
  }

  /** Sets the surplus, W. Throws `not.possible` if its source is not the API. */
  takeSurplus(watts: number): string {
    const { name } = this.settings;
    if (!this.#surplus.comesFromApi)
      throw new RigbridgeError(
        "not.possible",
        `${name} takes its surplus from the source in the configuration, not over the API`,
      );
    this.#surplus.take(watts);
    return `${name} has ${watts} W`;
  }

  /** One turn of the loop over the rigs that follow, in their order. */
  async turn(entries: readonly Entry[]): Promise<void> {
    await this.#surplus.poll();
    const { last, isOld } = this.#surplus;
    if (this.#closing.signal.aborted) return;
    if (last !== null || isOld) this.#surplus.notifyAge(this.#context.notices, this.settings.name, "follow");
    const isNew = last !== null && last.at >= this.#setAt + settlingMs && last.at > (this.#samples.at(-1)?.at ?? 0);
    const { limit } = this;
    if (!isOld && !isNew && this.#samples.length === 0 && limit === null) return;
    const { name, dwell, measures, reserve } = this.settings;
    if (isNew && measures !== "available") await this.#rigs.readAgain(entries);
    const rigs = await this.#rigs.followers(name, entries);
    if (isNew) {
      const { at } = last;
      const watts = this.#without(last.value, rigs);
      this.#available = { at, watts };
      this.#samples = [...this.#samples, { at, watts: watts - reserve }];
    }
    const since = this.#context.now() - dwell * 1000;
    this.#samples = within(this.#samples, since);
    const available = this.#samples.length === 0 ? asTheyAre : shareOf(this.#samples, since);
    const demands = isOld ? stopFollowing(rigs) : share(rigs, withinLimit(available, limit));
    await this.#rigs.apply(name, demands, rigs);
    if (demands.length === 0) return;
    this.#setAt = this.#context.now();
    this.#samples = [];
  }

  /** The surplus without the rigs, W. A grid meter measures the remainder after their present draw. */
  #without(value: number, rigs: readonly Follower[]): number {
    const { measures } = this.settings;
    if (measures === "available") return value;
    const exported = measures === "import" ? -value : value;
    return exported + rigs.reduce((sum, { draw }) => sum + draw, 0);
  }

  get #storedLimit() {
    return this.#context.store.followLimits.all().find(({ follow }) => follow === this.settings.name);
  }
}

/** Keeps rigs unchanged while nothing is known of the surplus. */
const asTheyAre: Share = { now: Number.POSITIVE_INFINITY, steady: Number.NEGATIVE_INFINITY };

const withinLimit = ({ now, steady }: Share, limit: number | null): Share => {
  const most = limit ?? Number.POSITIVE_INFINITY;
  return { now: Math.min(now, most), steady: Math.min(steady, most) };
};

/** Samples since a time, and the one valid at that time. */
export function within(samples: readonly Sample[], from: number): readonly Sample[] {
  const first = samples.findLastIndex(({ at }) => at <= from);
  return samples.slice(Math.max(0, first));
}

/** The power available now, and the power available all the time since then; no steady power while that is unknown. */
export function shareOf(samples: readonly Sample[], since: number): Share {
  const now = samples.at(-1)?.watts ?? 0;
  const isLong = (samples[0]?.at ?? Number.POSITIVE_INFINITY) <= since;
  return { now, steady: isLong ? Math.min(...samples.map(({ watts }) => watts)) : Number.NEGATIVE_INFINITY };
}
