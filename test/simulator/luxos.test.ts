import { expect, test } from "@jest/globals";
import type { LuxosSpec, SimulatedRig } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { startRig } from "../simulated-rig.ts";
import { ask, command, records, status } from "./ask.ts";

const clock = stoppedClock();

const start = (spec: Partial<LuxosSpec> = {}): Promise<SimulatedRig> =>
  startRig({ kind: "luxos", warm: true, restartSeconds: 5, ...spec }, clock.now);

const logon = async (rig: SimulatedRig): Promise<string> =>
  String(records(await command(rig, "logon"), "SESSION")[0]?.SessionID);

test("identifies itself, and joins reports", async () => {
  const rig = await start();
  expect(records(await command(rig, "version"), "VERSION")[0]).toMatchObject({
    Type: "Antminer S19k Pro",
    LUXminer: expect.stringMatching(/^\d{4}/),
  });
  const joined = await command(rig, "summary+power");
  expect(records({ power: joined.power }, "power")).toHaveLength(1);
  expect(await status(rig, "nonsense")).toBe("E14 Invalid command");
});

test("has one session at a time, which expires a minute after its last use", async () => {
  const rig = await start();
  const first = await logon(rig);
  expect(await status(rig, "logon")).toBe("E402 Another session is active");
  clock.pass(50);
  expect(await status(rig, "ledset", `${first},red,blink`)).toBe("S320 LED mode set");
  clock.pass(50);
  expect(await status(rig, "logon")).toBe("E402 Another session is active");
  clock.pass(11);
  expect(await status(rig, "ledset", `${first},red,auto`)).toMatch(/^E401 Invalid session id/);
  const second = await logon(rig);
  expect(await status(rig, "logoff", second)).toBe("S317 Session terminated");
  expect(await status(rig, "logon")).toBe("S316 Session created");
  expect(rig.requests.writes).toEqual(["ledset|red,blink", "ledset|red,auto"]);
});

test("allows writes only with a session, except for pools", async () => {
  const rig = await start();
  expect(await status(rig, "curtail", "none,sleep")).toMatch(/^E401/);
  expect(rig.model.mining).toBe(true);
  expect(await status(rig, "addpool", "stratum+tcp://c.example.com:1,w,x")).toMatch(/^S55 Added pool 2/);
});

test("refuses profiles while its thermal management is on", async () => {
  const rig = await start({ managed: true });
  const session = await logon(rig);
  expect(await status(rig, "profileset", `${session},490MHz`)).toMatch(/^E432/);
  await command(rig, "atmset", `${session},enabled=false`);
  expect(await status(rig, "profileset", `${session},490MHz`)).toBe("S321 Profile Set");
  expect(rig.model.level).toBeCloseTo(490 / 640);
});

test("stays asleep after a restart, during which it does not answer", async () => {
  const rig = await start();
  const session = await logon(rig);
  await command(rig, "curtail", `${session},sleep`);
  await command(rig, "rebootdevice", session);
  await expect(ask(rig, '{"command":"version"}')).rejects.toMatchObject({ code: "ECONNRESET" });
  clock.pass(6);
  expect(records(await command(rig, "config"), "CONFIG")[0]?.CurtailMode).toBe("Sleep");
  expect(rig.model.power).toBeLessThan(40);
});
