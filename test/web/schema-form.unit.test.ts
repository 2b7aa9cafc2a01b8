import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { addFormKeywords } from "../../src/contract/form-kind.ts";
import { RuleSettings } from "../../src/contract/rules.ts";
import { forPeople, patchOf } from "../../src/web/pages/rules/definition.ts";
import { singleDays } from "../../src/web/parts/schema-form/days.ts";
import { matching } from "../../src/web/parts/schema-form/fields/combobox.tsx";
import { placeWords } from "../../src/web/parts/schema-form/place-words.ts";
import {
  changedAt,
  durationParts,
  emptyOf,
  groupsIn,
  hintOf,
  isOffered,
  nameOf,
  optionOf,
  readable,
  resolved,
  type Schema,
  schemaOfText,
  shapeOf,
} from "../../src/web/parts/schema-form/schema.ts";
import { masked, unmasked } from "../../src/web/parts/schema-form/secrets.ts";

/** As scripts/web.mjs makes them. */
const schemaOf = (schema: z.ZodType): Schema => {
  const made: unknown = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    reused: "ref",
    override: addFormKeywords,
  });
  return made as Schema;
};
const rule = schemaOf(RuleSettings);
const exactlyOne = [
  ["all", "any"],
  ["above", "below", "equals"],
];

function propertyOf(schema: Schema, ...keys: string[]): Schema {
  const [key, ...rest] = keys;
  if (key === undefined) return schema;
  const shape = shapeOf(schema, rule);
  if (shape.kind === "list") return propertyOf(shape.items, ...keys);
  const next = shape.kind === "object" ? shape.properties[key] : undefined;
  if (next === undefined) throw new Error(`no ${key} in a ${shape.kind}`);
  return propertyOf(next, ...rest);
}

function optionsOf(schema: Schema): readonly Schema[] {
  const shape = shapeOf(schema, rule);
  if (shape.kind === "list") return optionsOf(shape.items);
  if (shape.kind !== "union") throw new Error(`a ${shape.kind}`);
  return shape.options;
}

const conditions = optionsOf(propertyOf(rule, "when", "all"));
const steps = optionsOf(propertyOf(rule, "do"));
const optionNamed = (options: readonly Schema[], name: string): Schema => {
  const found = options.find((option) => nameOf(option, rule) === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};

test("a field of its own is for schemas that say so, not for those whose pattern looks like it", () => {
  const share = { type: "string", pattern: "^\\d+%$" };
  const duration = { type: "string", pattern: "^\\d+[smhd]$" };
  expect([shapeOf(share, rule).kind, shapeOf(duration, rule).kind]).toEqual(["text", "text"]);
  expect(shapeOf({ ...share, "x-kind": "share" }, rule)).toEqual({ kind: "share", number: false });
  expect(shapeOf({ ...duration, "x-kind": "duration" }, rule)).toEqual({ kind: "duration" });
});

test("whatever a rule names is chosen from what exists", () => {
  const shapeAt = (option: Schema, key: string) => shapeOf(propertyOf(option, key), rule);
  const scope = propertyOf(rule, "scope");
  const of = (kind: "name" | "names", what: string) => ({ kind, of: what });
  expect(["groups", "miners", "tags", "sites", "racks"].map((key) => shapeAt(scope, key))).toEqual(
    ["group", "miner", "tag", "site", "rack"].map((what) => of("names", what)),
  );
  expect(shapeOf(propertyOf(rule, "inhibitedBy"), rule)).toEqual(of("names", "rule"));
  expect(shapeAt(optionNamed(conditions, "pool"), "wanted")).toEqual(of("names", "pool"));
  for (const [step, what] of Object.entries({
    set: "control",
    pool: "pool",
    poolGroup: "poolGroup",
    template: "template",
    notify: "channel",
    rule: "rule",
  }))
    expect(shapeAt(optionNamed(steps, step), step)).toEqual(of("name", what));
  const action = optionNamed(steps, "action");
  expect(shapeAt(action, "pool_id")).toEqual(of("name", "poolId"));
  expect(shapeAt(action, "property")).toEqual(of("name", "control"));
  // The places of the values of ready-made rules, too.
  const readyMade = { when: { all: [{ pool: "wrong", wanted: "$pool" }] }, do: [{ notify: "$channel", text: "" }] };
  const placeOf = (text: string) => shapeOf(schemaOfText(readyMade, text, rule, rule) ?? {}, rule);
  expect([placeOf("$pool"), placeOf("$channel")]).toEqual([of("names", "pool"), of("name", "channel")]);
});

test("what only some actions need is offered beside them", () => {
  const { properties = {} } = resolved(optionNamed(steps, "action"), rule);
  const offered = (action: string) =>
    Object.keys(properties).filter((key) => isOffered(resolved(properties[key] ?? {}, rule), { action }));
  expect(offered("stop")).toEqual(["action"]);
  expect(offered("change_pool")).toEqual(["action", "pool_type", "pool_id"]);
  expect(offered("restart")).toEqual(["action", "orReboot"]);
});

test("days are chosen one by one, however they were written", () => {
  const weekly = propertyOf(optionNamed(conditions, "weekly"), "weekly");
  expect(shapeOf(propertyOf(weekly, "days"), rule)).toEqual({ kind: "days" });
  expect(singleDays(["mon-wed", "sun"])).toEqual(["mon", "tue", "wed", "sun"]);
  expect(singleDays(["fri-mon"])).toEqual(["mon", "fri", "sat", "sun"]);
  expect(singleDays(["someday"])).toEqual([]);
});

test("a search shows some of what it finds and says how many more there are", () => {
  const rigs = Array.from({ length: 10_000 }, (_, index) => ({ value: index, name: `Rig ${index}` }));
  const { shown, more } = matching(rigs, " rIG 99");
  expect([shown.length, more]).toEqual([50, 61]);
  expect(shown[0]?.name).toBe("Rig 99");
});

describe("a form of the rules' schema", () => {
  test("asks for each part by a control of its own", () => {
    const kindAt = (...keys: string[]) => shapeOf(propertyOf(rule, ...keys), rule).kind;
    expect(kindAt("name")).toBe("text");
    expect(kindAt("when", "for")).toBe("duration");
    expect(kindAt("limit", "perDay")).toBe("number");
    expect(kindAt("limit", "per")).toBe("choice");
    expect(kindAt("guard")).toBe("union");
    expect(kindAt("with")).toBe("record");
    expect(kindAt("manual")).toBe("flag");
    const reading = optionNamed(conditions, "reading");
    expect(shapeOf(propertyOf(reading, "above"), rule)).toEqual({ kind: "share", number: true });
    const states = shapeOf(propertyOf(optionNamed(conditions, "state"), "state"), rule);
    expect(states).toMatchObject({ kind: "choices", options: expect.arrayContaining(["mining", "error"]) });
  });

  test("knows every kind of condition and step, and which one a value is", () => {
    expect(conditions.map((each) => nameOf(each, rule))).toEqual([
      ...["reading", "rate", "state", "offline", "reason", "pool", "device", "event", "topic", "hook", "weekly"],
      ...["time", "cron", "all"],
    ]);
    const kindOf = (value: unknown, options: readonly Schema[]) => {
      const found = optionOf(value, options, rule);
      return found === undefined ? undefined : nameOf(found, rule);
    };
    expect(kindOf({ plug: "cycle", wait: "10s" }, steps)).toBe("plug");
    expect(kindOf({ wait: "10s" }, steps)).toBe("wait");
    expect(kindOf({ any: [{ offline: true }] }, conditions)).toBe("all");
    expect(kindOf({ unheard: 1 }, conditions)).toBeUndefined();
  });

  test("starts every part with what the service accepts, but for what only a person can say", () => {
    for (const option of conditions) {
      const value = emptyOf(option, rule, exactlyOne);
      expect(optionOf(value, [option], rule)).toBe(option);
    }
    expect(emptyOf(optionNamed(conditions, "reading"), rule, exactlyOne)).toEqual({ reading: "hashrate", above: null });
    expect(emptyOf(propertyOf(rule, "when"), rule, exactlyOne)).toEqual({
      all: [{ reading: "hashrate", above: null }],
    });
    expect(emptyOf(propertyOf(rule, "scope"), rule, exactlyOne)).toEqual({});
  });

  test("shows keys that exclude each other as one choice, unless a value has several", () => {
    const properties = { all: {}, any: {}, for: {} };
    expect(groupsIn(properties, exactlyOne)).toEqual([["all", "any"]]);
    expect(groupsIn(properties, exactlyOne, { all: [], any: [] })).toEqual([]);
  });

  test("writes durations as people do", () => {
    expect(durationParts(120)).toEqual({ amount: 2, unit: "m" });
    expect(durationParts(90)).toEqual({ amount: 90, unit: "s" });
    expect(durationParts("1.5h")).toEqual({ amount: 1.5, unit: "h" });
    expect(durationParts("soon")).toBeNull();
    const stored = { when: { all: [{ rate: "rejected", above: "5%", over: 600 }], for: 7200 }, do: [{ wait: 30 }] };
    expect(readable(stored, rule, rule)).toEqual({
      when: { all: [{ rate: "rejected", above: "5%", over: "10m" }], for: "2h" },
      do: [{ wait: "30s" }],
    });
  });

  test("changes one place and nothing else", () => {
    const value = { a: [{ b: 1 }, { b: 2 }], c: 3 };
    expect(changedAt(value, ["a", 1, "b"], 5)).toEqual({ a: [{ b: 1 }, { b: 5 }], c: 3 });
    expect(changedAt(value, ["c"], undefined)).toEqual({ a: value.a });
    expect(value).toEqual({ a: [{ b: 1 }, { b: 2 }], c: 3 });
  });

  test("never shows a secret as text, and keeps it where the text leaves it empty", () => {
    const hook = (value: string) => ({ do: [{ webhook: "http://192.0.2.1/", headers: { authorization: value } }] });
    expect(masked(hook("Bearer abc"), rule)).toEqual(hook(""));
    expect(unmasked(hook(""), hook("Bearer abc"), rule)).toEqual(hook("Bearer abc"));
    expect(unmasked(hook("Bearer new"), hook("Bearer abc"), rule)).toEqual(hook("Bearer new"));
  });
});

describe("a change of a rule", () => {
  test("sends only what has changed, and null for what was removed", () => {
    expect(patchOf({ name: "A", limit: { perDay: 1 }, do: [1] }, { name: "B", do: [1], manual: true })).toEqual({
      name: "B",
      limit: null,
      manual: true,
    });
  });

  test("is offered with the most important keys first", () => {
    const keys = Object.keys(forPeople(rule, ["use", "with"]).properties ?? {});
    expect(keys.slice(0, 6)).toEqual(["name", "key", "enabled", "scope", "when", "do"]);
    expect(keys).not.toContain("use");
  });
});

describe("hints", () => {
  test("are descriptions for people, and do not repeat the label", () => {
    const hint = (description: string, label = "Label") => hintOf({ description }, label);
    expect(hint("name for people; absent = its key")).toBe("Name for people; empty: its key");
    expect(hint("choices, by profit or heat; null = none (Rigbridge extension)")).toBe("Choices, by profit or heat");
    expect(hint("number of its PCI bus; null = every other GPU")).toBe("Number of its PCI bus; empty: every other GPU");
    expect(hint("profit: the highest earnings")).toBe("profit: the highest earnings");
    expect(hint("the mail server", "Mail server")).toBe("");
    expect(hintOf({}, "Label")).toBe("");
  });
});

test("the place of a mistake is said in the words of the form, with positions counted from 1", () => {
  const names: Readonly<Record<string, string>> = { zones: "Prices by the hour", from: "From" };
  const label = (key: string): string => names[key] ?? key;
  expect(placeWords("zones[1].from", { label })).toBe("Prices by the hour 2 › From");
  expect(placeWords("zones.0", { label })).toBe("Prices by the hour 1");
  expect(placeWords("other", { label })).toBe("other");
});
