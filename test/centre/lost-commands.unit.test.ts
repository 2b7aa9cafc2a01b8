import { expect, test } from "@jest/globals";
import { LostCommands } from "../../src/centre/lost-commands.ts";
import { type ProblemCode, RigbridgeError } from "../../src/contract/problems.ts";
import type { Command } from "../../src/contract/resources.ts";
import { openStore } from "../../src/store/index.ts";
import { onTestFinished } from "../finished.ts";

const site = { id: 2, name: "Cabin", isReached: false };
const what = { minerId: 20_000_000_001, minerName: "rig", action: "restart", parameters: {}, actor: "anna" };

/** The commands that were lost, and what their site answers, in order. */
async function lostWith(...answers: (readonly Command[] | ProblemCode)[]) {
  const seen: [string, string][] = [];
  const asked: string[] = [];
  const store = await openStore({ file: ":memory:", now: Date.now });
  onTestFinished(() => store.close());
  const open = () =>
    new LostCommands(store.lostCommands, {
      changed: ({ state, message }) => seen.push([state, message]),
      find: async (_site, key) => {
        asked.push(key);
        const answer = answers.shift() ?? [];
        if (typeof answer === "string") throw new RigbridgeError(answer, "no");
        return { commandList: [...answer] };
      },
    });
  return { lost: open(), seen, asked, open };
}

test("a site that is back is asked once for each lost command, also when it comes back twice at once", async () => {
  const { lost, seen, asked } = await lostWith();
  await lost.add(site, what, "one");
  await lost.add(site, what, "two");
  const back = { ...site, isReached: true };
  await Promise.all([lost.resolve(back), lost.resolve(back)]);
  expect(asked).toEqual(["one", "two"]);
  const nothing = ["failed", "Nothing was done: Cabin has no such command"];
  expect(seen.slice(2)).toEqual([nothing, nothing]);
});

test("after a refusal it is not asked again until it is back another time", async () => {
  const { lost, seen, asked } = await lostWith("user.forbidden");
  await lost.add(site, what, "one");
  const back = { ...site, isReached: true };
  await lost.resolve(back);
  expect(asked).toEqual(["one"]);
  expect(lost.list({}).map(({ state }) => state)).toEqual(["unknown"]);
  await lost.resolve(back);
  expect(seen.at(-1)?.[0]).toBe("failed");
});

test("a site whose answer is lost again is not asked after the end of the centre", async () => {
  const { lost, asked } = await lostWith("service.unreachable");
  await lost.add(site, what, "one");
  const resolving = lost.resolve({ ...site, isReached: true });
  lost.close();
  await resolving;
  expect(asked).toEqual(["one"]);
});

test("the next run knows what was lost, and asks for it", async () => {
  const { lost, seen, asked, open } = await lostWith();
  await lost.add(site, what, "one");
  lost.close();
  const next = open();
  expect(next.list({})).toEqual(lost.list({}));
  await next.resolve({ ...site, isReached: true });
  expect([asked, seen.at(-1)?.[0]]).toEqual([["one"], "failed"]);
  expect(next.list({}).map(({ state }) => state)).toEqual(["failed"]);
});
