import { afterEach, expect, test } from "@jest/globals";
import { caller, closeBenches, openBench } from "../bench.ts";
import { openDouble } from "./doubles.ts";

afterEach(closeBenches);

/** A service with one rig and a phone, whose clock and outbox the test moves. */
async function farmWithPhone() {
  const { heard, url } = await openDouble();
  const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
  const turns: (() => Promise<void>)[] = [];
  const bench = await openBench({
    rigs: [{ kind: "cgminer", warm: true }],
    clock: () => clock.now,
    config: { groups: [{ name: "Garage" }], channels: [{ key: "phone", type: "ntfy", url, topic: "farm" }] },
    repeat: (work) => {
      turns.push(work);
      return () => turns.splice(turns.indexOf(work), 1);
    },
  });
  return {
    bench,
    messages: () => heard.map(({ body }) => JSON.parse(body)),
    pass: async (seconds: number): Promise<void> => {
      clock.now += seconds * 1000;
      for (const turn of turns) await turn();
    },
  };
}

test("a rig that is unplugged is one message, and one when it is back, over a restart of the service", async () => {
  const { bench, messages, pass } = await farmWithPhone();
  const id = await bench.add(bench.rig(0).address, { name: "Rig A" });
  const { groups } = bench.store;
  await bench.service.changeMiner({ id, group: groups.all()[0]?.name }, caller);
  bench.rig(0).powerOff();
  for (let read = 0; read < 4; read += 1) await bench.poll(id);
  await pass(10);
  // What waits is in the store.
  await bench.restart();
  for (let read = 0; read < 4; read += 1) await bench.poll(id);
  expect(messages()).toEqual([]);
  await pass(20);
  expect(messages()).toMatchObject([
    {
      topic: "farm",
      title: "Rig A: Disconnected",
      message: expect.stringMatching(/^Cannot be reached: /),
      priority: 4,
    },
  ]);
  await bench.rig(0).powerOn();
  await bench.restart();
  await bench.poll(id);
  await bench.poll(id);
  await pass(30);
  for (let turn = 0; turn < 5; turn += 1) await pass(60);
  expect(messages().slice(1)).toMatchObject([
    {
      title: "Rig A: Disconnected – over",
      message: expect.stringMatching(/^It answers again \(since .*\)$/),
      priority: 3,
    },
  ]);
  const channels = await bench.service.listChannels({}, caller);
  expect(channels).toMatchObject([{ key: "phone", waiting: 0, lastError: null, lastSentUtc: expect.any(String) }]);
});

test("a notification that was cleared is told as over all the same", async () => {
  const { bench, messages, pass } = await farmWithPhone();
  const id = await bench.add(bench.rig(0).address, { name: "Rig A" });
  bench.rig(0).powerOff();
  for (let read = 0; read < 3; read += 1) await bench.poll(id);
  await pass(30);
  await bench.service.allNotificationsAction({ action: "clear_all" }, caller);
  await bench.rig(0).powerOn();
  await bench.poll(id);
  await pass(30);
  expect(messages().map(({ title }) => title)).toEqual(["Rig A: Disconnected", "Rig A: Disconnected – over"]);
});

test("a test says what the channel answers, and a channel that does not exist which one was meant", async () => {
  const { bench, messages } = await farmWithPhone();
  const { message } = await bench.service.testChannel({ key: "phone" }, caller);
  expect(message).toMatch(/^The test was sent to phone: 127\.0\.0\.1:\d+ answers 200$/);
  expect(messages()).toMatchObject([{ title: "Test of Rigbridge", topic: "farm" }]);
  await expect(bench.service.testChannel({ key: "phnoe" }, caller)).rejects.toMatchObject({
    code: "not.found",
    message: 'There is no channel phnoe; did you mean "phone"?',
  });
});
