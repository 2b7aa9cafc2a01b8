import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { inputOf, type QueryText } from "../../src/contract/decode.ts";
import { type Operation, operationNames, operations } from "../../src/contract/operations.ts";
import { invalidAll, RigbridgeError } from "../../src/contract/problems.ts";
import { flatInput } from "../../src/farm/flat-input.ts";

const noQuery: QueryText = { values: new Map(), repeated: new Set(), broken: new Set() };
const long = "n".repeat(19_000);
const manyNames = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`${long}${index}`, { index }]));
/** What nobody takes anywhere, as much of it as comes past the door. */
const hostile: Readonly<Record<string, unknown>> = {
  "wrong items without end": new Array(3_000).fill({}),
  "negative numbers without end": new Array(3_000).fill(-1),
  "letters without end": new Array(3_000).fill("x"),
  "names without end": manyNames,
  "a plug with names without end": { type: "mqtt", topics: manyNames },
  "a long text": long,
  "a huge number": Number.POSITIVE_INFINITY,
};

/** What was thrown; undefined where the value was taken. */
function refusalOf(work: () => unknown): RigbridgeError | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ code: "input.invalid" });
    return error instanceof RigbridgeError ? error : undefined;
  }
}

const sizeOf = ({ message, errors }: RigbridgeError): number => JSON.stringify({ message, errors }).length;

describe("whatever an operation is given, its error is short:", () => {
  test.each(operationNames)("%s", (name) => {
    const operation: Operation = operations[name];
    const fields = operation.body instanceof z.ZodObject ? Object.keys(operation.body.shape) : [];
    const texts = operation.query instanceof z.ZodObject ? Object.keys(operation.query.shape) : [];
    for (const [what, value] of Object.entries(hostile)) {
      const all = Object.fromEntries([...fields, ...texts].map((field) => [field, value]));
      const query = { ...noQuery, values: new Map(texts.map((field) => [field, String(long)])) };
      const refusals = [
        refusalOf(() => inputOf(operation)({ params: { id: long }, query, body: all })),
        refusalOf(() => inputOf(operation)({ params: { id: long }, query: noQuery, body: value })),
        refusalOf(() => flatInput(operation, all)),
        refusalOf(() => flatInput(operation, manyNames)),
        ...fields.map((field) => refusalOf(() => flatInput(operation, { [field]: value }))),
      ];
      for (const refusal of refusals) {
        if (refusal === undefined) continue;
        expect([what, refusal.errors.length <= 21, sizeOf(refusal) < 30_000]).toEqual([what, true, true]);
      }
    }
  });
});

describe("of very many mistakes", () => {
  const mistakes = Array.from({ length: 1_234 }, (_, index) => ({ path: `miners.${index}`, message: "is wrong" }));

  test("20 are named, and how many more there are", () => {
    const { errors, message } = invalidAll(mistakes);
    expect(errors).toEqual([
      ...mistakes.slice(0, 20),
      expect.objectContaining({ path: "", message: "and 1,214 more" }),
    ]);
    expect(message).toMatch(/^miners\.0: is wrong; .*miners\.19: is wrong; and 1,214 more$/);
    expect(invalidAll(mistakes.slice(0, 20)).errors).toEqual(mistakes.slice(0, 20));
    expect(invalidAll(mistakes.slice(0, 2), 7).errors.at(-1)?.message).toBe("and 7 more");
  });

  test("none is longer than a person reads", () => {
    const [error] = invalidAll([
      { path: "p".repeat(5_000), message: `${"m".repeat(498)}\u{1f600}${"m".repeat(900)}` },
    ]).errors;
    expect([error?.path.length, error?.message.length]).toEqual([100, 500]);
    expect(error?.message.isWellFormed()).toBe(true);
  });
});
