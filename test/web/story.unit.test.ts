import { expect, test } from "@jest/globals";
import type { Command, MinerDetail, Notification } from "../../src/contract/resources.ts";
import { storyOf } from "../../src/web/pages/rig/story.ts";

const at = (hour: number): string => `2026-01-01T${String(hour).padStart(2, "0")}:00:00.000Z`;
const rig = (startedAt: string | null, statusDisplay = "Mining") =>
  ({ id: 1, readings: { startedAt }, statusInfo: { statusDisplay } }) as unknown as MinerDetail;
const command = (id: number, hour: number, minerId = 1) => ({ id, minerId, time: at(hour) }) as unknown as Command;
const alarm = (id: number, from: number, to: number | null, minerId = 1) =>
  ({ id, minerId, timeUtc: at(from), closedUtc: to === null ? null : at(to) }) as unknown as Notification;

const told = (story: ReturnType<typeof storyOf>) =>
  story.map((each) => {
    if (each.kind === "command") return `command ${each.command.id}`;
    return each.kind === "alarm" ? `alarm ${each.notification.id}${each.over ? " over" : ""}` : "mining";
  });

test("a rig's story is its commands, its alarms with their ends, and since when it mines, newest first", () => {
  const commands = [command(7, 5), command(6, 2), command(5, 1, 2)];
  const alarms = [alarm(3, 4, null), alarm(2, 1, 3), alarm(1, 0, null, 2)];
  expect(told(storyOf(rig(at(6)), commands, alarms))).toEqual([
    "mining",
    "command 7",
    "alarm 3",
    "alarm 2 over",
    "command 6",
    "alarm 2",
  ]);
});

test("an event that is over as it begins is one line, and a rig that does not mine has none about it", () => {
  expect(told(storyOf(rig(null), [], [alarm(4, 2, 2)]))).toEqual(["alarm 4"]);
  expect(storyOf(rig(null), [], [])).toEqual([]);
  expect(storyOf(rig(at(6), "Stopped"), [], [])).toEqual([]);
});
