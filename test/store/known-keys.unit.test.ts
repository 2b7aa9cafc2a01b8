import { expect, test } from "@jest/globals";
import { KnownKeys } from "../../src/store/known-keys.ts";

const many = (from: string): string[] => Array.from({ length: 10_000 }, (_, index) => `${from} ${index}`);

test("names are known that were stored, or are being stored, whatever is read meanwhile", async () => {
  let reading = Promise.withResolvers<readonly string[]>();
  reading.resolve(["stored"]);
  const keys = await KnownKeys.open(() => reading.promise);
  expect([keys.has("stored"), keys.has("other")]).toEqual([true, false]);
  reading = Promise.withResolvers();
  const [first, ...others] = many("a");
  for (const name of others) keys.add(name);
  // The last one begins a reading that does not find it yet, and no longer finds the stored one.
  keys.add("last");
  keys.add("during");
  expect(["stored", "a 1", "last", "during"].filter((name) => !keys.has(name))).toEqual([]);
  reading.resolve(["a 1"]);
  await reading.promise;
  await Promise.resolve();
  expect(["a 1", "a 9999", "last", "during"].filter((name) => !keys.has(name))).toEqual([]);
  expect([keys.has("stored"), keys.has(first ?? "")]).toEqual([false, false]);
  // Also those stay that were added before, if the store cannot be read.
  reading = Promise.withResolvers();
  for (const name of many("b")) keys.add(name);
  reading.reject(new Error("away"));
  await reading.promise.catch(() => undefined);
  await Promise.resolve();
  expect(["a 1", "last", "during", "b 0", "b 9999"].filter((name) => !keys.has(name))).toEqual([]);
});

test("a long reading forgets no names that are stored, and names that cannot be read do not fill the memory", async () => {
  let reading = Promise.withResolvers<readonly string[]>();
  reading.resolve([]);
  const keys = await KnownKeys.open(() => reading.promise);
  const settled = async (): Promise<void> => {
    await reading.promise.catch(() => undefined);
    await Promise.resolve();
  };
  reading = Promise.withResolvers();
  for (const name of [...many("a"), ...many("b"), ...many("c")]) keys.add(name);
  reading.resolve(many("a"));
  await settled();
  expect(["a 0", "b 0", "c 9999"].filter((name) => !keys.has(name))).toEqual([]);
  for (let turn = 0; turn < 11; turn += 1) {
    reading = Promise.withResolvers();
    for (const name of many(`away ${turn}`)) keys.add(name);
    reading.reject(new Error("away"));
    await settled();
  }
  // Nothing is known for certain, so everything is looked for.
  expect([keys.has("away 0 0"), keys.has("never")]).toEqual([true, true]);
  reading = Promise.withResolvers();
  for (const name of many("again")) keys.add(name);
  reading.resolve(many("again"));
  await settled();
  expect([keys.has("again 1"), keys.has("never")]).toEqual([true, false]);
});
