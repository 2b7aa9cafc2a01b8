import { Cron } from "croner";
import { didYouMean } from "../contract/nearest.ts";
import type { PlaceName } from "../contract/places.ts";
import { conditionsIn } from "../contract/rule-conditions.ts";
import type { MaintenanceSettings, Places, RuleSettings, ScheduleSettings, Scope } from "../contract/rules.ts";
import { everySite, hereName, runsHere } from "../contract/runs-at.ts";
import { kindOf, type RunStep } from "../contract/steps.ts";
import type { Finding, Path } from "./document.ts";
import { expressionMistakes } from "./expressions.ts";
import { type ResolvedRule, resolveRule } from "./rule-resolution.ts";

/** The names that rules and schedules refer to. */
export interface KnownNames {
  readonly groups: ReadonlySet<string>;
  /** Names and uids. */
  readonly miners: ReadonlySet<string>;
  readonly pools: ReadonlySet<string>;
  readonly channels: ReadonlySet<string>;
  readonly hooks: ReadonlySet<string>;
  /** Keys of curtailment plans; null: they are not checked, since the store has them. */
  readonly plans: ReadonlySet<string> | null;
  /** The names available to steps, rules by their keys; null: the caller checks them. */
  readonly targets: {
    readonly poolGroups: ReadonlySet<string>;
    readonly templates: ReadonlySet<string>;
    readonly rules: ReadonlySet<string>;
  } | null;
  /** The creator may not use everything that exists. */
  readonly isLimited?: boolean;
  readonly hasMessages: boolean;
  readonly programs: boolean;
  /** Null: they are not checked. */
  readonly places: KnownPlaces | null;
  /** The definition runs at other sites, where the id of a place is that of another. */
  readonly isForOthers?: boolean;
  /** Names of other sites; null: they are not checked. */
  readonly sites: ReadonlySet<string> | null;
}

export interface KnownPlaces {
  has(place: PlaceName): boolean;
  readonly paths: Iterable<string>;
}

/** What a site has is known there alone. */
class AnyName extends Set<string> {
  override has(): boolean {
    return true;
  }
}
const any = new AnyName();
const elsewhere: KnownNames = {
  groups: any,
  miners: any,
  pools: any,
  channels: any,
  hooks: any,
  plans: null,
  places: null,
  sites: null,
  targets: null,
  hasMessages: true,
  programs: true,
};

/** The names that a definition may use: those of this service, unless it is for other sites alone. */
const namesFor = (
  { runsAt = [] }: { readonly runsAt?: readonly string[] | undefined },
  known: KnownNames,
): KnownNames => ({
  ...(runsAt.length === 0 || runsHere(runsAt) ? known : elsewhere),
  isForOthers: runsAt.some((name) => name !== hereName),
});

/** Sites that do not exist. */
export function siteFindings(
  { runsAt = [] }: { readonly runsAt?: readonly string[] | undefined },
  path: Path,
  { sites, isLimited }: Pick<KnownNames, "sites" | "isLimited">,
): Finding[] {
  const at = [...path, "runsAt"];
  const names = runsAt.filter((name) => name !== hereName);
  if (names.length > 0 && isLimited === true)
    return [{ path: at, message: "is only for users who see all groups and pools" }];
  if (names.length === 0 || sites === null) return [];
  if (sites.size === 0) return [{ path: at, message: "there are no other sites; add them in the settings" }];
  return names.flatMap((name) => (name === everySite ? [] : unknown(name, "site", sites, at)));
}

/** Missing references of a rule, times that never occur, and mistakes in its expression. */
export function ruleFindings(settings: RuleSettings, path: Path, here: KnownNames): Finding[] {
  const known = namesFor(settings, here);
  const { rule, mistakes } = resolveRule(settings);
  const own = mistakes.map((mistake) => ({ path: [...path, ...mistake.path.split(".")], message: mistake.message }));
  if (rule === null) return own;
  const { when } = rule;
  const conditions = when === undefined ? [] : conditionsIn(when);
  const inWhen = [...path, "when"];
  const needs = (message: string): Finding => ({ path: inWhen, message });
  return [
    ...own,
    ...siteFindings(settings, path, here),
    ...scopeFindings(rule.scope, [...path, "scope"], known),
    ...conditions.flatMap((condition): Finding[] => {
      if ("hook" in condition) return unknown(condition.hook, "web hook", known.hooks, inWhen);
      if ("pool" in condition)
        return (condition.wanted ?? []).flatMap((name) => unknown(name, "pool", known.pools, inWhen));
      if ("topic" in condition && !known.hasMessages)
        return [needs(`the topic ${condition.topic} needs mqtt in the configuration`)];
      return [];
    }),
    ...unevaluable(rule).map(({ in: key, message }) => ({ path: [...inWhen, ...key], message })),
    ...(rule.inhibitedBy ?? []).flatMap((key, index) =>
      unknown(key, "rule", known.targets?.rules, [...path, "inhibitedBy", index]),
    ),
    ...stepFindings(rule.do, [...path, "do"], known),
    ...stepFindings(rule.onClear, [...path, "onClear"], known),
    ...stepFindings(rule.onGiveUp, [...path, "onGiveUp"], known),
  ];
}

/**
 * Parts of a rule's conditions that must not be evaluated, whatever they refer to: mistakes in its times and its
 * expression.
 */
export function unevaluable({ when }: ResolvedRule): { readonly in: readonly string[]; readonly message: string }[] {
  if (when === undefined) return [];
  return [
    ...conditionsIn(when).flatMap((condition) =>
      "cron" in condition
        ? cronFindings(condition.cron, condition.timeZone, []).map(({ message }) => ({ in: [], message }))
        : [],
    ),
    ...(when.where === undefined ? [] : expressionMistakes(when.where)).map((message) => ({ in: ["where"], message })),
  ];
}

export function scheduleFindings(schedule: ScheduleSettings, path: Path, here: KnownNames): Finding[] {
  const known = namesFor(schedule, here);
  return [
    ...siteFindings(schedule, path, here),
    ...scopeFindings(schedule.scope, [...path, "scope"], known),
    ...(schedule.cron === undefined ? [] : cronFindings(schedule.cron, schedule.timeZone, [...path, "cron"])),
    ...stepFindings(schedule.do, [...path, "do"], known),
    ...stepFindings(schedule.onEnd, [...path, "onEnd"], known),
  ];
}

export const maintenanceFindings = (window: MaintenanceSettings, path: Path, here: KnownNames): Finding[] => [
  ...siteFindings(window, path, here),
  ...placeFindings(window, path, namesFor(window, here)),
];

/** Names in a scope that do not exist. */
export function scopeFindings(scope: Scope | undefined, path: Path, known: KnownNames): Finding[] {
  if (scope === undefined) return [];
  return [
    ...placeFindings(scope, path, known),
    ...(scope.not === undefined ? [] : placeFindings(scope.not, [...path, "not"], known)),
  ];
}

const placeFindings = ({ groups = [], miners = [], places = [] }: Places, path: Path, known: KnownNames): Finding[] => [
  ...places.flatMap((place, index) => unknownPlace(place, known, [...path, "places", index])),
  ...groups.flatMap((name, index) => unknown(name, "group", known.groups, [...path, "groups", index])),
  ...miners.flatMap((name, index) =>
    // A uid may be a MAC, which only the rig itself reports.
    /^[0-9a-f]{12}$/.test(name) ? [] : unknown(name, "miner", known.miners, [...path, "miners", index]),
  ),
];

const unknown = (name: string, what: string, known: ReadonlySet<string> | undefined, path: Path): Finding[] =>
  known === undefined || known.has(name)
    ? []
    : [{ path, message: `there is no ${what} "${name}"${didYouMean(name, known)}` }];

function unknownPlace(place: PlaceName, { places, isForOthers }: KnownNames, path: Path): Finding[] {
  if (isForOthers === true && typeof place === "number")
    return [{ path, message: "is another place at the other sites; name it by its path" }];
  return places === null || places.has(place)
    ? []
    : [{ path, message: `there is no place ${place}${didYouMean(String(place), places.paths)}` }];
}

function unknownChannel(name: string, { channels, isLimited }: KnownNames, path: Path): Finding[] {
  if (isLimited !== true || channels.has(name)) return unknown(name, "channel", channels, path);
  const usable = channels.size === 0 ? "ask the owner to share one" : `there are ${[...channels].join(", ")}`;
  return [{ path, message: `there is no channel "${name}" that this user may use; ${usable}` }];
}

function stepFindings(steps: readonly RunStep[] = [], path: Path, known: KnownNames): Finding[] {
  return steps.flatMap((step, index): Finding[] => {
    const at = [...path, index];
    const kind = kindOf(step);
    const name = String(Reflect.get(step, kind));
    switch (kind) {
      case "notify":
        return name === "all" ? [] : unknownChannel(name, known, at);
      case "rule":
        return unknown(name, "rule", known.targets?.rules, at);
      case "template":
        return unknown(name, "managed template", known.targets?.templates, at);
      case "poolGroup":
        return unknown(name, "pool group", known.targets?.poolGroups, at);
      case "pool":
        return unknown(name, "pool", known.targets === null ? undefined : known.pools, at);
      case "curtail":
      case "endCurtailment":
        return unknown(name, "curtailment plan", known.plans ?? undefined, at);
      case "publish":
        return known.hasMessages ? [] : [{ path: at, message: "publish needs mqtt in the configuration" }];
      case "run":
        return known.programs
          ? []
          : [{ path: at, message: "run needs automation: {programs: true} in the configuration" }];
      default:
        return [];
    }
  });
}

function cronFindings(pattern: string, timeZone: string | undefined, path: Path): Finding[] {
  try {
    const cron = new Cron(pattern, { paused: true, ...(timeZone === undefined ? {} : { timezone: timeZone }) });
    return cron.nextRun() === null ? [{ path, message: `"${pattern}" never comes: there is no such day` }] : [];
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, "") : "";
    return [{ path, message: `"${pattern}" is not a cron pattern: ${why}` }];
  }
}

/** Loops between rules that run each other, each with its path; `runs` are the keys of the rules that a rule runs. */
export function ruleLoops(
  rules: readonly Pick<ResolvedRule, "key" | "do" | "onClear" | "onGiveUp">[],
): { key: string; path: string }[] {
  const runs = new Map<string, string[]>();
  for (const { key, do: steps = [], onClear = [], onGiveUp = [] } of rules) {
    const named = [...steps, ...onClear, ...onGiveUp].flatMap((step) =>
      kindOf(step) === "rule" ? [String(Reflect.get(step, "rule"))] : [],
    );
    runs.set(key, [...(runs.get(key) ?? []), ...named]);
  }
  const found: { key: string; path: string }[] = [];
  const done = new Set<string>();
  const visit = (key: string, above: readonly string[]): void => {
    const start = above.indexOf(key);
    if (start >= 0) {
      found.push({ key, path: [...above.slice(start), key].join(" → ") });
      return;
    }
    if (done.has(key)) return;
    for (const next of runs.get(key) ?? []) visit(next, [...above, key]);
    done.add(key);
  };
  for (const key of runs.keys()) visit(key, []);
  return found;
}
