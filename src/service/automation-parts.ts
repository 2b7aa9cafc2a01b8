import type { Logger } from "pino";
import { ownTopics } from "../config/plug-topics.ts";
import type { Config } from "../config/schema.ts";
import type { Messages } from "../contract/messages.ts";
import type { StoredCommand } from "../store/index.ts";
import { BulkActions } from "./automation/bulk.ts";
import type { Effects } from "./automation/effects.ts";
import { JobNotices } from "./automation/job-notices.ts";
import { LostTargets } from "./automation/lost-targets.ts";
import { runProgram } from "./automation/programs.ts";
import { accessOfMaker, type StepLimits } from "./automation/rights.ts";
import { Automation } from "./automation/rules/index.ts";
import { listRunner } from "./automation/run-list.ts";
import type { Runs } from "./automation/run-types.ts";
import { RunExecutor } from "./automation/runs.ts";
import { StepRunner } from "./automation/step-runner.ts";
import { StepTargets } from "./automation/step-targets.ts";
import { WebHooks } from "./automation/web-hook.ts";
import { actionSteps, loopAction, rigAction } from "./commands/actions.ts";
import { CommandExecutor } from "./commands/command-executor.ts";
import { presentCommand } from "./commands/commands.ts";
import { managedSteps } from "./hosts/managed-steps.ts";
import { noticeKeys } from "./miners/miner-notices.ts";
import type { Economics } from "./money/economics.ts";
import type { ChannelBook } from "./notifications/channel-book.ts";
import type { ServiceOptions } from "./options.ts";
import type { Base, Miners } from "./parts.ts";
import { byTimer, Loops } from "./power/loops.ts";
import { PowerHolds, powerGuard } from "./power/power-holds.ts";
import type { Access } from "./users/access.ts";

export type Commands = ReturnType<typeof openCommands>;
export type Rules = ReturnType<typeof openAutomation>;

/**
 * The parts that write to rigs: single commands, the loops that control power, and runs of steps, such as bulk actions.
 */
export function openCommands(options: ServiceOptions, base: Base, miners: Miners) {
  const { power, registry, economics, webTargets, usable } = miners;
  const { repeat = byTimer, messages } = options;
  const { config, store, log, now, format, accessBook, book, shares, events, notices } = base;
  const { heating, follow } = config;
  const executor = new CommandExecutor(registry.fleet, store, log, options.commandTimeouts);
  const stepsOf = actionSteps(book, power, managedSteps(store, base.coins, base.managed));
  const holds = new PowerHolds({ store, power, now });
  const runOnRig = rigAction(registry, executor, stepsOf, accessBook, powerGuard(holds));
  const loops = new Loops({
    registry,
    store,
    power,
    holds,
    now,
    log,
    notices,
    runOnRig,
    heating,
    follow,
    repeat,
    messages: messages ?? null,
  });
  const runOnLoop = loopAction(loops, executor);
  const targets = new StepTargets({ store, accessBook, book, usable });
  const lostTargets = new LostTargets({ store, accessBook, targets, channels: base.channels, notices });
  const limits: StepLimits = {
    ...channelLimits(base.channels),
    ownTopics: ownTopics(config.mqtt),
    programs: config.automation.programs,
    hasMessages: messages !== undefined,
    webhookHosts: config.automation.webhookHosts,
    webTargets,
  };
  const runner = new StepRunner({
    store,
    registry,
    executor,
    accessBook,
    book,
    stepsOf,
    loops,
    runOnLoop,
    holds,
    limits,
    format,
    lastOutputOf: (minerId) => base.managed.lastOutputOf(minerId),
    effects: effectsOf(options, base, economics, new WebHooks(webTargets, log)),
  });
  const jobNotices = new JobNotices(notices, (id) => registry.find(id)?.facts.name);
  const runs = new RunExecutor({ store, runner, jobNotices, targets, now, log });
  const bulk = new BulkActions({ registry, store, accessBook, stepsOf, runs, runner, shares, targets, usable });
  const runList = listRunner({ store, registry, accessBook, runs, runner, usable });
  executor.watch((command) => {
    holds.onCommand(command);
    loops.onCommand(command);
    logEnd(log, command);
    events.command(presentCommand(command));
  });
  const names = { targets, lostTargets };
  return { executor, runOnRig, runOnLoop, loops, holds, runs, runner, limits, bulk, runList, jobNotices, ...names };
}

/** Which channels the maker of a step may send to. */
const channelLimits = (channels: ChannelBook): Pick<StepLimits, "channelRefusal" | "channelsFor"> => ({
  channelRefusal: (channel, maker) => {
    const usable = channels.usableBy(maker);
    if (maker.all || (channel === "all" ? usable.size > 0 : usable.has(channel))) return null;
    return `its creator may not use ${channel === "all" ? "any channel" : `the channel ${channel}`}`;
  },
  channelsFor: (channel, maker) => {
    if (channel !== "all") return [channel];
    return maker.all ? "all" : [...channels.usableBy(maker)];
  },
});

/** The effects of steps outside of rigs, such as notifications and web hooks. */
const effectsOf = (
  { messages }: ServiceOptions,
  { notices }: Base,
  economics: Economics,
  hooks: WebHooks,
): Effects => ({
  notify: ({ key, isEnd, reportsAbsence, minerId, severity, title, text: message, channels }) => {
    const sameAs = reportsAbsence && minerId !== null ? noticeKeys.disconnected(minerId) : undefined;
    if (isEnd && key !== null) notices.close(key, message);
    else notices.raise({ key, minerId, title, source: "Rules", message, severity, channels, sameAs });
  },
  ...(messages === undefined ? {} : { publish: (topic, payload, retain) => messages.publish(topic, payload, retain) }),
  post: (request, maker, signal) => hooks.post(request, maker, signal),
  best: (minerId) => economics.best(minerId)?.watts ?? null,
  program: runProgram,
});

/** Why rules and schedules are off. */
export const withoutRules =
  "all rules and schedules are off, since the service was started with --without-rules; start it without that option to have them back";

/** ms between two evaluations of the rules. */
const ruleTurnMs = 1_000;

/** Rules, schedules and maintenance windows. */
export function openAutomation(
  options: ServiceOptions,
  base: Base,
  { registry, economics }: Miners,
  { runs, jobNotices, targets }: Pick<Commands, "jobNotices" | "targets"> & { readonly runs: Runs },
) {
  const { config, store, log, now, accessBook, format, records, notices, hooks, channels, events } = base;
  const automation = new Automation({
    registry,
    store,
    accessBook,
    now,
    format,
    log,
    runs,
    notices,
    jobNotices,
    targets,
    channelsOf: (makerId) => channels.reachedBy(accessOfMaker({ makerId }, accessBook)),
    values: {
      price: economics.priceAt,
      lastOutput: (minerId) => base.managed.lastOutputOf(minerId),
      outside: (minerId, name) => {
        const { money, poolView } = registry.jsonCache.current(minerId)?.miner ?? {};
        if (name === "poolHashrate") return poolView?.hashrate ?? null;
        if (name === "poolRejected") return poolView?.rejected ?? null;
        if (name === "poolBalance") return poolView?.balance ?? null;
        return money?.[`${name}PerDay`] ?? null;
      },
    },
    messages: options.messages ?? null,
    each: (minerId, from, to, take) => records.recorderOf(minerId).each(minerId, from, to, take),
    monotonicNow: options.monotonicNow ?? (() => performance.now()),
    zone: config.display.timeZone,
    rawDays: config.history.raw,
    off: options.withoutRules === true ? withoutRules : null,
    changed: (change, makerId) => events.rule(change, makerId),
  });
  let stop = (): void => undefined;
  notices.silence((minerId) => {
    const entry = registry.find(minerId);
    return entry !== undefined && automation.maintenance.over(entry) !== null;
  });
  const unwatch = hooks.watchHooks(({ name }) => automation.hook(name));
  return {
    automation,
    ruleNames: ruleNames(config, options.messages, channels),
    startRules: (): void => {
      automation.start();
      stop = (options.ruleTurns ?? byTimer)(async () => automation.turn(), ruleTurnMs);
    },
    closeRules: async (): Promise<void> => {
      stop();
      unwatch();
      await automation.close();
    },
  };
}

/** The current names that rules added over the API may refer to. */
const ruleNames = (config: Config, messages: Messages | undefined, channels: ChannelBook) => (access: Access) => ({
  channels: channels.usableBy(access),
  hooks: new Set(config.hooks.map(({ name }) => name)),
  hasMessages: messages !== undefined,
  programs: config.automation.programs,
});

/** Logs a line for each command that has ended. */
function logEnd(log: Logger, { id, minerId, minerName, actor, action, state, message }: StoredCommand): void {
  if (state === "queued" || state === "sent") return;
  const line = { command: id, miner: minerId, name: minerName, action, actor, state, message };
  if (state === "done") log.info(line, "a command is done");
  else log.warn(line, "a command is not done");
}
