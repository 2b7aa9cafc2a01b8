import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { openStore } from "../any-store.ts";

const start = 1_750_000_000_000;
const miner = fc.integer({ min: 1, max: 6 });
const actor = fc.constantFrom("ann", "bob", "http");

test("commands are those of the wanted miners, actor and time, newest first", async () => {
  const given = fc.array(fc.record({ minerId: miner, actor, after: fc.integer({ min: 0, max: 3 }) }), {
    maxLength: 60,
  });
  const wanted = fc.record(
    { minerIds: fc.uniqueArray(miner), actor, since: fc.integer({ min: start - 2, max: start + 90 }) },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(given, fc.array(wanted, { minLength: 1, maxLength: 8 }), async (rows, questions) => {
      let time = start;
      const store = await openStore({ file: ":memory:", now: () => time });
      const kept = [];
      for (const row of rows) {
        time += row.after;
        const asked = { minerId: row.minerId, actor: row.actor, minerName: "rig", action: "stop", parameters: {} };
        kept.unshift(await store.commands.add(asked));
      }
      for (const question of questions) {
        const expected = kept.filter(
          (row) =>
            (question.minerIds?.includes(row.minerId) ?? true) &&
            (question.actor ?? row.actor) === row.actor &&
            row.time >= (question.since ?? 0),
        );
        expect(await store.commands.list(question)).toEqual(expected);
      }
      await store.close();
    }),
    { numRuns: 60 },
  );
});

test("the newest 1,000 of many commands are returned, however many of other miners lie between", async () => {
  const store = await openStore({ file: ":memory:", now: () => start });
  const add = (minerId: number, who: string) =>
    store.commands.add({ minerId, actor: who, minerName: "rig", action: "stop", parameters: {} });
  for (let turn = 0; turn < 700; turn += 1) {
    await add(1, "ann");
    await add(2, "bob");
    await add(3, "bob");
    await add(3, "ann");
  }
  const idsOf = async (question: object) => (await store.commands.list(question)).map(({ id }) => id);
  const newest = (places: readonly number[]) =>
    Array.from({ length: 2_800 }, (_, index) => 2_800 - index)
      .filter((id) => places.includes((id - 1) % 4))
      .slice(0, 1_000);
  expect(await idsOf({})).toEqual(newest([0, 1, 2, 3]));
  expect(await idsOf({ minerIds: [1] })).toEqual(newest([0]));
  expect(await idsOf({ minerIds: [1, 2, 99] })).toEqual(newest([0, 1]));
  expect(await idsOf({ minerIds: [2, 3], actor: "bob" })).toEqual(newest([1, 2]));
  expect(await idsOf({ actor: "ann" })).toEqual(newest([0, 3]));
  expect(await idsOf({ minerIds: [], actor: "ann" })).toEqual([]);
  await store.close();
});
