import { spawn } from "node:child_process";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { ActivityReader } from "../../src/agent/idle.ts";
import { platformOf } from "../../src/agent/platform/index.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { doubleProgram, ownFolder, processesIn, quick, startHost } from "./host.ts";

/** A process of this name, and how to end it. */
async function startGame(): Promise<() => void> {
  const path = join(await ownFolder(), "double-game");
  await copyFile("/bin/sleep", path);
  const game = spawn(path, ["600"], { stdio: "ignore" });
  const end = (): void => {
    game.kill("SIGKILL");
  };
  onTestFinished(end);
  return end;
}

test("a program ends while a named process runs, and starts again a minute after it", async () => {
  let ahead = 0;
  const host = await startHost({ options: { now: () => Date.now() + ahead } });
  const idle = { processes: ["Double-Game.exe"], load: null };
  host.send({ t: "programs", programs: [doubleProgram(host.path, { idle })] });
  await host.untilStatus("running");
  const endGame = await startGame();
  expect(await host.untilStatus("idle")).toMatchObject({ pid: null, message: "the process Double-Game.exe runs" });
  expect(await processesIn(host.folder)).toEqual([]);
  expect((await host.ask({ t: "start", id: 1 })).message).toBe(
    "Double (XmrigMiner) will start when the other work on the host has ended (the process Double-Game.exe runs)",
  );
  endGame();
  const names = (): Promise<ReadonlySet<string>> => platformOf().processNames();
  await until(async () => !(await names()).has("double-game"), "the process to end");
  const looks = host.messages.length;
  await until(() => host.messages.length > looks + 5, "the agent to look again");
  expect(host.state()?.status).toBe("idle");
  ahead = 61_000;
  await host.untilStatus("running");
});

test("a look at the host that takes longer than the interval is not overtaken by the next", async () => {
  let [looks, atOnce, most] = [0, 0, 0];
  const processNames = async (): Promise<ReadonlySet<string>> => {
    looks += 1;
    atOnce += 1;
    most = Math.max(most, atOnce);
    await sleep(3 * quick.intervalMs);
    atOnce -= 1;
    return new Set();
  };
  const host = await startHost({ options: { platform: { ...platformOf(), processNames } } });
  const idle = { processes: ["double-game"], load: null };
  host.send({ t: "programs", programs: [doubleProgram(host.path, { idle })] });
  await until(() => looks > 3, "looks at the host");
  expect(most).toBe(1);
});

test("the load of others is counted without the programs themselves", async () => {
  const busy = spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore", detached: true });
  onTestFinished(() => {
    busy.kill("SIGKILL");
  });
  await until(() => busy.pid !== undefined, "the process");
  const platform = platformOf();
  const group = busy.pid ?? 0;
  const before = await platform.processorTime([group]);
  await until(
    async () => ((await platform.processorTime([group])).own ?? 0) > (before.own ?? 0) + 0.5,
    "half a second of work",
  );
  const after = await platform.processorTime([group]);
  expect(after.busy - before.busy).toBeGreaterThanOrEqual((after.own ?? 0) - (before.own ?? 0) - 0.1);
  expect((await platform.processorTime([])).own).toBe(0);
  const reader = new ActivityReader(platform);
  expect((await reader.read([group])).load).toBeNull();
  await until(async () => (await platform.processorTime([group])).busy > after.busy + 0.3, "more work");
  const { load } = await reader.read([group]);
  expect(load).toBeGreaterThanOrEqual(0);
  expect(load).toBeLessThanOrEqual(100);
});
