import { resolveRule } from "../../config/rule-resolution.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { RuleSettings } from "../../contract/rules.ts";
import type { Caller } from "../../contract/service.ts";
import { needsMiner, type RunStep } from "../../contract/steps.ts";
import { namesIn } from "../../contract/texts.ts";
import type { Store, StepResult as StoredResult } from "../../store/index.ts";
import type { Format } from "../../units/format.ts";
import {
  type Action,
  type ActionLoops,
  commandSpec,
  isForLoop,
  type RunOnLoop,
  type StepsOf,
} from "../commands/actions.ts";
import { type CommandExecutor, type CommandSpec, requireReading } from "../commands/command-executor.ts";
import { joinMessages, type Rehearsal, rehearse } from "../commands/steps.ts";
import { given } from "../crud.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { PoolBook } from "../money/pool-book.ts";
import type { PowerHolds } from "../power/power-holds.ts";
import { stopsBy } from "../power/precedence.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { isDisabled } from "./bulk-request.ts";
import { type Effects, takeEffect, textsIn } from "./effects.ts";
import { notExpanded } from "./expand.ts";
import type { Naming } from "./made-lists.ts";
import { actionFor } from "./rig-steps.ts";
import { both, madeFor, makerAccess, refusalOf, type StepLimits } from "./rights.ts";
import { reportsAbsence } from "./rules/compile.ts";
import { isOfClearing, type RunCause, type RunRequest } from "./run-types.ts";
import { textsOf } from "./texts.ts";

export type StepResult = StoredResult;

interface StepRunnerOptions {
  readonly store: Store;
  readonly registry: MinerRegistry;
  readonly executor: CommandExecutor;
  readonly accessBook: AccessBook;
  readonly book: PoolBook;
  readonly stepsOf: StepsOf;
  readonly loops: ActionLoops;
  readonly runOnLoop: RunOnLoop;
  readonly holds: PowerHolds;
  readonly limits: StepLimits;
  readonly effects: Effects;
  readonly format: Format;
  /** Last output of its mining program; null if unknown. */
  lastOutputOf(minerId: number): string | null;
}

/** What steps would do to a miner. */
export interface RunRehearsal extends Rehearsal {
  /** How they leave its plug; null: they do not switch it. */
  readonly plug: boolean | null;
}

const nothing: Rehearsal = { message: "", settings: [], seconds: 0 };

/** For steps that are run without the store. */
export const noRun = 0;

/** The run that a step belongs to. */
export interface StepRun {
  readonly id: number;
  readonly cause: RunCause;
  readonly occurrence: string | null;
  readonly caller: Caller;
  readonly texts: RunRequest["texts"] | undefined;
}

interface StepContext {
  readonly closing: AbortSignal;
  /** Repeats a write until it succeeds. */
  stored<T>(write: () => Promise<T>): Promise<T>;
}

/**
 * "requeued": nothing was sent because the service is stopping. `later`: the rig has accepted a restart that later
 * reads confirm; other miners do not wait for it.
 */
type Outcome = StepResult | "requeued" | { readonly later: Promise<StepResult> };

/** Seconds that a rig may take from power-on to its first answer. */
const bootSeconds = 240;

/** Runs single steps, with the rights of both their caller and their creator. */
export class StepRunner {
  readonly #options: StepRunnerOptions;

  constructor(options: StepRunnerOptions) {
    this.#options = options;
  }

  /** The creator of the list. Throws if a run must not start or continue. */
  check(cause: RunCause, caller: Caller): Naming {
    return this.#rights(cause, caller).made;
  }

  /** Whether a step that concerns no rig differs by miner; if not, it runs once for all miners of a run. */
  isOfOneMiner(step: RunStep): boolean {
    return textsIn(step).some((text) => namesIn(text).some((name) => !name.startsWith("rule.")));
  }

  /** Whether a step is about the power of a rig. */
  isOfPower(step: RunStep): boolean {
    return stopsBySteps(step) !== null;
  }

  /** What keeps this step from switching the rig's power; null if nothing does. */
  heldBack({ cause, caller }: StepRun, minerId: number, step: RunStep): string | null {
    const { registry, accessBook, holds } = this.#options;
    const entry = minerId === 0 ? undefined : registry.visible(minerId, accessBook.of(caller));
    const stops = stopsBySteps(step);
    if (entry === undefined || stops === null) return null;
    return holds.refusal(entry, stops, { actor: caller.actor, cause: { ...cause, run: 0 } })?.text ?? null;
  }

  /** What steps would do to a miner, by its last reading. Throws where the rig would refuse, or something keeps them back. */
  rehearse(cause: RunCause, caller: Caller, minerId: number, steps: readonly RunStep[]): RunRehearsal {
    const { registry, stepsOf, book, effects, loops } = this.#options;
    const { access, maker, made } = this.#rights(cause, caller);
    const visible = both(access, maker);
    const entry = registry.visible(minerId, visible);
    if (entry === undefined) throw notPossible(this.#absence(minerId, access));
    let plug: boolean | null = null;
    const parts = steps.map((step): Rehearsal => {
      const refusal = notExpanded(step, this.#options.store, made);
      if (refusal !== null) throw notPossible(refusal);
      if ("wait" in step && !("plug" in step)) return { ...nothing, seconds: step.wait };
      const held = this.heldBack({ id: noRun, cause, occurrence: null, caller, texts: undefined }, minerId, step);
      if (held !== null) throw notPossible(held);
      if ("plug" in step && entry.rig.plug === null) throw notPossible(withoutPlug);
      if ("plug" in step) plug = step.plug === "on";
      const action = actionFor(step, minerId, { book, access: visible, best: bestOf(effects) });
      if (action === null) return nothing;
      if (!isForLoop(action.action))
        return rehearse(stepsOf(action, visible)(minerId), requireReading(entry.rig.state));
      loops.addressed(action, minerId, access);
      return nothing;
    });
    return {
      message: joinMessages(parts.map(({ message }) => message)),
      settings: parts.flatMap(({ settings }) => settings),
      // A wait after the last change delays nothing.
      seconds: parts
        .slice(0, 1 + parts.findLastIndex(({ settings }) => settings.length > 0))
        .reduce((sum, { seconds }) => sum + seconds, 0),
      plug,
    };
  }

  /** Runs a claimed step. Rejects only with errors of the store. */
  async run(run: StepRun, minerId: number, step: RunStep, context: StepContext): Promise<Outcome> {
    try {
      const rights = this.#rights(run.cause, run.caller);
      const refusal =
        notExpanded(step, this.#options.store, rights.made) ??
        refusalOf(step, rights.made.owner === "file" ? null : rights.maker, this.#options.limits);
      if (refusal !== null) return failed(refusal);
      if (!needsMiner(step)) return await this.#elsewhere(run, minerId, step, rights, context);
      if (minerId === 0) return failed("This step needs a miner");
      return await this.#onMiner(run, minerId, step, rights, context);
    } catch (error) {
      if (error instanceof RigbridgeError && error.code === "store.full") throw error;
      return failed(messageOf(error));
    }
  }

  async #elsewhere(
    run: StepRun,
    minerId: number,
    step: RunStep,
    { maker }: Rights,
    { closing }: StepContext,
  ): Promise<StepResult> {
    const texts = run.texts ?? this.#texts(run);
    const text = (given: string) => texts(minerId === 0 ? null : minerId, given);
    const { kind, key, id } = run.cause;
    const isEnd = run.occurrence !== null && isOfClearing(run.occurrence);
    const rule = kind === "rule" ? { id, isEnd, reportsAbsence: this.#reportsAbsence(id) } : null;
    const channels = (key: string) => this.#options.limits.channelsFor(key, maker);
    const turn = { maker, minerId: minerId === 0 ? null : minerId, text, by: `${kind} ${key}`, rule, channels };
    try {
      return { state: "done", message: await takeEffect(step, turn, this.#options.effects, closing), commandId: null };
    } catch (error) {
      const isUnknown = error instanceof RigbridgeError && unanswered.has(error.code);
      return { state: isUnknown ? "unknown" : "failed", message: messageOf(error), commandId: null };
    }
  }

  async #onMiner(
    run: StepRun,
    minerId: number,
    step: RunStep,
    { access, maker }: Rights,
    context: StepContext,
  ): Promise<Outcome> {
    const { registry, executor, stepsOf, runOnLoop, book, effects } = this.#options;
    const entry = registry.visible(minerId, both(access, maker));
    if (entry === undefined) return failed(this.#absence(minerId, access));
    if ("plug" in step) return this.#onPlug(run, entry, step.plug === "on", context);
    const action = actionFor(step, minerId, { book, access: both(access, maker), best: bestOf(effects) });
    if (action === null) return failed("This step is not for a miner");
    if (isForLoop(action.action)) return { ...done(await runOnLoop(entry, action, run.caller, access)) };
    const rigSteps = stepsOf(action, both(access, maker))(minerId);
    return this.#send(run, entry, specFor(run, entry, action), context, (row) =>
      executor.send(entry.rig, row, rigSteps),
    );
  }

  async #onPlug(run: StepRun, entry: Entry, on: boolean, context: StepContext): Promise<Outcome> {
    const { rig } = entry;
    if (rig.plug === null) return failed(withoutPlug);
    const spec = { ...commandSpec(entry, { action: "plug", plug: on ? "on" : "off" }), cause: commandCause(run) };
    const write = async (signal: AbortSignal): Promise<string> => {
      await switched(rig, on, signal);
      if (on) rig.restarts(bootSeconds);
      return `The plug has switched the rig ${on ? "on" : "off"}`;
    };
    return this.#send(run, entry, spec, context, (row) => this.#options.executor.sendUnread(rig, row, write, on));
  }

  /** Stores a command, binds it to the run, and sends it. */
  async #send(
    run: StepRun,
    { facts }: Entry,
    spec: CommandSpec,
    { stored, closing }: StepContext,
    send: (row: Awaited<ReturnType<CommandExecutor["enqueue"]>>) => ReturnType<CommandExecutor["send"]>,
  ): Promise<Outcome> {
    const { executor, store } = this.#options;
    const row = await stored(() => executor.enqueue(spec, run.caller));
    if (run.id !== noRun && !store.commands.isWaiting(row.id))
      await stored(() => store.runs.bind(run.id, facts.id, row.id));
    const command = send(row);
    const message = await command.taken.catch(messageOf);
    const { state, sent } = command.progress;
    const commandId = row.id;
    if (state === "sent") {
      const ended = command.ended.catch(messageOf);
      return { later: ended.then((last) => ({ state: command.progress.state, message: last, commandId })) };
    }
    if (closing.aborted && !sent && state === "failed") return "requeued";
    return { state, message, commandId };
  }

  /** The present access of the caller and of the list's creator. Throws if the list must not run. */
  #rights({ kind, key, id }: RunCause, caller: Caller): Rights {
    const { accessBook, store } = this.#options;
    if (kind === "rule" || kind === "schedule") {
      const row = (kind === "rule" ? store.rules : store.schedules).get(id);
      const makerId = caller.userId ?? null;
      const owner = row?.owner ?? (makerId === null ? "file" : "store");
      const made: Naming = { owner, makerId, links: row?.links };
      const access = makerAccess(made, accessBook, `The ${kind} ${key}`);
      return { access, maker: access, made };
    }
    accessBook.check("startBulkAction", caller);
    const access = accessBook.of(caller);
    const what = kind === "template" || key === "apply_template" ? "template" : "rule";
    if (kind === "bulk" && key !== "apply_template" && key !== "rule")
      return { access, maker: access, made: { owner: "store", makerId: caller.userId ?? null } };
    const made = madeFor(store, what, id);
    const maker = makerAccess(made, accessBook, `The ${what} ${made.name}`);
    return { access, maker, made };
  }

  #reportsAbsence(ruleId: number): boolean {
    const { data } = RuleSettings.safeParse(this.#options.store.rules.get(ruleId)?.definition);
    const { rule = null } = data === undefined ? {} : resolveRule(data);
    return rule !== null && reportsAbsence(rule);
  }

  /** Values for a run that brings none of its own: those of the miner at that time. */
  #texts({ cause, caller }: StepRun): NonNullable<RunRequest["texts"]> {
    const { registry, store, format, lastOutputOf } = this.#options;
    const { key, id, kind } = cause;
    const name = kind === "rule" || kind === "manual" ? store.rules.get(id)?.name : undefined;
    const { access, maker } = this.#rights(cause, caller);
    const texts = textsOf({
      entryOf: (minerId) => registry.find(minerId),
      lastOutputOf,
      format,
      groupName: (groupId) => store.groups.get(groupId)?.name ?? null,
    });
    const members = () => [...registry.entriesFor(both(access, maker))].map(({ facts }) => facts.id);
    return texts({ key, name: name ?? key }, members);
  }

  #absence(minerId: number, access: Access): string {
    return isDisabled(minerId, this.#options.store, access)
      ? "This miner is disabled"
      : `Miner ${minerId} no longer exists`;
  }
}

interface Rights {
  readonly access: Access;
  /** The access of the list's creator. */
  readonly maker: Access;
  readonly made: Naming;
}

/** Errors after which the effect may still have happened. */
const unanswered: ReadonlySet<string> = new Set(["service.garbled", "rig.timeout", "rig.unconfirmed"]);

/** An unreachable plug has done nothing, so the command has certainly failed. */
async function switched({ plug }: Entry["rig"], on: boolean, signal: AbortSignal): Promise<void> {
  try {
    await plug?.switch(on, signal);
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    // The answering device may not be a plug, so its text is left out.
    if (error.code !== "rig.unreachable") throw new RigbridgeError(error.code, error.unquoted);
    throw new RigbridgeError("rig.refused", `The plug cannot be reached: ${error.unquoted}`);
  }
}

const commandCause = ({ id, cause: { kind, key, id: ownerId, safety } }: StepRun) => ({
  kind,
  key,
  run: id,
  // The id is 0 for a bulk action without a template or rule.
  ...(ownerId === 0 ? {} : { id: ownerId }),
  ...(safety === true ? { safety } : {}),
});

/** The audit lists a bulk action as its caller's command. */
const specFor = (run: StepRun, entry: Entry, action: Action): CommandSpec => ({
  ...commandSpec(entry, action),
  cause: commandCause(run),
});

/** Whether a step stops the rig; null if it does not concern its power. */
function stopsBySteps(step: RunStep): boolean | null {
  if ("plug" in step) return step.plug !== "on";
  if ("set" in step) return stopsBy("set", { property: step.set, value: step.value });
  if (!("action" in step)) return null;
  const { action, orReboot: _, ...parameters } = step;
  return stopsBy(action, given(parameters));
}

const bestOf = (effects: Effects) => effects.best && ((id: number) => effects.best?.(id) ?? null);

const withoutPlug = "This miner has no plug: set its supply";
const notPossible = (message: string): RigbridgeError => new RigbridgeError("not.possible", message);

const done = (message: string): StepResult => ({ state: "done", message, commandId: null });
const failed = (message: string): StepResult => ({ state: "failed", message, commandId: null });

export const messageOf = (error: unknown): string =>
  error instanceof RigbridgeError ? error.message : "Internal error; see the service's log";
