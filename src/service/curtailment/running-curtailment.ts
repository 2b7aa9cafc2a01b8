import type { Logger } from "pino";
import { Background } from "../../async/index.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { coded } from "../../messages/coded.ts";
import type { CurtailmentLog, StoredCommand, StoredCurtailedRig, StoredCurtailment } from "../../store/index.ts";
import type { Notices } from "../notifications/notices.ts";
import { curtailmentActor, type PowerRank, powerCommandOf } from "../power/precedence.ts";
import { advance, advanceBack, isHeld, type RigTurn, type RigView } from "./curtailed-rig.ts";
import { givenBack, rampAllowance, type SheddingRig, shed, spreadOver } from "./curtailment-law.ts";
import {
  exemptPlaces,
  isIn,
  type Manner,
  meteredPower,
  rigsIn,
  type ScopeContext,
  type ScopeRig,
  sheddingRig,
} from "./scope-rigs.ts";

export interface RunningContext extends ScopeContext {
  readonly log: Logger;
  readonly curtailments: CurtailmentLog;
  readonly notices: Notices;
  /** Epoch ms. */
  readonly now: () => number;
  /** Others that have not ended: a rig of two takes the lower power. */
  readonly others: (curtailment: RunningCurtailment) => readonly RunningCurtailment[];
}

/** What the rigs of a curtailment take, W. */
export interface Observed {
  readonly rigs: number;
  readonly meter: number | null;
  /** What counts until it is shown. */
  readonly expected: number;
}

/** ms between two samples while power changes, and while it does not. */
const sampleMs = { moving: 10_000, holding: 60_000 };
/** ms for which nothing may have changed before rigs are given back power while a limit lasts. */
const calmMs = 60_000;
/** Share of a limit that stays free when rigs are given back power. */
const calmShare = 0.02;

/** One curtailment that is not over: what its rigs are told, turn by turn. */
export class RunningCurtailment {
  readonly id: number;
  readonly #context: RunningContext;
  #row: StoredCurtailment;
  readonly #rigs: Map<number, StoredCurtailedRig>;
  readonly #changed = new Set<number>();
  #isRowChanged = false;
  #observed: Observed;
  #sampledAt = Number.NEGATIVE_INFINITY;
  /** Rigs that could still give up power, as of the last turn. */
  #able = 0;
  #turning: Promise<void> | null = null;
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
    this.#rigs = new Map(rigs);
    this.#context = context;
    this.#observed = { rigs: row.baseline, meter: null, expected: row.baseline };
  }

  get row(): StoredCurtailment {
    return this.#row;
  }

  get rigs(): ReadonlyMap<number, StoredCurtailedRig> {
    return this.#rigs;
  }

  get observed(): Observed {
    return this.#observed;
  }

  /** Whether it could still give up power that its target asks for. */
  get isAble(): boolean {
    return this.#able > 0;
  }

  get isOver(): boolean {
    return this.#row.state === "ended";
  }

  get rank(): PowerRank {
    return rankOfCurtailment(this.#row);
  }

  /** W that its rigs may take; null: they all stop. */
  get target(): number | null {
    return targetWatts(this.#row);
  }

  /** Whether it holds the power of a rig down. */
  holds(minerId: number): boolean {
    const rig = this.#rigs.get(minerId);
    return rig !== undefined && this.#row.ended === null && isHeld(rig) && rig.state !== "away";
  }

  /** Changes it, and has the next turn act on it. Stored when it resolves. Throws store.full. */
  async change(changes: Partial<StoredCurtailment>): Promise<void> {
    const row = { ...this.#row, ...changes };
    await this.#context.curtailments.save(this.id, { curtailment: row });
    this.#row = row;
  }

  /** One turn; another begins only after it. Never rejects. */
  turn(): Promise<void> {
    this.#turning ??= this.#turn()
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
    const isBegun = rig.sent !== null && command.time >= this.#row.started;
    if (!isBegun || rig.state === "restored" || rig.state === "released" || rig.state === "taken") return;
    const override = command.parameters.override === true ? ", against the curtailment" : "";
    const what = power.stops ? "stopped" : "set";
    this.#set(command.minerId, { ...rig, state: "taken", message: `${what} by ${power.who}${override}` });
  }

  async settled(): Promise<void> {
    await this.#turning;
    await this.#sending.settled();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.settled();
  }

  async #turn(): Promise<void> {
    if (this.isOver || this.#isClosed) return;
    const { now } = this.#context;
    const { until, ended } = this.#row;
    if (ended === null && until !== null && now() >= until) this.#change({ state: "restoring", ended: until });
    const rigs = rigsIn(this.#row.scope, this.#row.order, this.#context);
    this.#observe(rigs);
    const byId = new Map(rigs.map((each) => [each.entry.facts.id, each]));
    this.#advance(byId);
    const send = this.#row.ended === null ? this.#lower(rigs, byId) : this.#giveBack(byId);
    await this.#save();
    if (!this.#isClosed) send();
  }

  #observe(rigs: readonly ScopeRig[]): void {
    let [sum, expected] = [0, 0];
    for (const each of rigs) {
      sum += each.view.reachable ? (each.view.draw ?? 0) : 0;
      expected += each.expected;
    }
    this.#observed = { rigs: sum, meter: meteredPower(this.#row.scope, this.#context), expected };
  }

  /** What the readings show of each rig that was told something. */
  #advance(byId: ReadonlyMap<number, ScopeRig>): void {
    const { now, orders } = this.#context;
    for (const [minerId, rig] of this.#rigs) {
      const found = byId.get(minerId) ?? this.#outside(minerId);
      const view = found?.view ?? absent;
      const seconds = found === null ? null : orders.seconds(found.entry);
      const patienceMs = 1000 * Math.max(seconds?.off ?? 0, seconds?.setpoint ?? 0);
      const step = { now: now(), patienceMs, isOpen: orders.isOpen(minerId) };
      const turn: RigTurn =
        rig.state === "restoring"
          ? advanceBack(rig, view, step)
          : this.#row.ended === null
            ? advance(rig, view, step)
            : { row: rig };
      if (turn.row !== rig) this.#set(minerId, turn.row);
      if (turn.row.state === "reached" || turn.row.state === "restored") orders.shown(minerId);
      if (turn.gaveUp !== undefined) this.#report(minerId, turn.row, turn.gaveUp);
    }
  }

  /** Chooses rigs to lower; what is returned sends them their commands, once they are stored. */
  #lower(rigs: readonly ScopeRig[], byId: ReadonlyMap<number, ScopeRig>): () => void {
    const { now } = this.#context;
    const { ramp, level, started } = this.#row;
    const { candidates, others } = this.#candidates(rigs);
    this.#able = candidates.length;
    const target = this.#rigTarget();
    const sheds = shed(candidates, others, {
      target,
      level,
      tolerance: this.#tolerance(),
      allowance:
        rampAllowance(ramp.wattsPerMinute, now() - started) - Math.max(0, this.#row.baseline - this.#observed.expected),
    });
    for (const { id, watts } of sheds) this.#tell(id, watts, byId);
    this.#note(target);
    if (sheds.length === 0) this.#returnSome(target, byId);
    const due = [...this.#rigs].filter(([, { state }]) => state === "due").map(([id]) => id);
    const back = this.#waitingForPower();
    return () => {
      for (const id of due.slice(0, Math.max(0, ramp.parallel - this.#open))) this.#sendLower(id, byId);
      for (const id of back.slice(0, Math.max(0, this.#row.restore.parallel - this.#open))) this.#sendRaise(id);
    };
  }

  /** The rigs that can be told something now, and W of all others. */
  #candidates(rigs: readonly ScopeRig[]): { readonly candidates: readonly SheddingRig[]; readonly others: number } {
    const { context, manner } = { context: this.#context, manner: this.#manner() };
    const exempt = exemptPlaces(context.places);
    const candidates: SheddingRig[] = [];
    let others = 0;
    for (const each of rigs) {
      const { id } = each.entry.facts;
      const row = this.#rigs.get(id);
      const isFree = row === undefined || row.state === "restored" || (row.state === "reached" && row.wanted > 0);
      const candidate =
        isFree && !context.orders.isOpen(id) ? possible(() => sheddingRig(each, manner, exempt, context)) : null;
      if (candidate !== null) candidates.push(candidate);
      else others += row?.state === "due" ? Math.min(each.expected, row.wanted) : each.expected;
    }
    return { candidates, others };
  }

  #manner(): Manner {
    const { order, level, ramp, urgent } = this.#row;
    return { order, level, ramp, urgent, rank: this.rank };
  }

  /** W that the rigs may take so that what the meter shows besides them fits, too. */
  #rigTarget(): number | null {
    const { target, row } = { target: this.target, row: this.#row };
    const { meter, rigs } = this.#observed;
    if (target === null || row.target.limit === undefined || meter === null) return target;
    return target - Math.max(0, meter - rigs);
  }

  #tell(minerId: number, watts: number, byId: ReadonlyMap<number, ScopeRig>): void {
    const found = byId.get(minerId);
    if (found === undefined) return;
    const known = this.#rigs.get(minerId);
    const { facts, rig } = found.entry;
    this.#set(minerId, {
      name: facts.name,
      uid: rig.state.uid,
      state: "due",
      before: known?.before ?? this.#before(minerId, found.view),
      wanted: watts,
      sent: known?.sent ?? null,
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
    const { now } = this.#context;
    const isMoving = [...this.#rigs.values()].some(({ state }) => state === "due" || state === "sent");
    const isReached = target === null ? !isMoving : this.#observed.rigs <= target + this.#tolerance();
    const state = isReached || (!isMoving && this.#able === 0) ? "holding" : "curtailing";
    const reached = this.#row.reached ?? (isReached ? now() : null);
    if (state !== this.#row.state || reached !== this.#row.reached) this.#change({ state, reached });
  }

  #tolerance(): number {
    return toleranceOf(this.#row.baseline);
  }

  /** Gives rigs back their power while it lasts, if the target leaves room for it for some time. */
  #returnSome(target: number | null, byId: ReadonlyMap<number, ScopeRig>): void {
    const { now } = this.#context;
    const rows = [...this.#rigs];
    const isMoving = rows.some(([, { state }]) => state === "due" || state === "sent" || state === "restoring");
    if (target === null || isMoving || now() < this.#row.moved + calmMs) return;
    const held = rows
      .filter(([id, { state }]) => state === "reached" && byId.get(id)?.view.reachable === true)
      .reverse()
      .map(([id, { before }]) => ({
        id,
        expected: byId.get(id)?.expected ?? 0,
        before: before.power ?? Number.POSITIVE_INFINITY,
      }));
    const room = target * (1 - calmShare) - this.#observed.expected;
    const back = givenBack(held, room);
    if (back.length === 0) return;
    this.#change({ moved: now() });
    for (const id of back) {
      const rig = this.#rigs.get(id);
      if (rig !== undefined) this.#set(id, { ...rig, state: "restoring", sent: null, tries: 0 });
    }
  }

  /** Chooses rigs to give back their power, once it has ended. */
  #giveBack(byId: ReadonlyMap<number, ScopeRig>): () => void {
    const { now } = this.#context;
    const { restore, ended } = this.#row;
    const begins = (ended ?? 0) + restore.wait * 1000;
    this.#release();
    if (now() < begins) return () => undefined;
    const waiting = [...this.#rigs].filter(([, rig]) => isHeld(rig)).map(([id]) => id);
    let allowance = rampAllowance(restore.wattsPerMinute, now() - begins) - this.#givenSince(begins);
    const spread = spreadOver(waiting, (id) => byId.get(id)?.entry.facts.placeId ?? null);
    let free = Math.max(0, restore.parallel - this.#open);
    for (const id of spread) {
      const rig = this.#rigs.get(id);
      if (rig === undefined || free <= 0) break;
      const more = Math.max(0, (rig.before.power ?? 0) - rig.wanted);
      if (more > allowance || !this.#mayRise(id, rig, byId)) continue;
      allowance -= more;
      free -= 1;
      this.#set(id, { ...rig, state: "restoring", sent: null, tries: 0 });
    }
    if (![...this.#rigs.values()].some((rig) => isHeld(rig) || rig.state === "restoring"))
      this.#change({ state: "ended", restored: now() });
    const back = this.#waitingForPower();
    return () => {
      for (const id of back) this.#sendRaise(id);
    };
  }

  /** Rigs that were never told anything, and that cannot be given back anything. */
  #release(): void {
    for (const [id, rig] of this.#rigs) {
      const isUntouched = isHeld(rig) && rig.sent === null;
      if (isUntouched || (this.#row.released && isHeld(rig))) this.#set(id, { ...rig, state: "released" });
    }
  }

  /** W that rigs were given back since then. */
  #givenSince(begins: number): number {
    let sum = 0;
    for (const { state, before, wanted, sent } of this.#rigs.values())
      if ((state === "restoring" || state === "restored") && (sent ?? begins) >= begins)
        sum += Math.max(0, (before.power ?? 0) - wanted);
    return sum;
  }

  /** Whether a rig may have its power back now; one that another curtailment or somebody else holds is left to them. */
  #mayRise(minerId: number, rig: StoredCurtailedRig, byId: ReadonlyMap<number, ScopeRig>): boolean {
    const { holds, power, orders } = this.#context;
    const entry = byId.get(minerId)?.entry ?? this.#outside(minerId)?.entry;
    if (entry === undefined) {
      this.#set(minerId, { ...rig, state: "released", message: "It is no miner of this service any more" });
      return false;
    }
    if (orders.isOpen(minerId)) return false;
    for (const other of this.#context.others(this))
      if (other.takesOver(minerId, rig, entry)) {
        this.#set(minerId, { ...rig, state: "released", message: `Held by curtailment ${other.id}` });
        return false;
      }
    const hold = holds.holdFor(entry, { rank: this.rank, stops: false });
    if (hold !== null) {
      this.#set(minerId, { ...rig, state: "taken", message: `Held by ${holds.last(minerId)?.who ?? hold.by}` });
      return false;
    }
    const { reading } = entry.rig.state;
    const { setting } = rig.before;
    return reading === null || setting === null || this.#row.urgent || power.permission(minerId, reading, setting).now;
  }

  /** Keeps a rig down that another curtailment gives back, if this one holds it or has no room for it. */
  takesOver(minerId: number, rig: StoredCurtailedRig, entry: ScopeRig["entry"]): boolean {
    if (this.#row.ended !== null || this.isOver) return false;
    const own = this.#rigs.get(minerId);
    if (own !== undefined && isHeld(own)) {
      this.#set(minerId, { ...own, before: rig.before });
      return true;
    }
    const isInScope = isIn(this.#row.scope, entry, this.#context);
    const target = this.#rigTarget();
    const more = Math.max(0, (rig.before.power ?? 0) - rig.wanted);
    if (!isInScope || (target !== null && this.#observed.expected + more <= target)) return false;
    this.#set(minerId, { ...rig, state: "reached", tries: 0, wakes: 0 });
    return true;
  }

  #waitingForPower(): readonly number[] {
    return [...this.#rigs].filter(([, { state, sent }]) => state === "restoring" && sent === null).map(([id]) => id);
  }

  #sendLower(minerId: number, byId: ReadonlyMap<number, ScopeRig>): void {
    const [rig, found] = [this.#rigs.get(minerId), byId.get(minerId)];
    if (rig === undefined || found === undefined || !found.view.reachable || rig.state !== "due") return;
    this.#set(minerId, { ...rig, state: "sent", sent: this.#context.now(), tries: rig.tries + 1 });
    const actor = curtailmentActor(this.id, this.rank);
    this.#send(minerId, this.#context.orders.lower(found.entry, rig.wanted, actor, this.#row.urgent));
  }

  #sendRaise(minerId: number): void {
    const { registry, orders, now } = this.#context;
    const [rig, entry] = [this.#rigs.get(minerId), registry.find(minerId)];
    if (rig === undefined || entry === undefined || rig.state !== "restoring") return;
    this.#set(minerId, { ...rig, sent: now(), tries: rig.tries + 1 });
    const { setting, power } = rig.before;
    const actor = curtailmentActor(this.id, this.rank);
    this.#send(minerId, orders.raise(entry, setting, power ?? 0, actor));
  }

  #send(minerId: number, sending: Promise<string | null>): void {
    this.#open += 1;
    const ended = sending.then((why) => {
      this.#open -= 1;
      const rig = this.#rigs.get(minerId);
      if (why !== null && rig !== undefined && (rig.state === "sent" || rig.state === "restoring"))
        this.#set(minerId, { ...rig, message: why });
    });
    void this.#sending.add(ended);
  }

  /** A rig that is not in the scope any more. */
  #outside(minerId: number): ScopeRig | null {
    const { registry, orders } = this.#context;
    const entry = registry.find(minerId);
    if (entry === undefined) return null;
    const view = orders.view(entry);
    return { entry, view, expected: orders.expected(minerId, view) };
  }

  #report(minerId: number, { name, wanted }: StoredCurtailedRig, why: "silent" | "wakes"): void {
    const { notices } = this.#context;
    const figures = { rig: name, id: this.id, watts: Math.round(wanted) };
    const message =
      why === "wakes" ? coded("notices.curtailment.wakes", figures) : coded("notices.curtailment.silent", figures);
    const key = `curtailment:${this.id}:${minerId}`;
    notices.raise({ key, minerId, title: this.#row.reason, source: "System", message, severity: "warning" });
  }

  #set(minerId: number, rig: StoredCurtailedRig): void {
    this.#rigs.set(minerId, rig);
    this.#changed.add(minerId);
  }

  #change(changes: Partial<StoredCurtailment>): void {
    this.#row = { ...this.#row, ...changes };
    this.#isRowChanged = true;
  }

  /** Stores what has changed, before anything is sent. While the store is away, only what is for safety goes on. */
  async #save(): Promise<void> {
    const { curtailments, now } = this.#context;
    const changed = [...this.#changed];
    this.#changed.clear();
    const rigs = new Map(
      changed.flatMap((id) => {
        const rig = this.#rigs.get(id);
        return rig === undefined ? [] : [[id, rig] as const];
      }),
    );
    const interval = this.#row.state === "holding" ? sampleMs.holding : sampleMs.moving;
    const isDue = this.#isRowChanged || now() >= this.#sampledAt + interval;
    const { rigs: watts, meter } = this.#observed;
    const sample = isDue ? { time: Math.round(now()), rigs: watts, meter } : undefined;
    const curtailment = this.#isRowChanged ? this.#row : undefined;
    if (curtailment === undefined && rigs.size === 0 && sample === undefined) return;
    this.#isRowChanged = false;
    try {
      await curtailments.save(this.id, { curtailment, rigs, sample });
      if (isDue) this.#sampledAt = now();
    } catch (error) {
      for (const id of changed) this.#changed.add(id);
      this.#isRowChanged ||= curtailment !== undefined;
      if (!this.#row.urgent) throw error;
    }
  }
}

/** A curtailment that a person began is a person's wish. */
export const rankOfCurtailment = ({ safety, cause }: Pick<StoredCurtailment, "safety" | "cause">): PowerRank =>
  safety ? "emergency" : cause === "person" ? "person" : "curtailment";

const absent: RigView = { at: null, reachable: false, draw: null, mining: null, setting: null };

/** W by which rigs that took so much may miss their target: sums of measured powers are not exact. */
export const toleranceOf = (baseline: number): number => Math.max(2, 0.005 * baseline);

/** W that the rigs of a curtailment may take; null: they all stop. */
export function targetWatts({ target, baseline }: Pick<StoredCurtailment, "target" | "baseline">): number | null {
  if (target.all === true) return null;
  if (target.limit !== undefined) return target.limit;
  if (target.share !== undefined) return baseline * (1 - target.share / 100);
  return Math.max(0, baseline - (target.reduce ?? 0));
}

function possible<T>(of: () => T): T | null {
  try {
    return of();
  } catch (error) {
    if (error instanceof RigbridgeError) return null;
    throw error;
  }
}
