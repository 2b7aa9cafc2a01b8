import { expect, test } from "vitest";
import { type Operation, operations } from "../../src/contract/operations.ts";

const bodies = Object.entries<Operation>(operations).flatMap(([name, { body }]) =>
  body === undefined ? [] : [[name, body] as const],
);

test.each(bodies)("a body of %s that is no object is refused, not stumbled over", (_, body) => {
  for (const wrong of [[], [{}], null, 5, "x", true, undefined])
    expect(body.safeParse(wrong)).toMatchObject({ success: false });
});

test("what is wrong with a bulk action is told at once, its action's parameters too", () => {
  const parameters = { watts: "many", foo: 1 };
  const wrong = { action: "set_power_limit", parameters, miners: [1], parallel: 0 };
  const { error } = operations.startBulkAction.body.safeParse(wrong);
  expect(error?.issues.map(({ path }) => path.join(".")).sort()).toEqual([
    "parallel",
    "parameters.foo",
    "parameters.watts",
  ]);
});
