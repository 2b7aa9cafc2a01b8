import { expect, test } from "@jest/globals";
import { folders } from "../store/folder.ts";
import { endedWhileWriting } from "../torture/killed.ts";

const folder = folders();

test("acknowledged writes survive kill -9 at any moment, and refused ones leave no trace", async () => {
  const { acknowledged, refused, wrong } = await endedWhileWriting(folder(), {
    rounds: 2,
    most: 150,
    signal: "SIGKILL",
  });
  expect(wrong).toEqual([]);
  expect(acknowledged).toBeGreaterThan(3);
  expect(refused).toBeGreaterThanOrEqual(0);
});
