import type { Logger } from "pino";
import type { Condition } from "../../../contract/rule-conditions.ts";
import { DueQueue } from "../../../fleet/schedule.ts";
import { type RigState, statusOf } from "../../../fleet/state.ts";
import type { Detail } from "../../../messages/coded-text.ts";
import type { Store } from "../../../store/index.ts";
import { enabled } from "../../crud.ts";
import type { Entry } from "../../miners/miner-entries.ts";
import type { ReadingChange } from "../../miners/reading-watch.ts";
import type { AccessBook } from "../../users/access.ts";
import type { StepTargets } from "../step-targets.ts";
import type { ExpressionNames } from "./compile.ts";
import type { Subject } from "./conditions.ts";
import { Allowances } from "./expression-meter.ts";
import type { MedianBook, RateBook } from "./history-books.ts";
import { anything, InputMasks } from "./input-masks.ts";
import {
  againDue,
  Cell,
  cellOf,
  dueOf,
  type FiringActs,
  isDeaf,
  isGuarded,
  type LiveRule,
  liveRule,
} from "./live-rule.ts";
import { advance, type Instant } from "./machine.ts";
import { type MembersOptions, RuleMembers, type Slot } from "./members.ts";
import type { Moment, RuleSurroundings } from "./surroundings.ts";
import type { Traces } from "./traces.ts";
import { UnwrittenStates } from "./unwritten.ts";

export interface RuleEngineOptions {
  readonly registry: MembersOptions["registry"];
  readonly store: Store;
  readonly accessBook: AccessBook;
  readonly around: RuleSurroundings & ExpressionNames;
  readonly medians: MedianBook;
  readonly rates: RateBook;
  readonly traces: Traces;
  readonly targets: Pick<StepTargets, "idOf">;
  /** Why no rule is evaluated; null if rules are evaluated. */
  readonly off: string | null;
  /** Called when the state of a rule for a miner changes. */
  readonly touch: (rule: LiveRule) => void;
  /** Epoch ms, and ms of a clock that never jumps. */
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly log: Logger;
}

/** The clock has jumped if it differs from the monotonic clock by more than this, ms. */
const jumpMs = 5_000;
/** Interval for rules on conditions of the farm alone, such as a price, ms. */
const farmMs = 10_000;

/** Evaluates all rules, on changes and on time. */
export class RuleEngine {
  readonly #options: RuleEngineOptions;
  readonly #members: RuleMembers;
  readonly #unwritten: UnwrittenStates;
  readonly #due = new DueQueue<{ readonly rule: LiveRule; readonly minerId: number }>();
  #firing: FiringActs | undefined;
  #rules: readonly LiveRule[] = [];
  readonly #inputs = new InputMasks();
  /** New or changed rules: their conditions may already hold, although no reading changes. */
  readonly #fresh = new Set<LiveRule>();
  /** Miners that have come into the scope of a rule since the last turn. */
  #joined: { readonly rule: LiveRule; readonly minerId: number }[] = [];
  readonly #allowances = new Allowances();
  #last: Instant | null = null;
  #farmAt = Number.NEGATIVE_INFINITY;

  constructor(options: RuleEngineOptions) {
    const { registry, store, accessBook, medians, rates, traces, touch } = options;
    this.#options = options;
    this.#unwritten = new UnwrittenStates(store, traces, touch);
    this.#members = new RuleMembers({
      registry,
      store,
      accessBook,
      monotonicNow: () => this.now.monotonic,
      joined: (rule, minerId) => {
        if (!this.#fresh.has(rule)) this.#joined.push({ rule, minerId });
      },
      left: (rule, minerId) => {
        if (rule.cells.has(minerId)) this.#forget(rule, minerId);
      },
      removed: (minerId) => {
        medians.forget(minerId);
        rates.forget(minerId);
      },
    });
  }

  /** Acts when a rule fires; set once. */
  set firing(firing: FiringActs) {
    this.#firing = firing;
  }

  /** Why no rule is evaluated; null if rules are evaluated. */
  get off(): string | null {
    return this.#options.off;
  }

  get rules(): readonly LiveRule[] {
    return this.#rules;
  }

  get now(): Instant {
    return { monotonic: Math.round(this.#options.monotonicNow()), wall: this.#options.now() };
  }

  find(ruleId: number): LiveRule | undefined {
    return this.#rules.find(({ id }) => id === ruleId);
  }

  /** The miners that a rule currently acts on. */
  members(rule: LiveRule): number[] {
    return this.#members.of(rule);
  }

  /** Why a rule does not apply to a miner, as the end of a sentence. */
  whyNot(rule: LiveRule, minerId: number): Detail | string {
    return this.#members.whyNot(rule, minerId);
  }

  entryOf(minerId: number): Entry | undefined {
    return this.#members.slot(minerId)?.entry;
  }

  subjectOf(minerId: number): Subject {
    return this.#members.slot(minerId) ?? ofNoMiner;
  }

  /** Restores all states; nothing fires again. */
  async load(): Promise<void> {
    this.reload();
    const { off } = this.#options;
    const rules = new Map(this.#rules.map((rule) => [rule.id, rule]));
    const { now } = this;
    await this.#options.store.ruleLog.eachState((row) => {
      const rule = row.kind === "rule" ? rules.get(row.ownerId) : undefined;
      if (rule !== undefined && (rule.compiled !== null || off !== null)) rule.cells.set(row.minerId, cellOf(row, now));
    });
    for (const rule of this.#rules) rule.guardOpen = [...rule.cells.values()].some(isGuarded);
  }

  /** Loads the rules from the store; unchanged rules keep their states. */
  reload(): void {
    const { store, around, off, targets } = this.#options;
    const before = new Map(this.#rules.map((rule) => [rule.id, rule]));
    this.#rules = enabled(store.rules).map((row) => {
      const rule = liveRule(row, { around, off, targets, allowances: this.#allowances });
      const old = before.get(row.id);
      before.delete(row.id);
      if (old === undefined) this.#fresh.add(rule);
      if (old === undefined) return rule;
      const madeOf = ({ settings, makerId, inhibitors }: LiveRule): string =>
        JSON.stringify([settings, makerId, inhibitors]);
      if (madeOf(old) === madeOf(rule)) return old;
      this.#fresh.add(rule);
      this.#firing?.closed(old);
      // Its conditions changed; only the firing count is kept.
      for (const [minerId, cell] of old.cells) {
        const fresh = new Cell();
        fresh.count = cell.count;
        fresh.fired = cell.fired;
        rule.cells.set(minerId, fresh);
        this.#unwritten.changed(rule, minerId);
      }
      return rule;
    });
    for (const rule of before.values()) this.#firing?.closed(rule);
    this.#unwritten.keepOnly(this.#rules);
    this.#index();
    this.#members.rules = this.#rules;
  }

  #index(): void {
    this.#inputs.index(this.#rules);
    const conditions = this.#rules.flatMap(({ compiled, settings }) =>
      settings.enabled === false ? [] : (compiled?.conditions ?? []),
    );
    this.#options.rates.longestMs = Math.max(0, ...conditions.map((each) => ("rate" in each ? each.over * 1000 : 0)));
    this.#options.around.watch(conditions);
  }

  /** Reads of rigs, as they come. */
  readonly take = (changes: readonly ReadingChange[]): void => {
    if (this.#rules.length === 0) return;
    this.#members.arrange(changes.some(({ id }) => this.#members.slot(id) === undefined));
    const now = this.now;
    for (const { id, before, state } of changes) {
      const slot = this.#members.slot(id);
      if (slot === undefined || slot.rules.length === 0) continue;
      slot.state = state;
      this.#options.rates.note(id, state, now.monotonic);
      const mask = isCurrent(before) === isCurrent(state) ? this.#inputs.changed(slot, before, state) : anything;
      for (const rule of slot.rules) if ((rule.mask & mask) !== 0) this.#evaluate(rule, id, slot, now);
      this.#moments(slot, before, state);
    }
  };

  #moments(slot: Slot, before: RigState, state: RigState): void {
    if (isCurrent(state) && statusOf(before, slot.disabled) === "Disconnected") this.#happens(slot, "back_online");
    const { bestShare, foundBlocks } = state.records;
    const [earlier, found] = [before.records.bestShare, before.records.foundBlocks];
    if (state.records === before.records) return;
    if (earlier !== null && bestShare !== null && bestShare > earlier) this.#happens(slot, "best_share");
    if (found !== null && foundBlocks !== null && foundBlocks > found) this.#happens(slot, "block_found");
  }

  #happens(slot: Slot, event: string): void {
    for (const rule of slot.rules)
      if (rule.compiled?.momentary === true) this.#moment(rule, slot.id, { event, minerId: slot.id });
  }

  /** Tests a momentary rule while an event happens. */
  #moment(rule: LiveRule, minerId: number, moment: Moment): void {
    if (rule.settings.enabled === false || rule.problem !== null) return;
    const subject = this.subjectOf(minerId);
    const { around } = this.#options;
    around.during(moment, () => {
      if (rule.compiled?.test(subject, false) !== true) return;
      const cell = this.cell(rule, minerId);
      const now = this.now;
      if (now.monotonic < (cell.deafUntil ?? 0)) return;
      this.#firing?.fire(rule, minerId, cell, now);
      this.#unwritten.changed(rule, minerId);
    });
  }

  /** An event without a miner, such as an incoming web hook. */
  happen(moment: Moment, concerns: (condition: Condition) => boolean): void {
    this.#members.arrange();
    for (const rule of this.#rules) {
      if (rule.compiled?.momentary !== true || !rule.compiled.conditions.some(concerns)) continue;
      for (const minerId of this.#subjectIds(rule)) this.#moment(rule, minerId, moment);
    }
  }

  #subjectIds(rule: LiveRule): number[] {
    return rule.compiled?.ofFarm === true ? [0] : this.members(rule);
  }

  /** Tests the rules with such a condition for all their miners. */
  reconsider(concerns: (condition: Condition) => boolean): void {
    const { now } = this;
    for (const rule of this.#rules)
      if (rule.compiled?.conditions.some(concerns) === true)
        for (const minerId of this.#subjectIds(rule)) this.#evaluate(rule, minerId, this.subjectOf(minerId), now);
  }

  cell(rule: LiveRule, minerId: number): Cell {
    const found = rule.cells.get(minerId);
    if (found !== undefined) return found;
    const cell = new Cell();
    rule.cells.set(minerId, cell);
    return cell;
  }

  /** A rule's action for a miner has ended: evaluate the changes that it deferred. */
  settle(rule: LiveRule, minerId: number): void {
    const cell = rule.cells.get(minerId);
    if (cell !== undefined) this.#schedule(rule, minerId, cell, this.now.monotonic);
  }

  #evaluate(rule: LiveRule, minerId: number, subject: Subject, now: Instant): void {
    const { compiled } = rule;
    if (compiled === null || compiled.momentary || rule.problem !== null || rule.settings.enabled === false) return;
    const known = rule.cells.get(minerId);
    const isActive = known !== undefined && (known.phase === "firing" || known.phase === "clearing");
    const truth = isDeaf(known, subject, now) ? null : compiled.test(subject, isActive);
    if (known === undefined && truth !== true) return;
    const cell = known ?? this.cell(rule, minerId);
    const before = cell.phase;
    const turn = advance(cell, truth, now, rule.delays);
    if (before === "idle" && cell.phase !== "idle") cell.began = now.monotonic;
    const mayRetry = now.monotonic >= (cell.retryAt ?? 0);
    const isHeld = truth === true && cell.phase === "firing" && cell.held !== null && mayRetry;
    const again = turn === null && truth === true && now.monotonic >= againDue(cell, rule);
    const givesUp = again && cell.attempts === rule.settings.again?.times;
    const fires = turn === "fire" || isHeld || (again && !givesUp);
    const clears = turn === "clear" || (truth === false && cell.phase === "idle" && cell.owesClear && mayRetry);
    if (fires) this.#firing?.fire(rule, minerId, cell, now);
    if (givesUp) this.#firing?.giveUp(rule, minerId, cell, now);
    if (clears) this.#firing?.clear(rule, minerId, cell, now);
    if (cell.phase !== before || fires || clears || givesUp) this.#unwritten.changed(rule, minerId);
    if (cell.isBlank) this.#forget(rule, minerId);
    else this.#schedule(rule, minerId, cell, dueOf(cell, rule, now));
  }

  #schedule(rule: LiveRule, minerId: number, cell: Cell, due: number): void {
    if (due === (cell.due ?? Number.POSITIVE_INFINITY)) return;
    cell.due = due < Number.POSITIVE_INFINITY ? due : null;
    if (cell.due !== null) this.#due.add(due, { rule, minerId });
  }

  #forget(rule: LiveRule, minerId: number): void {
    rule.cells.delete(minerId);
    this.#unwritten.gone(rule, minerId);
  }

  /** One turn, once a second: time, creators, timers, and writes. */
  async turn(): Promise<void> {
    const now = this.now;
    const jumped =
      this.#last !== null && Math.abs(now.wall - this.#last.wall - (now.monotonic - this.#last.monotonic)) > jumpMs;
    this.#last = now;
    this.#allowances.refill(this.#rules);
    this.#members.arrange();
    const { changed, come } = this.#options.around.turn(jumped);
    for (const rule of this.#fresh)
      if (this.#rules.includes(rule))
        for (const minerId of this.#subjectIds(rule)) this.#evaluate(rule, minerId, this.subjectOf(minerId), now);
    this.#fresh.clear();
    for (const { rule, minerId } of this.#joined.splice(0))
      if (this.#rules.includes(rule)) this.#evaluate(rule, minerId, this.subjectOf(minerId), now);
    if (changed.size > 0) this.reconsider((condition) => changed.has(condition));
    if (come.size > 0) this.happen({ conditions: come }, (condition) => come.has(condition));
    if (now.monotonic - this.#farmAt >= farmMs) {
      this.#farmAt = now.monotonic;
      for (const rule of this.#rules) if (rule.compiled?.ofFarm === true) this.#evaluate(rule, 0, ofNoMiner, now);
    }
    for (let next = this.#due.take(now.monotonic); next !== undefined; next = this.#due.take(now.monotonic)) {
      const { rule, minerId } = next;
      const cell = rule.cells.get(minerId);
      if (cell?.due == null || cell.due > now.monotonic || !this.#rules.includes(rule)) continue;
      this.#evaluate(rule, minerId, this.subjectOf(minerId), now);
      // Without changes, it is due again only by time.
      if (cell.due !== null && cell.due <= now.monotonic) cell.due = null;
    }
    for (const minerId of await this.#options.medians.turn()) {
      const slot = this.#members.slot(minerId);
      if (slot !== undefined)
        for (const rule of slot.rules) if (rule.mask === anything) this.#evaluate(rule, minerId, slot, now);
    }
    this.#firing?.turn(this.#rules, now);
    await this.#unwritten.write(this.#rules, now, false);
  }

  /** Writes all states. */
  async close(): Promise<void> {
    await this.#unwritten.write(this.#rules, this.now, true);
  }
}

const ofNoMiner: Subject = { id: 0, state: null, disabled: false };

const isCurrent = ({ reading, missed }: RigState): boolean => reading !== null && missed === 0;
