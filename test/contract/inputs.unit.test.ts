import { expect, test } from "@jest/globals";
import { z } from "zod";
import { inputOf } from "../../src/contract/decode.ts";
import { type Operation, operations } from "../../src/contract/operations.ts";
import { type Mistake, RigbridgeError } from "../../src/contract/problems.ts";

const bodies = Object.entries<Operation>(operations).flatMap(([name, { body }]) =>
  body === undefined ? [] : [[name, body] as const],
);

test.each(bodies)("a body of %s that is not an object is refused", (_, body) => {
  for (const wrong of [[], [{}], null, 5, "x", true, undefined])
    expect(body.safeParse(wrong)).toMatchObject({ success: false });
});

test("all mistakes of a bulk action are reported together, those of its parameters included", () => {
  const parameters = { watts: "many", foo: 1 };
  const wrong = { action: "set_power_limit", parameters, miners: [1], parallel: 0 };
  const { error } = operations.startBulkAction.body.safeParse(wrong);
  expect(error?.issues.map(({ path }) => path.join(".")).sort()).toEqual([
    "parallel",
    "parameters.foo",
    "parameters.watts",
  ]);
});

const wrongValues: readonly unknown[] = [
  ...[null, true, 5, -1, 0.5, 1e99, "", "x", "-1", "2026", "\u0000", "x".repeat(9_000), [], [[]], [null], [1, "x"], {}],
  ...[
    { type: "shely" },
    { type: "mqtt", topics: 5 },
    { site: 5 },
    { x: "y" },
    { "__proto__ ": 1 },
    Array(200_000).fill(1),
  ],
];
const texts = wrongValues.filter((value) => typeof value === "string");

/** Everything that is said of a request whose fields, one after the other, hold what they may not. */
function* mistakesOf(operation: Operation): Generator<Mistake> {
  const decode = inputOf(operation);
  const said = (query: Readonly<Record<string, string>>, body: unknown, params: unknown): Mistake[] => {
    const values = new Map(Object.entries(query));
    try {
      decode({ query: { values, repeated: new Set(), broken: new Set() }, body, params });
      return [];
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      return [...error.errors];
    }
  };
  const fieldsOf = (schema: unknown): string[] => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);
  yield* said({}, undefined, {});
  yield* said({ user_id: "x" }, undefined, {});
  for (const value of wrongValues) yield* said({}, value, value);
  for (const key of fieldsOf(operation.query)) for (const value of texts) yield* said({ [key]: value }, {}, {});
  for (const key of fieldsOf(operation.body)) for (const value of wrongValues) yield* said({}, { [key]: value }, {});
  for (const key of Object.keys(operation.params ?? {}))
    for (const value of texts) yield* said({}, {}, { [key]: value });
}

test.each(Object.entries<Operation>(operations))("%s reports mistakes in sentences of its own", (_, operation) => {
  const mistakes = [...mistakesOf(operation)];
  for (const { message } of mistakes) {
    // These begin the sentences of zod; one of them is a column of rows, too.
    expect(message.replace(", expected, power,", "")).not.toMatch(
      /\b(Invalid|Too (small|big)|Unrecognized|Expected|expected|received)\b/,
    );
    expect(message).not.toBe("");
  }
  const takesNothing = operation.query === undefined && operation.body === undefined && operation.params === undefined;
  expect(mistakes.length > 1).toBe(!takesNothing);
});

test("extensions refuse an unknown query parameter, and documented operations ignore it", () => {
  const query = { values: new Map([["surprise", "1"]]), repeated: new Set(["twice"]), broken: new Set(["broken"]) };
  for (const operation of Object.values<Operation>(operations)) {
    const named = refusedIn(() => inputOf(operation)({ params: {}, query, body: {} }));
    const unknown = named.filter((path) => ["surprise", "twice", "broken"].includes(path));
    expect([operation.path, unknown]).toEqual([
      operation.path,
      operation.extension ? ["surprise", "twice", "broken"] : [],
    ]);
  }
});

/** Where the mistakes are for which this is refused. */
function refusedIn(decode: () => unknown): string[] {
  try {
    decode();
    return [];
  } catch (error) {
    if (error instanceof RigbridgeError) return error.errors.map(({ path }) => path);
    throw error;
  }
}
