import { RigbridgeError } from "../../contract/problems.ts";
import type { StoredCurtailedRig, StoredCurtailment } from "../../store/index.ts";
import { isHeld, type RigView } from "./curtailed-rig.ts";
import type { CurtailedRigs } from "./curtailed-rigs.ts";
import { rankOfCurtailment, toleranceOf } from "./curtailment-figures.ts";
import { rampAllowance, type SheddingRig, shed } from "./curtailment-law.ts";
import type { ObservedPower } from "./observed-power.ts";
import {
  exemptPlaces,
  type FindRig,
  type Manner,
  type ScopeContext,
  type ScopeRig,
  sheddingRig,
} from "./scope-rigs.ts";

interface LoweringContext extends ScopeContext {
  /** Other curtailments that may hold a rig. */
  readonly others: () => readonly { readonly rigs: ReadonlyMap<number, StoredCurtailedRig> }[];
  /** Epoch ms. */
  readonly now: () => number;
}

/** Which rigs of a curtailment are lowered next: marks them. */
export class Lowering {
  readonly #rigs: CurtailedRigs;
  readonly #power: ObservedPower;
  readonly #context: LoweringContext;

  constructor(rigs: CurtailedRigs, power: ObservedPower, context: LoweringContext) {
    this.#rigs = rigs;
    this.#power = power;
    this.#context = context;
  }

  /** Marks rigs until the target is met. `able`: how many could give up power; `marked`: how many of them do. */
  choose(
    row: StoredCurtailment,
    rigs: readonly ScopeRig[],
    find: FindRig,
  ): { readonly able: number; readonly marked: number } {
    const { ramp, level, started, baseline } = row;
    const { candidates, others } = this.#candidates(row, rigs);
    const given = Math.max(0, baseline - this.#power.now.expected);
    const sheds = shed(candidates, others, {
      target: this.#power.rigTarget(row),
      level,
      tolerance: toleranceOf(baseline),
      allowance: rampAllowance(ramp.wattsPerMinute, Math.abs(this.#context.now() - started)) - given,
    });
    for (const { id, watts } of sheds) this.#mark(id, watts, find(id));
    return { able: candidates.length, marked: sheds.length };
  }

  /** The rigs that can be lowered now, and W of all others. */
  #candidates(
    row: StoredCurtailment,
    rigs: readonly ScopeRig[],
  ): { readonly candidates: readonly SheddingRig[]; readonly others: number } {
    const { order, level, ramp, urgent, started } = row;
    const manner: Manner = { order, level, ramp, urgent, rank: rankOfCurtailment(row), since: started };
    const exempt = exemptPlaces(this.#context.places);
    const candidates: SheddingRig[] = [];
    let others = 0;
    for (const each of rigs) {
      const { id } = each.entry.facts;
      const rig = this.#rigs.get(id);
      const assumed = this.#power.assumed(row, each);
      const isFree = rig === undefined || rig.state === "restored" || (rig.state === "reached" && rig.wanted > 0);
      const candidate =
        isFree && !this.#context.orders.isOpen(id)
          ? possible(() => sheddingRig(each, manner, exempt, this.#context))
          : null;
      if (candidate !== null) candidates.push({ ...candidate, expected: candidate.expected + assumed });
      else others += assumed + (rig?.state === "due" ? Math.min(each.expected, rig.wanted) : each.expected);
    }
    return { candidates, others };
  }

  #mark(minerId: number, watts: number, found: ScopeRig | null): void {
    if (found === null) return;
    const known = this.#rigs.get(minerId);
    const { facts, rig } = found.entry;
    this.#rigs.set(minerId, {
      name: facts.name,
      uid: rig.state.uid,
      state: "due",
      before: known?.before ?? this.#before(minerId, found.view),
      wanted: watts,
      sent: known?.sent ?? null,
      gaveUp: false,
      reached: null,
      restored: null,
      tries: 0,
      wakes: known?.wakes ?? 0,
      message: "",
    });
  }

  /** What a rig had before any curtailment. */
  #before(minerId: number, { draw, setting }: RigView): StoredCurtailedRig["before"] {
    for (const other of this.#context.others()) {
      const rig = other.rigs.get(minerId);
      if (rig !== undefined && (isHeld(rig) || rig.state === "restoring")) return rig.before;
    }
    return { power: draw, setting };
  }
}

function possible<T>(of: () => T): T | null {
  try {
    return of();
  } catch (error) {
    if (error instanceof RigbridgeError) return null;
    throw error;
  }
}
