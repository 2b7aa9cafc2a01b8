import { expect, it } from "@jest/globals";
import { Background } from "../../src/async/index.ts";

it("has settled when nothing runs", async () => {
  await expect(new Background().settled()).resolves.toBeUndefined();
});

it("settles after all work, after what that work starts, and after failures", async () => {
  const background = new Background();
  const [first, failing, last] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  const seen: string[] = [];
  void background.add(first.promise.then(() => void background.add(last.promise.then(() => seen.push("last")))));
  const failed = expect(background.add(failing.promise)).rejects.toThrow("lost");
  const settled = background.settled().then(() => seen.push("settled"));
  failing.reject(new Error("lost"));
  first.resolve();
  await failed;
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen).toEqual([]);
  last.resolve();
  await settled;
  expect(seen).toEqual(["last", "settled"]);
});
