import { scopeFindings } from "../../config/rule-checks.ts";
import type { Scope } from "../../contract/rules.ts";
import type { RunStep } from "../../contract/steps.ts";
import { coded } from "../../messages/coded.ts";
import { accessOfMaker, refusals } from "../automation/rights.ts";
import { Automation } from "../automation/rules/index.ts";
import { madeRows } from "../automation/rules/made-rows.ts";
import { ruleOperations } from "../automation/rules/operations.ts";
import type { RuleValues } from "../automation/rules/surroundings.ts";
import type { Core } from "../core.ts";
import { enabled } from "../crud.ts";
import type { Economics } from "../money/economics.ts";
import { byTimer } from "../repeat.ts";
import type { ServiceRoom } from "../room.ts";
import { liveLists } from "../settings/live-settings.ts";
import type { Access } from "../users/access.ts";
import type { RunsRoom } from "./automation.ts";
import type { Miners } from "./miners.ts";

export type Rules = ReturnType<typeof openRules>;

/** Why rules and schedules are off. */
export const withoutRules =
  "all rules and schedules are off, since the service was started with --without-rules; start it without that option to have them back";

/** ms between two evaluations of the rules. */
const ruleTurnMs = 1_000;

/** Rules, schedules and maintenance windows. */
export function openRules(core: Core, miners: Miners, { economics }: { economics: Economics }, steps: RunsRoom) {
  const { options, store, log, now, format, accessBook, records, hooks, channels, events } = core;
  const { registry, notices } = miners;
  const { jobNotices, targets, limits } = steps;
  const local = core.settings.part("hours of rules", ["display"]);
  const automation = new Automation({
    registry,
    store,
    accessBook,
    now,
    format,
    log,
    notices,
    jobNotices,
    targets,
    runs: options.runs ?? steps.runs,
    channelsOf: (makerId) => channels.reachedBy(accessOfMaker({ makerId }, accessBook)),
    values: ruleValues(miners, economics),
    messages: core.messages,
    each: (minerId, from, to, take) => records.recorderOf(minerId).each(minerId, from, to, take),
    monotonicNow: core.monotonicNow,
    zone: () => local.now.display.timeZone,
    settings: core.settings.part("trials of rules", ["history"]).now,
    off: options.withoutRules === true ? withoutRules : null,
    changed: (change, makerId) => events.rule(change, makerId),
  });
  local.onChange(({ display }, before) => {
    if (display.timeZone !== before.display.timeZone) automation.zoneChanged();
  });
  core.settings.part("rules of the file", liveLists).onChange(() => {
    automation.reload();
    steps.lostTargets.report();
  });
  notices.silence((minerId) => {
    const entry = registry.find(minerId);
    return entry !== undefined && automation.maintenance.over(entry) !== null;
  });
  const unwatch = hooks.watchHooks(({ name }) => automation.hook(name));
  let stop = (): void => undefined;
  const definitions = {
    automation,
    registry,
    store,
    accessBook,
    targets,
    now,
    log,
    book: core.book,
    programMistakes: steps.programMistakes,
    poolsChanged: (): void => {
      registry.changeAll();
      miners.managed.syncAll();
    },
    names: ruleNames(core),
    stepMistakes: (list: readonly RunStep[], maker: Access, path: string) => refusals(list, maker, limits, path),
  };
  const { known, mistakesIn } = madeRows(definitions);
  return {
    automation,
    /** Names in the scope of a definition that do not exist or are hidden from this access. */
    scopeMistakes: (scope: Scope | undefined, access: Access) =>
      mistakesIn(scopeFindings(scope, ["scope"], known(access))),
    operations: ruleOperations(definitions),
    start: async (): Promise<void> => {
      const { off } = automation;
      if (off !== null) log.warn(off);
      notices.setWarning(
        coded("notices.rules.off"),
        off === null ? null : `${off.charAt(0).toUpperCase()}${off.slice(1)}.`,
      );
      await automation.start();
      stop = (options.ruleTurns ?? byTimer)(() => automation.turn(), ruleTurnMs);
    },
    close: async (): Promise<void> => {
      stop();
      unwatch();
      // The results of the last runs are stored with the rules that started them.
      await steps.runs.settled();
      await automation.close();
    },
  } satisfies ServiceRoom;
}

const ruleValues = ({ registry, managed }: Miners, economics: Economics): RuleValues => ({
  price: economics.priceAt,
  lastOutput: (minerId) => managed.lastOutputOf(minerId),
  outside: (minerId, name) => {
    const { money, poolView } = registry.display.jsonCache.current(minerId)?.miner ?? {};
    if (name === "poolHashrate") return poolView?.hashrate ?? null;
    if (name === "poolRejected") return poolView?.rejected ?? null;
    if (name === "poolBalance") return poolView?.balance ?? null;
    return money?.[`${name}PerDay`] ?? null;
  },
});

/** The current names that rules added over the API may refer to. */
function ruleNames({ hooks, settings, messages, channels, store }: Core) {
  const { now } = settings.part("checks of rules", ["automation", "sites"]);
  return (access: Access) => ({
    channels: channels.usableBy(access),
    hooks: hooks.names,
    // What other users see is checked when a step runs.
    plans: access.all ? new Set(enabled(store.curtailmentPlans).map(({ name }) => name)) : null,
    hasMessages: messages.isConfigured,
    programs: now.automation.programs,
    sites: new Set(now.sites.map(({ name }) => name)),
  });
}
