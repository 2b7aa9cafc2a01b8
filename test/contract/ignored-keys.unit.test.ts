import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { ignoredKeys, ignoredKeysHeader } from "../../src/contract/ignored-keys.ts";
import { type Operation, operations } from "../../src/contract/operations.ts";

const ignoredIn = (name: keyof typeof operations, body: unknown): string[] => {
  const operation: Operation = operations[name];
  if (operation.body === undefined) throw new Error(`${name} has no body`);
  expect(operation.body.safeParse(body).success).toBe(true);
  return ignoredKeys(operation.body, body);
};

describe("the ignored keys of a body", () => {
  test("are those that its schema does not know", () => {
    expect(ignoredIn("saveManagedTemplate", { name: "x", steps: [{ stop: true }], id: null })).toEqual(["steps"]);
    expect(ignoredIn("savePool", { url: "stratum+tcp://a:1", Url: "b", workerName: null })).toEqual(["Url"]);
    expect(ignoredIn("saveManagedTemplate", { name: "x", do: null })).toEqual([]);
  });

  test("are named with their path inside objects, lists, unions and maps", () => {
    const location = { site: "a", shelf: 2 };
    expect(ignoredIn("changeMiner", { location, tags: ["a"] })).toEqual(["location.shelf"]);
    expect(
      ignoredIn("saveManagedMiner", { gpuSettings: [{ bus: 1 }, { bus: 2, clock: 3 }], idle: { foo: 1 } }),
    ).toEqual(["gpuSettings[1].clock", "idle.foo"]);
    const bulk = { action: "set", all: true, parameters: { property: "fan", value: "1" }, quickly: true };
    expect(ignoredIn("startBulkAction", bulk)).toEqual(["quickly"]);
  });
});

test("the header is bounded and printable, whatever the keys are", () => {
  expect(ignoredKeysHeader(["steps", "do[1].später, x"])).toBe("steps, do[1].sp%C3%A4ter%2C%20x");
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" }), { maxLength: 40 }), (paths) => {
      const text = ignoredKeysHeader(paths);
      expect(text).toMatch(/^[\x20-\x7e]*$/);
      expect(text.length).toBeLessThan(20_000);
      expect(text.split(", ").length).toBeLessThanOrEqual(21);
    }),
  );
});
