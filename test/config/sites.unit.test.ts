import { expect, test } from "@jest/globals";
import { layered, strictlyLayered } from "../../src/config/layers.ts";
import { parseConfig } from "../../src/config/read.ts";
import type { SettingsSection } from "../../src/contract/settings.ts";

const names = { groups: new Set<string>(), miners: new Set<string>() };
const rule = "rules: [{ key: r, runsAt: [Cabin], do: [{ action: stop }] }]";
const saved = (...siteNames: string[]) =>
  new Map<SettingsSection, unknown>([
    ["sites", siteNames.map((name) => ({ name, url: "http://127.0.0.1:1" }))],
    ["history", { raw: 3 }],
  ]);

test("a file without sites may name those that are saved over the API, and none of them is lost with such a name", () => {
  const base = parseConfig(rule, "rigbridge.yaml", {});
  for (const sites of [saved("Cabin"), saved("Barn")]) {
    const { config, problems } = layered(base, sites, names);
    expect([...problems]).toEqual([]);
    expect([config.sites.length, config.history.raw]).toEqual([1, 3]);
    expect(strictlyLayered(base, sites, names).findings).toEqual([]);
  }
});

test("the sites of the file count, and not those that were saved before", () => {
  const text = `sites: [{ name: Barn, url: "http://127.0.0.1:1" }]\n${rule}`;
  expect(() => parseConfig(text, "rigbridge.yaml", {})).toThrow(
    expect.objectContaining({
      errors: [
        expect.objectContaining({ path: "rigbridge.yaml:2: rules[0].runsAt[0]", message: 'there is no site "Cabin"' }),
      ],
    }),
  );
  const { config, problems } = layered(parseConfig(text.replace("Cabin", "Barn"), "", {}), saved("Cabin"), names);
  expect([config.sites.map(({ name }) => name), [...problems]]).toEqual([["Barn"], []]);
});
