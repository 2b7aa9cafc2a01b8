import { readyMadeRules } from "../../../catalogue/ready-made-rules.ts";
import { ruleFindings, ruleLoops } from "../../../config/rule-checks.ts";
import { resolveRule } from "../../../config/rule-resolution.ts";
import { invalidAll, notFound, RigbridgeError } from "../../../contract/problems.ts";
import { type RuleInfo, RuleSettings } from "../../../contract/rules.ts";
import type { Caller, MiningService } from "../../../contract/service.ts";
import type { Store } from "../../../store/index.ts";
import { done, enabled } from "../../crud.ts";
import {
  changed,
  isoOrNull,
  keyOf,
  madeRows,
  parsed,
  type RuleOperationsOptions,
  withoutHeaders,
} from "./made-rows.ts";
import { ruleRow } from "./rows.ts";
import { type ScheduleOperations, scheduleOperations } from "./schedule-operations.ts";

type RuleOperations = Pick<
  MiningService,
  "listRules" | "addRule" | "changeRule" | "deleteRule" | "listRuleRuns" | "listRuns" | "tryRule"
>;

const dayMs = 86_400_000;
const mostRules = 1_000;

/** The operations on rules, schedules and maintenance windows. */
export function ruleOperations(options: RuleOperationsOptions): RuleOperations & ScheduleOperations {
  const { automation, registry, store, accessBook, now } = options;
  const { engine, traces } = automation;
  const rows = madeRows(options);
  const { isVisible, found, own, known, mistakesIn, refuse } = rows;

  /** Throws with every mistake; `id` is that of the rule that changes. */
  function checkRule(settings: RuleSettings, caller: Caller, id: number | null): void {
    const access = accessBook.of(caller);
    const others = enabled(store.rules).filter((row) => row.id !== id);
    const { rule } = resolveRule(settings);
    const key = rule?.key ?? settings.key ?? settings.name ?? "";
    const resolved = others.flatMap(({ definition, name }) => {
      const parsed = RuleSettings.safeParse(definition ?? { name });
      return parsed.success ? (resolveRule(parsed.data).rule ?? []) : [];
    });
    const keys = new Set([...others.flatMap((row) => keyOf(row)), key]);
    const taken = others.find((row) => keyOf(row) === key);
    refuse([
      ...(taken === undefined ? [] : [{ path: "key", message: `"${key}" is the key of rule ${taken.id} already` }]),
      ...mistakesIn(ruleFindings(settings, [], known(access, keys))),
      ...(rule === null
        ? []
        : [
            ...ruleLoops([rule, ...resolved]).map(({ path }) => ({
              path: "do",
              message: `the rules run each other in a loop: ${path}`,
            })),
            ...options.stepMistakes(rule.do ?? [], access, "do"),
            ...options.stepMistakes(rule.onClear ?? [], access, "onClear"),
            ...options.stepMistakes(rule.onGiveUp ?? [], access, "onGiveUp"),
          ]),
    ]);
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
      definition: withoutHeaders(row.definition ?? { name: row.name }),
    };
  };

  return {
    ...scheduleOperations(options, rows),
    listRules: async (_input, caller) => ({
      rules: enabled(store.rules)
        .filter((row) => isVisible(row, caller))
        .map(({ id }) => presentRule(id, caller)),
      readyMade: readyMadeRules.map(({ key, name, description, values, rule }) => ({
        ...{ key, name, description },
        definition: { ...rule, with: values },
      })),
    }),
    addRule: async (settings, caller) => {
      if (enabled(store.rules).length >= mostRules)
        throw new RigbridgeError("not.possible", `There are ${mostRules} rules already`);
      checkRule(settings, caller, null);
      const { id } = await store.rules.add(ruleRow(settings, caller.userId ?? null));
      automation.reload();
      return presentRule(id, caller);
    },
    changeRule: async ({ id, ...change }, caller) => {
      const row = own(store.rules, id, "rule", caller);
      const settings = parsed(RuleSettings, changed(row.definition ?? { name: row.name }, change));
      checkRule(settings, caller, row.id);
      await store.rules.change(row.id, ruleRow(settings, row.makerId));
      automation.reload();
      return presentRule(row.id, caller);
    },
    deleteRule: async ({ id }, caller) => {
      const row = own(store.rules, id, "rule", caller);
      refuseUsed(store, keyOf(row), row.id);
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
        throw new RigbridgeError("not.possible", `The rule cannot be tried: ${automation.off}`);
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

function refuseUsed(store: Store, key: string, id: number): void {
  const users = enabled(store.rules).filter(
    (row) =>
      row.id !== id &&
      (row.do?.some((step) => "rule" in step && step.rule === key) === true ||
        (Array.isArray(row.definition?.inhibitedBy) && row.definition.inhibitedBy.includes(key))),
  );
  if (users.length > 0)
    throw new RigbridgeError(
      "in.use",
      `Rule ${key} is still used by ${users
        .slice(0, 5)
        .map(({ name }) => name)
        .join(", ")}`,
    );
}
