import { beforeEach, expect, jest, test } from "@jest/globals";
import type { ToAgent } from "../../../src/contract/agent.ts";
import { AgentSession } from "../../../src/service/hosts/agent-session.ts";
import { fakeOnly } from "../../fake-timers.ts";

beforeEach(() => fakeOnly("setTimeout", "clearTimeout"));

/** A session with an agent that records what it is sent. */
function open() {
  const sent: ToAgent[] = [];
  const nothing = (): void => undefined;
  const connection = { send: (message: ToAgent) => sent.push(message), sendFrame: nothing, close: nothing };
  const session = new AgentSession(1, connection, {
    introduced: nothing,
    reported: nothing,
    changed: nothing,
    closed: nothing,
  });
  session.message({
    t: "hello",
    version: "1",
    software: [],
    programs: [],
    foreign: [],
    permissions: { folders: [], downloads: false, reboot: false, gpuSettings: false },
    host: {
      name: "rig",
      system: "Linux",
      cpu: "Invented",
      cores: 1,
      uptime: 1,
      load: 0,
      memory: 1,
      memoryFree: 1,
      diskFree: 1,
      gpus: [],
    },
  });
  return { session, closed: () => sent.flatMap((each) => (each.t === "close" ? [each.channel] : [])) };
}

test("a channel that is given up before an answer is closed at once: some programs serve one connection at a time", () => {
  const { session, closed } = open();
  session.dial(7).destroy();
  jest.advanceTimersByTime(0);
  expect(closed()).toEqual([1]);
});

test("an answered channel is closed by its program, or a moment later by the service", async () => {
  const { session, closed } = open();
  for (const channel of [1, 2]) {
    const stream = session.dial(7);
    session.frame(channel, Buffer.from("answer"));
    stream.destroy();
  }
  session.message({ t: "closed", channel: 1 });
  jest.advanceTimersByTime(99);
  expect(closed()).toEqual([]);
  jest.advanceTimersByTime(1);
  expect(closed()).toEqual([2]);
});
