import type { Places, RuleSettings, ScheduleSettings } from "../../../../contract/rules.ts";
import { everySite, hereName } from "../../../../contract/runs-at.ts";
import type { Forms } from "../../../../messages/texts.ts";
import { counted, money } from "../../../format.ts";
import { locale, t } from "../../../language.ts";
import { isObject, type Json, type Values } from "../../../parts/schema-form/schema.ts";
import { areOfFarm, conditionsText } from "./conditions.ts";
import { stepsText } from "./steps.ts";
import { all, blank, hours, type NameOf, or, plain, share, time } from "./words.ts";

/** Keys that a sentence leaves out: they do not change what happens, or are shown beside it. */
type Unsaid = "key" | "name" | "enabled" | "use" | "with" | "manual" | "safety";

/**
 * What a rule does, in one sentence. `rule`: its definition from the service or the editor, a ready-made one
 * written out; unknown parts are named in general words.
 */
export function ruleSentence(rule: Values, nameOf: NameOf): string {
  const steps = stepsText(rule.do, nameOf);
  const every = isEverywhere(rule.scope) ? null : rigs("every", rule.scope, nameOf);
  return sentence([main(rule, steps, every, nameOf), ...clausesOf(rule, afterRule, nameOf)]);
}

function main({ when, scope }: Values, steps: string, every: string | null, nameOf: NameOf): string {
  const texts = t.rules.sentence;
  if (!isObject(when)) return every === null ? texts.byHand({ steps }) : texts.byHandOn({ rigs: every, steps });
  const holds = conditionsText(when, nameOf);
  const conditions = when.for === undefined ? holds : texts.held({ conditions: holds, time: time(when.for) });
  if (!areOfFarm(when)) return texts.whenOf({ rigs: rigs("any", scope, nameOf), conditions, steps });
  return every === null ? texts.when({ conditions, steps }) : texts.whenOn({ conditions, rigs: every, steps });
}

type Clause = (value: Json, whole: Values, nameOf: NameOf) => readonly string[];

/** At which sites it acts. */
function sitesClause(value: Json): string[] {
  const names = all(value).map((each) =>
    plain(each === hereName ? t.rules.here : each === everySite ? t.rules.everySite : each),
  );
  return names.length === 0 ? [] : [t.rules.sentence.sites({ names: names.join(", ") })];
}

/** What follows the steps of a rule, in this order. A key of rules that is missing here does not compile. */
const afterRule: Readonly<Record<Exclude<keyof RuleSettings, Unsaid | "scope" | "do">, Clause>> = {
  runsAt: sitesClause,
  when: (value) =>
    isObject(value) && value.clearFor !== undefined ? [t.rules.sentence.clearFor({ time: time(value.clearFor) })] : [],
  onClear: (value, _, nameOf) => [t.rules.sentence.onClear({ steps: stepsText(value, nameOf) })],
  again: (value) =>
    isObject(value)
      ? [t.rules.sentence.again({ times: count(value.times, t.rules.sentence.times), time: time(value.after) })]
      : [plain(value)],
  onGiveUp: (value, _, nameOf) => [t.rules.sentence.onGiveUp({ steps: stepsText(value, nameOf) })],
  limit: (value) => {
    if (!isObject(value)) return [plain(value)];
    const perDay = value.per === "rule" ? t.rules.sentence.perDayInAll : t.rules.sentence.perDay;
    return [
      ...(value.perDay === undefined ? [] : [count(value.perDay, perDay)]),
      ...(value.repeat === undefined ? [] : [t.rules.sentence.repeat({ time: time(value.repeat) })]),
    ];
  },
  guard: (value) => {
    if (!isObject(value)) return [];
    const { guard, guardWithin } = t.rules.sentence;
    const most = share(value.share);
    return [
      value.within === undefined ? guard({ share: most }) : guardWithin({ share: most, time: time(value.within) }),
    ];
  },
  inhibitedBy: (value, _, nameOf) => [
    t.rules.sentence.inhibitedBy({ rules: or(all(value).map((each) => plain(nameOf("rule", String(each), {})))) }),
  ],
};

const count = (value: Json, forms: Forms): string =>
  typeof value === "number" ? counted(value, forms) : forms.other.replace("#", plain(value));

/** What a schedule does, in one sentence. */
export function scheduleSentence(schedule: Values, nameOf: NameOf): string {
  const texts = t.rules.sentence;
  const steps = stepsText(schedule.do, nameOf);
  const begins = Object.entries(beginnings).find(([key]) => key in schedule);
  const when = begins === undefined ? texts.atNoTime : begins[1](schedule);
  const head = isEverywhere(schedule.scope)
    ? texts.during({ when, steps })
    : texts.duringOn({ when, rigs: rigs("every", schedule.scope, nameOf), steps });
  return sentence([head, ...clausesOf(schedule, afterSchedule, nameOf)]);
}

const beginnings: Readonly<Record<"weekly" | "cron" | "price", (schedule: Values) => string>> = {
  weekly: ({ weekly }) => (isObject(weekly) ? hours(weekly) : plain(weekly)),
  cron: ({ cron, lasts }) =>
    lasts === undefined
      ? t.rules.sentence.atCron({ cron: plain(cron) })
      : t.rules.sentence.atCronFor({ cron: plain(cron), time: time(lasts) }),
  price: ({ price }) => {
    const { below, above }: Values = isObject(price) ? price : {};
    const { cheaper, dearer, between } = t.rules.sentence;
    if (above === undefined) return cheaper({ price: perKwh(below) });
    return below === undefined
      ? dearer({ price: perKwh(above) })
      : between({ least: perKwh(above), most: perKwh(below) });
  },
};

const perKwh = (price: Json): string => (typeof price === "number" ? money(price, null) : plain(price));

const afterSchedule: Readonly<
  Record<
    Exclude<keyof ScheduleSettings, Unsaid | "scope" | "do" | "timeZone" | "lasts" | keyof typeof beginnings>,
    Clause
  >
> = {
  runsAt: sitesClause,
  onEnd: (value, _, nameOf) => [t.rules.sentence.onEnd({ steps: stepsText(value, nameOf) })],
};

/** What a template does, in one sentence. */
export const templateSentence = ({ do: steps }: Values, nameOf: NameOf): string => sentence([stepsText(steps, nameOf)]);

const clausesOf = (whole: Values, clauses: Readonly<Record<string, Clause>>, nameOf: NameOf): string[] =>
  Object.entries(clauses).flatMap(([key, clause]) =>
    whole[key] === undefined || whole[key] === null ? [] : clause(whole[key], whole, nameOf),
  );

function sentence(parts: readonly string[]): string {
  const whole = parts.reduce((before, next) => t.rules.sentence.also({ before, next }));
  const [first = "", ...rest] = whole;
  return t.rules.sentence.end({ text: `${first.toLocaleUpperCase(locale)}${rest.join("")}` });
}

const isEverywhere = (scope: Json): boolean => !isObject(scope) || Object.keys(scope).length === 0;

/** "any rig in Garage", or the same with every. */
function rigs(which: "any" | "every", scope: Json, nameOf: NameOf): string {
  const { any, anyOf, every, everyOf } = t.rules.sentence;
  if (!isObject(scope) || isEverywhere(scope)) return which === "any" ? any : every;
  const where = placesText(scope, nameOf);
  return which === "any" ? anyOf({ where }) : everyOf({ where });
}

const places: Readonly<Record<keyof Places, (names: string) => string>> = {
  groups: (names) => t.rules.sentence.groups({ names }),
  tags: (names) => t.rules.sentence.tags({ names }),
  miners: (names) => t.rules.sentence.miners({ names }),
  sites: (names) => t.rules.sentence.sites({ names }),
  racks: (names) => t.rules.sentence.racks({ names }),
  places: (names) => t.rules.sentence.inPlaces({ names }),
};

function placesText(scope: Values, nameOf: NameOf): string {
  const texts = Object.entries(places).flatMap(([key, text]) =>
    scope[key] === undefined
      ? []
      : [text(or(all(scope[key]).map((each) => plain(key === "miners" ? nameOf("miner", String(each), {}) : each))))],
  );
  const not = isObject(scope.not) ? [t.rules.sentence.except({ where: placesText(scope.not, nameOf) })] : [];
  const [first = blank, ...others] = [...texts, ...not];
  return others.reduce((before, next) => t.rules.sentence.places({ before, next }), first);
}
