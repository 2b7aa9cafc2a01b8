import { expect, jest, test } from "@jest/globals";
import type { Miner } from "rigbridge";
import type { Reply } from "../../nodes/miner-action/messages.ts";
import { isToMine, untilMining } from "../../nodes/miner-action/until-mining.ts";
import { FarmConnection, type Member } from "../../nodes/shared/farm-connection.ts";
import { fakeTimers } from "../fake-timers.ts";

/** What the wait looks at. */
const miner = (statusDisplay: string, startedAt = "2026-01-01T00:00:00Z"): Miner =>
  Object.assign(Object.create(null), { id: 1, name: "Rig A", statusInfo: { statusDisplay }, readings: { startedAt } });

function wait(reply: Partial<Reply>, after: Miner, seconds = 60) {
  const members: Member[] = [];
  const connection = new FarmConnection({
    open: () => Promise.reject(new Error("is not opened here")),
    log: { info: () => undefined, warn: () => undefined },
  });
  jest.spyOn(connection, "join").mockImplementation((member) => {
    members.push(member);
    return () => void members.splice(members.indexOf(member), 1);
  });
  const closing = new AbortController();
  const given = { success: true, message: "", state: "done", ...reply } as const;
  const { signal } = closing;
  const ended = untilMining({ connection, before: miner("Mining"), after, reply: given, seconds, signal });
  return { ended, closing, members, shows: (now: Miner) => members.map((member) => member.miner?.(now)) };
}

test("a confirmed command is over as soon as the miner mines", async () => {
  const after = miner("Mining");
  expect(await wait({ state: "done" }, after).ended).toBe(after);
  const { ended, shows, members } = wait({ state: "done" }, miner("Starting"));
  shows(miner("Starting"));
  const mining = miner("Mining");
  shows(mining);
  expect(await ended).toBe(mining);
  expect(members).toEqual([]);
});

test("a command that the rig has only accepted is over once the miner has started again", async () => {
  const { ended, shows } = wait({ state: "sent", taken: true }, miner("Mining"));
  shows(miner("Mining"));
  const again = miner("Mining", "2026-01-01T00:05:00Z");
  shows(again);
  expect(await ended).toBe(again);
});

test("a miner that is removed, a node that is closed and the time given end the wait", async () => {
  const removed = wait({}, miner("Stopped"));
  removed.members[0]?.removed?.(1);
  await expect(removed.ended).rejects.toMatchObject({ code: "not.found" });
  const closed = wait({}, miner("Stopped"));
  closed.closing.abort();
  await expect(closed.ended).rejects.toMatchObject({ code: "service.not-ready", key: "closed" });
  fakeTimers();
  const late = wait({}, miner("Stopped"), 5);
  jest.advanceTimersByTime(5_000);
  await expect(late.ended).rejects.toMatchObject({
    code: "rig.timeout",
    placeholders: { miner: "Rig A", seconds: 5 },
  });
});

test("only commands that start mining are waited for", () => {
  const command = (name: string, value: unknown = "") => isToMine({ kind: "command", command: name, value });
  expect(["start", "restart", "reboot", "change_pool"].map((name) => command(name))).toEqual([true, true, true, true]);
  expect([command("stop"), command("mining", true), command("mining", "off")]).toEqual([false, true, false]);
  expect(isToMine({ kind: "action", action: "restart", parameters: {} })).toBe(true);
});
