import type { StoredCurtailedRig, StoredCurtailment } from "../../store/index.ts";
import type { Entry } from "../miners/miner-entries.ts";
import { isHeld } from "./curtailed-rig.ts";
import type { CurtailedRigs } from "./curtailed-rigs.ts";
import { rankOfCurtailment } from "./curtailment-figures.ts";
import { givenBack, rampAllowance, spreadOver } from "./curtailment-law.ts";
import type { ScopeContext, ScopeRig } from "./scope-rigs.ts";

/** Another curtailment that may hold a rig. */
export interface OtherCurtailment {
  readonly id: number;
  /** Keeps down a rig that is given back its power elsewhere, if it holds it or has no room for it. */
  takesOver(minerId: number, rig: StoredCurtailedRig, entry: Entry): boolean;
}

export interface RestoringContext extends ScopeContext {
  readonly others: () => readonly OtherCurtailment[];
  /** Epoch ms. */
  readonly now: () => number;
}

/** ms for which nothing may have changed before rigs are given back power while a target lasts. */
const calmMs = 60_000;
/** Share of a target that stays free when rigs are given back power. */
const calmShare = 0.02;

type Found = (minerId: number) => ScopeRig | null;

/** Which rigs of a curtailment are given back their power next: marks them, and says whether all have theirs. */
export class Restoring {
  readonly #rigs: CurtailedRigs;
  readonly #context: RestoringContext;

  constructor(rigs: CurtailedRigs, context: RestoringContext) {
    this.#rigs = rigs;
    this.#context = context;
  }

  /** Rigs that are marked and wait for their command. */
  get waiting(): readonly number[] {
    return this.#rigs.those(({ state, sent }) => state === "restoring" && sent === null);
  }

  /** Once it has ended. `free`: rigs that may be sent a command now. True when no rig is left. */
  afterEnd(row: StoredCurtailment, find: Found, free: number): boolean {
    const { restore, ended, released } = row;
    const { now } = this.#context;
    const begins = (ended ?? 0) + restore.wait * 1000;
    this.#release(released);
    if (now() >= begins) {
      let allowance = rampAllowance(restore.wattsPerMinute, now() - begins) - this.#givenSince(begins);
      let left = free - this.waiting.length;
      for (const id of spreadOver(this.#rigs.those(isHeld), (id) => find(id)?.entry.facts.placeId ?? null)) {
        const rig = this.#rigs.get(id);
        if (rig === undefined || left <= 0) break;
        const more = gainOf(rig);
        if (more > allowance || !this.#mayRise(row, id, rig, find(id))) continue;
        allowance -= more;
        left -= 1;
        this.#mark(id, rig);
      }
    }
    return !this.#rigs.some((rig) => isHeld(rig) || rig.state === "restoring");
  }

  /** While it lasts: the last ones first, if the target has had room for them for some time. True if any is marked. */
  withinTarget(row: StoredCurtailment, target: number, expected: number, find: Found): boolean {
    const isMoving = this.#rigs.some(({ state }) => state === "due" || state === "sent" || state === "restoring");
    if (isMoving || this.#context.now() < row.moved + calmMs) return false;
    const held = this.#rigs
      .those(({ state }) => state === "reached")
      .toReversed()
      .flatMap((id) => {
        const [rig, found] = [this.#rigs.get(id), find(id)];
        if (rig === undefined || found?.view.reachable !== true) return [];
        return [{ id, expected: found.expected, before: rig.before.power ?? Number.POSITIVE_INFINITY }];
      });
    const back = givenBack(held, target * (1 - calmShare) - expected);
    for (const id of back) {
      const rig = this.#rigs.get(id);
      if (rig !== undefined) this.#mark(id, rig);
    }
    return back.length > 0;
  }

  #mark(minerId: number, rig: StoredCurtailedRig): void {
    this.#rigs.set(minerId, { ...rig, state: "restoring", sent: null, tries: 0 });
  }

  /** Rigs that were never told anything, and all if nothing is given back. */
  #release(all: boolean): void {
    for (const id of this.#rigs.those((rig) => isHeld(rig) && (all || rig.sent === null))) {
      const rig = this.#rigs.get(id);
      if (rig !== undefined) this.#rigs.set(id, { ...rig, state: "released" });
    }
  }

  /** W that rigs were given back since then. */
  #givenSince(begins: number): number {
    let sum = 0;
    for (const rig of this.#rigs.all.values())
      if ((rig.state === "restoring" || rig.state === "restored") && (rig.sent ?? begins) >= begins) sum += gainOf(rig);
    return sum;
  }

  /** Whether a rig may have its power back now; one that another curtailment or somebody else holds is left to them. */
  #mayRise(row: StoredCurtailment, minerId: number, rig: StoredCurtailedRig, found: ScopeRig | null): boolean {
    const { holds, power, orders, others } = this.#context;
    const leave = (state: "released" | "taken", message: string): false => {
      this.#rigs.set(minerId, { ...rig, state, message });
      return false;
    };
    if (found === null) return leave("released", "It is no miner of this service any more");
    const { entry } = found;
    if (orders.isOpen(minerId)) return false;
    const other = others().find((each) => each.takesOver(minerId, rig, entry));
    if (other !== undefined) return leave("released", `Held by curtailment ${other.id}`);
    const hold = holds.holdFor(entry, { rank: rankOfCurtailment(row), stops: false });
    if (hold !== null) return leave("taken", `Held by ${holds.last(minerId)?.who ?? hold.by}`);
    const { reading } = entry.rig.state;
    const { setting } = rig.before;
    return reading === null || setting === null || row.urgent || power.permission(minerId, reading, setting).now;
  }
}

/** W that a rig takes more once it has its power back. */
export const gainOf = ({ before, wanted }: StoredCurtailedRig): number => Math.max(0, (before.power ?? 0) - wanted);
