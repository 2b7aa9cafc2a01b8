import type { TemplateProgram } from "../../contract/templates.ts";
import { BulkActions } from "../automation/bulk.ts";
import type { Effects } from "../automation/effects.ts";
import { JobNotices } from "../automation/job-notices.ts";
import { LostTargets } from "../automation/lost-targets.ts";
import { runProgram } from "../automation/programs.ts";
import type { StepLimits } from "../automation/rights.ts";
import { listRunner } from "../automation/run-list.ts";
import { RunExecutor } from "../automation/runs.ts";
import { StepRunner } from "../automation/step-runner.ts";
import { StepTargets } from "../automation/step-targets.ts";
import { templateOperations } from "../automation/templates.ts";
import { WebHooks } from "../automation/web-hook.ts";
import type { Core } from "../core.ts";
import { templateMistakes } from "../hosts/software.ts";
import { noticeKeys } from "../miners/miner-notices.ts";
import { noNotices } from "../miners/summary.ts";
import type { Economics } from "../money/economics.ts";
import type { ChannelBook } from "../notifications/channel-book.ts";
import type { FarmNotices } from "../notifications/notices.ts";
import type { ServiceRoom } from "../room.ts";
import type { Commands } from "./commands.ts";
import type { Miners } from "./miners.ts";
import type { Notifications } from "./notifications.ts";
import type { Power } from "./power.ts";

export interface AutomationRooms {
  readonly miners: Miners;
  readonly money: { readonly economics: Economics };
  readonly notifications: Pick<Notifications, "webTargets">;
  readonly commands: Commands;
  readonly power: Pick<Power, "loops" | "runOnLoop">;
}

export type RunsRoom = ReturnType<typeof openAutomation>;

/** Runs of steps: bulk actions, templates, and the steps of rules and schedules. */
export function openAutomation(core: Core, rooms: AutomationRooms) {
  const { store, log, now, format, accessBook, book, coins, shares, agents, channels, messages, rates } = core;
  const { registry, notices, managed, usable, power } = rooms.miners;
  const { executor, stepsOf, holds } = rooms.commands;
  const { webTargets } = rooms.notifications;
  const settings = core.settings.part("limits of steps", ["automation", "sites"]).now;
  const targets = new StepTargets({ store, accessBook, book, usable });
  const programMistakes = (fields: TemplateProgram) => templateMistakes(fields, agents.software(), coins);
  const lostTargets = new LostTargets({ store, accessBook, targets, channels, notices });
  const limits: StepLimits = {
    ...channelLimits(channels),
    ownTopics: core.broker.ownTopics,
    get programs() {
      return settings.automation.programs;
    },
    messages,
    get webhookHosts() {
      return settings.automation.webhookHosts;
    },
    webTargets,
  };
  const effects = effectsOf(core, notices, rooms.money.economics, new WebHooks(webTargets, log));
  const runner = new StepRunner({
    store,
    registry,
    executor,
    accessBook,
    book,
    stepsOf,
    holds,
    limits,
    format,
    loops: rooms.power.loops,
    runOnLoop: rooms.power.runOnLoop,
    lastOutputOf: (minerId) => managed.lastOutputOf(minerId),
    effects,
  });
  const jobNotices = new JobNotices(notices, (id) => registry.find(id)?.facts.name);
  const runs = new RunExecutor({ store, runner, jobNotices, targets, now, log });
  return {
    runs,
    runner,
    /** Has steps begin and end curtailments. */
    useCurtailments: (curtailing: Pick<Effects, "curtail" | "endCurtailment">): void => {
      Object.assign(effects, curtailing);
    },
    targets,
    lostTargets,
    limits,
    jobNotices,
    bulk: new BulkActions({
      registry,
      store,
      accessBook,
      stepsOf,
      runs,
      runner,
      shares,
      targets,
      usable,
      book,
      power,
      rates,
      places: core.places,
    }),
    runList: listRunner({ store, registry, accessBook, runs, runner, usable }),
    programMistakes,
    operations: templateOperations({
      store,
      accessBook,
      usable,
      targets,
      programMistakes,
      siteNames: () => new Set(settings.sites.map(({ name }) => name)),
      metaData: () => core.metaData(noNotices),
    }),
    start: async (): Promise<void> => {
      await lostTargets.link();
      lostTargets.report();
      await runs.resume();
    },
    settled: () => runs.settled(),
    close: () => runs.close(),
  } satisfies ServiceRoom;
}

/** Which channels the creator of a step may send to. */
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
const effectsOf = ({ messages }: Core, notices: FarmNotices, economics: Economics, hooks: WebHooks): Effects => ({
  notify: ({ key, isEnd, reportsAbsence, minerId, severity, title, text: message, channels }) => {
    const sameAs = reportsAbsence && minerId !== null ? noticeKeys.disconnected(minerId) : undefined;
    if (isEnd && key !== null) notices.close(key, message);
    else notices.raise({ key, minerId, title, source: "Rules", message, severity, channels, sameAs });
  },
  publish: (topic, payload, retain) => messages.publish(topic, payload, retain),
  post: (request, maker, signal) => hooks.post(request, maker, signal),
  best: (minerId) => economics.best(minerId)?.watts ?? null,
  program: runProgram,
});
