import { expect, test } from "@jest/globals";
import { algorithms, bareName } from "../../src/catalogue/algorithms.ts";
import { miningPrograms, miningSoftware } from "../../src/catalogue/mining-software.ts";
import { miningSoftwareOfBefore } from "./earlier-ids.ts";

const known = new Set(algorithms.map(({ id }) => id));
const idOf = new Map(
  algorithms.flatMap(({ id, name, aliases }) => [id, name, ...aliases].map((each) => [bareName(each), id] as const)),
);

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

test("no two algorithms have the same name", () => {
  const names = algorithms.flatMap(({ id, name, aliases }) => [...new Set([id, name, ...aliases].map(bareName))]);
  expect(names.filter((each, at) => names.indexOf(each) !== at)).toEqual([]);
});

test("a program's name of an algorithm leads to it, unless the name means several", () => {
  const others = miningPrograms.flatMap(({ id, algorithms }) =>
    Object.entries(algorithms).flatMap(([algorithm, { name }]) => {
      const found = name === null ? algorithm : idOf.get(bareName(name));
      return found === algorithm ? [] : [`${id}: ${name} is ${algorithm}, not ${found}`];
    }),
  );
  expect(others).toEqual([
    "XmrigMiner: argon2/ninja is argon2-wrkz, not argon2ninja",
    "TrexMiner: blake3 is blake3-alephium, not blake3",
    "TrexMiner: progpow is progpow-sero, not progpow",
    "LolMiner: AUTOLYKOS2 is autolykos2-blocx, not autolykos2",
    "GMiner: firo is firopow, not undefined",
    "GMiner: firo is sccpow, not undefined",
    "RigelMiner: autolykos2 is autolykos2-blocx, not autolykos2",
    "MiniZ: ProgPow is evrprogpow, not progpow",
    "MiniZ: ProgPow is firopow, not progpow",
    "MiniZ: ProgPow is progpow-sero, not progpow",
    "MiniZ: ProgPow is progpow-veil, not progpow",
    "TTMiner: Blake3 is blake3-alephium, not blake3",
    "TTMiner: Xelis is xelishashv2, not xelishashv3",
  ]);
});

test.each([
  ["Cuckoo 29", "cuckoocycle"],
  ["Cuckaroo 29-32", "cuckaroo29s"],
  ["Cuckaroo 29-40", "cuckaroo29b"],
  ["Cuckaroo 30 CTXC", "cuckaroo30"],
  ["KarlsenV2", "karlsenhashv2"],
  ["PyrinV2", "pyrinhashv2"],
  ["TON/GRAM", "sha256ton"],
])("lolMiner's %s is %s", (name, id) => {
  expect(idOf.get(bareName(name))).toBe(id);
});
