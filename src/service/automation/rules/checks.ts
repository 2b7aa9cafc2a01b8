import { maintenanceFindings, ruleFindings, ruleLoops, scheduleFindings } from "../../../config/rule-checks.ts";
import { resolveRule } from "../../../config/rule-resolution.ts";
import { type Mistake, mistake } from "../../../contract/problems.ts";
import type { MaintenanceSettings, RuleSettings, ScheduleSettings } from "../../../contract/rules.ts";
import { runsHere } from "../../../contract/runs-at.ts";
import { detail } from "../../../messages/detail.ts";
import type { Store } from "../../../store/index.ts";
import type { Links } from "../../links.ts";
import type { Access } from "../../users/access.ts";
import { madeLists, type Naming, type StepLists } from "../made-lists.ts";
import { keyOf } from "../rule-rows.ts";
import { type StepTargets, unsaved } from "../step-targets.ts";
import type { MadeRows, RuleOperationsOptions } from "./made-rows.ts";

/** A definition as stored, or the place of a new one. */
export interface Before {
  readonly id: number | null;
  readonly makerId: number | null;
  readonly links?: Links | undefined;
}

export interface Checked {
  /** The targets of its names. */
  readonly links: Links;
  readonly mistakes: readonly Mistake[];
}

/** Rules that are stored in the same step, by their keys: their ids are not known yet. */
export type Together = ReadonlySet<string>;
const alone: Together = new Set();

export type DefinitionChecks = ReturnType<typeof definitionChecks>;

/** Every mistake of a rule, schedule or window that is to be stored. `access`: that of its maker. */
export function definitionChecks(options: RuleOperationsOptions, rows: MadeRows) {
  const { store, targets } = options;
  const { taken, known, mistakesIn } = rows;
  return {
    rule(settings: RuleSettings, access: Access, before: Before, together = alone): Checked {
      const { rule } = resolveRule(settings);
      const key = rule?.key ?? settings.key ?? settings.name ?? "";
      const id = before.id ?? unsaved;
      const other = taken(store.rules, key, before);
      const own = [
        ...(other === undefined ? [] : [mistake("key", detail("input.ruleTaken", { key, id: other.id }))]),
        ...mistakesIn(ruleFindings(settings, [], known(access))),
      ];
      // What its names mean elsewhere is for the sites to say.
      if (!runsHere(settings.runsAt)) return { links: {}, mistakes: own };
      const made = { owner: "store", makerId: before.makerId } as const;
      const { links, mistakes } = targets.resolve(rule ?? {}, made, before.links, { id, key }, together);
      return {
        links,
        mistakes: [
          ...own,
          ...mistakes,
          ...(rule === null
            ? []
            : [
                // Loops through rules of the same step are checked over all of them.
                ...(together === alone ? loopsWith({ ...made, id, links, lists: rule, key }, store, targets) : []),
                ...options.stepMistakes(rule.do ?? [], access, "do"),
                ...options.stepMistakes(rule.onClear ?? [], access, "onClear"),
                ...options.stepMistakes(rule.onGiveUp ?? [], access, "onGiveUp"),
              ]),
        ],
      };
    },
    schedule(settings: ScheduleSettings, access: Access, before: Before, together = alone): Checked {
      const { key } = settings;
      const other = taken(store.schedules, key, before);
      const own = [
        ...(other === undefined ? [] : [mistake("key", detail("input.scheduleTaken", { key, id: other.id }))]),
        ...mistakesIn(scheduleFindings(settings, [], known(access))),
      ];
      if (!runsHere(settings.runsAt)) return { links: {}, mistakes: own };
      const made = { owner: "store", makerId: before.makerId } as const;
      const { links, mistakes } = targets.resolve(settings, made, before.links, null, together);
      return {
        links,
        mistakes: [
          ...own,
          ...mistakes,
          ...options.stepMistakes(settings.do, access, "do"),
          ...options.stepMistakes(settings.onEnd ?? [], access, "onEnd"),
        ],
      };
    },
    window: (settings: MaintenanceSettings, access: Access): Mistake[] =>
      mistakesIn(maintenanceFindings(settings, [], known(access))),
  };
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
