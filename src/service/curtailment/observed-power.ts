import { targetWatts } from "../../contract/target-watts.ts";
import { missesUntilDisconnected } from "../../fleet/schedule.ts";
import type { StoredCurtailment, StoredMeter } from "../../store/index.ts";
import type { CurtailedRigs } from "./curtailed-rigs.ts";
import { silentFactor } from "./limit-law.ts";
import { meterFrom, meterUntil, withReading } from "./metered-energy.ts";
import { RigEnergy, type RigPower } from "./rig-energy.ts";
import { assumedPower, meteredPower, metersOf, type ScopeContext, type ScopeRig } from "./scope-rigs.ts";

/** What the rigs of a curtailment take, W. */
export interface Observed {
  readonly rigs: number;
  readonly meter: number | null;
  /** What counts until it is shown. */
  readonly expected: number;
}

type Measured = NonNullable<StoredCurtailment["measured"]>;

/** What the rigs of a curtailment and the meters of its places show, turn by turn, and the energy until its end. */
export class ObservedPower {
  readonly #rigs: CurtailedRigs;
  readonly #context: ScopeContext;
  readonly #rigEnergy: RigEnergy;
  #measured: Measured | undefined;
  #now: Observed;
  #away = 0;
  /** W of each rig as last read. */
  readonly #draws = new Map<number, number>();

  constructor({ started, baseline, measured }: StoredCurtailment, rigs: CurtailedRigs, context: ScopeContext) {
    this.#rigs = rigs;
    this.#context = context;
    this.#measured = measured;
    this.#rigEnergy = new RigEnergy(started, measured?.rigs);
    this.#now = { rigs: baseline, meter: null, expected: baseline };
  }

  get now(): Observed {
    return this.#now;
  }

  /** W that rigs took which cannot be reached: nobody gets power back on their account, since they may still take it. */
  get away(): number {
    return this.#away;
  }

  /** What was measured until the last turn, or until its end, to be stored: each meter until its last reading. */
  get stored(): Measured | undefined {
    return this.#measured;
  }

  /** The same with all meters until the same time. Undefined before the first turn. */
  get measured(): Measured | undefined {
    if (this.#measured === undefined) return undefined;
    const { rigs, meters } = this.#measured;
    return { rigs, meters: meters?.map((meter) => this.#until(rigs.at, meter)) ?? null };
  }

  /** One turn. `now`: epoch ms. True once: with what was measured until its end. */
  turn(row: StoredCurtailment, rigs: readonly ScopeRig[], now: number): boolean {
    const powers: RigPower[] = [];
    let [sum, expected] = [0, 0];
    this.#away = 0;
    for (const each of rigs) {
      const { entry, view } = each;
      const assumed = this.assumed(row, each);
      const unseen = this.#unseen(each);
      // A rig that has missed a read or two takes what it took; one that is off is off.
      const isOff = entry.rig.state.missed >= missesUntilDisconnected;
      if (isOff) this.#away += unseen;
      const late = isOff ? 0 : unseen;
      const watts = (view.reachable ? (view.draw ?? 0) : late) + assumed;
      const { id } = entry.facts;
      if (view.reachable && view.at !== null) powers.push({ id, at: view.at, watts, energy: entry.rig.state.energy });
      else powers.push({ id, at: now, watts, energy: null });
      sum += watts;
      expected += each.expected + assumed + late;
    }
    this.#now = { rigs: sum, meter: meteredPower(row.scope, this.#context), expected };
    if (this.#measured !== undefined && this.#measured.rigs.at === row.ended) return false;
    this.#measured = this.#measure(row, powers, row.ended ?? now);
    return row.ended !== null;
  }

  /** W that a rig of unknown power may take: they count where a limit must not be passed. */
  assumed({ target }: StoredCurtailment, each: ScopeRig): number {
    const isUntold = this.#rigs.get(each.entry.facts.id)?.wanted !== 0;
    return target.limit !== undefined && each.view.draw === null && isUntold ? assumedPower(each) : 0;
  }

  #measure({ started, scope, ended }: StoredCurtailment, powers: readonly RigPower[], until: number): Measured {
    const meters = this.#measured === undefined ? this.#metersFrom(started, scope) : this.#measured.meters;
    return {
      rigs: this.#rigEnergy.turn(until, powers),
      meters: meters?.map((meter) => this.#metered(meter, ended, until)) ?? null,
    };
  }

  #metersFrom(begin: number, scope: StoredCurtailment["scope"]): StoredMeter[] | null {
    const { devices } = this.#context;
    const keys = metersOf(scope, this.#context);
    const meters = keys.flatMap((key) => {
      const device = devices.find(key);
      return device === undefined ? [] : (meterFrom(begin, device.recent, device) ?? []);
    });
    return keys.length > 0 && meters.length === keys.length ? meters : null;
  }

  #metered(meter: StoredMeter, ended: number | null, until: number): StoredMeter {
    const device = this.#context.devices.find(meter.key);
    if (device === undefined) return meter;
    const { recent, longestGapMs } = device;
    let next = meter;
    for (const reading of recent)
      if (reading.at > meter.last.at && reading.at <= until) next = withReading(next, reading, longestGapMs);
    return ended === null ? next : this.#until(ended, next);
  }

  #until(end: number, meter: StoredMeter): StoredMeter {
    const device = this.#context.devices.find(meter.key);
    return device === undefined ? meter : meterUntil(end, meter, device.longestGapMs);
  }

  /** W that the rigs may take so that what the meter shows besides them fits, too; null: they all stop. */
  rigTarget({ scope, target, baseline }: StoredCurtailment): number | null {
    const { meter, rigs } = this.#now;
    const watts = targetWatts(target, baseline);
    if (watts === null || target.limit === undefined) return watts;
    // While its meter is silent, the sum of its rigs counts, and a little more.
    if (meter === null) return metersOf(scope, this.#context).length > 0 ? watts / silentFactor : watts;
    return watts - Math.max(0, meter - rigs);
  }

  /** W that a rig took before it could no longer be reached; one that was seen stopped takes none. */
  #unseen({ entry: { facts }, view: { reachable, draw } }: ScopeRig): number {
    if (!reachable) {
      const rig = this.#rigs.get(facts.id);
      return rig?.state === "reached" && rig.wanted === 0 ? 0 : (this.#draws.get(facts.id) ?? 0);
    }
    if (draw === null) this.#draws.delete(facts.id);
    else this.#draws.set(facts.id, draw);
    return 0;
  }
}
