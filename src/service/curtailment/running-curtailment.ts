import type { Logger } from "pino";
import { Background, Mutex } from "../../async/index.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { targetWatts } from "../../contract/target-watts.ts";
import { coded } from "../../messages/coded.ts";
import type { CurtailmentLog, StoredCommand, StoredCurtailedRig, StoredCurtailment } from "../../store/index.ts";
import type { Notices } from "../notifications/notices.ts";
import { curtailmentActor, type PowerRank, powerCommandOf } from "../power/precedence.ts";
import { advance, advanceBack, isHeld, type RigView } from "./curtailed-rig.ts";
import { CurtailedRigs } from "./curtailed-rigs.ts";
import { countsOf, rankOfCurtailment, toleranceOf } from "./curtailment-figures.ts";
import { rampAllowance, type SheddingRig, shed } from "./curtailment-law.ts";
import { silentFactor } from "./limit-law.ts";
import { type Observed, ObservedPower } from "./observed-power.ts";
import { gainOf, type OtherCurtailment, Restoring } from "./restoring.ts";
import {
  exemptPlaces,
  isIn,
  type Manner,
  metersOf,
  rigsIn,
  type ScopeContext,
  type ScopeRig,
  scopeRig,
  sheddingRig,
} from "./scope-rigs.ts";

export interface RunningContext extends ScopeContext {
  readonly log: Logger;
  readonly curtailments: CurtailmentLog;
  readonly notices: Notices;
  /** Epoch ms. */
  readonly now: () => number;
  /** Which groups a user sees: a rig that comes to a scope later is not theirs. All for null, and for users who are gone. */
  readonly seenBy: (userId: number | null) => (groupId: number) => boolean;
  /** Others that have not ended: a rig of two takes the lower power. */
  readonly others: (curtailment: RunningCurtailment) => readonly RunningCurtailment[];
}

/** ms between two samples while power changes, and while it does not. */
const sampleMs = { moving: 10_000, holding: 60_000 };

/** One curtailment that is not over: what its rigs are told, turn by turn. */
export class RunningCurtailment implements OtherCurtailment {
  readonly id: number;
  readonly #context: RunningContext;
  #row: StoredCurtailment;
  readonly #rigs: CurtailedRigs;
  readonly #restoring: Restoring;
  #isRowChanged = false;
  readonly #power: ObservedPower;
  #sampledAt = Number.NEGATIVE_INFINITY;
  /** Rigs that could still give up power, and whether the target is reached, as of the last turn. */
  #able = 0;
  #isReached = false;
  #total = 0;
  #turning: Promise<void> | null = null;
  /** A turn, or a change by somebody. */
  readonly #turns = new Mutex();
  readonly #sending = new Background();
  #open = 0;
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
    this.#restoring = new Restoring(this.#rigs, { ...context, others: () => context.others(this) });
    this.#power = new ObservedPower(row, this.#rigs, context);
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

  /** Changes it, and has the next turn act on it. Stored when it resolves, but for the limit of a place. Throws store.full. */
  async change(changes: Partial<StoredCurtailment>): Promise<void> {
    await this.#turns.run(async () => {
      const row = { ...this.#row, ...changes };
      try {
        await this.#context.curtailments.save(this.id, { curtailment: this.#withMeasured(row) });
      } catch (error) {
        // While the store is away, a place is held to its limit; no rig is given back its power.
        if (row.cause !== "limit" || row.ended !== null) throw error;
        this.#isRowChanged = true;
      }
      this.#row = row;
    });
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
    await this.#sending.settled();
  }

  /** Sends nothing more, and stores what it knows. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.settled();
    await this.#save().catch((error: unknown) =>
      this.#context.log.error({ err: error, curtailment: this.id }, "a turn of a curtailment failed"),
    );
  }

  async #turn(): Promise<void> {
    if (this.isOver || this.#isClosed) return;
    const { now } = this.#context;
    const { until, ended } = this.#row;
    if (ended === null && until !== null && now() >= until) this.#change({ state: "restoring", ended: until });
    const sees = this.#context.seenBy(this.#row.userId);
    const inScope = await rigsIn(this.#row.scope, this.#row.order, this.#context);
    const rigs = inScope.filter(({ entry }) => sees(entry.facts.groupId));
    const byId = new Map(rigs.map((each) => [each.entry.facts.id, each]));
    const find = (minerId: number): ScopeRig | null => byId.get(minerId) ?? this.#outside(minerId);
    this.#total = rigs.length;
    if (this.#power.turn(this.#row, rigs, now())) this.#isRowChanged = true;
    this.#advance(find);
    if (this.#row.ended === null) this.#lower(rigs, find);
    else if (this.#restoring.afterEnd(this.#row, find, this.#row.restore.parallel - this.#open)) this.#close(now());
    const sending = this.#chosen(find);
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

  /** What the readings show of each rig that was told something. */
  #advance(find: (minerId: number) => ScopeRig | null): void {
    const { now, orders } = this.#context;
    for (const [minerId, rig] of this.#rigs.all) {
      if (!isUnderWay(rig)) continue;
      const found = find(minerId);
      const seconds = found === null ? null : orders.seconds(found.entry);
      const patienceMs = 1000 * Math.max(seconds?.off ?? 0, seconds?.setpoint ?? 0);
      const step = { now: now(), patienceMs, isOpen: orders.isOpen(minerId) };
      const { row, gaveUp } =
        rig.state === "restoring"
          ? advanceBack(rig, found?.view ?? absent, step)
          : this.#row.ended === null
            ? advance(rig, found?.view ?? absent, step)
            : { row: rig };
      if (row.state === "reached" || row.state === "restored") orders.shown(minerId);
      if (found === null)
        this.#rigs.set(minerId, { ...rig, state: "released", message: "It is no miner of this service any more" });
      // While it lasts, it is tried again once there is still room for it.
      else if (rig.state === "restoring" && gaveUp !== undefined && this.#row.ended === null)
        this.#rigs.set(minerId, { ...row, state: "reached", gaveUp: false });
      else {
        if (row !== rig) this.#rigs.set(minerId, row);
        if (gaveUp !== undefined) this.#report(minerId, row, gaveUp);
      }
    }
  }

  /** Chooses rigs to lower, or to give back some power. */
  #lower(rigs: readonly ScopeRig[], find: (minerId: number) => ScopeRig | null): void {
    const { now } = this.#context;
    const { ramp, level, started, baseline } = this.#row;
    const { candidates, others } = this.#candidates(rigs);
    this.#able = candidates.length;
    const target = this.#rigTarget();
    const given = Math.max(0, baseline - this.#power.now.expected);
    const sheds = shed(candidates, others, {
      target,
      level,
      tolerance: toleranceOf(baseline),
      allowance: rampAllowance(ramp.wattsPerMinute, Math.abs(now() - started)) - given,
    });
    for (const { id, watts } of sheds) this.#tell(id, watts, find(id));
    this.#note(target);
    const isRoom = sheds.length === 0 && target !== null;
    if (isRoom && this.#restoring.withinTarget(this.#row, target, this.#power.now.expected + this.#power.away, find))
      this.#change({ moved: now() });
  }

  /** The rigs that can be told something now, and W of all others. */
  #candidates(rigs: readonly ScopeRig[]): { readonly candidates: readonly SheddingRig[]; readonly others: number } {
    const { order, level, ramp, urgent, started } = this.#row;
    const manner: Manner = { order, level, ramp, urgent, rank: this.rank, since: started };
    const exempt = exemptPlaces(this.#context.places);
    const candidates: SheddingRig[] = [];
    let others = 0;
    for (const each of rigs) {
      const { id } = each.entry.facts;
      const row = this.#rigs.get(id);
      const isFree = row === undefined || row.state === "restored" || (row.state === "reached" && row.wanted > 0);
      const candidate =
        isFree && !this.#context.orders.isOpen(id)
          ? possible(() => sheddingRig(each, manner, exempt, this.#context))
          : null;
      const assumed = this.#power.assumed(this.#row, each);
      if (candidate !== null) candidates.push({ ...candidate, expected: candidate.expected + assumed });
      else others += assumed + (row?.state === "due" ? Math.min(each.expected, row.wanted) : each.expected);
    }
    return { candidates, others };
  }

  /** W that the rigs may take so that what the meter shows besides them fits, too. */
  #rigTarget(): number | null {
    const { meter, rigs } = this.#power.now;
    const target = targetWatts(this.#row.target, this.#row.baseline);
    if (target === null || this.#row.target.limit === undefined) return target;
    // While its meter is silent, the sum of its rigs counts, and a little more.
    if (meter === null) return metersOf(this.#row.scope, this.#context).length > 0 ? target / silentFactor : target;
    return target - Math.max(0, meter - rigs);
  }

  #tell(minerId: number, watts: number, found: ScopeRig | null): void {
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
    for (const other of this.#context.others(this)) {
      const rig = other.rigs.get(minerId);
      if (rig !== undefined && (isHeld(rig) || rig.state === "restoring")) return rig.before;
    }
    return { power: draw, setting };
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
    const target = this.#rigTarget();
    const hasRoom = target !== null && this.#power.now.expected + gainOf(rig) <= target;
    if (hasRoom || !isIn(this.#row.scope, entry, this.#context)) return false;
    this.#rigs.set(minerId, { ...rig, state: "reached", tries: 0, wakes: 0 });
    return true;
  }

  /** The rigs whose turn it is, marked as sent: that is stored before they are sent anything. */
  #chosen(find: (minerId: number) => ScopeRig | null): readonly Sending[] {
    if (this.#isClosed) return [];
    const { ramp, restore, urgent } = this.#row;
    const { orders, now } = this.#context;
    const sendings: Sending[] = [];
    const choose = (minerId: number, rig: StoredCurtailedRig, send: () => Promise<string | null>): void => {
      this.#rigs.set(minerId, {
        ...rig,
        state: rig.state === "due" ? "sent" : rig.state,
        sent: now(),
        tries: rig.tries + 1,
      });
      sendings.push({ minerId, before: rig, send: () => this.#send(minerId, send()) });
    };
    for (const id of this.#rigs.those(({ state }) => state === "due")) {
      const [rig, found] = [this.#rigs.get(id), find(id)];
      if (this.#open + sendings.length >= ramp.parallel) break;
      if (rig !== undefined && found?.view.reachable === true)
        choose(id, rig, () => orders.lower(found.entry, rig.wanted, this.#actor, urgent));
    }
    for (const id of this.#restoring.waiting) {
      const [rig, found] = [this.#rigs.get(id), find(id)];
      if (this.#open + sendings.length >= restore.parallel) break;
      if (rig !== undefined && found !== null)
        choose(id, rig, () => orders.raise(found.entry, rig.before.setting, rig.before.power ?? 0, this.#actor));
    }
    return sendings;
  }

  get #actor(): string {
    return curtailmentActor(this.id, this.rank);
  }

  #send(minerId: number, sending: Promise<string | null>): void {
    this.#open += 1;
    const ended = sending.then((why) => {
      this.#open -= 1;
      const rig = this.#rigs.get(minerId);
      if (why !== null && rig !== undefined && (rig.state === "sent" || rig.state === "restoring"))
        this.#rigs.set(minerId, { ...rig, message: why });
    });
    void this.#sending.add(ended);
  }

  /** A rig that is not in the scope any more. */
  #outside(minerId: number): ScopeRig | null {
    const { registry } = this.#context;
    const entry = registry.find(minerId);
    return entry === undefined ? null : scopeRig(entry, this.#context);
  }

  #report(minerId: number, { name, wanted, gaveUp }: StoredCurtailedRig, why: "silent" | "wakes"): void {
    const figures = { rig: name, id: this.id, watts: Math.round(wanted) };
    const message = gaveUp
      ? coded("notices.curtailment.stopped", { rig: name, id: this.id })
      : why === "wakes"
        ? coded("notices.curtailment.wakes", figures)
        : coded("notices.curtailment.silent", figures);
    this.#context.notices.raise({
      // Nothing would end it: the curtailment is over.
      key: gaveUp ? null : noticeKey(this.id, minerId),
      minerId,
      title: this.#row.reason,
      source: "System",
      message,
      severity: "warning",
    });
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

/** Stored, so it never changes. */
const noticeKey = (id: number, minerId: number): string => `curtailment:${id}:${minerId}`;

/** A command that is sent once it is stored. */
interface Sending {
  readonly minerId: number;
  /** Without it. */
  readonly before: StoredCurtailedRig;
  send(): void;
}

/** Whether its next reading may change what is known of a rig. */
const isUnderWay = ({ state }: StoredCurtailedRig): boolean =>
  state === "due" || state === "sent" || state === "reached" || state === "away" || state === "restoring";

const absent: RigView = { at: null, reachable: false, draw: null, mining: null, setting: null };

function possible<T>(of: () => T): T | null {
  try {
    return of();
  } catch (error) {
    if (error instanceof RigbridgeError) return null;
    throw error;
  }
}
