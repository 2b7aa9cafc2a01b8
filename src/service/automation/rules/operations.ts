import { readyMadeRules } from "../../../catalogue/ready-made-rules.ts";
import { pathText } from "../../../config/cross-checks.ts";
import type { Finding } from "../../../config/document.ts";
import {
  type KnownNames,
  maintenanceFindings,
  ruleFindings,
  ruleLoops,
  scheduleFindings,
} from "../../../config/rule-checks.ts";
import { resolveRule } from "../../../config/rule-resolution.ts";
import { invalidAll, type Mistake, notFound, RigbridgeError } from "../../../contract/problems.ts";
import { type RuleInfo, RuleSettings, type ScheduleInfo, ScheduleSettings } from "../../../contract/rules.ts";
import type { Caller, MiningService } from "../../../contract/service.ts";
import type { RunStep } from "../../../contract/steps.ts";
import { wording } from "../../../contract/wording.ts";
import type { Collection, Store, Stored } from "../../../store/index.ts";
import { done, enabled, given } from "../../crud.ts";
import type { MinerRegistry } from "../../miners/miner-registry.ts";
import type { Access, AccessBook } from "../../users/access.ts";
import type { Automation } from "./index.ts";
import { ruleRow } from "./rows.ts";
import type { LiveSchedule } from "./schedules.ts";

type RuleOperations = Pick<
  MiningService,
  | "listRules"
  | "addRule"
  | "changeRule"
  | "deleteRule"
  | "listRuleRuns"
  | "tryRule"
  | "listSchedules"
  | "addSchedule"
  | "changeSchedule"
  | "deleteSchedule"
  | "listScheduleRuns"
  | "upcomingSchedules"
  | "listMaintenance"
  | "addMaintenance"
  | "deleteMaintenance"
>;

export interface RuleOperationsOptions {
  readonly automation: Automation;
  readonly registry: MinerRegistry;
  readonly store: Store;
  readonly accessBook: AccessBook;
  readonly now: () => number;
  /** Of the configuration file, which alone declares them. */
  readonly names: Pick<KnownNames, "channels" | "hooks" | "hasMessages" | "programs">;
  /** Why a maker must not have these steps. */
  stepMistakes(steps: readonly RunStep[], maker: Access, path: string): Mistake[];
}

interface Made {
  readonly makerId: number | null;
  readonly name: string;
}

const dayMs = 86_400_000;
const mostUpcoming = 500;
const mostRules = 1_000;

/** The operations on rules, schedules and maintenance windows. */
export function ruleOperations(options: RuleOperationsOptions): RuleOperations {
  const { automation, registry, store, accessBook, now } = options;
  const { engine, schedules, traces, maintenance } = automation;

  /** Callers who see everything see all; others see what they have made. */
  const isVisible = ({ makerId }: Made, caller: Caller): boolean =>
    accessBook.of(caller).all || (makerId !== null && makerId === caller.userId);

  function found<T extends Made & { readonly definition?: object | null | undefined }>(
    collection: Collection<T>,
    id: string,
    what: string,
    caller: Caller,
  ): Stored<T> {
    const rows = enabled(collection).filter((each) => isVisible(each, caller));
    const row = rows.find((each) => String(each.id) === id) ?? rows.find((each) => keyOf(each) === id);
    if (row === undefined) throw notFound(what, id);
    return row;
  }

  function own<T extends Made & { readonly definition?: object | null | undefined }>(
    collection: Collection<T>,
    id: string,
    what: string,
    caller: Caller,
  ): Stored<T> {
    const row = found(collection, id, what, caller);
    if (row.owner === "file")
      throw new RigbridgeError("owned.by-file", `${what} ${id} is declared by the configuration file; change it there`);
    return row;
  }

  const known = (access: Access, rules: ReadonlySet<string>): KnownNames => ({
    ...options.names,
    programs: options.names.programs && access.all,
    groups: new Set(enabled(store.groups).flatMap(({ id, name }) => (access.seesGroup(id) ? [name] : []))),
    miners: new Set(
      [...registry.entriesFor(access)].flatMap(({ facts, rig }) => [
        facts.name,
        ...((rig.state.uid ?? "") ? [rig.state.uid ?? ""] : []),
      ]),
    ),
    pools: new Set(enabled(store.pools).flatMap(({ id, description }) => (access.seesPool(id) ? [description] : []))),
    poolGroups: new Set(
      enabled(store.poolGroups).flatMap(({ name, pools }) => (pools.every((id) => access.seesPool(id)) ? [name] : [])),
    ),
    templates: new Set(enabled(store.templates).map(({ name }) => name)),
    rules,
  });

  const mistakesIn = (findings: readonly Finding[]): Mistake[] =>
    findings.map(({ path, message }) => ({ path: pathText(path), message }));

  function refuse(mistakes: readonly Mistake[]): void {
    if (mistakes.length > 0) throw invalidAll(mistakes);
  }

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
          ]),
    ]);
  }

  function checkSchedule(settings: ScheduleSettings, caller: Caller, id: number | null): void {
    const access = accessBook.of(caller);
    const taken = enabled(store.schedules).find((row) => row.id !== id && keyOf(row) === settings.key);
    refuse([
      ...(taken === undefined
        ? []
        : [{ path: "key", message: `"${settings.key}" is the key of schedule ${taken.id} already` }]),
      ...mistakesIn(scheduleFindings(settings, [], known(access, new Set(enabled(store.rules).map(keyOf))))),
      ...options.stepMistakes(settings.do, access, "do"),
      ...options.stepMistakes(settings.onEnd ?? [], access, "onEnd"),
    ]);
  }

  const presentRule = (id: number): RuleInfo => {
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
      definition: withoutHeaders(row.definition ?? { name: row.name }),
    };
  };

  const presentSchedule = (live: LiveSchedule): ScheduleInfo => {
    const row = store.schedules.get(live.id);
    const [next] = schedules.upcoming(live, now() + 366 * dayMs, 1);
    return {
      id: live.id,
      key: live.settings.key,
      name: live.settings.name ?? live.settings.key,
      enabled: live.settings.enabled !== false,
      owner: row?.owner ?? "store",
      makerId: live.makerId,
      problem: live.problem,
      active: live.active !== null,
      nextStart: isoOrNull(next?.start),
      nextEnd: isoOrNull(live.active === null ? next?.end : live.active.end),
      definition: withoutHeaders(row?.definition ?? {}),
    };
  };

  const liveSchedule = (id: number): LiveSchedule => {
    const live = schedules.all.find((each) => each.id === id);
    if (live === undefined) throw notFound("schedule", id);
    return live;
  };

  const sees = (caller: Caller) => (minerId: number) => registry.visible(minerId, accessBook.of(caller)) !== undefined;

  const presentWindow = (each: (typeof maintenance.all)[number], access: Access) => ({
    id: each.row.id,
    name: each.settings.name,
    owner: each.row.owner,
    from: isoOrNull(each.settings.from === undefined ? undefined : each.from),
    until: new Date(each.until).toISOString(),
    active: maintenance.isActive(each),
    miners: [...registry.entriesFor(access)].filter((entry) => each.covers(entry)).length,
    definition: { ...each.settings },
  });

  return {
    listRules: async (_input, caller) => ({
      rules: enabled(store.rules)
        .filter((row) => isVisible(row, caller))
        .map(({ id }) => presentRule(id)),
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
      return presentRule(id);
    },
    changeRule: async ({ id, ...change }, caller) => {
      const row = own(store.rules, id, "rule", caller);
      const settings = parsed(RuleSettings, { ...(row.definition ?? { name: row.name }), ...given(change) });
      checkRule(settings, caller, row.id);
      await store.rules.change(row.id, ruleRow(settings, row.makerId));
      automation.reload();
      return presentRule(row.id);
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
    tryRule: async ({ id, from, to = now() }, caller) => {
      const row = found(store.rules, id, "rule", caller);
      const begins = from ?? to - dayMs;
      if (begins >= to) throw invalidAll([{ path: "from", message: "must be before `to`" }]);
      if (to - begins > 31 * dayMs)
        throw invalidAll([{ path: "from", message: "must be at most 31 days before `to`" }]);
      const live = engine.find(row.id);
      if (live === undefined) throw notFound("rule", id);
      const members = engine.members(live).filter(sees(caller));
      return automation.dryRuns.run(live.settings, members, begins, to);
    },
    listSchedules: async (_input, caller) =>
      schedules.all.filter((each) => isVisible({ ...each, name: "" }, caller)).map(presentSchedule),
    addSchedule: async (settings, caller) => {
      checkSchedule(settings, caller, null);
      const { key, name = key } = settings;
      const { id } = await store.schedules.add({ name, makerId: caller.userId ?? null, definition: { ...settings } });
      automation.reload();
      return presentSchedule(liveSchedule(id));
    },
    changeSchedule: async ({ id, ...change }, caller) => {
      const row = own(store.schedules, id, "schedule", caller);
      const settings = parsed(ScheduleSettings, { ...row.definition, ...given(change) });
      checkSchedule(settings, caller, row.id);
      await store.schedules.change(row.id, { name: settings.name ?? settings.key, definition: { ...settings } });
      automation.reload();
      return presentSchedule(liveSchedule(row.id));
    },
    deleteSchedule: async ({ id }, caller) => {
      const row = own(store.schedules, id, "schedule", caller);
      await store.schedules.remove(row.id);
      store.ruleLog.forget("schedule", row.id);
      automation.reload();
      return done(`Schedule ${row.name} removed`);
    },
    listScheduleRuns: async ({ id }, caller) => ({
      runs: traces.list("schedule", found(store.schedules, id, "schedule", caller).id, sees(caller)),
    }),
    upcomingSchedules: async ({ days = 7 }, caller) => {
      const until = now() + days * dayMs;
      return schedules.all
        .filter((each) => isVisible({ ...each, name: "" }, caller))
        .flatMap((each) =>
          schedules.upcoming(each, until, mostUpcoming).map(({ start, end }) => ({
            scheduleId: each.id,
            key: each.settings.key,
            name: each.settings.name ?? each.settings.key,
            start: new Date(start).toISOString(),
            end: isoOrNull(end),
          })),
        )
        .sort((a, b) => a.start.localeCompare(b.start))
        .slice(0, mostUpcoming);
    },
    listMaintenance: async (_input, caller) =>
      maintenance.all
        .filter(({ row }) => isVisible(row, caller))
        .map((each) => presentWindow(each, accessBook.of(caller))),
    addMaintenance: async (settings, caller) => {
      const access = accessBook.of(caller);
      refuse([
        ...mistakesIn(maintenanceFindings(settings, [], known(access, new Set()))),
        ...(Date.parse(settings.until) <= now() ? [{ path: "until", message: "must be in the future" }] : []),
        ...(access.all || settings.groups !== undefined || settings.miners !== undefined
          ? []
          : [{ path: "groups", message: "is required, or miners, of a user who does not see all groups" }]),
      ]);
      const { id } = await store.maintenance.add({
        name: settings.name,
        makerId: caller.userId ?? null,
        definition: { ...settings },
      });
      const made = maintenance.all.find(({ row }) => row.id === id);
      if (made === undefined) throw notFound("maintenance window", id);
      return presentWindow(made, access);
    },
    deleteMaintenance: async ({ id }, caller) => {
      const row = own(store.maintenance, String(id), "maintenance window", caller);
      await store.maintenance.remove(row.id);
      return done(`Maintenance window ${row.name} removed`);
    },
  };
}

/** Of a row of the file, or of one that was made over the API. */
function keyOf({
  key,
  name,
  definition,
}: {
  key: string | null;
  name: string;
  definition?: object | null | undefined;
}): string {
  const own: unknown[] =
    definition == null
      ? []
      : [Reflect.get(definition, "key"), Reflect.get(definition, "name"), Reflect.get(definition, "use")];
  return key ?? own.find((each) => typeof each === "string") ?? name;
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

function parsed<T>(
  schema: {
    safeParse(
      value: unknown,
      options: object,
    ):
      | { success: true; data: T }
      | { success: false; error: { issues: readonly { path: PropertyKey[]; message: string }[] } };
  },
  value: unknown,
): T {
  const result = schema.safeParse(value, { error: wording });
  if (result.success) return result.data;
  throw invalidAll(result.error.issues.map(({ path, message }) => ({ path: pathText(path), message })));
}

const isoOrNull = (time: number | null | undefined): string | null =>
  time == null ? null : new Date(time).toISOString();

/** The values of headers may be secrets; `POST` and `PATCH` take them, and no answer has them. */
function withoutHeaders(definition: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const hidden = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hidden);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [
        name,
        name === "headers" && typeof each === "object" && each !== null
          ? Object.fromEntries(Object.keys(each).map((header) => [header, ""]))
          : hidden(each),
      ]),
    );
  };
  return Object.fromEntries(Object.entries(definition).map(([name, value]) => [name, hidden(value)]));
}
