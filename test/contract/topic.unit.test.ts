import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { matches } from "../../src/contract/topic.ts";

test.each([
  ["a/b", "a/b", true],
  ["a/b", "a/c", false],
  ["a/b", "a/b/c", false],
  ["a/b/c", "a/b", false],
  ["a/+", "a/b", true],
  ["a/+", "a/", true],
  ["a/+", "a", false],
  ["a/+/c", "a/b/c", true],
  ["a/+/c", "a/b/d/c", false],
  ["a/#", "a", true],
  ["a/#", "a/b/c", true],
  ["a/#", "ab", false],
  ["#", "a/b", true],
  ["+", "a/b", false],
  ["#", "$SYS/x", false],
  ["+/x", "$SYS/x", false],
  ["$SYS/#", "$SYS/x", true],
])("%s and %s: %s", (filter, topic, expected) => {
  expect(matches(filter, topic)).toBe(expected);
});

/** The definition (MQTT 5, 4.7), level by level. */
function matchesByLevel([wanted, ...filter]: string[], [level, ...topic]: string[]): boolean {
  if (wanted === "#") return true;
  if (wanted === undefined || level === undefined) return wanted === level;
  if (wanted !== "+" && wanted !== level) return false;
  return (filter.length === 1 && filter[0] === "#") || matchesByLevel(filter, topic);
}

test("any filter matches the topics that the definition says", () => {
  const level = fc.constantFrom("", "a", "b", "ab");
  const filters = fc.tuple(fc.array(fc.oneof(level, fc.constant("+")), { minLength: 1, maxLength: 4 }), fc.boolean());
  const topics = fc.array(level, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(filters, topics, ([levels, isOpen], topic) => {
      const filter = isOpen ? [...levels, "#"] : levels;
      expect(matches(filter.join("/"), topic.join("/"))).toBe(matchesByLevel(filter, topic));
    }),
    { numRuns: 2_000 },
  );
});
