import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import type { Messages } from "../../../contract/messages.ts";
import { conditionsIn } from "../../../contract/rule-conditions.ts";
import { runsHere } from "../../../contract/runs-at.ts";
import type { RunStep } from "../../../contract/steps.ts";
import type { RigState } from "../../../fleet/state.ts";
import { coded } from "../../../messages/coded.ts";
import type { Store, TakeSample } from "../../../store/index.ts";
import type { Format } from "../../../units/format.ts";
import type { Entry } from "../../miners/miner-entries.ts";
import type { MinerRegistry } from "../../miners/miner-registry.ts";
import type { Notices } from "../../notifications/notices.ts";
import type { Sections } from "../../settings/live-settings.ts";
import type { AccessBook } from "../../users/access.ts";
import type { JobNotices } from "../job-notices.ts";
import type { Runs } from "../run-types.ts";
import type { StepTargets } from "../step-targets.ts";
import { expressionNames, textsOf } from "../texts.ts";
import { DryRuns } from "./dry-run.ts";
import { RuleEngine } from "./engine.ts";
import { ExpressionNotices } from "./expression-notices.ts";
import { Firing } from "./firing.ts";
import { MedianBook, RateBook } from "./history-books.ts";
import type { LiveRule } from "./live-rule.ts";
import { MaintenanceWindows } from "./maintenance.ts";
import { type ReportRuleChange, RuleChanges } from "./rule-changes.ts";
import { Schedules } from "./schedules.ts";
import { RuleSurroundings, type RuleValues } from "./surroundings.ts";
import { Traces } from "./traces.ts";

export interface RulesOptions {
  readonly registry: Pick<MinerRegistry, "all" | "watchReadings" | "isDemoOnly">;
  readonly store: Store;
  readonly accessBook: AccessBook;
  readonly runs: Runs;
  readonly notices: Notices;
  readonly jobNotices: JobNotices;
  /** The channels for notices about this user's rules; undefined: all that accept them. */
  readonly channelsOf: (makerId: number | null) => readonly string[] | undefined;
  readonly targets: Pick<StepTargets, "idOf">;
  readonly values: RuleValues;
  readonly messages: Messages;
  /** The samples of a miner. */
  each(minerId: number, from: number, to: number, take: TakeSample): Promise<void>;
  /** Epoch ms, and ms of a clock that never jumps. */
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly zone: () => string | undefined;
  /** Days for which every sample is kept. */
  readonly settings: Sections<"history">;
  readonly format: Format;
  /** Why all rules and schedules are off; null if they are on. */
  readonly off: string | null;
  /** Called about once a second for each rule, schedule and window that has changed or acted. */
  readonly changed: ReportRuleChange;
  readonly log: Logger;
}

/** Runs rules, schedules and maintenance windows. */
export class Automation {
  readonly engine: RuleEngine;
  readonly firing: Firing;
  readonly schedules: Schedules;
  readonly maintenance: MaintenanceWindows;
  readonly traces: Traces;
  readonly dryRuns: DryRuns;
  readonly #options: RulesOptions;
  readonly #around: RuleSurroundings;
  readonly #changes: RuleChanges;
  readonly #expressions: ExpressionNotices;
  /** Stops watching readings; null without rules, which need none. */
  #unwatch: (() => void) | null = null;
  #isStarted = false;

  constructor(options: RulesOptions) {
    const { registry, store, accessBook, runs, notices, values, messages, now, monotonicNow, zone, format, log } =
      options;
    this.#options = options;
    const entryOf = (minerId: number): Entry | undefined => this.engine.entryOf(minerId);
    const groupName = (groupId: number): string | null => store.groups.get(groupId)?.name ?? null;
    const lastOutputOf = (minerId: number): string | null => values.lastOutput(minerId);
    const naming = { entryOf, groupName, lastOutputOf, format };
    const rates = new RateBook();
    const medians = new MedianBook({
      now,
      monotonicNow,
      each: (minerId, from, to, take) => options.each(minerId, from, to, take),
      isFrozen: (minerId) =>
        this.engine.rules.some((rule) => rule.mask === -1 && (rule.cells.get(minerId)?.phase ?? "idle") !== "idle"),
    });
    this.#around = new RuleSurroundings({
      values,
      medians,
      rates,
      messages,
      now,
      monotonicNow,
      zone,
      pools: store.pools,
      topicChanged: (topic) =>
        void this.#safely(() => this.engine.reconsider((each) => "topic" in each && each.topic === topic)),
      names: expressionNames(naming),
    });
    const touch = (kind: "rule" | "schedule", id: number): void => this.#changes.touch(kind, id);
    this.traces = new Traces(store, now, touch);
    this.maintenance = new MaintenanceWindows(store, now);
    this.engine = new RuleEngine({
      registry,
      store,
      accessBook,
      medians,
      rates,
      now,
      monotonicNow,
      log,
      targets: options.targets,
      off: options.off,
      around: this.#around,
      traces: this.traces,
      touch: ({ id }) => touch("rule", id),
    });
    const texts = textsOf(naming);
    this.firing = new Firing({
      runs,
      notices,
      channelsOf: options.channelsOf,
      engine: this.engine,
      maintenance: this.maintenance,
      traces: this.traces,
      texts: (rule) => texts(rule.settings, () => this.engine.members(rule)),
    });
    this.engine.firing = this.firing;
    this.schedules = new Schedules({
      registry,
      store,
      accessBook,
      runs,
      values,
      now,
      monotonicNow,
      zone,
      log,
      off: options.off,
      traces: this.traces,
      maintenance: this.maintenance,
      texts: (schedule) => {
        const { key, name = key } = schedule.settings;
        return texts({ key, name }, () => this.schedules.members(schedule).ids);
      },
      notBegun: ({ id, settings: { key } }, message) =>
        options.jobNotices.ended({ id: null, cause: { kind: "schedule", key, id }, actor: `schedule:${key}` }, [
          { minerId: 0, state: "failed", message },
        ]),
      disowned: ({ id, settings }, problem) =>
        notices.raise({
          key: `schedule:${id}:maker`,
          minerId: null,
          title: settings.name ?? settings.key,
          source: "Rules",
          message: coded("notices.rules.scheduleOff", { key: settings.key, why: problem }),
          severity: "warning",
        }),
    });
    this.#changes = new RuleChanges(this, options.changed);
    this.#expressions = new ExpressionNotices(notices, this.traces, options.channelsOf);
    this.dryRuns = new DryRuns({
      each: (minerId, from, to, take) => options.each(minerId, from, to, take),
      names: expressionNames(naming),
      stateOf: (minerId): RigState | undefined => this.engine.entryOf(minerId)?.rig.state,
      zone,
      settings: options.settings,
    });
  }

  /** Why all rules and schedules are off; null if they are on. */
  get off(): string | null {
    return this.#options.off;
  }

  /** Restores the state from before the service stopped; call it once all miners are loaded. */
  async start(): Promise<void> {
    await this.engine.load();
    await this.schedules.load();
    this.#look();
    this.#changes.report();
    this.#isStarted = true;
    this.#watchIfNeeded();
  }

  #look(): void {
    this.#expressions.look(this.engine.rules, this.engine.now.monotonic);
  }

  #watchIfNeeded(): void {
    const isNeeded = this.#isStarted && this.off === null && this.engine.rules.length > 0;
    if (isNeeded && this.#unwatch === null)
      this.#unwatch = this.#options.registry.watchReadings(
        (changes) => void this.#safely(() => this.engine.take(changes)),
      );
    if (isNeeded || this.#unwatch === null) return;
    this.#unwatch();
    this.#unwatch = null;
  }

  /** One turn, once a second. */
  async turn(): Promise<void> {
    await this.#safely(() => this.engine.turn());
    await this.#safely(() => this.schedules.turn());
    await this.#safely(() => this.#look());
    await this.#safely(() => this.#changes.report());
  }

  /** Failures are logged; the turn continues. */
  async #safely(work: () => void | Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.log.error({ err: error }, "the rules failed");
    }
  }

  /** The rules, schedules or windows of the store have changed. */
  reload(): void {
    this.engine.reload();
    this.schedules.reload();
    this.#look();
    this.#changes.report();
    this.#watchIfNeeded();
  }

  /** The time zone of rules and schedules without one has changed. */
  zoneChanged(): void {
    this.#around.zoneChanged();
    this.reload();
  }

  /** The next time condition of a rule, epoch ms; null if it has none or is not evaluated. */
  nextTimeOf({ settings, problem, compiled }: LiveRule): number | null {
    if (settings.enabled === false || problem !== null || settings.when === undefined || compiled === null) return null;
    return this.#around.nextTimeOf(conditionsIn(settings.when));
  }

  /** The steps of all rules and schedules, by name. */
  lists(): { readonly what: string; readonly steps: readonly RunStep[] }[] {
    return [
      ...here(this.engine.rules).map(({ settings: { name, do: steps = [], onClear = [], onGiveUp = [] } }) => ({
        what: `rule ${name}`,
        steps: [...steps, ...onClear, ...onGiveUp],
      })),
      ...here(this.schedules.all).map(({ settings: { key, name = key, do: steps, onEnd = [] } }) => ({
        what: `schedule ${name}`,
        steps: [...steps, ...onEnd],
      })),
    ];
  }

  /** Handles an incoming web hook. */
  hook(name: string): void {
    void this.#safely(() =>
      this.engine.happen({ hook: name }, (condition) => "hook" in condition && condition.hook === name),
    );
  }

  /** Call it after closing the executor of runs, so that the last results are kept. */
  async close(): Promise<void> {
    this.#isStarted = false;
    this.#watchIfNeeded();
    this.#around.close();
    await nextTurn();
    await this.schedules.close();
    await this.engine.close();
  }
}

/** Those that act here. */
const here = <T extends { readonly settings: { readonly runsAt?: readonly string[] | undefined } }>(
  all: readonly T[],
): T[] => all.filter(({ settings }) => runsHere(settings.runsAt));
