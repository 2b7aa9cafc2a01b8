import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { Channel } from "../../src/async/channel.ts";
import { channelPair } from "./channel-pair.ts";

const turns = async (count: number): Promise<void> => {
  for (let left = count; left > 0; left -= 1) await turn();
};

test("no more than a window is sent before the other side reads, and then everything arrives", async () => {
  const { one, two, sent } = channelPair(100_000);
  const bytes = Buffer.from(Array.from({ length: 1_000_500 }, (_, index) => index % 251));
  let isWritten = false;
  one.write(bytes, () => {
    isWritten = true;
  });
  await turns(50);
  expect([sent(0), isWritten]).toEqual([100_000, false]);
  const chunks: Buffer[] = [];
  two.on("data", (chunk: Buffer) => chunks.push(chunk));
  one.end();
  await once(one, "finish");
  await turns(50);
  expect(Buffer.concat(chunks)).toEqual(bytes);
  expect([isWritten, one.bytesWritten]).toEqual([true, 1_000_500]);
});

test("a slow reader stops the sender at the window and what it keeps, whatever the sender has", async () => {
  const { one, two, sent } = channelPair(1_000);
  for (let count = 0; count < 500; count += 1) one.write(Buffer.alloc(700));
  // The reader is there, and takes nothing after the first piece.
  two.once("data", () => two.pause());
  await turns(1_000);
  expect(sent(0)).toBeLessThanOrEqual(two.readableHighWaterMark + 2_000);
  expect(one.bytesWritten - one.writableLength).toBe(sent(0));
});

test("more than the window is not taken", () => {
  const channel = new Channel({
    send: () => undefined,
    close: () => undefined,
    window: { bytes: 100_000, give: () => undefined },
  });
  expect([
    channel.receive(Buffer.alloc(70_000)),
    channel.receive(Buffer.alloc(30_000)),
    channel.receive(Buffer.alloc(1)),
  ]).toEqual([true, true, false]);
});

test("a sender that waits for the other side learns that the channel is closed", async () => {
  const { one, two } = channelPair(100);
  one.resume();
  one.write(Buffer.alloc(5_000));
  two.resume();
  two.destroy();
  await once(one, "close");
  expect(one.destroyed).toBe(true);
});

test("what was written before the end arrives before the end", async () => {
  const { one, two } = channelPair(100);
  const chunks: Buffer[] = [];
  two.on("data", (chunk: Buffer) => chunks.push(chunk));
  one.resume();
  one.write(Buffer.alloc(950, 1));
  one.destroySoon();
  await once(two, "end");
  expect(Buffer.concat(chunks)).toHaveLength(950);
});
