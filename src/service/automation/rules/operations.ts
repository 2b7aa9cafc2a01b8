import { readyMadeRules } from "../../../catalogue/ready-made-rules.ts";
import { invalidAll, notFound, RigbridgeError } from "../../../contract/problems.ts";
import { type RuleInfo, RuleSettings } from "../../../contract/rules.ts";
import type { Caller, MiningService } from "../../../contract/service.ts";
import { detail } from "../../../messages/detail.ts";
import { done, enabled, refuseInUse } from "../../crud.ts";
import type { Links } from "../../links.ts";
import { accessOfMaker } from "../rights.ts";
import { keyOf, ruleRow, runsRowHere } from "../rule-rows.ts";
import { type Before, definitionChecks } from "./checks.ts";
import {
  changed,
  isoOrNull,
  madeRows,
  mostRules,
  onlyDisables,
  parsed,
  type RuleOperationsOptions,
  withoutHeaders,
} from "./made-rows.ts";
import { type OwnedOperations, ownedOperations } from "./owned.ts";
import { type ScheduleOperations, scheduleOperations } from "./schedule-operations.ts";

type RuleOperations = Pick<
  MiningService,
  "listRules" | "addRule" | "changeRule" | "deleteRule" | "listRuleRuns" | "listRuns" | "tryRule"
>;

const dayMs = 86_400_000;

/** The operations on rules, schedules and maintenance windows. */
export function ruleOperations(options: RuleOperationsOptions): RuleOperations & ScheduleOperations & OwnedOperations {
  const { automation, registry, store, accessBook, targets, now } = options;
  const { engine, traces } = automation;
  const rows = madeRows(options);
  const { isVisible, found, own, refuse, ownerOf } = rows;

  const checks = definitionChecks(options, rows);

  /** Throws with every mistake; returns the links of its names. `before`: the rule as stored. */
  function checkRule(settings: RuleSettings, caller: Caller, before: Before | null): Links {
    const { makerId } = before ?? { makerId: caller.userId ?? null };
    const access = accessOfMaker({ makerId }, accessBook) ?? accessBook.of(caller);
    const { links, mistakes } = checks.rule(settings, access, before ?? { id: null, makerId });
    refuse(mistakes);
    return links;
  }

  const sees = (caller: Caller) => (minerId: number) => registry.visible(minerId, accessBook.of(caller)) !== undefined;

  const presentRule = async (id: number, caller: Caller): Promise<RuleInfo> => {
    const live = engine.find(id);
    const row = store.rules.get(id);
    if (live === undefined || row === undefined) throw notFound("rule", id);
    const cells = [...live.cells.values()];
    const count = (phases: readonly string[]): number => cells.filter(({ phase }) => phases.includes(phase)).length;
    return {
      id,
      key: live.settings.key,
      name: live.settings.name,
      enabled: live.settings.enabled !== false,
      ...ownerOf(row),
      makerId: row.makerId,
      problem: live.problem ?? rows.siteProblem(live.settings),
      manual: row.manual,
      use: typeof row.definition?.use === "string" ? row.definition.use : null,
      pending: count(["pending"]),
      firing: count(["firing", "clearing"]),
      held: cells.filter(({ held }) => held !== null).length,
      nextTime: isoOrNull(automation.nextTimeOf(live)),
      lastRun: await traces.last("rule", id, sees(caller)),
      definition: withoutHeaders(targets.present(row.definition ?? { name: row.name }, row).definition),
    };
  };

  return {
    ...scheduleOperations(options, rows, checks),
    ...ownedOperations(options, checks, options.log),
    listRules: async (_input, caller) => ({
      rules: await Promise.all(
        enabled(store.rules)
          .filter((row) => isVisible(row, caller))
          .map(({ id }) => presentRule(id, caller)),
      ),
      readyMade: readyMadeRules.map(({ key, name, description, values, rule }) => ({
        key,
        name,
        description,
        definition: { ...rule, with: values },
      })),
    }),
    addRule: async (settings, caller) => {
      if (enabled(store.rules).length >= mostRules)
        throw new RigbridgeError("not.possible", detail("rule.most", { count: mostRules }));
      const links = checkRule(settings, caller, null);
      const { id } = await store.rules.add({ ...ruleRow(settings, caller.userId ?? null), links });
      automation.reload();
      return presentRule(id, caller);
    },
    changeRule: async ({ id, ...change }, caller) => {
      const row = own(store.rules, id, "rule", caller);
      const before = targets.present(row.definition ?? { name: row.name }, row);
      const settings = parsed(RuleSettings, changed(before.definition, change));
      const links = onlyDisables(change)
        ? before.links
        : checkRule(settings, caller, { id: row.id, makerId: row.makerId, links: before.links });
      await store.rules.change(row.id, { ...ruleRow(settings, row.makerId), links });
      automation.reload();
      return presentRule(row.id, caller);
    },
    deleteRule: async ({ id }, caller) => {
      const row = own(store.rules, id, "rule", caller);
      refuseInUse(
        `Rule ${keyOf(row)}`,
        [...targets.usersOf("rule", row.id), ...targets.usersOf("inhibitor", row.id)].map(({ name }) => name),
      );
      await store.rules.remove(row.id);
      await store.ruleLog.forget("rule", row.id);
      automation.reload();
      return done(`Rule ${row.name} removed`);
    },
    listRuleRuns: async ({ id }, caller) => ({
      runs: await traces.list("rule", found(store.rules, id, "rule", caller).id, sees(caller)),
    }),
    listRuns: async ({ miner = null, kind = null, since = 0 }, caller) => {
      const isSeen = sees(caller);
      const owners = new Map(
        [
          ...enabled(store.rules).map((row) => ["rule", row] as const),
          ...enabled(store.schedules).map((row) => ["schedule", row] as const),
        ]
          .filter(([, row]) => isVisible(row, caller))
          .map(([of, row]) => [`${of} ${row.id}`, { key: keyOf(row), name: row.name }]),
      );
      const recent = await traces.recent({ minerId: miner, kind, since });
      const runs = recent.flatMap((run) => {
        const owner = owners.get(`${run.kind} ${run.ownerId}`);
        return owner === undefined || (run.minerId !== null && !isSeen(run.minerId)) ? [] : [{ ...run, ...owner }];
      });
      return { runs };
    },
    tryRule: async ({ id, from, to = now() }, caller) => {
      const row = found(store.rules, id, "rule", caller);
      if (automation.off !== null)
        throw new RigbridgeError("not.possible", detail("rule.untriable", { why: automation.off }));
      if (!runsRowHere(row)) throw new RigbridgeError("not.possible", detail("rule.elsewhere"));
      const begins = from ?? to - dayMs;
      if (begins >= to) throw invalidAll([{ path: "from", message: "must be before `to`" }]);
      if (to - begins > 31 * dayMs)
        throw invalidAll([{ path: "from", message: "must be at most 31 days before `to`" }]);
      const live = engine.find(row.id);
      if (live === undefined) throw notFound("rule", id);
      const members = engine.members(live).filter(sees(caller));
      return automation.dryRuns.run(live, members, begins, to);
    },
  };
}
