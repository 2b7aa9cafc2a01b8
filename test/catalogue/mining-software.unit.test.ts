import { expect, test } from "vitest";
import { algorithms } from "../../src/catalogue/algorithms.ts";
import { miningPrograms, miningSoftware } from "../../src/catalogue/mining-software.ts";
import { miningSoftwareOfBefore } from "./earlier-ids.ts";

const known = new Set(algorithms.map(({ id }) => id));

test("no id that a stored miner may have is missing", () => {
  const ids = miningSoftware.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(miningSoftwareOfBefore.filter((id) => !ids.includes(id))).toEqual([]);
});

test.each(miningPrograms.map((each) => [each.id, each] as const))(
  "%s names algorithms of the catalogue",
  (_, entry) => {
    const firsts = Object.keys(entry.dual);
    const seconds = Object.values(entry.dual).flatMap((names) => Object.keys(names));
    const all = [...Object.keys(entry.algorithms), ...firsts, ...seconds];
    expect(all.filter((id) => !known.has(id))).toEqual([]);
    expect(firsts.filter((id) => !Object.hasOwn(entry.algorithms, id))).toEqual([]);
    expect(Object.keys(entry.algorithms).length).toBeGreaterThan(0);
  },
);

test.each(miningPrograms.map((each) => [each.id, each] as const))(
  "%s has what its parts need",
  (_, { command, dual, download, api }) => {
    expect(Object.keys(dual).length > 0).toBe(command.dual !== null);
    expect(command.api.length > 0).toBe(api !== null);
    for (const url of [...Object.values(download?.url ?? {}), download?.sums ?? null]) {
      if (url !== null) expect(url).toMatch(/^https:\/\/[^?#]+$/);
    }
    for (const url of Object.values(download?.url ?? {}))
      expect(url).toContain(download?.version.replaceAll(".", "").slice(0, 1));
  },
);
