import { describe, expect, test } from "@jest/globals";
import { Environment } from "@marcbachmann/cel-js";
import fc from "fast-check";
import { mostWork } from "../../src/config/expression-budget.ts";
import { functions, methods } from "../../src/config/expression-functions.ts";
import { compileExpression, expressionMistakes } from "../../src/config/expressions.ts";

const library = new Environment({ unlistedVariablesAreDyn: false, homogeneousAggregateLiterals: false });
for (const name of ["miner", "reading", "rule"]) library.registerVariable(name, "dyn");

const board = (slot: number, chips: number | null) => ({ slot, chips, chipsExpected: 126, temperature: 60 + slot });
const context = {
  miner: {
    uid: "aa",
    name: "Rig 17",
    group: "Garage",
    tags: ["air", "s19"],
    model: null,
    location: { site: null, container: null, rack: "r1", slot: null },
  },
  reading: {
    at: "2026-03-01T12:00:00.000Z",
    stale: false,
    power: 3200,
    temperature: null,
    hashrate: 1e14,
    uptime: 12.5,
    boards: [board(0, 126), board(1, 120), board(2, null)],
    fans: [],
    errors: [],
    notes: ["a", "bc"],
    shares: { accepted: 10, rejected: 0, hardwareErrors: null },
  },
  rule: { key: "k", name: "Cool" },
};

/** true, false, or null where it is unknown. */
function asTheLibrary(text: string): boolean | null {
  try {
    const value: unknown = library.parse(text)(context);
    return typeof value === "boolean" ? value : null;
  } catch {
    return null;
  }
}

const texts = fc.constantFrom(
  "miner.name",
  "miner.group",
  "rule.key",
  '"Rig"',
  '"a"',
  '""',
  "reading.notes[0]",
  "miner.model",
);
const numbers = fc.constantFrom(
  ...[
    "reading.power",
    "reading.temperature",
    "reading.shares.accepted",
    "3200",
    "3200.0",
    "-1",
    "0",
    "0.0",
    "reading.boards[1].chips",
  ],
  ...[
    "reading.boards.size()",
    "size(miner.name)",
    'int("12")',
    'double("1.5")',
    "7 / 2",
    "7 % 4",
    "reading.uptime * 2.0",
  ],
);
const lists = fc.constantFrom(
  ...[
    "miner.tags",
    "reading.boards",
    "reading.notes",
    "[]",
    '["a", "air"]',
    "[1, 2.0, 3]",
    "reading.shares",
    "miner.location",
  ],
  ...[
    'miner.name.split("")',
    "reading.boards.map(b, b.slot)",
    "reading.boards.filter(b, b.chips != null)",
    'miner.tags + ["x"]',
  ],
);
const values = fc.oneof(
  texts,
  numbers,
  lists,
  fc.constantFrom("null", "true", "reading.stale", "b", "b.chips", "reading.none"),
);
const operator = fc.constantFrom("==", "!=", "<", "<=", ">", ">=", "in", "+", "-");

/** Expressions with a truth; inside a macro, `b` is an element. */
const { truth } = fc.letrec<{ truth: string }>((tie) => ({
  truth: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    fc.tuple(values, operator, values).map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(texts, fc.constantFrom("contains", "startsWith", "endsWith"), texts).map(([a, f, b]) => `${a}.${f}(${b})`),
    fc
      .tuple(texts, fc.constantFrom("upperAscii()", "trim()", "substring(1)", 'split("i").join("x")'), texts)
      .map(([a, f, b]) => `(${a}.${f} == ${b})`),
    fc.tuple(texts, texts).map(([a, b]) => `(${a}.indexOf(${b}) >= 0)`),
    fc.constantFrom("has(reading.power)", "has(reading.none)", "has(miner.location.rack)", "reading.stale"),
    fc.tuple(tie("truth"), fc.constantFrom("&&", "||"), tie("truth")).map(([a, op, b]) => `(${a} ${op} ${b})`),
    tie("truth").map((a) => `!${a}`),
    fc.tuple(tie("truth"), tie("truth"), tie("truth")).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc
      .tuple(lists, fc.constantFrom("exists", "all", "exists_one"), tie("truth"))
      .map(([list, macro, body]) => `${list}.${macro}(b, ${body})`),
    fc.tuple(lists, tie("truth"), values).map(([list, body, b]) => `(${list}.map(b, ${body}) == [${b}])`),
    fc.tuple(lists, tie("truth")).map(([list, body]) => `(${list}.filter(b, ${body}).size() > 1)`),
  ),
}));

test("an expression that may be saved has the result that CEL gives it", () => {
  let compared = 0;
  fc.assert(
    fc.property(truth, (text) => {
      if (expressionMistakes(text).length > 0) return;
      compared += 1;
      const { truth: found, stopped } = compileExpression(text).test(context);
      expect({ text, found, stopped }).toEqual({ text, found: asTheLibrary(text), stopped: null });
    }),
    { numRuns: 3_000 },
  );
  expect(compared).toBeGreaterThan(300);
});

test.each([
  ['timestamp(reading.at) - timestamp("2026-03-01T10:00:00Z") > duration("1h30m")', true],
  ['timestamp(reading.at) + duration("-1.5s") < timestamp(reading.at)', true],
  ['timestamp(reading.at).getHours() == 12 && timestamp(reading.at).getHours("Europe/Berlin") == 13', true],
  ["timestamp(reading.at).getDayOfYear() == 59 && timestamp(reading.at).getDayOfWeek() == 0", true],
  ['timestamp(reading.at).getFullYear("Asia/Tokyo") == 2026 && timestamp(0).getMonth() == 0', true],
  ['duration("1.5h").getMinutes() == 90', true],
  ["9223372036854775807 + 1 > 0", null],
  ["string(reading.power) == '3200' && bool('true') && int(12.9) == 12 && dyn(1) == 1.0", true],
  ['{"a": 1, "b": [1]} == {"b": [1.0], "a": 1.0}', true],
])("%s is %s, as in CEL", (text, truth) => {
  expect(expressionMistakes(text)).toEqual([]);
  expect(compileExpression(text).test(context).truth).toBe(truth);
  expect(asTheLibrary(text)).toBe(truth);
});

test("whatever the library can call is either computed here or refused when it is saved", () => {
  const known = new Environment().getDefinitions().functions;
  const missing = known.filter(({ name, receiverType }) =>
    receiverType === null ? name !== "has" && !Object.hasOwn(functions, name) : !Object.hasOwn(methods, name),
  );
  expect(missing.length).toBeGreaterThan(5);
  for (const { name, receiverType, params } of known) {
    const given = params.map(() => "miner.name").join(", ");
    const text = receiverType === null ? `${name}(${given}) == 1` : `miner.name.${name}(${given}) == 1`;
    const isMissing = missing.some((each) => each.name === name && each.receiverType === receiverType);
    const isMacro = ["exists", "exists_one", "all", "filter", "map"].includes(name);
    if (isMissing && !isMacro) expect(expressionMistakes(text)).not.toEqual([]);
  }
  expect(['uint("1") == 1', "miner.nam.size() == 1", "1u == 1u", 'b"a" == b"a"'].flatMap(expressionMistakes)).toEqual([
    'uint() is not known (at character 1); did you mean "int"?',
    '"miner.nam" is not known (at character 1); did you mean "name"?',
    'numbers like 1u and texts like b"…" are not allowed (at character 1)',
    'numbers like 1u and texts like b"…" are not allowed (at character 7)',
    'numbers like 1u and texts like b"…" are not allowed (at character 1)',
    'numbers like 1u and texts like b"…" are not allowed (at character 9)',
  ]);
  expect(expressionMistakes("timestamp(reading.at).getHours(miner.name) == 1")).toEqual([
    'the time zone must be a name like "Europe/Berlin" (at character 32)',
  ]);
});

const fifty = "x".repeat(50);
const chain = (times: number): string => `"${fifty}"${`.split("").map(x, "${fifty}").join("")`.repeat(times)} == "a"`;
const longList = `[${Array.from({ length: 50 }, (_, index) => index).join(",")}]`;

describe("the budget", () => {
  test.each([
    chain(4),
    chain(5),
    `${longList}.map(a, ${longList}).map(a, a + a + a + a).map(a, a + a + a + a).map(a, a + a + a + a).size() > 1`,
    `${longList}.all(a, ${longList}.all(b, a in ${longList.slice(0, 30)}9]))`,
    `"${fifty}".split("").map(a, "${fifty}").join("").contains("${fifty}y") || "${fifty}".split("").map(a, "${fifty}").join("") + "a" != "" && "${fifty}".split("").map(a, "${fifty}").join("").split("").map(a, "xxxxxxxxxxx").join("") == ""`,
    `${longList}.map(a, ${longList}.map(b, timestamp(0).getHours("Europe/Berlin"))).size() == 1`,
    `${longList}.map(a, ${longList}.map(b, "${fifty}".upperAscii())).size() == 1`,
  ])("stops %s", (text) => {
    expect(expressionMistakes(text)).toEqual([]);
    const tested = compileExpression(text).test(context);
    expect(tested.truth).toBeNull();
    expect(tested.stopped).toMatch(
      /^it (takes more than 10,000 steps|makes more than 20,000 characters and elements)$/,
    );
    expect(tested.work).toBeLessThanOrEqual(mostWork);
  });

  test("is not used up by what owners write", () => {
    const boards = Array.from({ length: 40 }, (_, slot) => board(slot, 126));
    const large = { ...context, reading: { ...context.reading, boards } };
    const tested = compileExpression("reading.boards.all(b, reading.boards.exists(o, o.chips == b.chips))").test(large);
    expect(tested).toMatchObject({ truth: true, stopped: null });
    expect(tested.work).toBeLessThan(1_000);
  });

  /** Calls that make values larger, one after the other, inside of each other and in operators. */
  const grown = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: "large" },
      fc.constantFrom(`"${fifty}"`, longList, "reading.boards", "miner.tags", "reading", "1", "-1", "null", "x"),
      fc
        .tuple(
          tie("value"),
          fc.constantFrom(
            ...['.split("")', '.join("xxxxxxxxxx")', ".join()", ".map(x, x)", ".filter(x, true)", ".upperAscii()"],
            ...[".size()", ".trim()", '.split("x", 9)', ".substring(1)", '.contains("xxy")', ".lastIndexOf('xxy')"],
          ),
        )
        .map(([value, call]) => `${value}${call}`),
      fc.tuple(tie("value"), tie("value")).map(([a, b]) => `${a}.map(x, ${b})`),
      fc.tuple(tie("value"), tie("value")).map(([a, b]) => `(${a} + ${b})`),
      tie("value").map((a) => `[${a}, ${a}]`),
      tie("value").map((a) => `{"a": ${a}, "b": ${a}}`),
      tie("value").map((a) => `string(${a})`),
    ),
  })).value;

  /** Chains whose types fit, so that most are evaluated. */
  const textSteps = [`.split("").map(x, "${fifty}").join("")`, '.split("").join("xxxxxxxxxx")', ".upperAscii()"];
  const listSteps = [".map(x, [x, x, x, x, x])", ".filter(x, true)", `.map(x, ${longList})`, '.map(x, "abcdefghij")'];
  const chains = fc.oneof(
    fc
      .array(fc.constantFrom(...textSteps), { minLength: 1, maxLength: 6 })
      .map((steps) => `"${fifty}"${steps.join("")}`),
    fc
      .array(fc.constantFrom(...listSteps), { minLength: 1, maxLength: 6 })
      .map((steps) => `${longList}${steps.join("")}`),
  );

  test("holds whatever grows, and nothing is thrown", () => {
    const long = { ...context, reading: { ...context.reading, notes: ["y".repeat(50_000)] } };
    let stopped = 0;
    fc.assert(
      fc.property(
        fc.oneof(grown, chains),
        fc.constantFrom("==", "in", "<", "!="),
        fc.oneof(grown, chains),
        (a, operator, b) => {
          const text = `${a} ${operator} ${b}`;
          if (text.length > 1_000 || expressionMistakes(text).length > 0) return;
          for (const each of [context, long]) {
            const tested = compileExpression(text).test(each);
            expect(tested.work).toBeLessThanOrEqual(mostWork);
            if (tested.stopped !== null) stopped += 1;
          }
        },
      ),
      { numRuns: 2_000 },
    );
    expect(stopped).toBeGreaterThan(0);
  });
});

test("no text, however long or nested, holds up its check", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("(", "!", "-", "[", "{", "a.", "'", '"', "1", "0x", "\\u", "/", "a?", "[1].map(x,", "has(", "é"),
      fc.integer({ min: 1, max: 20_000 }),
      fc.string(),
      (part, times, end) => {
        const [mistake] = expressionMistakes(part.repeat(times).slice(0, 20_000) + end);
        if (mistake !== undefined) expect(mistake.length).toBeLessThan(20_500);
      },
    ),
    { numRuns: 200 },
  );
});
