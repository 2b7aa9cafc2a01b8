import { describe, expect, test } from "@jest/globals";
import { KeyedMutex, Mutex, Semaphore } from "../../src/async/index.ts";

/** Work that ends when it is told to. */
function gate(): { work: () => Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { work: () => promise, open: resolve };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a semaphore, with real timers", () => {
  test("never holds more than its places, and starts the others in order as places become free", async () => {
    const semaphore = new Semaphore(3);
    const gates = Array.from({ length: 2_500 }, gate);
    const started: number[] = [];
    for (const [index, { work }] of gates.entries())
      semaphore.enter(() => {
        started.push(index);
        return work();
      });
    expect(started).toEqual([0, 1, 2]);
    gates[1]?.open();
    await settled();
    expect(started).toEqual([0, 1, 2, 3]);
    for (const { open } of gates) open();
    await settled();
    expect(started).toEqual(gates.map((_, index) => index));
  });

  test("forgets waiting work when it is cleared, and accepts work afterwards", async () => {
    const semaphore = new Semaphore(1);
    const first = gate();
    const started: string[] = [];
    semaphore.enter(first.work);
    semaphore.enter(async () => void started.push("cleared"));
    semaphore.clear();
    first.open();
    await settled();
    semaphore.enter(async () => void started.push("later"));
    await settled();
    expect(started).toEqual(["later"]);
  });
});

describe("a mutex", () => {
  test("run one at a time in the order of the calls, also after one that failed", async () => {
    const mutex = new Mutex();
    const said: string[] = [];
    const turn = (name: string, end: Promise<void>) =>
      mutex.run(async () => {
        said.push(`${name} begins`);
        await end;
        said.push(`${name} ends`);
      });
    const a = gate();
    const first = turn("a", a.work());
    const second = turn("b", Promise.reject(new Error("no")));
    const third = turn("c", Promise.resolve());
    expect(mutex.locked).toBe(true);
    a.open();
    await expect(Promise.allSettled([first, second, third])).resolves.toMatchObject([
      { status: "fulfilled" },
      { status: "rejected" },
      { status: "fulfilled" },
    ]);
    expect(said).toEqual(["a begins", "a ends", "b begins", "c begins", "c ends"]);
    expect(mutex.locked).toBe(false);
  });
});

describe("a keyed mutex", () => {
  test("run work of one key one after the other, even after a failure", async () => {
    const mutex = new KeyedMutex<string>();
    const log: string[] = [];
    const first = Promise.withResolvers<void>();
    const a = mutex.run("rig", async () => {
      await first.promise;
      log.push("a");
      throw new Error("a failed");
    });
    const b = mutex.run("rig", async () => log.push("b"));
    await mutex.run("other", async () => log.push("other"));
    first.resolve();
    await expect(a).rejects.toThrow("a failed");
    await b;
    expect(log).toEqual(["other", "a", "b"]);
  });

  test("is forgotten once nothing of its key is pending", async () => {
    const mutex = new KeyedMutex<string>();
    const gateOf = gate();
    const running = mutex.run("rig", gateOf.work);
    const waiting = mutex.run("rig", async () => undefined);
    expect([mutex.pending("rig"), mutex.pending("other")]).toEqual([2, 0]);
    gateOf.open();
    await Promise.all([running, waiting]);
    expect(mutex.pending("rig")).toBe(0);
  });
});

describe("a semaphore", () => {
  test("run no more at once than allowed", async () => {
    const slots = new Semaphore(2);
    let underWay = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      underWay += 1;
      most = Math.max(most, underWay);
      await Promise.resolve();
      underWay -= 1;
    };
    await Promise.all(Array.from({ length: 9 }, () => slots.run(work)));
    expect([most, underWay]).toEqual([2, 0]);
  });
});
