import { expect, test } from "@jest/globals";
import { layered, strictlyLayered } from "../../src/config/layers.ts";
import { parseConfig } from "../../src/config/read.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";
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

test("what runs at other sites names places by their paths, because an id is another place there", () => {
  const wrongAt = (runsAt: string, lists: string) => {
    try {
      parseConfig(`sites: [{ name: Barn, url: "http://127.0.0.1:1" }]\n${lists.replaceAll("AT", runsAt)}`, "", {});
      return [];
    } catch (error) {
      return error instanceof RigbridgeError
        ? error.errors.map(({ path, message }) => [path.split(" ").at(-1), message])
        : error;
    }
  };
  const message = "is another place at the other sites; name it by its path";
  const inRule = (scope: string) => `rules: [{ key: r, runsAt: AT, scope: ${scope}, do: [{ action: stop }] }]`;
  for (const runsAt of ["[Barn]", "[here, all]"]) {
    expect(wrongAt(runsAt, inRule("{ places: [Texas, 5] }"))).toEqual([["rules[0].scope.places[1]", message]]);
    expect(wrongAt(runsAt, inRule("{ not: { places: [5] } }"))).toEqual([["rules[0].scope.not.places[0]", message]]);
    expect(wrongAt(runsAt, "maintenance: [{ name: m, until: 2030-01-01T00:00:00Z, runsAt: AT, places: [5] }]")).toEqual(
      [["maintenance[0].places[0]", message]],
    );
  }
  expect(wrongAt("[here]", inRule("{ places: [5] }"))).toEqual([]);
});
