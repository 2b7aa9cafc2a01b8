import { expect, test } from "@jest/globals";
import type { SimulatedRig, VnishSpec } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { startRig } from "../simulated-rig.ts";
import { command, objectOf, records, status } from "./ask.ts";

const clock = stoppedClock();

const start = (spec: Partial<VnishSpec> = {}): Promise<SimulatedRig> =>
  startRig({ kind: "vnish", warm: true, restartSeconds: 60, ...spec }, clock.now);

interface Answer {
  readonly status: number;
  readonly value: Record<string, unknown>;
}

async function call(rig: SimulatedRig, path: string, body?: unknown, token = ""): Promise<Answer> {
  const reply = await fetch(`http://${rig.address}/api/v1/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, value: objectOf(text === "" ? {} : JSON.parse(text)) };
}

const unlock = async (rig: SimulatedRig): Promise<string> =>
  String((await call(rig, "unlock", { pw: "admin" })).value.token);

test("gives a token for its password, which runs out, and none after too many wrong passwords", async () => {
  const rig = await start({ tokenSeconds: 30 });
  const token = await unlock(rig);
  expect((await call(rig, "settings", undefined, token)).status).toBe(200);
  clock.pass(31);
  expect((await call(rig, "settings", undefined, token)).status).toBe(401);
  for (let tries = 0; tries < 5; tries += 1) expect((await call(rig, "unlock", { pw: "no" })).status).toBe(403);
  expect((await call(rig, "unlock", { pw: "admin" })).status).toBe(429);
});

test("serves its summary without a login from 1.3 on", async () => {
  expect((await call(await start(), "summary")).status).toBe(200);
  expect((await call(await start({ version: "1.2.6" }), "summary")).status).toBe(401);
});

test("keeps its web interface running while mining restarts", async () => {
  const rig = await start();
  await call(rig, "mining/restart", {}, await unlock(rig));
  expect((await call(rig, "status")).value.miner_state).toBe("restarting");
  expect(rig.model.hashing).toBe(false);
  clock.pass(61);
  expect((await call(rig, "status")).value.miner_state).toBe("mining");
});

test("toggles its light, without a login", async () => {
  const rig = await start();
  expect((await call(rig, "find-miner", {})).value).toEqual({ on: true });
  expect((await call(rig, "find-miner", {})).value).toEqual({ on: false });
});

test("applies settings only when mining restarts, and refuses them as a whole", async () => {
  const rig = await start({ restartSeconds: 0 });
  const token = await unlock(rig);
  const preset = (name: string) => ({ miner: { overclock: { preset: name } } });
  expect((await call(rig, "settings", preset("2300"), token)).value).toEqual({
    restart_required: true,
    reboot_required: false,
  });
  expect((await call(rig, "status")).value.restart_required).toBe(true);
  expect(rig.model.level).toBe(1);
  await call(rig, "mining/restart", {}, token);
  expect(rig.model.powerAt(rig.model.level)).toBeCloseTo(2300);
  expect((await call(rig, "settings", preset("99"), token)).status).toBe(500);
  expect((await call(rig, "settings", { miner: { pools: [] } }, token)).value.err).toContain("At least one pool");
});

test("answers a part of the RPC: version only before 1.3", async () => {
  const rig = await start();
  expect(await status(rig, "version")).toBe("E14 Invalid command");
  expect(records(await command(rig, "stats"), "STATS")[0]?.Type).toBe("Antminer S19 (Vnish 1.3.4)");
  expect(await status(await start({ version: "1.2.6" }), "version")).toBe("S22 CGMiner versions");
});
