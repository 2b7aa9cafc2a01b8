import { describe, expect, test } from "@jest/globals";
import { FairShare } from "../../src/http/fair-share.ts";

describe("a room", () => {
  test("gives one party half of it, and the other half to parties that hold nothing", () => {
    const room = new FairShare(100);
    room.take(["a"], 30);
    expect([room.fits(["a"], 20), room.fits(["a"], 21), room.isOverShare(["a"], 21)]).toEqual([true, false, true]);
    expect([room.fits(["b"], 70), room.fits(["b"], 71)]).toEqual([true, false]);
    room.take(["b"], 60);
    expect([room.fits(["b"], 1), room.isOverShare(["b"], 1)]).toEqual([false, true]);
    expect([room.fits(["a"], 1), room.isOverShare(["a"], 1)]).toEqual([false, false]);
    expect([room.fits(["c"], 10), room.fits(["c"], 11)]).toEqual([true, false]);
  });

  test("counts for each of the parties, an address and a user", () => {
    const room = new FairShare(100);
    room.take(["address", "user 1"], 50);
    expect([room.fits(["elsewhere", "user 1"], 1), room.fits(["address", "user 2"], 1)]).toEqual([false, false]);
    expect(room.fits(["elsewhere", "user 2"], 50)).toBe(true);
  });

  test("accepts an amount of any size if nothing else is held", () => {
    const room = new FairShare(100);
    expect(room.fits(["a"], 1_000)).toBe(true);
    room.take(["a"], 1_000);
    expect([room.fits(["a"], 1), room.fits(["b"], 1)]).toEqual([false, false]);
    room.give(["a"], 1_000);
    expect([room.fits(["a"], 1_000), room.fits(["b"], 1_000)]).toEqual([true, true]);
  });
});
