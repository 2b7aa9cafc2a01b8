import type {
  conditionKinds,
  momentaryEvents,
  NumberReading,
  WordReading,
} from "../../../../contract/rule-conditions.ts";
import { t } from "../../../language.ts";
import { isObject, type Json, type Values } from "../../../parts/schema-form/schema.ts";
import { all, amount, and, days, hours, lookUp, type NameOf, options, or, plain, share, time } from "./words.ts";

export type ConditionKind = keyof typeof conditionKinds;

/** Every kind of condition as a clause, such as "the power is over 900 W". */
const clauses: Readonly<Record<ConditionKind, (condition: Values, nameOf: NameOf) => string>> = {
  reading: (condition) => {
    const reading = String(condition.reading);
    return bounded(readingName(reading), condition, (value) => {
      if (condition.of === undefined || typeof value === "number") return amount(reading, value);
      return t.rules.sentence.shareOf({ share: share(value), reading: readingName(String(condition.of)) });
    });
  },
  rate: (condition) => {
    const rate = lookUp(t.rules.sentence.rates, String(condition.rate)) ?? plain(condition.rate);
    const what = t.rules.sentence.rate({ rate, time: time(condition.over ?? 600) });
    return bounded(what, condition, (value) =>
      typeof value === "number" ? t.rules.sentence.perHour({ amount: amount("", value) }) : share(value),
    );
  },
  state: ({ state }) => t.rules.sentence.state({ states: options("state", state) }),
  offline: ({ offline }) => (offline === false ? t.rules.sentence.reachable : t.rules.sentence.offline),
  reason: ({ reason }) => t.rules.sentence.reason({ reasons: options("reason", reason) }),
  pool: ({ pool, wanted }, nameOf) => {
    if (pool === "dead") return t.rules.sentence.noPool;
    const pools = or(all(wanted).map((each) => plain(nameOf("pool", String(each), {}))));
    return wanted === undefined ? t.rules.sentence.wrongPool : t.rules.sentence.otherPool({ pools });
  },
  device: ({ device }) => t.rules.sentence.device({ states: options("device", device) }),
  event: ({ event }) => {
    const texts: Readonly<Record<(typeof momentaryEvents)[number], string>> = t.rules.sentence.events;
    return lookUp(texts, String(event)) ?? t.rules.sentence.unknown({ what: plain(event) });
  },
  topic: (condition) =>
    bounded(t.rules.sentence.topic({ topic: plain(condition.topic) }), condition, (value) => amount("", value)),
  hook: ({ hook }) => t.rules.sentence.hook({ hook: plain(hook) }),
  weekly: ({ weekly }) => t.rules.sentence.isHours({ hours: isObject(weekly) ? hours(weekly) : plain(weekly) }),
  time: (condition) =>
    condition.days === undefined
      ? t.rules.sentence.time({ time: plain(condition.time) })
      : t.rules.sentence.timeOn({ time: plain(condition.time), days: days(condition.days) }),
  cron: ({ cron }) => t.rules.sentence.cron({ cron: plain(cron) }),
};

/** "the power": as the subject of a clause. */
function readingName(reading: string): string {
  const texts: Readonly<Record<NumberReading | WordReading, string>> = t.rules.sentence.readings;
  return lookUp(texts, reading) ?? lookUp(t.rules.words, reading) ?? plain(reading);
}

function bounded(what: string, { above, below, equals }: Values, amountOf: (value: Json) => string): string {
  const { over, under, is } = t.rules.sentence;
  if (above !== undefined) return over({ what, amount: amountOf(above) });
  return below === undefined ? is({ what, value: amountOf(equals) }) : under({ what, amount: amountOf(below) });
}

const isKind = (key: string): key is ConditionKind => Object.hasOwn(clauses, key);
const kindOf = (condition: Values): ConditionKind | undefined => Object.keys(condition).find(isKind);

/** A condition as a clause; one of a newer service by the key that names it. */
function clauseOf(condition: Json, nameOf: NameOf): string {
  if (!isObject(condition)) return plain(condition);
  if ("all" in condition || "any" in condition) return `(${conditionsText(condition, nameOf)})`;
  const kind = kindOf(condition);
  if (kind !== undefined) return clauses[kind](condition, nameOf);
  return t.rules.sentence.unknown({ what: plain(Object.keys(condition)[0]) });
}

/** All conditions of a `when`, with its expression. */
export function conditionsText({ all: every, any, where }: Values, nameOf: NameOf): string {
  const one = or(all(any).map((each) => clauseOf(each, nameOf)));
  const clauseList = any === undefined ? all(every).map((each) => clauseOf(each, nameOf)) : [one];
  const expression = where === undefined ? [] : [t.rules.sentence.expression({ expression: plain(where) })];
  return and([...clauseList, ...expression]);
}

/** Kinds of conditions about no rig, as in the contract's `isOfFarm`. */
const ofFarm: readonly ConditionKind[] = ["hook", "time", "cron", "weekly", "topic"];

/** Whether the conditions are about no single rig. */
export function areOfFarm({ all: every, any, where }: Values): boolean {
  return (
    where === undefined &&
    [...all(every), ...all(any)].every((each) => {
      if (!isObject(each)) return false;
      if ("all" in each || "any" in each) return areOfFarm(each);
      const kind = kindOf(each);
      return each.reading === "price" || (kind !== undefined && ofFarm.includes(kind));
    })
  );
}
