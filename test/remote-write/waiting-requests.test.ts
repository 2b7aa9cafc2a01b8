import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { WaitingRequests } from "../../src/remote-write/waiting-requests.ts";
import { ownFolder } from "../agent/host.ts";

/** Requests of ten bytes each. */
async function waitingWith(most: number) {
  const folder = join(await ownFolder(), "waiting");
  const dropped: [number, string][] = [];
  const open = async () => {
    const waiting = new WaitingRequests({ folder, most, dropped: (...each) => dropped.push(each) });
    await waiting.open();
    return waiting;
  };
  const waiting = await open();
  const add = (samples: number) => waiting.add({ samples, body: new Uint8Array(10).fill(samples) });
  return { waiting, add, dropped, folder, open };
}

const samplesOf = async (waiting: WaitingRequests): Promise<number[]> => {
  const found: number[] = [];
  for (let next = await waiting.first(); next !== undefined; next = await waiting.first()) {
    found.push(next.request.samples);
    await next.done();
  }
  return found;
};

test("the request that is being sent is not dropped for lack of room, but the oldest after it", async () => {
  const { waiting, add, dropped } = await waitingWith(20);
  await add(1);
  await add(2);
  const sent = await waiting.first();
  await add(3);
  expect([dropped, waiting.bytes]).toEqual([[[2, "full"]], 20]);
  await sent?.done();
  expect(await samplesOf(waiting)).toEqual([3]);
  expect([dropped.length, waiting.bytes]).toEqual([1, 0]);
});

test("a disk that takes nothing costs the requests that wait, and not the one that is being sent", async () => {
  const { waiting, add, dropped, folder } = await waitingWith(100);
  await add(1);
  await add(2);
  const sent = await waiting.first();
  await rm(folder, { recursive: true });
  await writeFile(folder, "");
  await waiting.spill();
  expect(dropped).toEqual([[2, "disk"]]);
  await sent?.done();
  expect([await samplesOf(waiting), dropped.length, waiting.bytes]).toEqual([[], 1, 0]);
  await add(3);
  await waiting.first();
  await waiting.close();
  expect(dropped).toEqual([
    [2, "disk"],
    [3, "disk"],
  ]);
});

test("once something is on disk, everything goes there, and the next process has it in order", async () => {
  const { waiting, add, open } = await waitingWith(100);
  await add(1);
  await waiting.spill();
  await add(2);
  await add(3);
  const next = await open();
  expect([next.bytes, await samplesOf(next)]).toEqual([30, [1, 2, 3]]);
  expect((await open()).bytes).toBe(0);
});
