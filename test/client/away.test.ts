import { afterEach, describe, expect, test } from "@jest/globals";
import { connectService } from "../../src/client/index.ts";
import { operations } from "../../src/contract/operations.ts";
import { type FarmListener, watchFarm } from "../../src/farm/index.ts";
import { startTwin } from "../../src/simulator/index.ts";
import { freePort } from "../free-port.ts";
import { type ServiceProcess, startProcess } from "../torture/process.ts";
import { until } from "../until.ts";
import { startBlockingProxy } from "./blocking-proxy.ts";

const key = "an-invented-key-of-the-client-tests";
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** What `watchFarm` reports and logs of a service elsewhere. */
function watched(url: string, poll = 1) {
  const reported: string[] = [];
  const logged: string[] = [];
  const report = (what: string) => () => void reported.push(what);
  const listener: FarmListener = {
    read: report("read"),
    lost: report("lost"),
    back: report("back"),
    miner: () => undefined,
    removed: () => undefined,
    happened: () => undefined,
    summary: () => undefined,
    notification: () => undefined,
    notificationsHandled: () => undefined,
  };
  const note = (_: unknown, text?: string) => void logged.push(text ?? String(_));
  const log = { info: note, warn: note };
  const service = connectService({ url, key, poll });
  const closing = new AbortController();
  const watching = watchFarm({ service, caller: { actor: "test" }, log, signal: closing.signal }, listener);
  ends.push(async () => {
    closing.abort();
    await watching;
    await service.close();
  });
  return { reported, logged };
}

const gone = (text: string) => text.startsWith("The service cannot be watched");
const back = (text: string) => text === "The service answers again";

/** Nothing that it watches changes, so its events are silent. */
const startService = async (port = 0): Promise<ServiceProcess> => {
  const service = await startProcess({ config: { http: { key, port } } });
  ends.push(() => service.close());
  return service;
};

/** Less than the three polls, and the 45 s of silence, after which a stream is given up in any case. */
const soon = { timeoutMs: 40_000 };

describe("a service that is watched", () => {
  test("and hangs is lost, and back when it goes on; each is logged once", async () => {
    const { pid, port } = await startService();
    const { reported, logged } = watched(`http://127.0.0.1:${port}`);
    await until(() => reported.includes("read"), "the lists");
    process.kill(pid, "SIGSTOP");
    await until(() => reported.includes("lost"), "the service to be lost", soon);
    process.kill(pid, "SIGCONT");
    await until(() => reported.includes("back"), "the service to be back");
    expect(reported.filter((what) => what !== "read")).toEqual(["lost", "back"]);
    expect([logged.filter(gone).length, logged.filter(back).length]).toEqual([1, 1]);
    expect(logged.find(gone)).toContain("did not answer in time");
  });

  test("and hangs while the watcher catches up with the lists is lost too", async () => {
    const { pid, port } = await startService();
    let lists = 0;
    const proxy = await startBlockingProxy(`http://127.0.0.1:${port}`, "pass", (path) => {
      if (path !== operations.listMiners.path) return;
      lists += 1;
      if (lists === 2) process.kill(pid, "SIGSTOP");
    });
    ends.push(() => proxy.close());
    const { reported } = watched(proxy.url);
    await until(() => reported.includes("lost"), "the service to be lost", soon);
    process.kill(pid, "SIGCONT");
    await until(() => reported.includes("back"), "the service to be back");
    expect(reported.filter((what) => what !== "read")).toEqual(["lost", "back"]);
  });

  test("and dies is lost, and back when it was started again; each is logged once", async () => {
    const first = await startService(await freePort());
    const { reported, logged } = watched(`http://127.0.0.1:${first.port}`);
    await until(() => reported.includes("read"), "the lists");
    process.kill(first.pid, "SIGKILL");
    await until(() => reported.includes("lost"), "the service to be lost", soon);
    await startService(first.port);
    await until(() => reported.includes("back"), "the service to be back");
    expect(reported.filter((what) => what !== "read")).toEqual(["lost", "back"]);
    expect([logged.filter(gone).length, logged.filter(back).length]).toEqual([1, 1]);
  });

  test("and is not a Rigbridge is lost and back too", async () => {
    const port = await freePort();
    const twin = await startTwin({ miners: 2, port });
    const { reported, logged } = watched(twin.url);
    await until(() => reported.includes("read"), "the lists");
    await twin.close();
    await until(() => reported.includes("lost"), "the service to be lost");
    const second = await startTwin({ miners: 2, port });
    ends.push(() => second.close());
    await until(() => reported.includes("back"), "the service to be back");
    expect(reported.filter((what) => what !== "read")).toEqual(["lost", "back"]);
    expect([logged.filter(gone).length, logged.filter(back).length]).toEqual([1, 1]);
  });
});
