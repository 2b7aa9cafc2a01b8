import { afterEach, describe, expect, test } from "@jest/globals";
import type { PolledRig, Poller } from "../../src/fleet/poller.ts";
import { statusOf } from "../../src/fleet/state.ts";
import type { Credentials } from "../../src/link/link.ts";
import { type Farm, type RigSpec, type SimulatedRig, startFarm } from "../../src/simulator/index.ts";
import { declaredRig } from "../declared-rig.ts";
import { openPoller } from "../pollers.ts";

let farm: Farm | undefined;
let poller: Poller | undefined;
afterEach(async () => {
  await poller?.close();
  await farm?.close();
});

/** A rig that was read once while it was well. */
async function readOnce(spec: RigSpec, credentials: Credentials, timeout: number): Promise<[PolledRig, SimulatedRig]> {
  farm = await startFarm({ rigs: [{ ...spec, warm: true }] });
  const listener = { read: () => undefined, disconnected: () => undefined, refused: () => undefined };
  poller = openPoller({
    timeout,
    now: Date.now,
    remember: async () => undefined,
    listener: { ...listener, failed: () => undefined },
  });
  const [simulated] = farm.rigs;
  if (simulated === undefined) throw new Error("one rig");
  const rig = poller.put({ ...declaredRig(simulated, 1), credentials, driver: null });
  for (let read = 0; read < 20 && rig.state.missed + (rig.state.at === null ? 1 : 0) > 0; read += 1)
    await poller.poll(rig);
  expect(statusOf(rig.state, false)).toBe("Mining");
  return [rig, simulated];
}

const login = { username: "root", password: "root" };

describe("a rig whose answers take so long that a read takes longer than it may is slow, not gone", () => {
  const rigs: readonly [string, RigSpec, Credentials][] = [
    ["an Antminer without its login", { kind: "antminer" }, {}],
    ["an Antminer with its login", { kind: "antminer" }, login],
    ["an S9", { kind: "antminer", model: "S9" }, login],
    ["an Avalon of the A series", { kind: "avalon", generation: "a-series" }, {}],
    ["an Avalon Q", { kind: "avalon" }, {}],
  ];
  test.each(rigs)("%s", async (_, spec, credentials) => {
    const [rig, simulated] = await readOnce(spec, credentials, 1_000);
    // Two answers are within a read, and none of these rigs is read with two.
    simulated.fault = { name: "delay", ms: 450 };
    const before = rig.state.at;
    for (let read = 0; read < 10 && rig.state.at === before; read += 1) await poller?.poll(rig);
    expect(rig.state).toMatchObject({ missed: 0, trouble: null });
    expect(rig.state.at).not.toBe(before);
    expect(statusOf(rig.state, false)).toBe("Mining");
  });
});

test("an Antminer without its login whose RPC fails now and then does not ask for one", async () => {
  const [rig, simulated] = await readOnce({ kind: "antminer" }, {}, 3_000);
  simulated.fault = "flapping";
  const seen: [number, string, string | undefined][] = [];
  for (let read = 0; read < 8; read += 1) {
    await poller?.poll(rig);
    seen.push([rig.state.missed, statusOf(rig.state, false), rig.state.trouble?.code]);
  }
  expect(seen.filter(([, status, code]) => status === "Error" || code === "rig.login")).toEqual([]);
  expect(seen.slice(0, 2).map(([, status]) => status)).toEqual(["Mining", "Mining"]);
});
