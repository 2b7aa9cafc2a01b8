import { once } from "node:events";
import { createServer } from "node:http";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { SimulatedRig } from "../../src/simulator/index.ts";
import { problem, refusal } from "../errors.ts";
import { workers } from "../pollers.ts";
import { until } from "../until.ts";
import { caller, openBench } from "./bench.ts";
import { atWrite, axeos, breakAtWrite, closeAll, closers, states, steered, withOne } from "./command-bench.ts";

afterEach(closeAll);

/** A Bitaxe that takes its time, as a person would notice, and has said who it is a moment ago. */
async function withSlow() {
  const one = await withOne(axeos);
  one.rig.fault = { name: "delay", ms: 600 };
  await one.bench.poll(one.id);
  return one;
}

/** Requests to a rig that were no writes, while something is done. */
async function readsWhile({ requests }: SimulatedRig, work: () => Promise<unknown>): Promise<number> {
  const reads = () => requests.count - requests.writes.length;
  const before = reads();
  await work();
  return reads() - before;
}

describe("a slow rig", () => {
  test("is identified before it is switched, and confirmed by one more read", async () => {
    const { bench, id, rig } = await withSlow();
    expect(await readsWhile(rig, () => bench.act(id, { action: "stop" }))).toBe(2);
    expect(rig.model.mining).toBe(false);
    expect(await bench.get(id)).toMatchObject({ canStart: true, readings: { mining: false } });
    expect(await states(bench, id)).toEqual(["stop done"]);
  });

  test("is not identified again for a step that writes nothing", async () => {
    const { bench, id, rig } = await withSlow();
    await bench.act(id, { action: "stop" });
    // A start also has steps that restore controls; there is nothing to restore here.
    expect(await readsWhile(rig, () => bench.act(id, { action: "start" }))).toBe(2);
    expect(rig.model.mining).toBe(true);
  });

  test("is refused a change that it already has only by its present reading", async () => {
    const { bench, id, rig } = await withSlow();
    await bench.act(id, { action: "stop" });
    rig.model.mining = true;
    await bench.act(id, { action: "stop" });
    expect(rig.model.mining).toBe(false);
    expect(await refusal(bench.act(id, { action: "stop" }))).toBe("not.possible");
    expect(rig.requests.writes).toHaveLength(2);
  });

  test("that was not identified yet is identified before it gets a command", async () => {
    const bench = await openBench({ rigs: [axeos] });
    const rig = bench.rig(0);
    let says = "its name";
    const door = createServer(async ({ method, url }, response) => {
      const reply = await fetch(`http://${rig.address}${url}`, { method: method ?? "GET" });
      const text = await reply.text();
      setTimeout(() => response.end(says === "its name" ? text : text.replace(/"macAddr":"[^"]*",/, "")), 600);
    }).listen(0, "127.0.0.1");
    closers.push(async () => void door.close());
    await once(door, "listening");
    const address = door.address();
    if (address === null || typeof address === "string") throw new Error("it listens on a port");
    const id = await bench.add(`127.0.0.1:${address.port}`, { driver: "axeos" });
    says = "nothing of that";
    await bench.poll(id);
    expect(await bench.get(id)).toMatchObject({ hasValidStatus: true });
    expect(await refusal(bench.act(id, { action: "stop" }))).toBe("rig.garbled");
    expect(rig.requests.writes).toEqual([]);
  });

  test("whose first answer since the service started comes late gets its command then", async () => {
    const config = { poll: { interval: 3600, timeout: 1 } };
    const { bench, id, rig } = await withOne(axeos, { config });
    rig.fault = { name: "delay", ms: 3_600_000 };
    await bench.restart(config);
    await bench.poll(id);
    expect((await bench.get(id)).statusInfo.statusDisplay).toBe("Starting");
    const asked = rig.requests.count;
    const stopped = bench.act(id, { action: "stop" });
    await until(() => rig.requests.count > asked, "the read before the command");
    rig.fault = null;
    expect(await stopped).toMatchObject({ success: true });
    expect(rig.model.mining).toBe(false);
    expect(rig.requests.writes).toHaveLength(1);
    expect(await states(bench, id)).toEqual(["stop done"]);
  });

  test("that does not answer for long after the start fails its command, and is off only after its polls", async () => {
    const config = { poll: { interval: 3600, timeout: 0.5 } };
    const { bench, id, rig } = await withOne(axeos, { config });
    rig.fault = "silent";
    await bench.restart(config);
    expect(await refusal(bench.act(id, { action: "stop" }))).toBe("rig.timeout");
    expect(await states(bench, id)).toEqual(["stop failed"]);
    expect((await bench.get(id)).statusInfo.statusDisplay).toBe("Starting");
  });

  test("that is off by now has received nothing: failed, not unknown", async () => {
    const { bench, id, rig } = await withSlow();
    rig.fault = "off";
    expect(await problem(bench.act(id, { action: "stop" }))).toMatchObject({ code: "rig.unreachable", status: 504 });
    expect(await states(bench, id)).toEqual(["stop failed"]);
  });

  test("that is another rig by now gets no command", async () => {
    const timeouts = { requestMs: 20_000, answerMs: 2_000, changeMs: 1_000 };
    const { rig, switchOff, row, poll } = await steered(timeouts, 3_600_000, axeos, 10_000);
    rig.fault = { name: "delay", ms: 600 };
    await poll();
    rig.fault = "other-rig";
    expect(await refusal(switchOff())).toBe("rig.other");
    expect(await row()).toMatchObject({ state: "failed", message: expect.stringContaining("Another rig answers at") });
    expect(rig.requests.writes).toEqual([]);
  });

  test("is not waited for when it is just being read: that read is aborted without effect", async () => {
    const timeouts = { requestMs: 30_000, answerMs: 10_000, changeMs: 20_000 };
    const { rig, miner, switchOff, poll, reads } = await steered(timeouts, 1_000, axeos, 10_000);
    // Long enough that it is cut before it answers, on a busy machine too.
    rig.fault = { name: "delay", ms: 2_000 };
    await poll();
    const readsAtWrite = atWrite(rig, reads);
    const readBefore = reads();
    const before = rig.requests.count;
    await until(() => rig.requests.count > before, "the rig to be asked");
    // Only its worker thread knows of its own read.
    expect(miner.busy).toBe(workers === 0);
    const done = switchOff();
    await until(() => rig.requests.writes.length > 0, "the stop to be sent");
    // One answer, the command's own: the question that was under way has been cut.
    expect(readsAtWrite()).toBe(readBefore + 1);
    await expect(done).resolves.toMatchObject({ state: "done" });
    expect(miner.state).toMatchObject({ missed: 0, trouble: null });
  });
});

describe("a rig that takes its time", () => {
  // A busy machine needs a moment to send the command, and the request is over before the rig answers it.
  const whileWaiting = { requestMs: 2_000, answerMs: 30_000, changeMs: 30_000 };
  const lateAnswer = { name: "delay", ms: 5_000 } as const;

  test("is answered with the command's id, and done when the rig confirms it", async () => {
    const { rig, set, row } = await steered(whileWaiting);
    breakAtWrite(rig, lateAnswer);
    const reply = await set("frequency", "500");
    expect(reply).toMatchObject({ success: true, state: "sent" });
    expect(await row()).toMatchObject({ id: reply.commandId, state: "sent" });
    rig.fault = null;
    await until(async () => (await row())?.state !== "sent", "the command to end");
    expect(await row()).toMatchObject({ state: "done" });
    expect(rig.requests.writes).toHaveLength(1);
  });

  test("and the command behind it is shown as queued", async () => {
    const { rig, set } = await steered(whileWaiting);
    breakAtWrite(rig, lateAnswer);
    const replies = await Promise.all([set("frequency", "500"), set("frequency", "510")]);
    expect(replies.map(({ state }) => state)).toEqual(["sent", "queued"]);
  });

  test("too long, is not sent again: the result is unknown", async () => {
    const { rig, set, row } = await steered({ requestMs: 5_000, answerMs: 200, changeMs: 300 });
    breakAtWrite(rig, { name: "delay", ms: 3_000 });
    const error = await problem(set("reboot", "true"));
    expect(error.status).toBe(504);
    expect(await row()).toMatchObject({ state: "unknown" });
    rig.fault = null;
    expect(rig.requests.writes).toHaveLength(1);
  });

  test("and reports the change without having answered, has done it", async () => {
    const { rig, set, row } = await steered({ requestMs: 20_000, answerMs: 100, changeMs: 20_000 });
    breakAtWrite(rig, lateAnswer);
    const done = set("frequency", "500");
    await until(() => rig.requests.writes.length > 0, "the frequency to be sent");
    // Only the answer to the write is late.
    rig.fault = null;
    await expect(done).resolves.toMatchObject({ state: "done" });
    expect((await row())?.message).toContain("did not answer");
    expect(rig.requests.writes).toHaveLength(1);
  });

  test("while the service closes, leaves the command unknown and never queued ones sent", async () => {
    const { rig, set, store, executor } = await steered({ requestMs: 5_000, answerMs: 5_000, changeMs: 5_000 });
    breakAtWrite(rig, { name: "delay", ms: 2_000 });
    const both = [set("frequency", "500"), set("frequency", "510")];
    const outcomes = Promise.allSettled(both);
    await until(() => rig.requests.writes.length > 0, "the first frequency to be sent");
    rig.fault = "off";
    await executor.close();
    await outcomes;
    const rows = await store.commands.list();
    expect(rows.map(({ state }) => state)).toEqual(["failed", "unknown"]);
    expect(rig.requests.writes).toHaveLength(1);
  });
});

describe("a rig that dies while a command waits", () => {
  test.each([
    ["for its answer", { answerMs: 30_000 }],
    ["for what becomes of it without an answer", { answerMs: 50 }],
  ])("%s is stale after its interval, and Disconnected after three", async (_, { answerMs }) => {
    const { rig, miner, status, switchOff, poll, row } = await steered(
      { requestMs: 30_000, answerMs, changeMs: 30_000 },
      1_000,
    );
    await poll();
    breakAtWrite(rig, "silent");
    const told = switchOff().catch(() => undefined);
    await until(() => miner.state.missed > 0, "its readings to be stale");
    expect([status(), miner.state.reading === null]).toEqual(["Mining", false]);
    await until(() => miner.state.reading === null, "three intervals to pass");
    expect(status()).toBe("Disconnected");
    expect(await row()).toMatchObject({ state: "sent" });
    rig.fault = "off";
    expect(miner.busy).toBe(true);
    closers.push(async () => void (await told));
  });
});

describe("a command that waits for its turn with the rig", () => {
  test("too long is no longer sent: command.expired", async () => {
    const { rig, store, set, poll } = await steered({
      // The others get their turn sooner, on a busy machine too, and the first one keeps its turn for longer.
      queueMs: 1_500,
      requestMs: 20_000,
      answerMs: 20_000,
      changeMs: 20_000,
    });
    await poll();
    breakAtWrite(rig, { name: "delay", ms: 4_500 });
    const first = set("frequency", "490");
    await until(() => rig.requests.writes.length > 0, "the first command to be sent");
    const late = await problem(set("frequency", "510"));
    expect(late).toMatchObject({ code: "command.expired", status: 503 });
    expect((await store.commands.list())[0]).toMatchObject({ state: "failed", message: late.message });
    expect(late.message).toContain("command.expired");
    rig.fault = null;
    await first;
    expect(await set("frequency", "520")).toMatchObject({ state: "done" });
    expect(rig.requests.writes.map((write) => write.replace(/\D+/, ""))).toEqual(["490}", "520}"]);
  });

  test("is cancelled by DELETE, and what was sent is not", async () => {
    const { bench, id, rig } = await withOne(axeos);
    breakAtWrite(rig, { name: "delay", ms: 600 });
    const first = bench.act(id, { action: "set", property: "frequency", value: "490" });
    await until(() => rig.requests.writes.length > 0, "the first command to be sent");
    const second = problem(bench.act(id, { action: "set", property: "frequency", value: "510" }));
    await until(async () => (await bench.commands(id)).length === 2, "the second command to wait");
    const [waiting, sent] = await bench.commands(id);
    const cancel = (command: number | undefined) => bench.service.cancelCommand({ id: command ?? 0 }, caller);
    expect(await cancel(waiting?.id)).toMatchObject({ success: true });
    expect(await second).toMatchObject({ code: "not.possible", message: "Cancelled before it was sent" });
    expect((await problem(cancel(sent?.id))).message).toContain("it is sent");
    await first;
    expect((await problem(cancel(sent?.id))).message).toContain("it is done");
    expect(await refusal(cancel(waiting?.id))).toBe("not.possible");
    expect(await refusal(cancel(4711))).toBe("not.found");
    expect(await states(bench, id)).toEqual(["set failed", "set done"]);
    expect(rig.requests.writes).toHaveLength(1);
  });
});
