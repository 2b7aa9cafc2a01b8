import type { StoredCurtailedRig, StoredCurtailment } from "../../store/index.ts";
import type { Entry } from "../miners/miner-entries.ts";
import { isHeld } from "./curtailed-rig.ts";
import type { CurtailedRigs } from "./curtailed-rigs.ts";
import { raisedTarget, rankOfCurtailment } from "./curtailment-figures.ts";
import { givenBack, type HeldRig, rampAllowance, spreadOver } from "./curtailment-law.ts";
import type { FindRig, ScopeContext, ScopeRig } from "./scope-rigs.ts";

/** Another curtailment that may hold a rig. */
export interface OtherCurtailment {
  readonly id: number;
  /** Whether it holds the power of a rig down. */
  holds(minerId: number): boolean;
  /** Stores what it has taken over. Throws store.full. */
  store(): Promise<void>;
  /** Keeps down a rig that is given back its power elsewhere, if it holds it or has no room for it. */
  takesOver(minerId: number, rig: StoredCurtailedRig, entry: Entry): boolean;
}

export interface RestoringContext extends ScopeContext {
  readonly others: () => readonly OtherCurtailment[];
  /** Epoch ms. */
  readonly now: () => number;
}

/** ms after the end for which a rig that cannot be reached is waited for. */
const longestWaitMs = 86_400_000;
/** ms for which nothing may have changed before rigs are given back power while a target lasts. */
const calmMs = 60_000;
/** Share of a target that stays free when rigs are given back power. */
const calmShare = 0.02;

/** Which rigs of a curtailment are given back their power next: marks them, and returns whether all have theirs. */
export class Restoring {
  readonly #rigs: CurtailedRigs;
  readonly #context: RestoringContext;
  /** Since when the target has had room for a rig, epoch ms; null: it has none. */
  #roomSince: number | null = null;
  /** Curtailments that have taken over rigs of this one, which is stored before these are let go. */
  readonly #heirs = new Set<OtherCurtailment>();

  constructor(rigs: CurtailedRigs, context: RestoringContext) {
    this.#rigs = rigs;
    this.#context = context;
  }

  /** Rigs that are marked and wait for their command. */
  get waiting(): readonly number[] {
    return this.#rigs.those(({ state, sent }) => state === "restoring" && sent === null);
  }

  /** Once it has ended. `free`: rigs that may be sent a command now. True when no rig is left. */
  afterEnd(row: StoredCurtailment, find: FindRig, free: number): boolean {
    const { restore, ended, released } = row;
    const { now } = this.#context;
    const begins = (ended ?? 0) + restore.wait * 1000;
    this.#release(released);
    // A clock that was set back does not keep rigs waiting.
    if (now() >= begins || now() < (ended ?? 0)) {
      let allowance = rampAllowance(restore.wattsPerMinute, Math.abs(now() - begins)) - this.#givenSince(begins);
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
  withinTarget(row: StoredCurtailment, target: number, expected: number, find: FindRig): boolean {
    const { now } = this.#context;
    const isMoving = this.#rigs.some(({ state }) => state === "due" || state === "sent" || state === "restoring");
    const room = target * (1 - calmShare) - expected;
    const back = isMoving ? [] : givenBack(this.#returnable(row, find), room);
    if (back.length === 0) {
      this.#roomSince = null;
      return false;
    }
    this.#roomSince ??= now();
    // A target that was just raised is acted on at once.
    const isCalm = Math.abs(now() - this.#roomSince) >= calmMs && Math.abs(now() - row.moved) >= calmMs;
    if (row.moved !== raisedTarget && !isCalm) return false;
    this.#roomSince = null;
    for (const id of back) {
      const rig = this.#rigs.get(id);
      if (rig !== undefined) this.#mark(id, rig);
    }
    return true;
  }

  /** The rigs that may have their power back while it lasts, the last ones first: nobody else holds them. */
  #returnable(row: StoredCurtailment, find: FindRig): HeldRig[] {
    const { others, holds } = this.#context;
    const all = others();
    return this.#rigs
      .those(({ state }) => state === "reached")
      .toReversed()
      .flatMap((id) => {
        const [rig, found] = [this.#rigs.get(id), find(id)];
        if (rig === undefined || found?.view.reachable !== true || all.some((each) => each.holds(id))) return [];
        const wish = { rank: rankOfCurtailment(row), stops: false };
        const isHeldBack = holds.holdFor(found.entry, wish, row.started) !== null;
        if (isHeldBack || !this.#isPermitted(id, rig, found)) return [];
        return [{ id, expected: found.expected, before: rig.before.power ?? found.full ?? 0 }];
      });
  }

  /** Stores what others have taken over, before it is stored that this one has let it go. Throws store.full. */
  async storeHeirs(): Promise<void> {
    for (const each of this.#heirs) await each.store();
    this.#heirs.clear();
  }

  #mark(minerId: number, rig: StoredCurtailedRig): void {
    this.#rigs.set(minerId, { ...rig, state: "restoring", sent: null, tries: 0 });
  }

  /** Rigs that were never sent a command, and all if nothing is given back. */
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
    const { holds, orders, others } = this.#context;
    const leave = (state: "released" | "taken", message: string): false => {
      this.#rigs.set(minerId, { ...rig, state, message });
      return false;
    };
    if (found === null) return leave("released", "It is no longer a miner of this service");
    const { entry } = found;
    if (orders.isOpen(minerId)) return false;
    if (!found.view.reachable) {
      const isGivenUp = Math.abs(this.#context.now() - (row.ended ?? 0)) > longestWaitMs;
      if (isGivenUp)
        this.#rigs.set(minerId, { ...rig, state: "failed", gaveUp: true, message: "It cannot be reached" });
      return false;
    }
    const other = others().find((each) => each.takesOver(minerId, rig, entry));
    if (other !== undefined) {
      this.#heirs.add(other);
      return leave("released", `Held by curtailment ${other.id}`);
    }
    const last = holds.last(minerId);
    // Whatever began the curtailment: what a person or a safety rule has stopped since stays stopped.
    const isStopped = last?.stops === true && (last.by === "person" || last.by === "safety") && last.at >= row.started;
    const hold = holds.holdFor(entry, { rank: rankOfCurtailment(row), stops: false }, row.started);
    if (isStopped || hold !== null) return leave("taken", `Held by ${last?.who ?? hold?.by ?? ""}`);
    return this.#isPermitted(minerId, rig, found);
  }

  /** Whether the rules of a rig, such as the least time that it is stopped, allow its power now. */
  #isPermitted(minerId: number, { before: { setting } }: StoredCurtailedRig, { entry }: ScopeRig): boolean {
    const { reading } = entry.rig.state;
    return reading === null || setting === null || this.#context.power.permission(minerId, reading, setting).now;
  }
}

/** W that a rig takes more once it has its power back. */
export const gainOf = ({ before, wanted }: StoredCurtailedRig): number => Math.max(0, (before.power ?? 0) - wanted);
