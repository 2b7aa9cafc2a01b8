import { expect, test } from "@jest/globals";
import { layered } from "../../src/config/layers.ts";
import { Config } from "../../src/config/schema.ts";

const base = { written: {}, config: Config.parse({}) };
const noNames = { groups: new Set<string>(), miners: new Set<string>() };

test("a saved section that has become wrong is not used, and the others are", () => {
  const saved = new Map([
    ["display", { locale: "de-DE" }],
    ["poll", { interval: 0 }],
  ] as const);
  const { config, problems } = layered(base, saved, noNames);
  expect(config.display.locale).toBe("de-DE");
  expect(config.poll.interval).toBe(10);
  expect([...problems.keys()]).toEqual(["poll"]);
  expect(problems.get("poll")).toContain("poll.interval: ");
});
