import { afterEach, expect, test } from "@jest/globals";
import { stoppedClock } from "../clock.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const axeos = { kind: "axeos", warm: true } as const;

/** What is recorded of a rig, the oldest first. */
const story = async (bench: Bench, id: number) => {
  await bench.idle();
  return (await bench.commands(id)).map(({ action, actor, parameters }) => [action, actor, parameters]).reverse();
};

test("a restart that nobody commanded is recorded once, also one while the service was away", async () => {
  const clock = stoppedClock();
  const bench = await openBench({ rigs: [axeos], clock: clock.now });
  const id = await bench.add(bench.rig(0).address);
  const again = async (): Promise<void> => {
    clock.pass(3_600);
    bench.rig(0).powerOff();
    await bench.rig(0).powerOn();
    clock.pass(120);
  };
  await bench.poll(id);
  expect(await story(bench, id)).toEqual([]);
  await again();
  await bench.poll(id);
  await bench.poll(id);
  expect(await story(bench, id)).toEqual([["restarted", "service", {}]]);
  await again();
  await bench.restart();
  await bench.poll(id);
  expect(await story(bench, id)).toEqual([
    ["restarted", "service", {}],
    ["restarted", "service", {}],
  ]);
});

test("a restart that was commanded is the command alone", async () => {
  const bench = await openBench({ rigs: [axeos] });
  const id = await bench.add(bench.rig(0).address);
  await bench.act(id, { action: "reboot" });
  await bench.idle();
  await bench.poll(id);
  expect(await story(bench, id)).toEqual([["reboot", "test", {}]]);
});

test("another firmware is recorded with the one before, and not its restart", async () => {
  const vnish = { kind: "vnish", warm: true, mac: "02:00:00:00:00:07" } as const;
  const bench = await openBench({ rigs: [{ ...vnish, version: "1.2.6" }, vnish] });
  const login = { username: "admin", password: "admin" };
  const id = await bench.add(bench.rig(0).address, login);
  const before = (await bench.get(id)).identity?.firmware;
  // The same rig, as its MAC address says, at an address of its own with another firmware.
  bench.rig(0).powerOff();
  await bench.service.changeMiner({ id, address: bench.rig(1).address, ...login }, caller);
  await bench.poll(id);
  const after = (await bench.get(id)).identity?.firmware;
  expect(after).not.toBe(before);
  expect(await story(bench, id)).toEqual([["firmware", "service", { from: before, to: after }]]);
});

test("people add dated notes, which stay over a restart", async () => {
  const bench = await openBench({ rigs: [axeos] });
  const id = await bench.add(bench.rig(0).address);
  await bench.service.addMinerNote({ id, note: "new fans" }, { actor: "anna" });
  await bench.restart();
  expect(await story(bench, id)).toEqual([["note", "anna", { note: "new fans" }]]);
  expect((await bench.service.listCommands({ miner: id }, caller)).commandList).toMatchObject([{ state: "done" }]);
});
