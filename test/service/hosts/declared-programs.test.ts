import { afterEach, describe, expect, test } from "@jest/globals";
import type { ForeignAction } from "../../../src/contract/agent.ts";
import type { RigSpec } from "../../../src/simulator/index.ts";
import { problem, refusal } from "../../errors.ts";
import { until } from "../../until.ts";
import { caller, closeBenches } from "../bench.ts";
import type { DoubleOptions } from "./agent-double.ts";
import { apiAt, openHosts } from "./hosts-bench.ts";

afterEach(closeBenches);

const program: RigSpec = { kind: "lolminer", warm: true };
const everyAction: readonly ForeignAction[] = ["start", "stop", "restart"];

/** A miner that is declared by the address of its program's API, on a host of that name. */
async function declared(
  options: Partial<DoubleOptions> = {},
  actions = everyAction,
  more: Parameters<typeof openHosts>[0] = {},
) {
  const hosts = await openHosts({ rigs: [program], agentGraceMs: 500, ...more });
  const { bench, hostId } = hosts;
  const rig = bench.rig(0);
  const { host, port } = apiAt(rig.address);
  const rename = (hostname: string, groupId?: number) =>
    bench.service.saveHost({ id: hostId, hostname, description: undefined, ...(groupId && { groupId }) }, caller);
  const asked: string[] = [];
  const agent = () =>
    hosts.agent({
      foreign: [{ port, actions: [...actions] }],
      doForeign: (at, action) => {
        asked.push(`${action} ${at === port}`);
        rig.fault = action === "stop" ? "off" : null;
      },
      ...options,
    });
  const id = await bench.add(rig.address);
  const status = async () => (await bench.get(id)).statusInfo.statusDisplay;
  const can = async () => {
    const { canStart, canStop, canRestart, canReboot } = await bench.get(id);
    return { canStart, canStop, canRestart, canReboot };
  };
  const miss = async (times: number) => {
    for (let time = 0; time < times; time += 1) await bench.poll(id);
  };
  return { hosts, bench, rig, host, port, rename, agent, asked, id, status, can, miss };
}

const nothing = { canStart: false, canStop: false, canRestart: false, canReboot: false };

describe("a declared program on a host with an agent", () => {
  test("gains stop, start, restart and reboot, as its agent's configuration allows, and keeps them while the agent is away", async () => {
    const { bench, rename, host, agent, can, id, asked, status } = await declared();
    expect(await can()).toEqual(nothing);
    const double = await agent();
    expect((await bench.poll(id)).canReboot).toBe(false);
    await rename(host.toUpperCase());
    await bench.poll(id);
    expect(await can()).toEqual({ canStart: false, canStop: true, canRestart: true, canReboot: true });
    expect(await bench.act(id, { action: "stop" })).toMatchObject({ state: "done" });
    expect([await status(), (await bench.get(id)).readings.reason?.code]).toEqual(["Stopped", "user"]);
    expect(await can()).toMatchObject({ canStart: true, canStop: false });
    expect(await bench.act(id, { action: "start" })).toMatchObject({ state: "done" });
    expect(await status()).toBe("Mining");
    await bench.act(id, { action: "reboot" });
    expect(double.received.some(({ t }) => t === "reboot")).toBe(true);
    expect(asked).toEqual(["stop true", "start true"]);
    double.cut();
    const away = async () => (await bench.service.getHost({ id: 1 }, caller)).agent?.connected === false;
    await until(away, "the agent to be away");
    await bench.poll(id);
    expect(await can()).toMatchObject({ canStop: true, canReboot: true });
    expect(await problem(bench.act(id, { action: "stop" }))).toMatchObject({
      code: "host.away",
      message: `The agent of the host ${host.toUpperCase()} is not connected`,
    });
  });

  test("whose API no longer answers is idle with the reason, and can be started", async () => {
    const { bench, rename, host, agent, can, id, asked, status, rig, miss } = await declared();
    await rename(host);
    await agent();
    await miss(1);
    rig.fault = "off";
    await miss(3);
    expect(await status()).toBe("Idle");
    expect((await bench.get(id)).readings).toMatchObject({
      hashrate: null,
      mining: null,
      reason: { code: "program", text: expect.stringContaining("may not run") },
    });
    expect(await can()).toEqual({ canStart: true, canStop: true, canRestart: true, canReboot: true });
    expect(await bench.act(id, { action: "start" })).toMatchObject({ state: "done" });
    expect([await status(), asked]).toEqual(["Mining", ["start true"]]);
  });

  test("is restarted by the rule for silent programs", async () => {
    let now = Date.UTC(2026, 2, 2);
    const clock = () => now;
    let turn = async (): Promise<void> => undefined;
    const { bench, rename, host, agent, id, rig, asked, status } = await declared({ now: clock }, everyAction, {
      clock,
      monotonicNow: clock,
      config: { rules: [{ use: "restart-when-program-is-silent", with: { silent: 60, times: 2 } }] },
      ruleTurns: (work) => {
        turn = async () => void (await work());
        return () => undefined;
      },
    });
    await rename(host);
    await agent();
    await bench.poll(id);
    rig.fault = "off";
    for (let passed = 0; passed < 8 && asked.length === 0; passed += 1) {
      now += 30_000;
      await bench.poll(id);
      await turn();
      const isOpen = ({ state }: { readonly state: string }) => state === "queued";
      await until(async () => !(await bench.commands(id)).some(isOpen), "commands to be sent");
    }
    await until(() => asked.length > 0, "the restart");
    expect(asked).toEqual(["restart true"]);
    await until(async () => (await bench.poll(id)).statusInfo.statusDisplay === "Mining", "the program to mine");
    expect(await status()).toBe("Mining");
  });

  test("stays stopped over a restart of the service", async () => {
    const { bench, rename, host, agent, id, status, hosts, miss } = await declared();
    await rename(host);
    const first = await agent();
    await miss(1);
    await bench.act(id, { action: "stop" });
    await hosts.restart();
    await until(() => first.ended !== null, "the agent to lose its connection");
    await agent();
    await until(async () => (await status()) === "Stopped", "the miner to be stopped");
    expect(await bench.act(id, { action: "start" })).toMatchObject({ state: "done" });
  });

  test("is only what it was where the agent has no commands for its port, or its host is in another group", async () => {
    const { bench, rename, host, agent, can, id, status, rig, miss } = await declared({}, []);
    await rename(host);
    await agent();
    await miss(1);
    expect(await can()).toEqual({ ...nothing, canReboot: true });
    rig.fault = "off";
    await miss(3);
    expect(await status()).toBe("Disconnected");
    rig.fault = null;
    const { id: groupId } = await bench.service.addGroup({ name: "Hall", parentId: 0 }, caller);
    await rename(host, groupId);
    await miss(1);
    expect(await can()).toEqual(nothing);
    expect(await refusal(bench.act(id, { action: "reboot" }))).toBe("control.absent");
  });
});
