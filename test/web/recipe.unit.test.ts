import { describe, expect, test } from "@jest/globals";
import { type Recipe, turnsOf } from "../../src/web/pages/hosts/recipe.ts";

const hosts = [
  { id: 1, name: "hall-1" },
  { id: 2, name: "hall-2" },
];
const recipe: Recipe = { name: "{host} GPU", softwareType: "GMiner", whenPresent: "leave" };
const miner = (id: number, hostId: number, description = "", softwareType = "GMiner") => ({
  id,
  hostId,
  description,
  softwareType,
});
const means = (changes: Partial<Recipe>, miners: Parameters<typeof turnsOf>[2] = []) =>
  turnsOf({ ...recipe, ...changes }, hosts, miners).map(({ name, replaces, hindrance }) => [name, replaces, hindrance]);

describe("a recipe for several hosts", () => {
  test("gives each a miner with its own name", () => {
    expect(means({ name: "{host} of {host}" })).toEqual([
      ["hall-1 of hall-1", null, null],
      ["hall-2 of hall-2", null, null],
    ]);
    expect(means({ name: " " })).toEqual([
      ["", null, null],
      ["", null, null],
    ]);
  });

  test.each([
    { whenPresent: "leave", expected: [null, "present"] },
    { whenPresent: "replace", expected: [7, null] },
    { whenPresent: "add", expected: [null, null] },
  ] as const)("does as wished where a miner of the program is there: $whenPresent", ({ whenPresent, expected }) => {
    const miners = [miner(7, 2, "old"), miner(8, 1, "other", "XmrigMiner")];
    expect(means({ whenPresent }, miners)).toEqual([
      ["hall-1 GPU", null, null],
      ["hall-2 GPU", ...expected],
    ]);
  });

  test("replaces none of several", () => {
    expect(means({ whenPresent: "replace" }, [miner(7, 2), miner(8, 2)])[1]?.[2]).toBe("several");
  });

  test("gives no name twice, but leaves its own to a miner that is replaced", () => {
    expect(means({ name: "same" }).map(([, , hindrance]) => hindrance)).toEqual([null, "sameName"]);
    const taken = [miner(7, 2, "hall-2 GPU")];
    expect(means({ whenPresent: "replace" }, taken)[1]).toEqual(["hall-2 GPU", 7, null]);
    expect(means({ whenPresent: "add" }, taken)[1]?.[2]).toBe("sameName");
  });
});
