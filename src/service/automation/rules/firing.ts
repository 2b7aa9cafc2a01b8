import { durationText } from "../../../contract/duration.ts";
import { messageIn, RigbridgeError } from "../../../contract/problems.ts";
import type { Caller } from "../../../contract/service.ts";
import type { RunStep } from "../../../contract/steps.ts";
import { coded } from "../../../messages/coded.ts";
import type { Detail } from "../../../messages/coded-text.ts";
import { detail } from "../../../messages/detail.ts";
import type { Notices } from "../../notifications/notices.ts";
import { ruleNoticeKey } from "../effects.ts";
import { type RuleTurn, type RunRequest, type Runs, ruleOccurrence } from "../run-types.ts";
import { actsOnRigs, reportsAbsence } from "./compile.ts";
import type { RuleEngine } from "./engine.ts";
import {
  againMs,
  allowedBy,
  type Cell,
  dayMs,
  type FiringActs,
  firingsOf,
  isGuarded,
  keptFirings,
  type LiveRule,
  retryMs,
} from "./live-rule.ts";
import type { Instant } from "./machine.ts";
import type { MaintenanceWindows } from "./maintenance.ts";
import { endOf, saying, type Traces } from "./traces.ts";

export interface FiringOptions {
  readonly engine: RuleEngine;
  readonly runs: Runs;
  readonly notices: Notices;
  /** The channels for notices about this user's rules; undefined: all that accept them. */
  readonly channelsOf: (makerId: number | null) => readonly string[] | undefined;
  readonly maintenance: MaintenanceWindows;
  readonly traces: Traces;
  /** Replaces the names in a text with their values. */
  readonly texts: (rule: LiveRule) => RunRequest["texts"];
}

/** A rule ignores events that its own actions may have caused, up to this many ms after their end. */
const deafMs = 300_000;

/** Why a rule is held back, and when to try again. */
interface Hold {
  readonly what: Detail;
  readonly retryAt: number;
}

const channelsOf = (steps: readonly RunStep[]): readonly string[] =>
  steps.flatMap((step) => ("notify" in step ? step.notify : []));

/** Acts when a rule fires or clears: holds it back, or runs its steps. */
export class Firing implements FiringActs {
  readonly #options: FiringOptions;
  /** Miners that count for a guard, at one moment. */
  readonly #affected = new Map<LiveRule, { readonly at: number; readonly count: number }>();

  constructor(options: FiringOptions) {
    this.#options = options;
  }

  fire(rule: LiveRule, minerId: number, cell: Cell, now: Instant): void {
    const hold = this.#holdOf(rule, minerId, cell, now);
    if (hold === null) this.#act(rule, minerId, cell, now);
    else this.#hold(rule, minerId, cell, hold);
  }

  clear(rule: LiveRule, minerId: number, cell: Cell, now: Instant): void {
    const wasHeld = cell.held !== null && !cell.owesClear;
    cell.held = null;
    cell.owesClear = false;
    cell.attempts = 0;
    const { do: steps = [], onGiveUp = [], onClear } = rule.settings;
    // A channel that `onClear` notifies receives that text instead.
    const notifiedAgain = channelsOf(onClear ?? []);
    for (const channel of new Set(channelsOf([...steps, ...onGiveUp])))
      if (!notifiedAgain.includes(channel)) this.#options.notices.close(ruleNoticeKey(rule.id, minerId, channel));
    if (wasHeld || onClear === undefined) return;
    const window = this.#maintenanceAt(minerId);
    if (window !== null) {
      cell.owesClear = true;
      this.#hold(rule, minerId, cell, {
        what: detail("held.maintenance", { window }),
        retryAt: now.monotonic + retryMs,
      });
      return;
    }
    this.#run(rule, minerId, cell, onClear, "cleared");
  }

  /** The rule's actions have not helped; it gives up until it has cleared. */
  giveUp(rule: LiveRule, minerId: number, cell: Cell, now: Instant): void {
    const window = this.#maintenanceAt(minerId);
    if (window !== null) {
      cell.againAt = now.monotonic + retryMs;
      return;
    }
    const message = detail("trace.noHelp", { count: cell.attempts });
    cell.attempts += 1;
    const { onGiveUp } = rule.settings;
    if (onGiveUp === undefined)
      this.#options.traces.add("rule", rule.id, minerId, { outcome: "failed", ...saying(message) });
    else this.#run(rule, minerId, cell, onGiveUp, "gave up");
  }

  /** Once a second: reports guards that have released. */
  turn(rules: readonly LiveRule[], now: Instant): void {
    for (const rule of rules) {
      if (rule.recent.length > 0 && now.monotonic - (rule.recent[0] ?? 0) > dayMs) rule.recent.shift();
      if (rule.guardOpen && ![...rule.cells.values()].some(isGuarded)) this.closed(rule);
    }
  }

  /** The rule's guard has released. */
  closed(rule: LiveRule): void {
    if (!rule.guardOpen) return;
    rule.guardOpen = false;
    this.#options.notices.close(guardKey(rule), coded("notices.rules.guardOver", { name: rule.settings.name }));
  }

  /**
   * Runs the rule for these miners on behalf of a user, whatever its conditions. `run` starts it and reports the run's
   * id; `resultOf` turns the reply into text. Throws `not.possible` if the guard or the limits hold it back.
   */
  async byHand<T>(
    rule: LiveRule,
    minerIds: readonly number[],
    { actor }: Caller,
    run: (begun: (runId: number) => void) => Promise<T>,
    resultOf: (reply: T) => string,
  ): Promise<T> {
    const { engine, traces } = this.#options;
    if (engine.off !== null)
      throw new RigbridgeError("not.possible", detail("rule.notRun", { rule: rule.settings.name, why: engine.off }));
    const { now } = engine;
    const cells = minerIds.map((minerId) => engine.cell(rule, minerId));
    const hold =
      this.#guardHold(rule, minerIds.length, now) ??
      cells.map((cell) => this.#limit(rule, cell, now)).find((each) => each !== null);
    if (hold != null)
      throw new RigbridgeError("not.possible", detail("rule.held", { rule: rule.settings.name, why: hold.what }));
    for (const cell of cells) this.#count(rule, cell, now);
    const [only = 0] = minerIds.length === 1 ? minerIds : [];
    const trace = traces.add("rule", rule.id, only, {
      outcome: "running",
      ...saying(detail("trace.by", { who: actor })),
    });
    try {
      const reply = await run((runId) => traces.begun(trace, runId));
      traces.end(trace, {
        outcome: "done",
        ...saying(detail("trace.byResult", { who: actor, result: resultOf(reply) })),
      });
      return reply;
    } catch (error) {
      const result = error instanceof RigbridgeError ? messageIn(error) : detail("trace.failed");
      traces.end(trace, { outcome: "failed", ...saying(detail("trace.byResult", { who: actor, result })) });
      throw error;
    }
  }

  #holdOf(rule: LiveRule, minerId: number, cell: Cell, now: Instant): Hold | null {
    const soon = now.monotonic + retryMs;
    const window = this.#maintenanceAt(minerId);
    if (window !== null) return { what: detail("held.maintenance", { window }), retryAt: soon };
    const inhibitor = this.#inhibitor(rule, minerId);
    if (inhibitor !== undefined) return { what: detail("held.rule", { rule: inhibitor.settings.key }), retryAt: soon };
    const guarded = this.#guardHold(rule, this.#affectedBy(rule, now), now);
    if (guarded !== null) this.#warn(rule, this.#affectedBy(rule, now));
    return guarded ?? this.#limit(rule, cell, now);
  }

  #guardHold(rule: LiveRule, affected: number, now: Instant): Hold | null {
    if (affected <= allowedBy(rule)) return null;
    const counts = { some: affected.toLocaleString("en-US"), all: rule.size.toLocaleString("en-US") };
    return { what: detail("held.guard", counts), retryAt: now.monotonic + retryMs };
  }

  #warn(rule: LiveRule, affected: number): void {
    // The rule does not act on rigs, and the service reports its condition without it.
    if (rule.guardOpen || reportsAbsence(rule.settings)) return;
    rule.guardOpen = true;
    const { key, name } = rule.settings;
    const counts = { some: affected.toLocaleString("en-US"), all: rule.size.toLocaleString("en-US") };
    this.#options.notices.raise({
      key: guardKey(rule),
      minerId: null,
      title: name,
      source: "Rules",
      message: coded("notices.rules.guarded", { name, key, ...counts }),
      severity: "warning",
      channels: this.#options.channelsOf(rule.makerId),
    });
  }

  #maintenanceAt(minerId: number): string | null {
    const entry = this.#options.engine.entryOf(minerId);
    return entry === undefined ? null : this.#options.maintenance.over(entry);
  }

  /** A rule that inhibits this one: it fires for this miner, the whole farm, or a miner at the same site. */
  #inhibitor(rule: LiveRule, minerId: number): LiveRule | undefined {
    const { engine } = this.#options;
    const site = engine.entryOf(minerId)?.facts.location.site ?? null;
    return rule.inhibitors
      .map((id) => engine.find(id))
      .find((other) => {
        if (other === undefined) return false;
        if (isOn(other.cells.get(minerId)) || isOn(other.cells.get(0))) return true;
        if (site === null) return false;
        for (const [id, cell] of other.cells)
          if (isOn(cell) && engine.entryOf(id)?.facts.location.site === site) return true;
        return false;
      });
  }

  /** Miners that a guarded rule holds back, or whose conditions began to hold within the guard's time. */
  #affectedBy(rule: LiveRule, now: Instant): number {
    const { guard } = rule;
    if (guard === null || allowedBy(rule) === Number.POSITIVE_INFINITY) return 0;
    if (rule.compiled?.momentary === true)
      return rule.recent.filter((at) => now.monotonic - at <= guard.withinMs).length + 1;
    const known = this.#affected.get(rule);
    if (known?.at === now.monotonic) return known.count;
    let count = 0;
    for (const cell of rule.cells.values())
      if (
        cell.phase !== "idle" &&
        (isGuarded(cell) || now.monotonic - (cell.began ?? 0) <= guard.withinMs + rule.delays.forMs)
      )
        count += 1;
    this.#affected.set(rule, { at: now.monotonic, count });
    return count;
  }

  #limit(rule: LiveRule, cell: Cell, now: Instant): Hold | null {
    const { repeat, perDay, per } = rule.settings.limit ?? {};
    const fired =
      per === "rule"
        ? [...rule.cells.values()].flatMap((each) => firingsOf(each)).sort((a, b) => a - b)
        : firingsOf(cell);
    const last = fired.at(-1);
    const repeatAt = last === undefined || repeat === undefined ? 0 : last + repeat * 1000;
    if (repeat !== undefined && repeatAt > now.monotonic)
      return { what: detail("held.once", { time: durationText(repeat) }), retryAt: repeatAt };
    const today = fired.filter((at) => now.monotonic - at < dayMs);
    const oldest = perDay === undefined ? undefined : today[today.length - perDay];
    if (oldest === undefined || perDay === undefined) return null;
    return { what: detail("held.perDay", { count: perDay }), retryAt: oldest + dayMs };
  }

  #hold(rule: LiveRule, minerId: number, cell: Cell, { what, retryAt }: Hold): void {
    const { text } = what;
    const kindOf = (held: string | null): string | undefined => held?.split(":")[0];
    const isNew = kindOf(cell.held) !== kindOf(text);
    if (rule.compiled?.momentary !== true) {
      cell.held = text;
      cell.retryAt = retryAt;
    }
    if (!isNew) return;
    const { engine, traces } = this.#options;
    const conditions = rule.compiled?.explain(engine.subjectOf(minerId), true) ?? [];
    traces.add("rule", rule.id, minerId, {
      outcome: "held",
      ...saying(detail("trace.held", { what }), what),
      conditions,
    });
  }

  #count(rule: LiveRule, cell: Cell, { monotonic }: Instant): void {
    cell.count += 1;
    const { limit } = rule.settings;
    if (limit === undefined) return;
    // `repeat` needs only the last firing.
    cell.fired = keptFirings(limit.perDay === undefined ? [monotonic] : [...firingsOf(cell), monotonic], monotonic);
  }

  #act(rule: LiveRule, minerId: number, cell: Cell, now: Instant): void {
    cell.held = null;
    this.#count(rule, cell, now);
    if (rule.compiled?.momentary === true && rule.guard !== null) rule.recent.push(now.monotonic);
    const { again } = rule.settings;
    if (again !== undefined) {
      cell.attempts += 1;
      cell.againAt = now.monotonic + againMs(cell.attempts, again);
      cell.elapsed = 0;
    }
    this.#run(rule, minerId, cell, rule.settings.do ?? [], "fired");
  }

  #run(rule: LiveRule, minerId: number, cell: Cell, steps: readonly RunStep[], why: RuleTurn): void {
    const { engine, traces, runs } = this.#options;
    const { key } = rule.settings;
    const onRigs = actsOnRigs(steps);
    const minerIds = minerId !== 0 ? [minerId] : onRigs ? engine.members(rule) : [];
    const conditions = rule.compiled?.explain(engine.subjectOf(minerId), why === "cleared") ?? [];
    const trace = traces.add("rule", rule.id, minerId, { outcome: "running", ...saying(turns[why]), conditions });
    if (onRigs) cell.deafUntil = Number.POSITIVE_INFINITY;
    const request: RunRequest = {
      cause: { kind: "rule", key, id: rule.id, ...(rule.settings.safety === true ? { safety: true } : {}) },
      occurrence: ruleOccurrence(rule.id, minerId, cell.count, why),
      caller: { actor: `rule:${key}`, ...(rule.makerId === null ? {} : { userId: rule.makerId }) },
      minerIds,
      steps,
      texts: this.#options.texts(rule),
    };
    runs
      .begin(request)
      .then(async (record) => {
        if (record === "seen") traces.end(trace, { outcome: "seen", ...saying(detail("trace.seen")) });
        else {
          traces.begun(trace, record.id);
          const end = endOf(await runs.ended(record.id));
          traces.end(trace, why === "cleared" && end.outcome === "done" ? { ...end, outcome: "cleared" } : end);
        }
      })
      .catch(async (error: unknown) => {
        const mayLower = why === "fired" && rule.settings.safety === true && isStoreAway(error);
        const failure = mayLower ? await runs.lower(request) : null;
        if (failure !== null) {
          const end = failure === "" ? saying(loweredOnly) : saying(`${loweredOnly}: ${failure}`);
          traces.end(trace, { outcome: failure === "" ? "done" : "failed", ...end });
          return;
        }
        const message = error instanceof RigbridgeError ? messageIn(error) : detail("trace.notBegun");
        traces.end(trace, { outcome: "failed", ...saying(message) });
      })
      .finally(() => {
        if (!onRigs) return;
        cell.deafUntil = engine.now.monotonic + deafMs;
        engine.settle(rule, minerId);
      });
  }
}

const isStoreAway = (error: unknown): boolean => error instanceof RigbridgeError && error.code === "service.store-away";

const loweredOnly = "The database of the store was away, so only the rule's steps that lower power were run";

const turns: Readonly<Record<RuleTurn, Detail>> = {
  fired: detail("trace.fired"),
  cleared: detail("trace.cleared"),
  "gave up": detail("trace.gaveUp"),
};

/** Pending counts as well: the miners of a site go offline before the site is recognised as offline. */
const isOn = (cell: Cell | undefined): boolean => cell !== undefined && cell.phase !== "idle";

const guardKey = ({ id }: LiveRule): string => `rule:${id}:guard`;
