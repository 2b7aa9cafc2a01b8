import { expect, test } from "@jest/globals";
import { z } from "zod";
import { type OperationName, operations } from "../../src/contract/operations.ts";
import { tools } from "../../src/mcp/tools/index.ts";

test("there are 20 to 25 tools, whose list is smaller than 28 kB", () => {
  expect(tools.length).toBeGreaterThanOrEqual(20);
  expect(tools.length).toBeLessThanOrEqual(25);
  expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
  const list = tools.map(({ name, title, description, input }) => [
    name,
    title,
    description,
    z.toJSONSchema(input, { io: "input" }),
  ]);
  expect(JSON.stringify(list).length).toBeLessThan(28_000);
});

test("none deletes anything, or touches users, keys, agents, hooks and settings", () => {
  const used: readonly OperationName[] = tools.flatMap(({ uses }) => uses);
  const forbidden = used.filter(
    (name) =>
      operations[name].method === "DELETE" ||
      /user|agent|hook|setting|channel|host|managed|rule(?!s$|Runs)|discovery/i.test(name),
  );
  expect(forbidden).toEqual([]);
});

test("a tool that acts has a dry run and a confirmation, and uses an operation that changes something; no other does", () => {
  for (const { name, acts, input, uses } of tools) {
    expect([name, Object.hasOwn(input.shape, "dryRun")]).toEqual([name, acts]);
    expect([name, Object.hasOwn(input.shape, "confirmation")]).toEqual([name, acts]);
    expect([name, uses.some((each) => operations[each].method !== "GET")]).toEqual([name, acts]);
  }
});

test("a tool that lists has pages of at most 100", () => {
  const limited = tools.filter(({ input }) => Object.hasOwn(input.shape, "cursor"));
  expect(limited.length).toBeGreaterThan(8);
  for (const { input } of limited)
    expect(z.object({ limit: input.shape.limit }).safeParse({ limit: 10_000 }).error?.issues).toEqual([
      expect.objectContaining({ message: expect.stringContaining("nextCursor") }),
    ]);
});
