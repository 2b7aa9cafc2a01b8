import { afterEach, expect, test } from "@jest/globals";
import { until } from "../../until.ts";
import { closeBenches } from "../bench.ts";
import { openHosts, xmrigRig } from "./hosts-bench.ts";

afterEach(closeBenches);

/** A managed miner that mines, with watchdog rules; its time passes when a test says so. */
async function watched(rules: readonly object[], maintenance: readonly object[] = []) {
  let now = Date.UTC(2026, 2, 2);
  const clock = () => now;
  let turn = async (): Promise<void> => undefined;
  const hosts = await openHosts({
    rigs: [xmrigRig],
    clock,
    monotonicNow: clock,
    config: { rules, maintenance },
    // By the machine's own clock.
    agentGraceMs: 1,
    ruleTurns: (work) => {
      turn = async () => void (await work());
      return () => undefined;
    },
  });
  const { bench } = hosts;
  await hosts.manage({ description: "attic" });
  const agent = await hosts.agent({ now: clock });
  await bench.act(1, { action: "start" });
  const restarts = () => agent.received.filter(({ t }) => t === "restart").length;
  const pass = async (minutes: number) => {
    for (let passed = 0; passed < minutes * 60; passed += 30) {
      now += 30_000;
      await bench.poll(1);
      await turn();
      // What a rule has begun is sent before time goes on.
      await until(
        async () => (await bench.commands(1)).every(({ state }) => state !== "queued" && state !== "sent"),
        "commands to end",
      );
      await bench.idle();
    }
  };
  await pass(1);
  return { bench, agent, restarts, pass, clock };
}

const silent = { use: "restart-when-program-is-silent", with: { silent: 60, times: 2 } };

test("a program whose API does not answer is restarted, and mines again", async () => {
  const { bench, pass, restarts } = await watched([silent]);
  bench.rig(0).fault = "off";
  await pass(2);
  const { readings, statusInfo } = await bench.get(1);
  expect(readings).toMatchObject({
    hashrate: null,
    reason: { code: "program", text: expect.stringContaining("its API") },
  });
  expect(statusInfo.statusDisplay).not.toBe("Mining");
  expect(restarts()).toBe(0);
  await pass(1);
  await until(
    async () => (await bench.commands(1)).some(({ action, state }) => action === "restart" && state === "done"),
    "the restart",
  );
  expect(restarts()).toBe(1);
  bench.rig(0).fault = null;
  await until(async () => (await bench.poll(1)).readings.hashrate !== null, "its API to answer");
  await pass(12);
  expect([restarts(), (await bench.get(1)).statusInfo.statusDisplay]).toEqual([1, "Mining"]);
  expect((await bench.get(1)).readings.reason).toBeNull();
});

test("after some restarts that do not help the watchdog gives up and says so, once", async () => {
  const { bench, pass, restarts } = await watched([silent]);
  bench.rig(0).fault = "off";
  await pass(10);
  expect(restarts()).toBe(2);
  const notices = (await bench.notifications()).filter((each) => each.includes("did not help"));
  expect(notices).toEqual([
    expect.stringContaining(
      "attic: its mining program does not answer, and restarts did not help. Its last output:\nGPU 0: CUDA error 999",
    ),
  ]);
});

test("a host whose agent is away is left alone: its program may well be mining", async () => {
  const { bench, pass, restarts, agent } = await watched([silent]);
  agent.cut();
  await until(
    async () => (await bench.get(1)).statusInfo.statusDisplay === "Disconnected",
    "the agent to be away for longer than a moment",
  );
  await pass(10);
  expect(restarts()).toBe(0);
  expect((await bench.commands(1)).map(({ action }) => action)).not.toContain("restart");
});

test("a maintenance window stops the watchdog", async () => {
  const end = new Date(Date.UTC(2026, 2, 2, 0, 10)).toISOString();
  const { bench, pass, restarts } = await watched([silent], [{ name: "new cards", until: end }]);
  bench.rig(0).fault = "off";
  await pass(8);
  expect(restarts()).toBe(0);
  await pass(2);
  await until(() => restarts() > 0, "the restart");
});

test("a program that somebody stopped stays stopped", async () => {
  const { bench, pass, restarts } = await watched([silent, { use: "restart-when-hashrate-is-low" }]);
  await bench.act(1, { action: "stop" });
  bench.rig(0).fault = "off";
  await pass(6);
  expect([restarts(), (await bench.get(1)).statusInfo.statusDisplay]).toEqual([0, "Stopped"]);
});
