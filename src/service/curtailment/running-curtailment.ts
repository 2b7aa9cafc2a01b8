import type { Logger } from "pino";
import { Mutex } from "../../async/index.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { detail } from "../../messages/detail.ts";
import type { CurtailmentLog, StoredCommand, StoredCurtailedRig, StoredCurtailment } from "../../store/index.ts";
import type { Notices } from "../notifications/notices.ts";
import { type PowerRank, powerCommandOf } from "../power/precedence.ts";
import { isHeld } from "./curtailed-rig.ts";
import { CurtailedRigs } from "./curtailed-rigs.ts";
import { countsOf, rankOfCurtailment, toleranceOf } from "./curtailment-figures.ts";
import { Lowering } from "./lowering.ts";
import { type Observed, ObservedPower } from "./observed-power.ts";
import { gainOf, type OtherCurtailment, Restoring } from "./restoring.ts";
import { RigCommands } from "./rig-commands.ts";
import { noticeKey, RigProgress } from "./rig-progress.ts";
import { type FindRig, isIn, rigsIn, type ScopeContext, type ScopeRig, scopeRig } from "./scope-rigs.ts";
import { withTarget } from "./shortfall.ts";

export interface RunningContext extends ScopeContext {
  readonly log: Logger;
  readonly curtailments: CurtailmentLog;
  readonly notices: Notices;
  /** Epoch ms. */
  readonly now: () => number;
  /** ms of the monotonic clock. */
  readonly monotonicNow: () => number;
  /** Which groups a user sees: a rig that comes to a scope later is not theirs. All for null, and for users who are gone. */
  readonly seenBy: (userId: number | null) => (groupId: number) => boolean;
  /** Others that have not ended: a rig of two takes the lower power. */
  readonly others: (curtailment: RunningCurtailment) => readonly RunningCurtailment[];
}

/** ms between two samples while power changes, and while it does not. */
const sampleMs = { moving: 10_000, holding: 60_000 };

/** One curtailment that is not over: its turns, and what is stored of it. */
export class RunningCurtailment implements OtherCurtailment {
  readonly id: number;
  readonly #context: RunningContext;
  #row: StoredCurtailment;
  readonly #rigs: CurtailedRigs;
  readonly #power: ObservedPower;
  readonly #progress: RigProgress;
  readonly #lowering: Lowering;
  readonly #restoring: Restoring;
  readonly #commands: RigCommands;
  #isRowChanged = false;
  #sampledAt = Number.NEGATIVE_INFINITY;
  /** Rigs that could still give up power, and whether the target is reached, as of the last turn. */
  #able = 0;
  #isReached = false;
  #total = 0;
  #workMs = 0;
  #turning: Promise<void> | null = null;
  /** A turn, or a change by somebody. */
  readonly #turns = new Mutex();
  #isClosed = false;

  constructor(
    id: number,
    row: StoredCurtailment,
    rigs: ReadonlyMap<number, StoredCurtailedRig>,
    context: RunningContext,
  ) {
    this.id = id;
    this.#row = row;
    this.#rigs = new CurtailedRigs(rigs, (minerId) => context.notices.close(noticeKey(id, minerId)));
    this.#context = context;
    const withOthers = { ...context, others: () => context.others(this) };
    this.#power = new ObservedPower(row, this.#rigs, context);
    this.#progress = new RigProgress(id, this.#rigs, context);
    this.#lowering = new Lowering(this.#rigs, this.#power, withOthers);
    this.#restoring = new Restoring(this.#rigs, withOthers);
    this.#commands = new RigCommands(id, this.#rigs, context);
  }

  /** Without what was measured since it was last stored. */
  get row(): StoredCurtailment {
    return this.#row;
  }

  /** What its rigs and meters took until the last turn, or until its end. */
  get measured(): StoredCurtailment["measured"] {
    return this.#power.measured;
  }

  get rigs(): ReadonlyMap<number, StoredCurtailedRig> {
    return this.#rigs.all;
  }

  get observed(): Observed {
    return this.#power.now;
  }

  /** Whether it could still give up power that its target asks for. */
  get isAble(): boolean {
    return this.#able > 0;
  }

  get isReached(): boolean {
    return this.#isReached;
  }

  /** Rigs of its scope, as of the last turn. */
  get total(): number {
    return this.#total;
  }

  /** ms that the last turn took, without those in which it waited for the store. */
  get workMs(): number {
    return this.#workMs;
  }

  get isOver(): boolean {
    return this.#row.state === "ended";
  }

  get rank(): PowerRank {
    return rankOfCurtailment(this.#row);
  }

  /** Whether it holds the power of a rig down: after its end, until the rig has its power back. */
  holds(minerId: number): boolean {
    const rig = this.#rigs.get(minerId);
    if (rig === undefined || rig.state === "away") return false;
    return isHeld(rig) || rig.state === "restoring";
  }

  /**
   * Changes it, and has the next turn act on it. Stored when it resolves, but for the limit of a place. Throws store.full, and
   * not.possible if it has ended.
   */
  change(changes: Partial<StoredCurtailment>): Promise<void> {
    return this.#turns.run(() => {
      if (this.#row.ended !== null)
        throw new RigbridgeError("not.possible", detail("curtailment.over", { id: this.id }));
      const { target } = changes;
      const aim = target === undefined ? {} : withTarget(this.#row, target, this.#context.now());
      return this.#replace({ ...this.#row, ...changes, ...aim });
    });
  }

  /** Ends it, unless it has ended, and has the next turn give back power; `released`: its rigs stay as they are. Throws store.full. */
  end(released: boolean): Promise<void> {
    return this.#turns.run(async () => {
      const { ended } = this.#row;
      if (this.isOver || (ended !== null && !released)) return;
      await this.#replace({ ...this.#row, state: "restoring", ended: ended ?? this.#context.now(), released });
    });
  }

  async #replace(row: StoredCurtailment): Promise<void> {
    try {
      await this.#context.curtailments.save(this.id, { curtailment: this.#withMeasured(row) });
    } catch (error) {
      // While the store is away, a place is held to its limit; no rig is given back its power.
      if (row.cause !== "limit" || row.ended !== null) throw error;
      this.#isRowChanged = true;
    }
    this.#row = row;
  }

  /** One turn; another begins only after it. Never rejects. */
  turn(): Promise<void> {
    this.#turning ??= this.#turns
      .run(() => this.#turn())
      .catch((error: unknown) =>
        this.#context.log.error({ err: error, curtailment: this.id }, "a turn of a curtailment failed"),
      )
      .finally(() => {
        this.#turning = null;
      });
    return this.#turning;
  }

  /** A person or a safety rule has set the power of a rig: it is theirs then. */
  onCommand(command: StoredCommand): void {
    const rig = this.#rigs.get(command.minerId);
    const power = powerCommandOf(command);
    if (rig === undefined || power === null || power.open || this.isOver) return;
    if (power.by !== "person" && power.by !== "safety") return;
    if (
      command.time < this.#row.started ||
      rig.state === "restored" ||
      rig.state === "released" ||
      rig.state === "taken"
    )
      return;
    const override = command.parameters.override === true ? ", against the curtailment" : "";
    const what = power.stops ? "stopped" : "set";
    this.#rigs.set(command.minerId, { ...rig, state: "taken", message: `${what} by ${power.who}${override}` });
  }

  async settled(): Promise<void> {
    await this.#turning;
    await this.#commands.settled();
  }

  /** Sends nothing more, and stores what it knows. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.settled();
    // With what was measured since it was last stored.
    this.#isRowChanged = true;
    await this.#save().catch((error: unknown) =>
      this.#context.log.error({ err: error, curtailment: this.id }, "a turn of a curtailment failed"),
    );
  }

  async #turn(): Promise<void> {
    if (this.isOver || this.#isClosed) return;
    const { now, monotonicNow } = this.#context;
    const began = monotonicNow();
    const { until, ended } = this.#row;
    if (ended === null && until !== null && now() >= until) this.#change({ state: "restoring", ended: until });
    const sees = this.#context.seenBy(this.#row.userId);
    const inScope = await rigsIn(this.#row.scope, this.#row.order, this.#context);
    const rigs = inScope.filter(({ entry }) => sees(entry.facts.groupId));
    const byId = new Map(rigs.map((each) => [each.entry.facts.id, each]));
    const find: FindRig = (minerId) => byId.get(minerId) ?? this.#outside(minerId);
    this.#total = rigs.length;
    if (this.#power.turn(this.#row, rigs, now())) this.#isRowChanged = true;
    this.#progress.advance(this.#row, find);
    if (this.#row.ended === null) this.#lower(rigs, find);
    else if (this.#restoring.afterEnd(this.#row, find, this.#row.restore.parallel - this.#commands.open))
      this.#close(now());
    const sending = this.#isClosed ? [] : this.#commands.choose(this.#row, find, this.#restoring.waiting);
    this.#workMs = monotonicNow() - began;
    try {
      await this.#restoring.storeHeirs();
      await this.#save();
    } catch (error) {
      for (const { minerId, before } of sending) this.#rigs.set(minerId, before);
      throw error;
    }
    for (const each of sending) each.send();
  }

  /** Stores what has changed besides its own turns. Throws store.full. */
  store(): Promise<void> {
    return this.#save();
  }

  /** Chooses rigs to lower, or to give back some power. */
  #lower(rigs: readonly ScopeRig[], find: FindRig): void {
    const { able, marked } = this.#lowering.choose(this.#row, rigs, find);
    this.#able = able;
    const target = this.#power.rigTarget(this.#row);
    this.#note(target);
    if (marked > 0 || target === null) return;
    const taken = this.#power.now.expected + this.#power.away;
    if (this.#restoring.withinTarget(this.#row, target, taken, find)) this.#change({ moved: this.#context.now() });
  }

  /** Notes whether the target is reached. */
  #note(target: number | null): void {
    const isMoving = this.#rigs.some(({ state }) => state === "due" || state === "sent");
    const isReached = target === null ? !isMoving : this.#power.now.rigs <= target + toleranceOf(this.#row.baseline);
    this.#isReached = isReached;
    const state = isReached || (!isMoving && this.#able === 0) ? "holding" : "curtailing";
    const reached = this.#row.reached ?? (isReached ? this.#context.now() : null);
    if (state !== this.#row.state || reached !== this.#row.reached) this.#change({ state, reached });
  }

  takesOver(minerId: number, rig: StoredCurtailedRig, entry: ScopeRig["entry"]): boolean {
    if (this.#row.ended !== null) return false;
    const own = this.#rigs.get(minerId);
    if (own !== undefined && isHeld(own)) {
      this.#rigs.set(minerId, { ...own, before: rig.before });
      return true;
    }
    const target = this.#power.rigTarget(this.#row);
    const hasRoom = target !== null && this.#power.now.expected + gainOf(rig) <= target;
    if (hasRoom || !isIn(this.#row.scope, entry, this.#context)) return false;
    this.#rigs.set(minerId, { ...rig, state: "reached", tries: 0, wakes: 0 });
    return true;
  }

  /** A rig that is no longer in the scope. */
  #outside(minerId: number): ScopeRig | null {
    const { registry } = this.#context;
    const entry = registry.find(minerId);
    return entry === undefined ? null : scopeRig(entry, this.#context);
  }

  /** All is done. */
  #close(at: number): void {
    this.#change({ state: "ended", restored: at, counts: countsOf(this.#rigs.all) });
  }

  #change(changes: Partial<StoredCurtailment>): void {
    this.#row = { ...this.#row, ...changes };
    this.#isRowChanged = true;
  }

  #withMeasured(row: StoredCurtailment): StoredCurtailment {
    const { stored: measured } = this.#power;
    return measured === undefined ? row : { ...row, measured };
  }

  /** Stores what has changed, before anything is sent. While the store is away, only what is urgent goes on. */
  async #save(): Promise<void> {
    const { curtailments, now } = this.#context;
    const { rigs, unstored } = this.#rigs.takeChanged();
    const interval = this.#row.state === "holding" ? sampleMs.holding : sampleMs.moving;
    const isDue = this.#isRowChanged || now() >= this.#sampledAt + interval;
    const { rigs: watts, meter } = this.#power.now;
    const sample = isDue ? { time: Math.round(now()), rigs: watts, meter } : undefined;
    const curtailment = isDue ? this.#withMeasured(this.#row) : undefined;
    this.#isRowChanged = false;
    try {
      await curtailments.save(this.id, { curtailment, rigs, sample });
      if (isDue) this.#sampledAt = now();
    } catch (error) {
      unstored();
      this.#isRowChanged ||= isDue;
      if (!this.#row.urgent) throw error;
    }
  }
}
