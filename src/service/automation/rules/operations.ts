import { readyMadeRules } from "../../../catalogue/ready-made-rules.ts";
import { ruleFindings, ruleLoops } from "../../../config/rule-checks.ts";
import { resolveRule } from "../../../config/rule-resolution.ts";
import { invalidAll, type Mistake, mistake, notFound, RigbridgeError } from "../../../contract/problems.ts";
import { type RuleInfo, RuleSettings } from "../../../contract/rules.ts";
import type { Caller, MiningService } from "../../../contract/service.ts";
import { detail } from "../../../messages/detail.ts";
import type { Store } from "../../../store/index.ts";
import { done, enabled, refuseInUse } from "../../crud.ts";
import type { Links } from "../../links.ts";
import { madeLists, type Naming, type StepLists } from "../made-lists.ts";
import { accessOfMaker } from "../rights.ts";
import { keyOf, ruleRow } from "../rule-rows.ts";
import { type StepTargets, unsaved } from "../step-targets.ts";
import {
  changed,
  isoOrNull,
  madeRows,
  onlyDisables,
  parsed,
  type RuleOperationsOptions,
  withoutHeaders,
} from "./made-rows.ts";
import { type ScheduleOperations, scheduleOperations } from "./schedule-operations.ts";

type RuleOperations = Pick<
  MiningService,
  "listRules" | "addRule" | "changeRule" | "deleteRule" | "listRuleRuns" | "listRuns" | "tryRule"
>;

const dayMs = 86_400_000;
const mostRules = 1_000;

/** The operations on rules, schedules and maintenance windows. */
export function ruleOperations(options: RuleOperationsOptions): RuleOperations & ScheduleOperations {
  const { automation, registry, store, accessBook, targets, now } = options;
  const { engine, traces } = automation;
  const rows = madeRows(options);
  const { isVisible, found, own, taken, known, mistakesIn, refuse } = rows;

  /** Throws with every mistake; returns the links of its names. `before`: the rule as stored. */
  function checkRule(settings: RuleSettings, caller: Caller, before: RuleBefore | null): Links {
    const { rule } = resolveRule(settings);
    const key = rule?.key ?? settings.key ?? settings.name ?? "";
    const { id, makerId } = before ?? { id: unsaved, makerId: caller.userId ?? null };
    const access = accessOfMaker({ makerId }, accessBook) ?? accessBook.of(caller);
    const other = taken(store.rules, key, { id, makerId });
    const made = { owner: "store", makerId } as const;
    const { links, mistakes } = targets.resolve(rule ?? {}, made, before?.links, { id, key });
    refuse([
      ...(other === undefined ? [] : [mistake("key", detail("input.ruleTaken", { key, id: other.id }))]),
      ...mistakesIn(ruleFindings(settings, [], known(access))),
      ...mistakes,
      ...(rule === null
        ? []
        : [
            ...loopsWith({ ...made, id, links, lists: rule, key }, store, targets),
            ...options.stepMistakes(rule.do ?? [], access, "do"),
            ...options.stepMistakes(rule.onClear ?? [], access, "onClear"),
            ...options.stepMistakes(rule.onGiveUp ?? [], access, "onGiveUp"),
          ]),
    ]);
    return links;
  }

  const sees = (caller: Caller) => (minerId: number) => registry.visible(minerId, accessBook.of(caller)) !== undefined;

  const presentRule = (id: number, caller: Caller): RuleInfo => {
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
      owner: row.owner,
      makerId: row.makerId,
      problem: live.problem,
      manual: row.manual,
      use: typeof row.definition?.use === "string" ? row.definition.use : null,
      pending: count(["pending"]),
      firing: count(["firing", "clearing"]),
      held: cells.filter(({ held }) => held !== null).length,
      nextTime: isoOrNull(automation.nextTimeOf(live)),
      lastRun: traces.last("rule", id, sees(caller)),
      definition: withoutHeaders(targets.present(row.definition ?? { name: row.name }, row).definition),
    };
  };

  return {
    ...scheduleOperations(options, rows),
    listRules: async (_input, caller) => ({
      rules: enabled(store.rules)
        .filter((row) => isVisible(row, caller))
        .map(({ id }) => presentRule(id, caller)),
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
      store.ruleLog.forget("rule", row.id);
      automation.reload();
      return done(`Rule ${row.name} removed`);
    },
    listRuleRuns: async ({ id }, caller) => ({
      runs: traces.list("rule", found(store.rules, id, "rule", caller).id, sees(caller)),
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
      const runs = traces.recent({ minerId: miner, kind, since }).flatMap((run) => {
        const owner = owners.get(`${run.kind} ${run.ownerId}`);
        return owner === undefined || (run.minerId !== null && !isSeen(run.minerId)) ? [] : [{ ...run, ...owner }];
      });
      return { runs };
    },
    tryRule: async ({ id, from, to = now() }, caller) => {
      const row = found(store.rules, id, "rule", caller);
      if (automation.off !== null)
        throw new RigbridgeError("not.possible", detail("rule.untriable", { why: automation.off }));
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

interface RuleBefore {
  readonly id: number;
  readonly makerId: number | null;
  readonly links: Links;
}

/**
 * The loops of rules that this rule would close. Each rule of a loop may run this one, so the creator sees them all.
 */
function loopsWith(
  changed: Naming & { readonly id: number; readonly key: string; readonly lists: StepLists },
  store: Store,
  targets: StepTargets,
): Mistake[] {
  const others = madeLists(store).filter(({ kind, row }) => kind === "rule" && row.id !== changed.id);
  const withIds = (row: Naming & { readonly id: number }, { do: steps, onClear, onGiveUp }: StepLists) => {
    const named = [...(steps ?? []), ...(onClear ?? []), ...(onGiveUp ?? [])].filter((step) => "rule" in step);
    return { key: String(row.id), do: named.map((step) => ({ rule: String(targets.bound(step, row).target) })) };
  };
  const keyOfId = (id: string): string => {
    const row = store.rules.get(Number(id));
    return Number(id) === changed.id || row === undefined ? changed.key : keyOf(row);
  };
  const loops = ruleLoops([withIds(changed, changed.lists), ...others.map(({ row, lists }) => withIds(row, lists))]);
  return loops
    .map(({ path }) => path.split(" → "))
    .filter((ids) => ids.includes(String(changed.id)))
    .map((ids) => ({ path: "do", message: `the rules run each other in a loop: ${ids.map(keyOfId).join(" → ")}` }));
}
