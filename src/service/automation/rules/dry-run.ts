import { setImmediate as nextTurn } from "node:timers/promises";
import type { ResolvedRule } from "../../../config/rule-resolution.ts";
import { RigbridgeError } from "../../../contract/problems.ts";
import { conditionsIn } from "../../../contract/rule-conditions.ts";
import type { TryReply } from "../../../contract/rules.ts";
import { beforeFirstRead, type RigState, unknownRig } from "../../../fleet/state.ts";
import type { Detail } from "../../../messages/coded-text.ts";
import { detail } from "../../../messages/detail.ts";
import type { TakeSample } from "../../../store/index.ts";
import type { Sections } from "../../settings/live-settings.ts";
import { compileConditions, type ExpressionNames } from "./compile.ts";
import { dayMs, delaysOf, type LiveRule } from "./live-rule.ts";
import { Past, PastExpression, type Sample } from "./past.ts";
import { type Episode, guardOver, type PastFiring, Trial } from "./trial.ts";

/** ms of work before other tasks get a turn. */
const longestTurnMs = 20;
/** Concurrent dry runs. */
const mostAtOnce = 2;
const mostMiners = 1_000;
const mostFirings = 1_000;
const mostEpisodes = 100_000;
/** ms of history that are read at a time. */
const pieceMs = 6 * 3_600_000;

/** Inputs from the history, and those that take their present value. */
const inHistory: ReadonlySet<string> = new Set(["hashrate", "power", "temperature", "hashrateExpected"]);

export interface DryRunOptions {
  each(minerId: number, from: number, to: number, take: TakeSample): Promise<void>;
  stateOf(minerId: number): RigState | undefined;
  /** The values of a miner in expressions: its current name, group and tags. */
  names: ExpressionNames["names"];
  readonly zone: () => string | undefined;
  /** Days for which every sample is kept. */
  readonly settings: Sections<"history">;
}

/** Tries rules against the stored history. Contacts no source, channel or rig. */
export class DryRuns {
  readonly #options: DryRunOptions;
  #running = 0;

  constructor(options: DryRunOptions) {
    this.#options = options;
  }

  /** Throws `too.many` if two are already running. */
  async run(rule: LiveRule, minerIds: readonly number[], from: number, to: number): Promise<TryReply> {
    if (this.#running >= mostAtOnce) throw new RigbridgeError("too.many", detail("rule.tried", { count: mostAtOnce }));
    this.#running += 1;
    try {
      return await this.#run(rule, minerIds.slice(0, mostMiners), from, to);
    } finally {
      this.#running -= 1;
    }
  }

  async #run(live: LiveRule, minerIds: readonly number[], from: number, to: number): Promise<TryReply> {
    const rule = live.settings;
    const past = new Past(this.#options.zone());
    const notes = notesOn(rule, to - from > this.#options.settings.history.raw * dayMs);
    const reply = { from: iso(from), to: iso(to), miners: minerIds.length };
    const where =
      rule.when?.where === undefined ? null : new PastExpression(rule.when.where, this.#options.names, rule);
    const readings = where === null ? rule : { ...rule, when: { ...rule.when, where: undefined } };
    const compiled = compileConditions(readings, past, null);
    if (compiled === null || live.compiled === null || live.compiled.momentary || live.compiled.ofFarm) {
      notes.push(detail("dryRun.momentary"));
      return { ...reply, ...noted(notes), firings: [], guard: null, where: null };
    }
    const breath = new Breath();
    const found: (PastFiring & { readonly minerId: number })[] = [];
    const episodes: Episode[] = [];
    for (const minerId of minerIds) {
      const known = this.#options.stateOf(minerId) ?? beforeFirstRead(unknownRig);
      const trial = new Trial({ rule, compiled, where, past, minerId, known, delays: delaysOf(live) });
      for (let start = from; start < to; start += pieceMs) {
        const samples: Sample[] = [];
        await this.#options.each(
          minerId,
          start,
          Math.min(to, start + pieceMs),
          (time, hashrate, power, temperature) => {
            if (time >= from && time < to) samples.push({ time, hashrate, power, temperature });
          },
        );
        samples.sort((a, b) => a.time - b.time);
        trial.learnInterval(samples);
        for (const sample of samples) {
          trial.take(sample);
          if (breath.isDue) await breath.take();
        }
        if (breath.isDue) await breath.take();
      }
      trial.waitUntil(to);
      for (const firing of trial.firings.slice(0, mostFirings - found.length)) found.push({ ...firing, minerId });
      for (const episode of trial.episodes.slice(0, mostEpisodes - episodes.length)) episodes.push(episode);
    }
    found.sort((a, b) => a.time - b.time || a.minerId - b.minerId);
    if (found.length === mostFirings) notes.push(detail("dryRun.most", { count: mostFirings }));
    for (const [why, times] of where?.stops ?? [])
      notes.push(detail("dryRun.stopped", { times: times.toLocaleString("en-US"), why }));
    const guard = guardOver(live, episodes);
    const firings: TryReply["firings"] = [];
    let most = 0;
    for (const { minerId, time, clearedAt, limited } of found) {
      if (breath.isDue) await breath.take();
      const affected = guard?.countAt(time) ?? 0;
      most = Math.max(most, affected);
      firings.push({
        minerId,
        time: iso(time),
        clearedAt: clearedAt === null ? null : iso(clearedAt),
        limited,
        guarded: guard !== null && affected > guard.allowed,
      });
    }
    const held = firings.filter(({ guarded }) => guarded).length;
    return {
      ...reply,
      ...noted(notes),
      firings,
      where: where?.counts ?? null,
      guard: guard && { allowed: guard.allowed, most, held },
    };
  }
}

const iso = (time: number): string => new Date(time).toISOString();

/** Yields to other tasks. */
class Breath {
  #began = performance.now();

  get isDue(): boolean {
    return performance.now() - this.#began >= longestTurnMs;
  }

  async take(): Promise<void> {
    await nextTurn();
    this.#began = performance.now();
  }
}

const noted = (notes: readonly Detail[]): Pick<TryReply, "notes" | "codedNotes"> => ({
  notes: notes.map(({ text }) => text),
  codedNotes: notes.map(({ coded }) => coded),
});

/** What this rule needs and the history lacks. */
function notesOn({ when, inhibitedBy, again, do: steps = [] }: ResolvedRule, isLong: boolean): Detail[] {
  const conditions = when === undefined ? [] : conditionsIn(when);
  const missing = conditions.flatMap((condition) => {
    if ("reading" in condition) return inHistory.has(condition.reading) ? [] : [condition.reading];
    return "state" in condition || "offline" in condition || "weekly" in condition
      ? []
      : Object.keys(condition).slice(0, 1);
  });
  return [
    ...steps.flatMap((step) => ("curtail" in step ? [detail("dryRun.curtails", { plan: step.curtail })] : [])),
    ...steps.flatMap((step) =>
      "endCurtailment" in step ? [detail("dryRun.ends", { plan: step.endCurtailment })] : [],
    ),
    ...(missing.length > 0 ? [detail("dryRun.missing", { readings: [...new Set(missing)].join(", ") })] : []),
    ...(again === undefined ? [] : [detail("dryRun.again")]),
    ...(when?.where === undefined ? [] : [detail("dryRun.where")]),
    ...(isLong ? [detail("dryRun.means")] : []),
    ...(inhibitedBy === undefined ? [] : [detail("dryRun.inhibition")]),
  ];
}
