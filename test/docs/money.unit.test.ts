import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { priceSourceTypes } from "../../src/config/money.ts";
import { parseConfig } from "../../src/config/read.ts";

// depends on: docs/money.md

const text = readFileSync(join(import.meta.dirname, "../../docs/money.md"), "utf8");
const examples = Array.from(text.matchAll(/```yaml\n([\s\S]*?)```/g), ([, yaml = ""]) => yaml);
const env = { MINERSTAT_KEY: "a", ENTSOE_TOKEN: "b", TIBBER_TOKEN: "c", POOL_KEY: "d" };

test.each(examples)("the configuration of docs/money.md is right:\n%s", (yaml) => {
  const { config } = parseConfig(yaml, "rigbridge.yaml", env);
  expect(config.miners).toEqual([]);
});

test("docs/money.md has an example of each source", () => {
  const types = examples.map((yaml) => parseConfig(yaml, "rigbridge.yaml", env).config);
  const used = new Set(types.map(({ electricity }) => electricity.source?.type));
  expect(priceSourceTypes.filter((type) => !used.has(type))).toEqual([]);
  expect(types.flatMap(({ market }) => market.sources.map(({ type }) => type)).toSorted()).toEqual([
    ...["coingecko", "mempool", "minerstat", "whattomine"],
  ]);
  expect(types.flatMap(({ pools }) => pools.flatMap(({ view }) => view?.type ?? []))).toEqual([
    ...["ckpool", "public-pool", "json"],
  ]);
});
