import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { stringify } from "yaml";
import { misindentedLine } from "../../src/config/indentation.ts";

describe("the first misindented line", () => {
  test.each([
    ["deeper than a key that has its value", "http:\n  port: 1\n   host: x\n", 3],
    ["deeper than a key that has its value, of an entry", "miners:\n  - address: a\n      name: x\n", 3],
    ["between a dash and its first key", "miners:\n  - address: a\n   name: x\n", 3],
    ["between two levels", "miners:\n- address: a\n  name: x\n - address: b\n", 4],
    ["left of a section's first key", "http:\n    port: 1\n  host: x\n", 3],
    ["left of all", " http:\n  port: 1\npoll:\n  interval: 5\n", 3],
    ["after comments and empty lines", "# a\nhttp:\n\n  # b\n  port: 1\n   host: x\n", 6],
    ["after quotes and brackets that are closed", 'http:\n  key: "a b"\n  hosts: [a, b]\n   port: 1\n', 4],
  ])("%s", (_, text, line) => expect(misindentedLine(text)).toBe(line));

  test.each([
    [
      "a section, a list beside its key, and one below it",
      "a:\n  b: 1\nminers:\n- address: x\n  tags:\n    - y\n  name: z\n",
    ],
    ["a dash alone", "miners:\n  -\n    address: x\n    name: y\n"],
    ["a text over several lines, of which only a parser knows", "a: |\n  x\n    y\n z: 1\n"],
    ["a mapping over several lines", "a: { b: 1,\n      c: 2 }\n"],
    ["a line without a colon", "http:\n  port: 1\n  host x\n"],
  ])("does not exist: %s", (_, text) => expect(misindentedLine(text)).toBeUndefined());

  test("does not exist in generated YAML", () => {
    const words = fc.constantFrom("a", "some words", "10.0.0.1", "12", "", "- x", "a: b", "#", "'", "{", "two\nlines");
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        words,
        fc.integer(),
        fc.constant(null),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom("address", "name", "a-b", "x.y", "tags"), tie("tree")),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.boolean(), (value, indentSeq) => {
        expect(misindentedLine(stringify({ root: value, last: 1 }, { indentSeq }))).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });
});
