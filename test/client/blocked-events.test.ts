import { afterEach, describe, expect, test } from "@jest/globals";
import { connectService } from "../../src/client/index.ts";
import type { Miner } from "../../src/contract/resources.ts";
import { watchFarm } from "../../src/farm/index.ts";
import { openElsewhere, testKey } from "../nodes/service-kinds.ts";
import { until } from "../until.ts";
import { type Blocking, blockings, startBlockingProxy } from "./blocking-proxy.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A service behind a proxy, watched with a poll interval of 1 s. */
async function watchedThrough(blocking: Blocking) {
  const opened = await openElsewhere();
  ends.push(() => opened.close());
  const proxy = await startBlockingProxy(String(opened.node.url), blocking);
  ends.push(() => proxy.close());
  const logged: string[] = [];
  const reported: string[] = [];
  const miners = new Map<string, Miner>();
  const note = (_: unknown, text?: string) => void logged.push(text ?? String(_));
  const log = { info: note, warn: note };
  const service = connectService({ url: proxy.url, key: testKey, poll: 1, timeout: 2, log });
  const closing = new AbortController();
  const watching = watchFarm(
    { service, caller: { actor: "test" }, log, signal: closing.signal },
    {
      read: (lists) => {
        for (const miner of lists.miners) miners.set(miner.name, miner);
      },
      lost: ({ message }) => void reported.push(message),
      back: () => undefined,
      miner: (miner) => void miners.set(miner.name, miner),
      removed: () => undefined,
      happened: () => undefined,
      summary: () => undefined,
      notification: () => undefined,
      notificationsHandled: () => undefined,
    },
  );
  ends.push(async () => {
    closing.abort();
    await watching;
    await service.close();
  });
  const count = (path: string) => proxy.paths.filter((each) => each === path).length;
  const polls = () => count("/api/notifications");
  await until(() => miners.size > 0, "the lists");
  return { opened, proxy, logged, reported, miners, count, polls };
}

describe("a service behind a proxy", () => {
  test.each(blockings)("that would %s its events is polled instead, and the log says so once", async (blocking) => {
    const { opened, proxy, logged, reported, miners, count, polls } = await watchedThrough(blocking);
    await until(() => polls() > 0, "the first poll");
    opened.switchOff("Rig B");
    await until(() => miners.get("Rig B")?.isOffline === true, "the poll to show the miner as offline");
    expect(reported).toEqual([]);
    const said = logged.filter((text) => text.includes("The service is polled every 1 s instead"));
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/a proxy may block GET \/api\/events/);
    const [before, polled, total] = [count("/api/events"), polls(), proxy.paths.length];
    await until(() => polls() >= polled + 4, "four more polls");
    // The stream is tried again, but more and more rarely; a poll is three reads.
    expect(count("/api/events") - before).toBeLessThanOrEqual(2);
    expect(proxy.paths.length - total).toBeLessThan(40);
  });

  test("goes back to its events once the proxy passes them", async () => {
    const { opened, proxy, logged, reported, miners, polls } = await watchedThrough("refuse");
    await until(() => polls() > 0, "the first poll");
    proxy.set("pass");
    await until(() => logged.includes("The service's events arrive again"), "the events to arrive again");
    const before = polls();
    opened.switchOff("Rig B");
    await until(() => miners.get("Rig B")?.isOffline === true, "the events to show the miner as offline");
    expect(polls()).toBe(before);
    expect(reported).toEqual([]);
  });
});
