import { expect, test } from "@jest/globals";
import { ReadShares } from "../../src/service/users/read-shares.ts";

const ann = { actor: "ann", userId: 1 };
const bob = { actor: "bob", userId: 2 };
const owner = { actor: "http" };

test("a user may ask for half a second of work at once, and a quarter of each second from then on", () => {
  let now = 0;
  const shares = new ReadShares(() => now);
  shares.take(ann, 400);
  shares.take(ann, 350);
  expect(() => shares.take(ann, 1)).toThrow(/wait 1 s/);
  now = 1_000;
  expect(() => shares.take(ann, 1)).toThrow(expect.objectContaining({ code: "too.many" }));
  now = 1_004;
  shares.take(ann, 1_000);
  expect(() => shares.take(ann, 1)).toThrow(/wait 4 s/);
  now = 60_000;
  shares.take(ann, 499);
  shares.take(ann, 1);
  expect(() => shares.take(ann, 0)).toThrow(/too much at once/);
});

test("callers without a key have one share, whatever user they name; the owner has no bound", () => {
  const shares = new ReadShares(() => 0);
  const guest = { actor: "http", privilege: "view" } as const;
  shares.take(guest, 500);
  expect(() => shares.take({ ...guest, userId: 7 }, 1)).toThrow(/too much at once/);
  shares.take(bob, 1);
  for (let reads = 0; reads < 10; reads += 1) shares.take(owner, 500);
});

test("what an answer turned out to cost is taken from the next one", () => {
  const shares = new ReadShares(() => 0);
  shares.take(ann, 0);
  shares.charge(ann, 500);
  expect(() => shares.take(ann, 0)).toThrow(/too much at once/);
});

test("work that takes longer than was thought is counted by what it took", () => {
  let now = 0;
  const shares = new ReadShares(() => now);
  const work = (ms: number) => () => {
    now += ms;
    return ms;
  };
  expect(shares.measured(ann, 100, work(0))).toBe(0);
  shares.take(ann, 0);
  // 400 ms are left, and 500 come while this takes 2 s: 500 at most.
  expect(shares.measured(ann, 100, work(2_000))).toBe(2_000);
  expect(() => shares.take(ann, 0)).toThrow(/wait 6 s/);
});

test("users do not take from each other, and not from the owner", () => {
  const shares = new ReadShares(() => 0);
  shares.take(ann, 5_000);
  shares.take(bob, 1);
  for (let turn = 0; turn < 3; turn += 1) shares.take(owner, 5_000);
  shares.charge(owner, 5_000);
  shares.take(owner, 1);
  expect(() => shares.take(ann, 1)).toThrow(/wait 18 s/);
});

test("long reads of a user run one in each turn of the event loop, in their order, so that others come between", async () => {
  const shares = new ReadShares(() => 0);
  const order: string[] = [];
  const reads = ["first", "second", "third"].map((name) => shares.inTurn(() => order.push(name)));
  setImmediate(() => order.push("another user"));
  await Promise.all(reads);
  expect(order).toEqual(["first", "another user", "second", "third"]);
});

test("a long read that is refused says why, and the next one still comes", async () => {
  const shares = new ReadShares(() => 0);
  shares.take(ann, 500);
  const read = (caller: typeof ann) => shares.inTurn(() => shares.take(caller, 1));
  const [refused, answered] = await Promise.allSettled([read(ann), read(bob)]);
  expect(refused).toMatchObject({ status: "rejected", reason: { code: "too.many" } });
  expect(answered.status).toBe("fulfilled");
});
