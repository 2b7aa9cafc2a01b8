import { backOffMs } from "../../../async/index.ts";
import { compileExpression } from "../../../config/expressions.ts";
import { unevaluable } from "../../../config/rule-checks.ts";
import { type ResolvedRule, resolveRule } from "../../../config/rule-resolution.ts";
import { RuleSettings } from "../../../contract/rules.ts";
import { runsHere } from "../../../contract/runs-at.ts";
import type { Stored, StoredRule, StoredRuleState } from "../../../store/index.ts";
import type { StepTargets } from "../step-targets.ts";
import { actsOnRigs, type CompiledConditions, compileConditions, type ExpressionNames } from "./compile.ts";
import type { Subject, Surroundings } from "./conditions.ts";
import { type Allowances, ExpressionMeter } from "./expression-meter.ts";
import { type Delays, dueAt, type Instant, type MachineState, type Phase, phases } from "./machine.ts";

export const dayMs = 86_400_000;
/** ms after which a held rule tries again. */
export const retryMs = 30_000;
/** Prefix of the detail `held.guard`. */
const guardWord = "its guard";

export const isGuarded = ({ held }: { readonly held: string | null }): boolean => held?.startsWith(guardWord) === true;

/**
 * State of a rule for one miner; miner 0 for a rule that concerns no single miner. There may be 200,000: times are
 * whole ms of the monotonic clock or null, which V8 stores inside the object.
 */
export class Cell implements MachineState {
  phase: Phase = "idle";
  since = 0;
  elapsed = 0;
  at: number | null = null;
  /** Firings so far. */
  count = 0;
  /** The firings of the last day, if there is a limit. */
  fired: number | number[] | null = null;
  /** Why the rule is held back; null if it is not. */
  held: string | null = null;
  /** Its `onClear` steps are held back. */
  owesClear = false;
  /** Actions since it last cleared; only for a rule that repeats its actions. */
  attempts = 0;
  /** When it may act again while its conditions still hold. */
  againAt: number | null = null;
  /** When its conditions began to hold. */
  began: number | null = null;
  /** Until then it ignores the changes of its own actions; Infinity while they run. */
  deafUntil: number | null = null;
  /** When to try again after it was held back. */
  retryAt: number | null = null;
  /** When it is evaluated even without changes. */
  due: number | null = null;

  /** Has nothing to remember. */
  get isBlank(): boolean {
    return this.phase === "idle" && this.count === 0 && !this.owesClear;
  }
}

/** Its firings of the last day, oldest first. */
export const firingsOf = ({ fired }: Pick<Cell, "fired">): readonly number[] =>
  typeof fired === "number" ? [fired] : (fired ?? []);

/** The firings that are kept. */
export const keptFirings = (fired: readonly number[], now: number): Cell["fired"] => {
  const kept = fired.filter((at) => now - at < dayMs);
  return kept.length > 1 ? kept : (kept[0] ?? null);
};

export interface LiveRule {
  readonly id: number;
  readonly settings: ResolvedRule;
  readonly makerId: number | null;
  /** Ids of the rules that inhibit it while they fire; 0 for a removed one. */
  readonly inhibitors: readonly number[];
  /** Null: it is not evaluated, since it must not be, or acts at other sites alone. */
  readonly compiled: CompiledConditions | null;
  /** Evaluates its expression; null without one. */
  readonly meter: ExpressionMeter | null;
  /** This version refuses to evaluate its expression or one of its times. */
  readonly isRefused: boolean;
  /** Why it is never evaluated, whoever created it; null if it may be. */
  readonly refusal: string | null;
  readonly cells: Map<number, Cell>;
  readonly guard: { readonly share: number; readonly withinMs: number } | null;
  delays: Delays;
  /** Miners in its scope. */
  size: number;
  /** Why it is not evaluated; null if it is. */
  problem: string | null;
  /** Bits of its inputs in the state of a rig. */
  mask: number;
  /** Its guard has reported that it holds. */
  guardOpen: boolean;
  /** Firings of a momentary rule, or of one that counts over all miners, by the monotonic clock. */
  readonly recent: number[];
}

/** Acts when a rule fires or clears. */
export interface FiringActs {
  fire(rule: LiveRule, minerId: number, cell: Cell, now: Instant): void;
  clear(rule: LiveRule, minerId: number, cell: Cell, now: Instant): void;
  giveUp(rule: LiveRule, minerId: number, cell: Cell, now: Instant): void;
  turn(rules: readonly LiveRule[], now: Instant): void;
  /** The rule was removed. */
  closed(rule: LiveRule): void;
}

/** The default guard of rules that act on rigs, except safety rules. */
const usualGuard = { share: 0.5, withinMs: 300_000 };
/** How long a guarded rule waits to see how many rigs are affected. */
const guardDelayMs = 30_000;
/** The guard does not apply to scopes of this size or smaller. */
const unguardedSize = 2;

/** Dependencies of rule evaluation. */
export interface Evaluation {
  readonly around: Surroundings & ExpressionNames;
  readonly targets: Pick<StepTargets, "idOf">;
  readonly allowances: Allowances;
  /** Why no rule is evaluated; null if rules are evaluated. */
  readonly off: string | null;
}

/** Builds the rule of a row. Never throws: a row that cannot be read or must not be evaluated gets a problem. */
export function liveRule(row: Stored<StoredRule>, { around, targets, allowances, off }: Evaluation): LiveRule {
  const parsed = RuleSettings.safeParse(row.definition ?? { name: row.name });
  const { rule = null, mistakes = [] } = parsed.success ? resolveRule(parsed.data) : {};
  const settings: ResolvedRule = rule ?? { key: row.key ?? row.name, name: row.name };
  // Rows stored by another version must pass the checks of this one.
  const [refused] = rule === null || off !== null ? [] : unevaluable(rule);
  const isEvaluated = rule !== null && off === null && refused === undefined && runsHere(settings.runsAt);
  const where = isEvaluated ? rule.when?.where : undefined;
  const meter = where === undefined ? null : new ExpressionMeter(compileExpression(where), allowances.of(row.makerId));
  const compiled = isEvaluated ? compileConditions(rule, around, meter) : null;
  const unread = mistakes[0]?.message ?? "its settings cannot be read by this version";
  const refusal =
    off ??
    (rule === null
      ? unread
      : refused === undefined
        ? null
        : `its ${["when", ...refused.in].join(".")} is refused: ${refused.message}`);
  return {
    id: row.id,
    settings,
    makerId: row.makerId,
    inhibitors: compiled === null ? [] : inhibitorsOf(settings, row, targets),
    compiled,
    meter,
    refusal,
    isRefused: refused !== undefined,
    problem: refusal,
    cells: new Map(),
    guard: compiled === null || compiled.ofFarm ? null : guardOf(settings),
    delays: { forMs: 0, clearForMs: 0 },
    size: 0,
    mask: 0,
    guardOpen: false,
    recent: [],
  };
}

const inhibitorsOf = (
  { inhibitedBy = [] }: ResolvedRule,
  row: Stored<StoredRule>,
  targets: Evaluation["targets"],
): number[] => inhibitedBy.map((name) => targets.idOf(row, { kind: "inhibitor", name }));

function guardOf({ guard, safety, do: steps = [] }: ResolvedRule): LiveRule["guard"] {
  if (guard === false) return null;
  if (guard !== undefined)
    return { share: Number(guard.share.slice(0, -1)) / 100, withinMs: (guard.within ?? 300) * 1000 };
  return safety === true || !actsOnRigs(steps) ? null : usualGuard;
}

export const delaysOf = ({ settings: { when }, guard, size, compiled }: LiveRule): Delays => {
  const waits = guard !== null && size > unguardedSize && compiled?.momentary !== true;
  return {
    forMs: Math.max((when?.for ?? 0) * 1000, waits ? guardDelayMs : 0),
    clearForMs: (when?.clearFor ?? 0) * 1000,
  };
};

/** How many miners may be affected at the same time; Infinity without a guard. */
export function allowedBy({ guard, size }: Pick<LiveRule, "guard" | "size">): number {
  if (guard === null || size <= unguardedSize) return Number.POSITIVE_INFINITY;
  return guard.share === 0 ? 0 : Math.max(1, Math.floor(guard.share * size));
}

/** The row of a cell. */
export const rowOf = (rule: LiveRule, minerId: number, cell: Cell, now: Instant): StoredRuleState => ({
  kind: "rule",
  ownerId: rule.id,
  minerId,
  phase: cell.phase,
  since: cell.since,
  elapsed: cell.elapsed + (cell.at === null ? 0 : Math.max(0, now.monotonic - cell.at)),
  count: cell.count,
  fired: firingsOf(cell).map((at) => Math.round(now.wall - (now.monotonic - at))),
  held: cell.held,
  attempts: cell.attempts,
  times: null,
});

/** Restores a cell from its row; its time stands still until its conditions are known again. */
export function cellOf(row: StoredRuleState, now: Instant): Cell {
  const cell = new Cell();
  cell.phase = phases.find((phase) => phase === row.phase) ?? "idle";
  cell.since = row.since;
  cell.elapsed = row.elapsed;
  cell.count = row.count;
  cell.began = now.monotonic;
  cell.held = row.held;
  cell.attempts = row.attempts;
  // Before the next action, its conditions must hold for the full time again.
  if (cell.phase === "firing") cell.elapsed = 0;
  // A time in the future means that the clock was set back; the rule counts as having just fired.
  cell.fired = keptFirings(
    row.fired.map((time) => now.monotonic - Math.max(0, now.wall - time)),
    now.monotonic,
  );
  return cell;
}

/** A rule does not react while its own action is running or the rig is restarting because of it. */
export const isDeaf = (cell: Cell | undefined, { state }: Subject, now: Instant): boolean =>
  cell !== undefined &&
  now.monotonic < (cell.deafUntil ?? 0) &&
  (cell.deafUntil === Number.POSITIVE_INFINITY || state?.restarting === true);

/** When the rule must be evaluated even without changes, by the monotonic clock. */
export function dueOf(cell: Cell, rule: LiveRule, now: Instant): number {
  if (cell.owesClear || (cell.phase === "firing" && cell.held !== null))
    return cell.retryAt !== null && cell.retryAt > now.monotonic ? cell.retryAt : now.monotonic + retryMs;
  return Math.min(dueAt(cell, rule.delays), againDue(cell, rule));
}

const longestAgainMs = 300_000;

/** The wait after this many actions. */
export const againMs = (attempts: number, { after, longest }: NonNullable<ResolvedRule["again"]>): number =>
  backOffMs(attempts, { firstMs: after * 1000, longestMs: longest === undefined ? longestAgainMs : longest * 1000 });

/** When a firing rule acts again or gives up, provided its conditions still hold; Infinity if it does neither. */
export function againDue(cell: Cell, { settings: { again }, delays }: LiveRule): number {
  const { phase, held, attempts, at, elapsed } = cell;
  if (again === undefined || phase !== "firing" || held !== null || at === null) return Number.POSITIVE_INFINITY;
  if (attempts === 0 || attempts > again.times) return Number.POSITIVE_INFINITY;
  return Math.max(cell.againAt ?? 0, at + Math.max(0, delays.forMs - elapsed));
}
